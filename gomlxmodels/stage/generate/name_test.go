package generate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/stagetest"
)

// TestName: a model of the hub is called by its repository in tables.
func TestName(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	cache := t.TempDir()
	t.Setenv("HF_HUB_CACHE", cache)
	repository := filepath.Join(cache, "models--some--model")
	dir := filepath.Join(repository, "snapshots", commit)
	must.Do(t, os.CopyFS(dir, os.DirFS(folder("bare"))))
	ref := filepath.Join(repository, "refs", "refs", "pr", "6")
	must.Do(t, os.MkdirAll(filepath.Dir(ref), 0o755))
	must.Do(t, os.WriteFile(ref, []byte(commit), 0o644))
	mine := filepath.Join(t.TempDir(), "mine")
	must.Do(t, os.CopyFS(mine, os.DirFS(dir)))
	digests := map[string]string{}
	for model, want := range map[string]string{"some/model@refs/pr/6": "generate some/model",
		"some/model@" + commit: "generate some/model", dir: "generate some/model", mine: "generate mine"} {
		w := stagetest.Start(t, stagetest.NewEnv(t, nil), gomlxmodels.GenerateOp,
			gomlxmodels.GenerateArgs{Model: model})
		must.Equal(t, w.Label(), want, model, "label")
		if known, ok := digests[want]; ok && known != w.Digest() {
			t.Errorf("%s: another digest than the same folder's by another name", model)
		}
		digests[want] = w.Digest()
	}
	must.Equal(t, digests["generate some/model"], digests["generate mine"]+" some/model",
		"the digest does not cover the name in the column model")
}

// TestCorrection: what a configuration is read as in place of what it states is part of the digest.
func TestCorrection(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "old")
	must.Do(t, os.CopyFS(dir, os.DirFS(folder("bare"))))
	modeltest.Edit(t, filepath.Join(dir, "unet", "config.json"), map[string]any{"_diffusers_version": "0.8.1"})
	m := must.Get(diffusion.Open(dir, diffusion.OpenOptions{}))(t)
	env := stagetest.NewEnv(t, nil)
	files := must.Get(hub.Digest(env, dir, m.Files()))(t)
	w := stagetest.Start(t, env, gomlxmodels.GenerateOp, gomlxmodels.GenerateArgs{Model: dir})
	if len(m.Corrections()) != 1 || strings.HasPrefix(w.Digest(), files) {
		t.Errorf("corrections %q, digest %s of files %s", m.Corrections(), w.Digest(), files)
	}
}

// TestVariant: a folder with weights of two precisions is read in the one that the option names, and a folder with one
// of them has the same digest with and without it.
func TestVariant(t *testing.T) {
	both := filepath.Join(t.TempDir(), "model")
	half := filepath.Join(t.TempDir(), "model")
	for _, dir := range []string{both, half} {
		must.Do(t, os.CopyFS(dir, os.DirFS(folder("bare"))))
	}
	for part, name := range map[string]string{"text_encoder": "model", "unet": "diffusion_pytorch_model",
		"vae": "diffusion_pytorch_model"} {
		list := modeltest.Tensors(t, filepath.Join(both, part))
		for i := range list[0].Data { // so that the images differ visibly
			list[0].Data[i] *= 2
		}
		for _, dir := range []string{both, half} {
			file := filepath.Join(dir, part, name)
			must.Do(t, weights.Save(file+".fp16.safetensors", list, nil, weights.F16))
			if dir == half {
				must.Do(t, os.Remove(file+".safetensors"))
			}
		}
	}
	evaluator(t)
	prompt := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "a house"}})
	image := func(model, variant string) string {
		f := rows(t, gomlxmodels.Generate(model, prompt, gomlxmodels.GenerateOptions{Steps: 2, Variant: variant}))
		return f.Images("image")[0].SHA256
	}
	digest := func(model, variant string) string {
		return stagetest.Start(t, stagetest.NewEnv(t, nil), gomlxmodels.GenerateOp,
			gomlxmodels.GenerateArgs{Model: model,
				GenerateOptions: gomlxmodels.GenerateOptions{Variant: variant}}).Digest()
	}
	for _, of := range []func(model, variant string) string{image, digest} {
		full, fp16 := of(both, ""), of(both, hub.FP16)
		if full == fp16 {
			t.Errorf("the variant is not read: %s", full)
		}
		must.Equal(t, of(half, ""), fp16)
		must.Equal(t, of(half, hub.FP16), fp16)
	}
	must.Do(t, os.Remove(filepath.Join(both, "vae", "diffusion_pytorch_model.fp16.safetensors")))
	for model, want := range map[string]string{both: "holds no weights of the variant fp16: found " +
		"diffusion_pytorch_model.safetensors. Fix: leave out the variant",
		tokenFolder(t):    "Variant is for a pipeline of diffusers, not for a DALL·E mini. Fix: leave it out",
		"api:gpt-image-2": "Variant is for a pipeline of diffusers, not for an image API"} {
		must.Fail(gomlxmodels.Generate(model, prompt, gomlxmodels.GenerateOptions{Variant: "fp16"}).
			Rows(context.Background()))(t, want)
	}
}
