package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// TestDamageHeals flips a bit in each stored image and each shard: the damage is reported in a line, what it hit is
// computed again, and the table and its saved copy are as they were.
func TestDamageHeals(t *testing.T) {
	e := newEngine(t)
	tab := datasets.Archipelago(datasets.ArchipelagoOptions{PerCell: 1, Size: 32}).Reference()
	plan := must.Get(tab.Plan())(t)
	first := must.Get(e.Run(t.Context(), client.Request{Plan: plan}, nil))(t)
	want := must.Get(store.FrameDigest(first.Frame))(t)
	for _, pattern := range []string{"blobs/*/*", "items/*/*/*.pack"} {
		files, err := filepath.Glob(filepath.Join(e.Store.Dir(), pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			data := must.Get(os.ReadFile(file))(t)
			data[len(data)/2] ^= 4
			must.Do(t, os.WriteFile(file, data, 0o600))
		}
		saved := filepath.Join(t.TempDir(), "out.csv")
		res, err := e.Run(t.Context(), client.Request{Plan: plan, Save: saved}, nil)
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		notes := strings.Join(res.Notes, "\n")
		got, err := store.FrameDigest(res.Frame)
		must.True(t, err == nil && got == want && res.Computed != 0 && strings.Count(notes, "damaged") == 1,
			"%s: %d computed, %d found, notes %q, %v", pattern, res.Computed, res.Found, notes, err)
		for i, img := range res.Frame.Images("image") {
			content, err := os.ReadFile(img.Path)
			copied, copyErr := filepath.Glob(filepath.Join(filepath.Dir(saved), "out.images", "*"+img.SHA256[:8]+"*"))
			if err != nil || copyErr != nil || len(copied) == 0 {
				t.Fatal(err, copyErr, copied)
			}
			data, err := os.ReadFile(copied[0])
			digest, hashErr := store.HashFile(img.Path)
			must.True(t, err == nil && hashErr == nil && digest == img.SHA256 && bytes.Equal(data, content),
				"%s: image %d is damaged", pattern, i)
		}
	}
}
