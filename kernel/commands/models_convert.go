package commands

import (
	"cmp"
	"context"
	"flag"
	"fmt"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/groundingdino"
	"antipode/gomlxmodels/sam"
	"antipode/gomlxmodels/weights"
)

// fileFlags adds the flags of a model that is a single file.
func fileFlags(fs *flag.FlagSet, from, prediction *string, ema *bool) {
	fs.StringVar(from, "config-from", "", "of a model in a single file: the `MODEL`, a name or a folder, whose "+
		"tokenizer it uses; default "+gomlxmodels.ConfigModel+", of a GroundingDINO grounding-dino-tiny")
	fs.StringVar(prediction, "prediction", "", "of a model in a single file: what its UNet predicts, epsilon or v; "+
		"default: what the file says")
	fs.BoolVar(ema, "ema", false, "of a model in a single file: the UNet's averaged weights, if it has both")
}

// convertModel writes a model in a single file, in the names of its own program, as a folder.
func convertModel(ctx context.Context, args []string) error {
	var o diffusion.FileOptions
	var out string
	fs := flags("models convert", "FILE --out DIR")
	fs.StringVar(&out, "out", "", "the `DIR` to write: a folder as diffusers or transformers writes it")
	fileFlags(fs, &o.ConfigFrom, &o.Prediction, &o.EMA)
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 || out == "" {
		return usage("antipode models convert FILE --out DIR")
	}
	set, err := weights.OpenFiles(rest[0])
	if err != nil {
		return err
	}
	from := o.ConfigFrom
	switch plain := o == (diffusion.FileOptions{ConfigFrom: from}); {
	case sam.IsOriginal(set):
		if !plain || from != "" {
			return usage("models convert: %s is a SAM, which takes no --config-from, --prediction or --ema", rest[0])
		}
		if err := sam.Convert(set, out); err != nil {
			return err
		}
		fmt.Printf("%s: SamModel\n", out)
		return nil
	case groundingdino.IsOriginal(set):
		if !plain {
			return usage("models convert: %s is a GroundingDINO, which takes no --prediction or --ema", rest[0])
		}
		if from, err = tokenizerFolder(rest[0], cmp.Or(from, "grounding-dino-tiny")); err != nil {
			return err
		}
		if err := groundingdino.Convert(set, from, out); err != nil {
			return err
		}
		fmt.Printf("%s: GroundingDinoForObjectDetection\n", out)
		return nil
	}
	return convertDiffusion(ctx, rest[0], out, o)
}

// tokenizerFolder is the folder of a model whose tokenizer a single file uses.
func tokenizerFolder(file, model string) (string, error) {
	dir, err := modelFolder(model)
	if err != nil {
		return "", fmt.Errorf("tokenizer of %s: %w; or name a folder with one (--config-from)", file, err)
	}
	return dir, nil
}

// convertDiffusion writes a Stable Diffusion as a folder.
func convertDiffusion(ctx context.Context, file, out string, o diffusion.FileOptions) (err error) {
	if o.ConfigFrom, err = tokenizerFolder(file, cmp.Or(o.ConfigFrom, gomlxmodels.ConfigModel)); err != nil {
		return err
	}
	m, err := diffusion.OpenFile(file, o)
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
