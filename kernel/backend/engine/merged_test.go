package engine

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// TestMergedImages computes images in two stores, merges them and removes them: the third one finds every item, its
// images are its own, and a saved table has copies of them.
func TestMergedImages(t *testing.T) {
	var plans []*table.Plan
	var want []string
	var folders []string
	for seed := range 2 {
		world := datasets.Archipelago(datasets.ArchipelagoOptions{PerCell: 1, Size: 16, Seed: seed + 1})
		plan := must.Get(world.Reference().Plan())(t)
		e := newEngine(t)
		res := must.Get(e.Run(t.Context(), client.Request{Plan: plan}, nil))(t)
		digest, err := store.FrameDigest(res.Frame)
		if err == nil {
			err = e.Store.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		plans, want, folders = append(plans, plan), append(want, digest), append(folders, e.Store.Dir())
	}
	e := newEngine(t)
	report, err := e.Store.Merge(t.Context(), folders, store.MergeOptions{Difference: Difference, Remove: true})
	if err != nil || !report.Within() {
		t.Fatal(report, err)
	}
	for i, plan := range plans {
		must.Fail(os.Stat(folders[i]))(t)
		saved := filepath.Join(t.TempDir(), "out.csv")
		res := must.Get(e.Run(t.Context(), client.Request{Plan: plan, Save: saved}, nil))(t)
		digest := must.Get(store.FrameDigest(res.Frame))(t)
		must.Equal(t, digest, want[i], res.Found)
		must.Equal(t, res.Computed, 0, res.Found)
		for _, img := range res.Frame.Images("image") {
			if !strings.HasPrefix(img.Path, e.Store.Dir()) {
				t.Fatalf("an image of another store: %s", img.Path)
			}
		}
		copies, err := filepath.Glob(filepath.Join(filepath.Dir(saved), "out.images", "*.png"))
		must.True(t, err == nil && len(copies) != 0, "%d images next to the table: %v", len(copies), err)
	}
}

// TestImageItems: an item has no path, and an image is found by its digest in this store.
func TestImageItems(t *testing.T) {
	e := newEngine(t)
	outputs := datasets.Columns("image:image", "outcome:text")
	own := must.Get(e.Store.PutBlob([]byte("an image"), ".png"))(t)
	written, err := encodeItem([]table.Value{{Image: own}, {Text: "ok"}}, outputs)
	if err != nil || bytes.Contains(written, []byte("/")) || !bytes.Contains(written, []byte(own.SHA256+".png")) {
		t.Errorf("%q, %v", written, err)
	}
	lost := must.Get(encodeItem([]table.Value{{Image: table.Image{SHA256: strings.Repeat("0", 64), Path: ".png"}},
		{Text: "ok"}}, outputs))(t)
	refused := must.Get(encodeItem([]table.Value{{}, {Text: "ok"}}, outputs))(t)
	items := must.Get(e.Store.Items("made-v1", "abc"))(t)
	payloads := [][]byte{written, lost, refused}
	keys := make([]store.Key, len(payloads))
	for i := range keys {
		keys[i] = store.KeyOf(string(rune('a' + i)))
	}
	must.Do(t, items.Put(keys, payloads))
	values, damage, err := e.newRun(t.Context(), client.Request{}, nil, e.Store).storedValues(items, keys, outputs)
	must.Do(t, err)
	for i, want := range []table.Image{own, {}, {}} {
		if i == 1 {
			must.True(t, values[i] == nil, "the image is lost: %v", values[i])
		} else if values[i] == nil || values[i][0].Image != want || values[i][1].Text != "ok" {
			t.Errorf("item %d: %v, want %v", i, values[i], want)
		}
	}
	must.Equal(t, damage, 0, "damaged")

	must.Do(t, os.Remove(own.Path)) // an image that is there and cannot be read is no damage
	must.Do(t, os.Mkdir(own.Path, 0o700))
	_, damage, err = e.newRun(t.Context(), client.Request{}, nil, e.Store).storedValues(items, keys, outputs)
	must.True(t, err != nil && damage == 0, "%v, %d damaged", err, damage)
}

// TestMergedColumns: a pack may have items with other columns than its first ones. Merged, those that differ by
// rounding are no conflict.
func TestMergedColumns(t *testing.T) {
	var folders []string
	for _, value := range []float32{1, 1.000001} {
		s := newEngine(t).Store
		items := must.Get(s.Items("embed-v1", "abc"))(t)
		for _, names := range [][]string{{"full:vector"}, {"full:vector", "object_only:vector"}} {
			columns, values := datasets.Columns(names...), make([]table.Value, len(names))
			for i := range values {
				values[i].Vector = []float32{value, 2}
			}
			items.Columns(columns)
			must.Do(t, items.Put([]store.Key{store.KeyOf(names[len(names)-1])},
				[][]byte{must.Get(encodeItem(values, columns))(t)}))
		}
		done := must.Get(s.Compact())(t)
		must.True(t, done.Before == 2 && done.After == 1, "%+v", done)
		must.Do(t, s.Close())
		folders = append(folders, s.Dir())
	}
	report := must.Get(newEngine(t).Store.Merge(t.Context(), folders, store.MergeOptions{Difference: Difference}))(t)
	must.True(t, report.Within() && report.Differ == 2 && report.Packs == 2, "%v %v", report, report.Warning())
}

func TestDifference(t *testing.T) {
	columns := datasets.Columns("full:vector", "caption:text", "score:number", "mask:mask")
	item := func(caption string, score float64, vector ...float32) []byte {
		data := must.Get(encodeItem([]table.Value{{Vector: vector}, {Text: caption}, {Number: score},
			{Mask: table.Mask{Size: [2]int{1, 1}, Counts: "01"}}}, columns))(t)
		return data
	}
	a := item("a", math.NaN(), 1, -4)
	for name, c := range map[string]struct {
		b       []byte
		vectors float64
		others  bool
	}{
		"equal": {a, 0, false}, "vectors": {item("a", math.NaN(), 1.5, -4), 0.125, false},
		"text": {item("b", math.NaN(), 1, -4), 0, true}, "number": {item("a", 1, 1, -4), 0, true},
		"length": {item("a", math.NaN(), 1), 0, true}, "no vector": {item("a", math.NaN()), 0, true},
		"damaged": {a[:5], 0, true},
	} {
		vectors, others := Difference(columns, a, c.b)
		must.True(t, vectors == c.vectors && others == c.others, "%s: %v, %v", name, vectors, others)
	}
	if _, others := Difference(nil, a, a); !others {
		t.Error("items whose columns are not known count as equal")
	}
}
