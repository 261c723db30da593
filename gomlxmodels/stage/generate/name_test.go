package generate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/internal/stagetest"
)

// TestName: a model of the hub is called by its repository in tables.
func TestName(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	cache := t.TempDir()
	t.Setenv("HF_HUB_CACHE", cache)
	repository := filepath.Join(cache, "models--some--model")
	dir := filepath.Join(repository, "snapshots", commit)
	if err := os.CopyFS(dir, os.DirFS(folder("bare"))); err != nil {
		t.Fatal(err)
	}
	ref := filepath.Join(repository, "refs", "refs", "pr", "6")
	if err := os.MkdirAll(filepath.Dir(ref), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ref, []byte(commit), 0o644); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(t.TempDir(), "mine")
	if err := os.CopyFS(mine, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	digests := map[string]string{}
	for model, want := range map[string]string{"some/model@refs/pr/6": "generate some/model",
		"some/model@" + commit: "generate some/model", dir: "generate some/model", mine: "generate mine"} {
		w := stagetest.Start(t, stagetest.NewEnv(t, nil), gomlxmodels.GenerateOp,
			gomlxmodels.GenerateArgs{Model: model})
		if w.Label() != want {
			t.Errorf("%s: label %q, want %q", model, w.Label(), want)
		}
		if known, ok := digests[want]; ok && known != w.Digest() {
			t.Errorf("%s: another digest than the same folder's by another name", model)
		}
		digests[want] = w.Digest()
	}
	if digests["generate some/model"] != digests["generate mine"]+" some/model" {
		t.Errorf("the digest does not cover the name in the column model: %q", digests)
	}
}

// TestCorrection: what a configuration is read as in place of what it states is part of the digest.
func TestCorrection(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "old")
	if err := os.CopyFS(dir, os.DirFS(folder("bare"))); err != nil {
		t.Fatal(err)
	}
	modeltest.Edit(t, filepath.Join(dir, "unet", "config.json"), map[string]any{"_diffusers_version": "0.8.1"})
	m, err := diffusion.Open(dir, diffusion.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	env := stagetest.NewEnv(t, nil)
	files, err := hub.Digest(env, dir, m.Files())
	if err != nil {
		t.Fatal(err)
	}
	w := stagetest.Start(t, env, gomlxmodels.GenerateOp, gomlxmodels.GenerateArgs{Model: dir})
	if len(m.Corrections()) != 1 || strings.HasPrefix(w.Digest(), files) {
		t.Errorf("corrections %q, digest %s of files %s", m.Corrections(), w.Digest(), files)
	}
}
