package hub

import (
	"antipode/internal/must"
	"path/filepath"
	"testing"
)

func TestName(t *testing.T) {
	cached := filepath.Join("/cache", "models--some--model--x", "snapshots", commit)
	for model, want := range map[string]string{
		"archipelago-vit": "archipelago-vit", "some/model": "some/model", "some/model@refs/pr/6": "some/model",
		"some/model@" + commit: "some/model", "/models/mine": "mine", "/a/b@c": "b@c", cached: "some/model--x",
		"/cache/models--x/snapshots/" + commit: commit, "/models--a--b/other/c": "c", "/": "/",
	} {
		must.Equal(t, Name(model), want, model)
	}
}
