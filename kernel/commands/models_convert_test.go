package commands

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/client"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
)

// TestConvertModel converts a SAM, and refuses what is no model.
func TestConvertModel(t *testing.T) {
	run := inProcess(t)
	t.Setenv(client.HomeVar, t.TempDir())
	t.Setenv("HF_HOME", t.TempDir())
	file := filepath.Join("..", "..", "gomlxmodels", "sam", "testdata", "original", "small.pth")
	out := filepath.Join(t.TempDir(), "sam")
	must.Equal(t, must.Get(run("models", "convert", file, "--out", out))(t), out+": SamModel\n")
	must.Get(os.Stat(filepath.Join(out, "model.safetensors")))(t)
	other := filepath.Join(t.TempDir(), "flux.safetensors")
	flux := []weights.Tensor{{Name: "double_blocks.0.x", Shape: []int{1}, Data: []float32{0}}}
	must.Do(t, weights.Save(other, flux, nil, weights.F32))
	dino := filepath.Join(t.TempDir(), "dino.safetensors")
	queries := []weights.Tensor{{Name: "transformer.tgt_embed.weight", Shape: []int{1, 1}, Data: []float32{0}}}
	must.Do(t, weights.Save(dino, queries, nil, weights.F32))
	for want, args := range map[string][]string{
		"tokenizer of " + dino:                         {dino, "--out", out + "2"},
		"a GroundingDINO, which takes no --prediction": {dino, "--out", out + "2", "--prediction", "v"},
		"no tensor \"backbone.0.patch_embed": {dino, "--out", out + "2", "--config-from",
			filepath.Join("..", "..", "gomlxmodels", "groundingdino", "testdata", "original")},
		"is not empty; name a new folder":         {file, "--out", out},
		"models convert FILE --out DIR":           {file},
		"a SAM, which takes no --config-from":     {file, "--out", out + "2", "--ema"},
		"tokenizer of " + other:                   {other, "--out", out + "2"},
		`a checkpoint of FLUX (tensor "double_bl`: {other, "--out", out + "2", "--config-from", out},
	} {
		_, err := run(append([]string{"models", "convert"}, args...)...)
		must.Err(t, err, want)
		must.Equal(t, strings.HasPrefix(want, "models") || strings.HasPrefix(want, "a SAM") || strings.HasPrefix(want,
			"a GroundingDINO"), errors.As(err, new(usageError)), "a usage error")
	}
}
