package engine

import (
	"path/filepath"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/kernel/backend/parquet"
	"antipode/kernel/backend/store"
)

// TestSavedColumns: a saved table has the columns of its input, in order, and the new ones; vectors of earlier stages
// only on request.
func TestSavedColumns(t *testing.T) {
	e := newEngine(t)
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 3, PerCell: 1, Size: 32, Injected: true})
	before := world.Reference().Head(3).Select("id", "image", "mask", "region", "seed").
		Join(datasets.FromRows([]map[string]any{{"region": "Velmora", "clip_image": []float32{1, 2}}}), "region")
	in := filepath.Join(t.TempDir(), "in.parquet")
	_ = must.Get(run1(t, e, before, client.Request{Save: in, AllColumns: true}))(t)
	for want, req := range map[string]client.Request{
		"id, image, mask, region, seed, full, size":             {},
		"id, image, mask, region, seed, clip_image, full, size": {AllColumns: true},
		"id, clip_image, size":                                  {Columns: []string{"size", "clip_image"}},
	} {
		req.Save = filepath.Join(filepath.Dir(in), "out.parquet")
		_ = must.Get(run1(t, e, counts(datasets.Parquet(in)), req))(t)
		saved := must.Get(parquet.Read(req.Save, parquet.Options{}))(t)
		must.Equal(t, table.NameList(saved.Frame.Specs()), want, "saved columns")
	}
}

// TestOneColumnIsSaved: a row without a value survives saving a table of one column.
func TestOneColumnIsSaved(t *testing.T) {
	e := newEngine(t)
	path := must.Write(t, filepath.Join(t.TempDir(), "t.csv"), "prompt\na\n\"\"\nb\n\"\"\n")
	out := filepath.Join(t.TempDir(), "out.csv")
	_ = must.Get(run1(t, e, datasets.CSV(path), client.Request{Save: out}))(t)
	must.EqualSlices(t, allRows(t, e, datasets.CSV(out)).Texts("prompt"), []string{"a", "", "b", ""}, "prompts")
}

// TestCollectKeepsImages: gc removes no image of the items that a saved table is made of: the same plan then computes
// nothing, and its images are there.
func TestCollectKeepsImages(t *testing.T) {
	world := datasets.Archipelago(datasets.ArchipelagoOptions{PerCell: 1, Size: 16})
	for name, tab := range map[string]datasets.Table{"whole": world.Reference(),
		"part by part": makes(datasets.CSV(prompts(t, 5200, false)))} {
		e := newEngine(t)
		out := filepath.Join(t.TempDir(), "out.csv")
		_ = must.Get(run1(t, e, tab, client.Request{Save: out, Counts: true}))(t)
		stray := must.Get(e.Store.PutBlob([]byte("an image of no item"), ".png"))(t)
		removed, _, err := e.Store.Collect(store.GC{Max: 1})
		must.True(t, err == nil && len(removed) == 1 && e.Store.CheckBlob(stray) != nil,
			"%s: %d files are removed, %v; want that of no item", name, len(removed), err)
		again := must.Get(run1(t, e, tab, client.Request{}))(t)
		found := 0
		for _, img := range again.Frame.Images("image") {
			if img.Path != "" && e.Store.CheckBlob(img) == nil {
				found++
			}
		}
		if want := map[string]int{"whole": again.Rows, "part by part": 3}[name]; again.Computed != 0 || found != want {
			t.Errorf("%s: %d items are computed again; %d images, want %d", name, again.Computed, found, want)
		}
	}
}
