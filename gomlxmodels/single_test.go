package gomlxmodels

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"antipode/datasets"
	"antipode/internal/must"
)

// TestSingleFile: the plan of a model that is a file names it by its absolute path, with what it needs.
func TestSingleFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must.Do(t, os.WriteFile("model.CKPT", nil, 0o600))
	prompts := datasets.New("test", nil, datasets.Columns("id:text", "prompt:text"))
	for _, c := range []struct {
		o, want FileOptions
	}{
		{FileOptions{}, FileOptions{ConfigFrom: ConfigModel}},
		{FileOptions{ConfigFrom: "OWNER/NAME", Prediction: "v", EMA: true},
			FileOptions{ConfigFrom: "OWNER/NAME", Prediction: "v", EMA: true}},
	} {
		p := must.Get(Generate("model.CKPT", prompts, GenerateOptions{File: c.o}).Plan())(t)
		var got GenerateArgs
		must.Do(t, json.Unmarshal(p.Args, &got))
		if got.File != c.want || filepath.Base(got.Model) != "model.CKPT" || !filepath.IsAbs(got.Model) {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
	for want, images := range map[string]datasets.Table{
		`File.Prediction is "x"; it must be one of epsilon, v`: Generate("model.CKPT", prompts,
			GenerateOptions{File: FileOptions{Prediction: "x"}}),
		"File.EMA is for a single file (.safetensors, .ckpt), not for": Generate("archipelago-diffusion", prompts,
			GenerateOptions{File: FileOptions{EMA: true}}),
		`no model "missing.ckpt"`: Generate("missing.ckpt", prompts),
		`no model "nothing"`:      Generate("model.CKPT", prompts, GenerateOptions{File: FileOptions{ConfigFrom: "nothing"}}),
	} {
		must.Fail(images.Plan())(t, want)
	}
}
