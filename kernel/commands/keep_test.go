package commands

import (
	"path/filepath"
	"testing"

	"antipode/datasets"
	"antipode/datasets/cell"
	"antipode/internal/must"
)

// Keep computes once for the content of its inputs: a changed image, value or function computes again, an equal file
// under another name does not.
func TestKeep(t *testing.T) {
	inProcess(t)
	t.Setenv("ANTIPODE_HOME", t.TempDir())
	dir := t.TempDir()
	write := func(folder string, side int) datasets.Table {
		path := filepath.Join(dir, folder, "a.png")
		must.Write(t, path, pngOf(t, side))
		return datasets.Folder(filepath.Dir(path)).Select("id", "image")
	}
	ran := 0
	small := func() datasets.Table { ran++; return datasets.FromRows([]map[string]any{{"id": "a", "n": 1}}) }
	other := func() datasets.Table { ran++; return datasets.FromRows([]map[string]any{{"id": "a", "n": 2}}) }
	for i, step := range []struct {
		name    string
		compute func() datasets.Table
		folder  string
		side    int
		value   any
		again   bool
		n       float64
	}{
		{"f", small, "one", 4, 3, true, 1},
		{"f", small, "one", 4, 3, false, 1},
		{"f", small, "two", 4, 3, false, 1},
		{"f", small, "one", 5, 3, true, 1},
		{"f", small, "one", 5, 4, true, 1},
		{"g", small, "one", 5, 4, true, 1},
		{"g", other, "one", 5, 4, true, 2},
		{"g", other, "one", 5, 4.0, true, 2},
	} {
		before := ran
		must.Equal(t, cell.Keep(step.name, step.compute, write(step.folder, step.side), step.value).Number("n"), step.n,
			"step", i, "n")
		must.Equal(t, ran > before, step.again, "step", i, "computed")
	}
	for range 2 { // images of a folder stay there, those of the store are copied
		images := cell.Keep("images", func() datasets.Table { return write("one", 5).With("region", "North") })
		must.Equal(t, len(must.Get(images.Rows(t.Context()))(t).Images("image")), 1, "images")
		made := cell.Keep("made", func() datasets.Table {
			return datasets.Archipelago(datasets.ArchipelagoOptions{PerCell: 1}).Reference().Head(1)
		})
		must.Equal(t, len(must.Get(made.Rows(t.Context()))(t).Images("image")), 1, "images of the store")
	}
	defer func() {
		must.True(t, recover() != nil, "a channel is no input, and ../x is no name")
	}()
	cell.Keep("../x", small, make(chan int))
}
