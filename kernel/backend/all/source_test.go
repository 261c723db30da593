package all

import (
	"os"
	"path/filepath"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/internal/must"
)

// TestSource: the record of a run names the repository and the commit of a model of the hub, next to its digest.
func TestSource(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	e := registered(t)
	cache := t.TempDir()
	t.Setenv("HF_HUB_CACHE", cache)
	repository := filepath.Join(cache, "models--some--model")
	bare := os.DirFS(filepath.Join("..", "..", "..", "gomlxmodels", "diffusion", "testdata", "bare"))
	must.Do(t, os.CopyFS(filepath.Join(repository, "snapshots", commit), bare))
	must.Do(t, os.Mkdir(filepath.Join(repository, "refs"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(repository, "refs", "main"), []byte(commit), 0o600))
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house"}})
	for range 2 { // computed, then found in the store
		res := must.Get(gomlxmodels.Generate("some/model", prompts, gomlxmodels.GenerateOptions{Steps: 1}).
			SaveE(t.Context(), filepath.Join(t.TempDir(), "o.csv")))(t)
		rec := must.Get(e.Store.Record(res.Record))(t)
		must.Equal(t, rec.Sources["some/model"], "some/model@"+commit)
		must.Equal(t, len(rec.Models["some/model"]), 64)
	}
}
