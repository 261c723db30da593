package commands

import (
	"cmp"
	"context"
	"fmt"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/groundingdino"
	"antipode/gomlxmodels/sam"
	"antipode/gomlxmodels/weights"
)

// convertModel writes a model in a single file, in the names of its own program, as a folder.
func convertModel(ctx context.Context, args []string) error {
	var file gomlxmodels.FileOptions
	var out string
	fs := flags("models convert", "FILE --out DIR")
	fs.StringVar(&out, "out", "", "the `DIR` to write: a folder as diffusers or transformers writes it")
	addOptions(fs, &file)
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
	o, from := diffusion.FileOptions(file), file.ConfigFrom
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
