package commands

import (
	"cmp"
	"context"
	"flag"
	"fmt"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/diffusion"
)

// fileFlags adds the flags of a model that is a single file.
func fileFlags(fs *flag.FlagSet, from, prediction *string, ema *bool) {
	fs.StringVar(from, "config-from", "", "of a model in a single file: the `MODEL`, a name or a folder, whose "+
		"tokenizer it uses; default "+gomlxmodels.ConfigModel)
	fs.StringVar(prediction, "prediction", "", "of a model in a single file: what its UNet predicts, epsilon or v; "+
		"default: what the file says")
	fs.BoolVar(ema, "ema", false, "of a model in a single file: the UNet's averaged weights, if it has both")
}

// convertModel writes a model in a single file as a folder.
func convertModel(ctx context.Context, args []string) error {
	var o diffusion.FileOptions
	var out string
	fs := flags("models convert", "FILE --out DIR")
	fs.StringVar(&out, "out", "", "the `DIR` to write: a folder as diffusers writes it")
	fileFlags(fs, &o.ConfigFrom, &o.Prediction, &o.EMA)
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 || out == "" {
		return usage("antipode models convert FILE --out DIR")
	}
	if o.ConfigFrom, err = modelFolder(cmp.Or(o.ConfigFrom, gomlxmodels.ConfigModel)); err != nil {
		return fmt.Errorf("tokenizer of %s: %w; or name a folder with one (--config-from)", rest[0], err)
	}
	m, err := diffusion.OpenFile(rest[0], o)
	if err != nil {
		return err
	}
	for _, note := range m.Corrections() {
		fmt.Println(note)
	}
	if err := m.SaveFolder(ctx, out); err != nil {
		return err
	}
	width, height := m.Size()
	fmt.Printf("%s: StableDiffusionPipeline of %d×%d pixels, without a safety checker\n", out, width, height)
	return nil
}
