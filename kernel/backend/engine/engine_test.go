package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/kernel/backend/parquet"
	"antipode/kernel/backend/store"
	"antipode/metrics"
	"antipode/metrics/disparity"
	_ "antipode/test/memdir"
)

// counted is a stage that measures an image's file and counts how often it had to.
var computed atomic.Int64

type counted struct{ env stage.Env }

func (counted) Label() string                  { return "count" }
func (counted) Digest() string                 { return "counted" }
func (counted) Check([]table.ColumnSpec) error { return nil }
func (counted) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns("full:vector", "size:number")
}
func (counted) Key(r stage.Row) string     { return r.Image("image").SHA256 }
func (counted) Batch() int                 { return 4 }
func (counted) Load(context.Context) error { return nil }
func (counted) Close()                     {}
func (c counted) Prepare(_ context.Context, r stage.Row) ([]byte, string, error) {
	data, err := os.ReadFile(r.Image("image").Path)
	if err != nil {
		return nil, "image", err
	}
	if strings.HasPrefix(string(data), "bad") {
		return nil, "image", errors.New("not an image")
	}
	return data, "", nil
}

func (c counted) Compute(_ context.Context, in [][]byte) ([][]table.Value, error) {
	out := make([][]table.Value, len(in))
	for i, data := range in {
		computed.Add(1)
		out[i] = []table.Value{{Vector: []float32{float32(len(data)), float32(data[0])}}, {Number: float64(len(data))}}
	}
	return out, nil
}

// register registers a stage without arguments.
func register[P any](name string, worker func(base counted) stage.Worker[P]) {
	stage.Register(stage.Stage{Name: name, Version: 1,
		Open: func(_ context.Context, env stage.Env, _ json.RawMessage) (*stage.Opened, error) {
			return stage.Of(worker(counted{env})), nil
		}})
}

// derive adds the columns of a stage to a table.
func derive(t datasets.Table, stage string, args any, columns ...string) datasets.Table {
	return datasets.Extend(t).Derive(stage, args, datasets.Columns(columns...)...).Table
}

// answering computes a text for each id.
type answering struct {
	counted
	answer func(ctx context.Context, ids []string) (texts []string, err error)
	forget bool // store nothing
}

func (answering) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns("answer:text")
}
func (answering) Key(r stage.Row) string    { return r.Text("id") }
func (a answering) Keep([]table.Value) bool { return !a.forget }
func (answering) Prepare(_ context.Context, r stage.Row) (string, string, error) {
	return r.Text("id"), "", nil
}

func (a answering) Compute(ctx context.Context, ids []string) ([][]table.Value, error) {
	texts, err := a.answer(ctx, ids)
	out := make([][]table.Value, len(texts))
	for i, text := range texts {
		out[i] = []table.Value{{Text: text}}
	}
	return out, err
}

func init() { register("counted", func(c counted) stage.Worker[[]byte] { return c }) }

func newEngine(t *testing.T) *Engine {
	t.Helper()
	s := must.Get(store.Open(filepath.Join(t.TempDir(), "store")))(t)
	e := New(s, Options{Build: "test", OpenDevice: func(context.Context) (Device, error) {
		return nil, errors.New("tests have none")
	}})
	t.Cleanup(func() { e.Close() })
	return e
}

func run1(t *testing.T, e *Engine, tab datasets.Table, req client.Request) (*client.Result, error) {
	t.Helper()
	req.Plan = must.Get(tab.Plan())(t)
	return e.Run(context.Background(), req, nil)
}

func allRows(t *testing.T, e *Engine, tab datasets.Table) *table.Frame {
	t.Helper()
	return must.Get(run1(t, e, tab, client.Request{}))(t).Frame
}

func images(t *testing.T, n int) (dir, tab string) {
	t.Helper()
	dir = t.TempDir()
	var b strings.Builder
	b.WriteString("id,image,region\n")
	for i := range n {
		must.Write(t, filepath.Join(dir, "img", fmt.Sprintf("%d.png", i)), strings.Repeat("x", i+1))
		fmt.Fprintf(&b, "i%d,img/%d.png,%s\n", i, i, []string{"north", "south"}[i%2])
	}
	return dir, must.Write(t, filepath.Join(dir, "t.csv"), b.String())
}

func counts(t datasets.Table) datasets.Table {
	return derive(t, "counted", nil, "full:vector", "size:number")
}

func TestItemsAreComputedOnce(t *testing.T) {
	e := newEngine(t)
	_, tab := images(t, 10)
	computed.Store(0)
	for i, want := range []int64{10, 10} {
		res := must.Get(run1(t, e, counts(datasets.CSV(tab)), client.Request{}))(t)
		must.Equal(t, computed.Load(), want, "run", i+1, "items computed")
		if res.Computed+res.Found != 10 || (i == 1 && res.Computed != 0) {
			t.Errorf("run %d: computed %d, found %d", i+1, res.Computed, res.Found)
		}
		must.Equal(t, res.Frame.Numbers("size")[9], 10, "size of the last")
	}
	allRows(t, e, counts(datasets.CSV(tab).Where("region", "==", "north").Head(3)))
	must.Equal(t, computed.Load(), 10, "a filtered table computed", "items more")
}

func TestDamagedItemIsComputedAgain(t *testing.T) {
	e := newEngine(t)
	_, tab := images(t, 4)
	want := allRows(t, e, counts(datasets.CSV(tab)))
	shards, _ := filepath.Glob(filepath.Join(e.Store.Dir(), "items", "counted-v1", "*", "*.pack"))
	if len(shards) != 1 {
		t.Fatalf("%d shards", len(shards))
	}
	data, _ := os.ReadFile(shards[0])
	last := bytes.LastIndex(data, []byte(`{"stage"`)) - 3 // in the last item, before the header
	data[last] ^= 1
	os.WriteFile(shards[0], data, 0o644)
	computed.Store(0)
	got := allRows(t, e, counts(datasets.CSV(tab)))
	a, _ := store.FrameDigest(want)
	b, _ := store.FrameDigest(got)
	must.Equal(t, a, b)
	must.Equal(t, computed.Load(), 1)
}

func TestBadRows(t *testing.T) {
	e := newEngine(t)
	dir, _ := images(t, 3)
	must.Write(t, filepath.Join(dir, "img", "bad.png"), "bad")
	outside := must.Write(t, filepath.Join(t.TempDir(), "out.png"), "x")
	os.Symlink(outside, filepath.Join(dir, "link.png"))
	for name, c := range map[string]struct{ row, want string }{
		"missing":   {"m,img/none.png,", "row 2 (id \"m\"), column image: t.csv: the file img/none.png is missing"},
		"bad":       {"b,img/bad.png,", "row 2 (id \"b\"), column image: not an image"},
		"twice":     {"i0,img/1.png,", "row 2 (id \"i0\"), column id: t.csv: the id is in row 1 already"},
		"no id":     {",img/1.png,", "the id is empty"},
		"outside":   {"o," + outside + ",", "leaves the table's folder"},
		"dots":      {"o,../../etc/passwd,", "column image: t.csv"},
		"link":      {"l,link.png,", "leaves the table's folder"},
		"mask":      {"k,img/1.png,img/2.png", "column mask: t.csv: img/2.png: the mask cannot be read"},
		"directory": {"d,img,", "not a file"},
	} {
		tab := must.Write(t, filepath.Join(dir, "t.csv"), "id,image,mask\ni0,img/0.png,\n"+c.row+"\ni2,img/2.png,\n")
		_, err := run1(t, e, counts(datasets.CSV(tab)), client.Request{})
		must.Err(t, err, c.want)
		res, err := run1(t, e, counts(datasets.CSV(tab)), client.Request{SkipBad: true})
		must.True(t, err == nil && res.Frame.Len() == 2 && len(res.Bad) == 1,
			"%s: with SkipBad: %v %+v", name, err, res)
	}
	// a parent folder named as root lets images be stored next to
	tab := must.Write(t, filepath.Join(dir, "sub", "t.csv"), "id,image\na,../img/0.png\n")
	// a path outside the table's folder was accepted without a root
	must.Fail(run1(t, e, counts(datasets.CSV(tab)), client.Request{}))(t)
	must.Equal(t, allRows(t, e, counts(datasets.CSV(tab, datasets.FileOptions{Root: dir}))).Len(), 1,
		"the root did not help")
}

func TestVerbs(t *testing.T) {
	e := newEngine(t)
	tab := datasets.FromRows([]map[string]any{
		{"id": "a", "region": "n", "x": 3}, {"id": "b", "region": "s", "x": 1.5}, {"id": "c", "region": "n"},
		{"id": "d", "region": "s", "x": 2},
	})
	ids := func(tab datasets.Table) string { return strings.Join(allRows(t, e, tab).Texts("id"), "") }
	for name, c := range map[string]struct{ got, want string }{
		"where ==":  {ids(tab.Where("region", "==", "n")), "ac"},
		"where in":  {ids(tab.Where("id", "in", []string{"d", "a"})), "ad"},
		"where <":   {ids(tab.Where("x", "<", 3)), "bd"},
		"where !=":  {ids(tab.Where("x", "!=", 3)), "bcd"},
		"missing":   {ids(tab.Where("x", "missing", nil)), "c"},
		"present":   {ids(tab.Where("x", "present", nil)), "abd"},
		"sort":      {ids(tab.Sort("x")), "bdac"},
		"sort down": {ids(tab.SortDown("x")), "adbc"},
		"head":      {ids(tab.Head(2)), "ab"},
		"concat":    {ids(tab.Head(1).Concat(tab.Where("id", "==", "d"))), "ad"},
		"join": {strings.Join(allRows(t, e, tab.Join(datasets.FromRows([]map[string]any{{"id": "b", "y": "yes"}}),
			"id")).Texts("y"), "|"), "|yes||"},
		"with":       {strings.Join(allRows(t, e, tab.With("model", "m")).Texts("model"), ""), "mmmm"},
		"select":     {table.NameList(allRows(t, e, tab.Select("x", "id")).Specs()), "x, id"},
		"sample all": {ids(tab.Sample(2, "region", 1)), "abcd"},
	} {
		must.Equal(t, c.got, c.want, name)
	}
	if a, b := ids(tab.Sample(1, "region", 1)), ids(tab.Sample(1, "region", 1)); a != b || len(a) != 2 {
		t.Errorf("Sample: %q, then %q", a, b)
	}
	n := allRows(t, e, tab.Count("region")).Numbers("n")
	must.Equal(t, fmt.Sprint(n), "[2 2]", "Count", n)
	for name, c := range map[string]struct {
		tab  datasets.Table
		want string
	}{
		"sample":     {tab.Sample(3, "region", 1), `region "n" has 2`},
		"concat id":  {tab.Concat(tab), "ids must be unique"},
		"where text": {tab.Where("region", "==", 3), `row 1 holds "n", which is not a number`},
		"join column": {tab.Join(datasets.FromRows([]map[string]any{{"region": "n"}, {"region": "n"}}), "region"),
			"must be unique"},
	} {
		if _, err := run1(t, e, c.tab, client.Request{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for name, tab := range map[string]datasets.Table{"where": tab.Where("nope", "==", "x"),
		"after": tab.Where("nope", "==", "x").Head(1), "op": tab.Where("id", "~", "x")} {
		must.True(t, tab.Err() != nil, "%s: no error", name)
	}
}

func TestArchipelagoDrawsOnceAndPointsAtFiles(t *testing.T) {
	e := newEngine(t)
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 3, PerCell: 1, Size: 32, Injected: true})
	res := must.Get(run1(t, e, world.Reference(), client.Request{}))(t)
	must.True(t, res.Computed != 0 && res.Computed == res.Rows, "computed %d of %d", res.Computed, res.Rows)
	f := must.Get(os.Open(res.Frame.Images("image")[0].Path))(t)
	defer f.Close()
	must.Equal(t, must.Get(png.Decode(f))(t).Bounds(), image.Rect(0, 0, 32, 32), "image")
	again, err := run1(t, e, world.Reference(), client.Request{})
	must.True(t, err == nil && again.Computed == 0 && again.Found == res.Rows, "again: %+v, %v", again, err)
	os.Remove(res.Frame.Images("image")[0].Path)
	if again, err = run1(t, e, world.Reference(), client.Request{}); err != nil || again.Computed != 1 {
		t.Errorf("after a lost image: %+v, %v", again, err)
	}
}

// A saved table has its images next to it, and can be read where the store is not.
func TestSavedImages(t *testing.T) {
	e := newEngine(t)
	dir := t.TempDir()
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 3, PerCell: 1, Size: 32, Injected: true})
	for _, name := range []string{"photos.csv", "photos.parquet"} {
		out := filepath.Join(dir, name)
		_ = must.Get(run1(t, e, world.Reference().Head(5),
			client.Request{Save: out, Counts: true, AllColumns: true}))(t)
		moved := filepath.Join(t.TempDir(), "elsewhere")
		must.Do(t, os.CopyFS(moved, os.DirFS(dir)))
		other := newEngine(t)
		f := allRows(t, other, datasets.Images(filepath.Join(moved, name)))
		for i, img := range f.Images("image") {
			must.True(t, strings.HasPrefix(img.Path, filepath.Join(moved, "photos.images")),
				"%s: the image of row %d is at %s", name, i+1, img.Path)
			must.Get(os.Stat(img.Path))(t)
			m := f.Masks("mask")[i]
			must.True(t, m.Size == [2]int{32, 32} && m.Counts != "", "%s: row %d lost its mask: %+v", name, i+1, m)
		}
	}
}

func TestFileName(t *testing.T) {
	for id, want := range map[string]string{"p0#1": "p0_1", "../x/y": ".._x_y", "कुत्ता-1": "कुत्ता-1", "a\x00b": "a_b",
		strings.Repeat("é", 80): strings.Repeat("é", 50)} {
		must.Equal(t, fileName(id), want, id)
	}
}

func TestMasksFromFolder(t *testing.T) {
	e := newEngine(t)
	dir := t.TempDir()
	m := image.NewGray(image.Rect(0, 0, 4, 3))
	m.SetGray(1, 2, color.Gray{Y: 9})
	f, _ := os.Create(filepath.Join(dir, "i0.png"))
	png.Encode(f, m)
	f.Close()
	_, tab := images(t, 2)
	out := allRows(t, e, datasets.CSV(tab).MasksFrom(dir))
	if out.Masks("mask")[0].Size != [2]int{3, 4} || out.Texts("outcome")[1] != "unmasked" ||
		out.Texts("reason")[1] == "" {
		t.Errorf("%+v", out.Columns)
	}
}

func TestSaveAndVerify(t *testing.T) {
	e := newEngine(t)
	dir, tab := images(t, 6)
	out := filepath.Join(dir, "out.parquet")
	res, err := run1(t, e, counts(datasets.CSV(tab)), client.Request{Save: out, Counts: true})
	if err != nil || res.Frame != nil || res.Rows != 6 {
		t.Fatal(res, err)
	}
	saved := must.Get(parquet.Read(out, parquet.Options{}))(t)
	must.Equal(t, table.NameList(saved.Frame.Specs()), "id, image, region, full, size", "saved columns")
	rec, err := e.Store.Record(res.Record)
	if err != nil || rec.Saved != out {
		t.Fatal(rec, err)
	}
	must.Equal(t, must.Get(e.Verify(context.Background(), rec, nil))(t), rec.Result, "verify")
	must.Write(t, filepath.Join(dir, "img", "0.png"), "another image")
	digest, err := e.Verify(context.Background(), rec, nil)
	must.True(t, err == nil && digest != rec.Result, "verify saw no difference: %s, %v", digest, err)
}

func TestScoreIsKept(t *testing.T) {
	e := newEngine(t)
	rows := func(shift float32) datasets.Table {
		var out []map[string]any
		for i := range 20 {
			out = append(out, map[string]any{"id": fmt.Sprint(i), "region": "n",
				"full": []float32{float32(i%5) + shift, float32(i / 5)}})
		}
		return datasets.FromRows(out)
	}
	plan := disparity.PrecisionCoverage(metrics.Sets{Real: rows(0), Generated: rows(0.25)},
		disparity.PrecisionCoverageOptions{By: metrics.By("region")})
	first := must.Get(run1(t, e, plan, client.Request{}))(t)
	second, err := run1(t, e, plan, client.Request{})
	if err != nil || second.Record != first.Record || first.Record == "" {
		t.Fatal(first, second, err)
	}
	p := first.Frame.Numbers("precision")
	must.True(t, len(p) == 1 && p[0] > 0 && p[0] <= 1, "precision %v", p)
	rec := must.Get(e.Store.Record(first.Record))(t)
	must.Equal(t, must.Get(e.Verify(context.Background(), rec, nil))(t), rec.Result, "verify")
	rec.Plan.Inputs[0] = &table.Plan{Op: "score", Inputs: slices.Clone(rec.Plan.Inputs[:1])} // of another build
	_, err = e.Verify(t.Context(), rec, nil)
	must.Is(err)(t, ErrNotVerifiable, rec.ID[:12], `"score"`) // verify with an unknown operation
}
