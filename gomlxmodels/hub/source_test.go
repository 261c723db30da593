package hub

import (
	"antipode/internal/must"
	"path/filepath"
	"testing"
)

func TestSource(t *testing.T) {
	at := func(name string) string { return filepath.Join(t.TempDir(), filepath.FromSlash(name)) }
	pipeline := []string{at("models--some--my-model/snapshots/abc/model_index.json"),
		at("models--some--my-model/snapshots/abc/unet/config.json")}
	for want, files := range map[string][]string{
		"some/my-model@abc": pipeline,
		"some/my-model@abc, dalle-mini/vqgan@def": append(pipeline,
			at("models--dalle-mini--vqgan/snapshots/def/config.json"), at("words.txt")),
		"": {at("mine/config.json"), at("models--a--b/other/abc/config.json"), "config.json",
			at("models--a/snapshots/abc/config.json")},
	} {
		must.Equal(t, Source(files), want)
	}
}
