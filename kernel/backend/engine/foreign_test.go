package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/metrics/disparity"
)

const foreignTables = "../parquet/testdata"

// copied copies files of other programs into a folder of their own.
func copied(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		must.Write(t, filepath.Join(dir, name), string(must.Get(os.ReadFile(filepath.Join(foreignTables, name)))(t)))
	}
	return dir
}

// Images that a table holds as bytes go to the store, and the table computes again from its record.
func TestImagesAsBytes(t *testing.T) {
	e := newEngine(t)
	dir := copied(t, "huggingface.parquet", "a.png", "b.png")
	table := datasets.Parquet(filepath.Join(dir, "huggingface.parquet"))
	images := allRows(t, e, table).Images("image")
	if !strings.HasPrefix(images[0].Path, filepath.Join(e.Store.Dir(), "blobs")) || images[1].Path != filepath.Join(dir,
		"b.png") {
		t.Errorf("images at %s and %s", images[0].Path, images[1].Path)
	}
	for i, name := range []string{"a.png", "b.png"} {
		data, err := os.ReadFile(images[i].Path)
		must.True(t, err == nil && string(data) == string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t)),
			"image %d is not %s: %v", i, name, err)
	}
	out := filepath.Join(dir, "out.parquet")
	res := must.Get(run1(t, e, counts(table), client.Request{Save: out, AllColumns: true}))(t)
	rec := must.Get(e.Store.Record(res.Record))(t)
	digest, err := e.Verify(t.Context(), rec, nil)
	must.True(t, err == nil && digest == rec.Result, "verify: %s, %v, want %s", digest, err, rec.Result)
	back := allRows(t, e, datasets.Parquet(out)).Images("image")
	must.True(t, back[0].SHA256 == images[0].SHA256, "the saved table's image is %v", back[0])
}

// A column that groups is text, though a Parquet file holds it as integers.
func TestGroupsOfIntegers(t *testing.T) {
	e := newEngine(t)
	dir := copied(t, "pandas.parquet", "a.png", "b.png")
	f := allRows(t, e, datasets.Images(filepath.Join(dir, "pandas.parquet"), datasets.ImagesOptions{By: "held_out"}))
	if got := f.Texts("held_out"); !slices.Equal(got, []string{"true", "false"}) || f.Numbers("seed") == nil {
		t.Errorf("held_out %v, seed %v", got, f.Numbers("seed"))
	}
}

// What is not read, and a table without rows, is told in one note.
func TestNotesOfSources(t *testing.T) {
	e := newEngine(t)
	photos := copied(t, "a.png", "b.png", "make.py", "pyarrow.parquet")
	must.Write(t, filepath.Join(photos, "deep", "x.HEIC"), "x")
	must.Write(t, filepath.Join(photos, ".hidden.avif"), "x")
	must.Do(t, os.Symlink(t.TempDir(), filepath.Join(photos, "linked")))
	listed := filepath.Base(photos) + ": 2 images; not read: 1 HEIC, 1 PARQUET, 1 PY, 1 link"
	for name, c := range map[string]struct {
		table datasets.Table
		want  string
	}{
		"folder":   {datasets.Images(photos), listed},
		"imported": {datasets.Imported(photos, datasets.ImportOptions{Model: "m"}), listed},
		"columns": {datasets.Parquet(filepath.Join(photos, "pyarrow.parquet")).Head(1),
			`pyarrow.parquet: columns that are not read: "boxes" (lists of lists of numbers), ` +
				`"objects" (lists or maps of structs), "tags" (lists or maps of structs), ` +
				`"size" (structs of width, height), "raw" (bytes)` +
				"\npyarrow.parquet: 1 of 1 masks look inverted: more than half is object, at all borders (language: " +
				"en 1 of 1); object is what is not black; invert the masks whose background is white"},
		"no rows": {datasets.CSV(must.Write(t, filepath.Join(t.TempDir(), "t.csv"), "id,image\n")),
			"t.csv has no rows"},
		"all": {datasets.Folder(copied(t, "a.png")), ""},
	} {
		res, err := run1(t, e, c.table, client.Request{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := strings.Join(res.Notes, "\n")
		must.True(t, got == c.want, "%s: notes %q, want %q", name, got, c.want)
	}
}

// A score's record holds the score's own notes: those of the tables it read are told when these are read again.
func TestNotesOfScores(t *testing.T) {
	e := newEngine(t)
	dir := t.TempDir()
	var rows strings.Builder
	for i := range 8 {
		fmt.Fprintf(&rows, "v%d,\"[%d, %d, 1]\"\n", i, i, i*i)
	}
	vectors := datasets.CSV(must.Write(t, filepath.Join(dir, "vectors.csv"), "id,full\n"+rows.String()+"none,\n"))
	empty := datasets.CSV(must.Write(t, filepath.Join(dir, "empty.csv"), "id,region\n"))
	sets := metrics.Sets{Real: vectors.Where("full", "present", nil), Generated: vectors.Concat(empty)}
	table := disparity.PrecisionCoverage(sets,
		disparity.PrecisionCoverageOptions{Comparison: disparity.Comparison{Unmasked: "drop"},
			Intervals: metrics.Intervals{Resamples: -1}})
	own, source := "full: 1 of 9 generated images have no vector and are left out", "empty.csv has no rows"
	for range 2 { // computed, and found in the store
		res, err := run1(t, e, table, client.Request{})
		if err != nil || !slices.Contains(res.Notes, own) || !slices.Contains(res.Notes, source) {
			t.Fatalf("notes of %+v, %v", res, err)
		}
		rec := must.Get(e.Store.Record(res.Record))(t)
		must.True(t, slices.Contains(rec.Notes, own) && !slices.Contains(rec.Notes, source),
			"the record holds the notes %q", rec.Notes)
	}
}
