package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// made is a stage that makes an image, a mask, a caption, a number and vectors of a prompt. Prompts that begin with bad
// are bad rows; the results of those that begin with late are not stored.
type made struct{ counted }

var madeColumns = datasets.Columns("image:image", "mask:mask", "caption:text", "area:number", "full:vector")

// onKey is called with the number of calls of made.Key so far.
var (
	onKey    atomic.Pointer[func(n int64)]
	keyCalls atomic.Int64
)

func (made) Digest() string { return "made" }
func (made) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return madeColumns
}
func (made) Key(r stage.Row) string {
	if f := onKey.Load(); f != nil {
		(*f)(keyCalls.Add(1))
	}
	return r.Text("prompt")
}
func (made) Batch() int { return 1500 }
func (made) Prepare(_ context.Context, r stage.Row) (string, string, error) {
	if prompt := r.Text("prompt"); strings.HasPrefix(prompt, "bad") {
		return "", "prompt", errors.New("a bad prompt")
	}
	return r.Text("prompt"), "", nil
}

func (m made) Compute(_ context.Context, in []string) ([][]table.Value, error) {
	out := make([][]table.Value, len(in))
	for i, prompt := range in {
		n := len(prompt)
		v := []table.Value{{}, {Mask: table.Mask{Size: [2]int{n, 3}, Counts: "0" + fmt.Sprint(n%8)}},
			{Text: "caption of " + prompt}, {Number: float64(n)}, {Vector: []float32{float32(n), float32(prompt[n-1])}}}
		if strings.HasSuffix(prompt, "7") {
			v[1].Mask, v[4].Vector = table.Mask{}, nil
		}
		if slices.Contains([]string{"p199", "p2699", "p5199", "p7699"}, prompt) { // copied next to the table
			var b bytes.Buffer
			if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, n, int(prompt[1])))); err != nil {
				return nil, err
			}
			var err error
			if v[0].Image, err = m.env.PutBlob(b.Bytes(), ".png"); err != nil {
				return nil, err
			}
		}
		out[i] = v
	}
	return out, nil
}

func (made) Keep(values []table.Value) bool {
	return !strings.HasPrefix(values[2].Text, "caption of late")
}

// read is a stage that depends on what [made] makes.
type read struct{ made }

func (read) Label() string  { return "read" }
func (read) Digest() string { return "read" }
func (read) Batch() int     { return 4000 }
func (read) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns("text:vector", "words:number")
}
func (read) Key(r stage.Row) string {
	return r.Image("image").SHA256 + " " + r.Mask("mask").Counts + " " + r.Text("caption")
}
func (read) Prepare(_ context.Context, r stage.Row) (string, string, error) {
	if strings.HasSuffix(r.Text("caption"), "14") {
		return "", "caption", errors.New("a bad caption")
	}
	return read{}.Key(r), "", nil
}
func (read) Compute(_ context.Context, in []string) ([][]table.Value, error) {
	out := make([][]table.Value, len(in))
	for i, p := range in {
		out[i] = []table.Value{{Vector: []float32{float32(len(p)), 1}}, {Number: float64(len(p))}}
	}
	return out, nil
}
func (read) Keep([]table.Value) bool { return true }

func init() {
	register("made", func(base counted) stage.Worker[string] { return made{base} })
	register("read", func(base counted) stage.Worker[string] { return read{made{base}} })
}

func makes(t datasets.Table) datasets.Table {
	return datasets.Extend(t).Derive("made", nil, madeColumns...).Table
}

func reads2(t datasets.Table) datasets.Table {
	return datasets.Extend(t).Derive("read", nil, read{}.Outputs(nil)...).Table
}

// prompts writes a table of n rows with prompts; some of them several times, and with marked some bad and some late.
func prompts(t *testing.T, n int, marked bool) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,prompt,group\n")
	for i := range n {
		prompt := fmt.Sprintf("p%d", i)
		switch {
		case i%10 == 3:
			prompt = fmt.Sprintf("p%d", i/2) // again
		case marked && i%500 == 1:
			prompt = fmt.Sprintf("bad%d", i%1000) // some again
		case marked && i%500 == 2:
			prompt = fmt.Sprintf("late%d", i)
		}
		fmt.Fprintf(&b, "i%d,%s,%s\n", i, prompt, []string{"north", "south", "west"}[i%3])
	}
	return must.Write(t, filepath.Join(t.TempDir(), "t.csv"), b.String())
}

// outcome is all that a run returns and leaves, in a form that can be compared.
type outcome struct {
	Err      string
	Result   client.Result
	Record   *store.Record
	Progress []table.Progress
	Files    map[string]string // their contents, by path
}

// saves runs a plan that is saved, and returns what it returns and leaves in its folder.
func saves(t *testing.T, e *Engine, ctx context.Context, tab datasets.Table, req client.Request,
	ext string) (o outcome) {
	t.Helper()
	req.Plan = must.Get(tab.Plan())(t)
	dir := t.TempDir()
	req.Save = filepath.Join(dir, "out"+ext)
	res, err := e.Run(ctx, req, func(p table.Progress) {
		p.Rate = 0
		if req.SkipBad { // a bad row is counted when it is found, which another batch's report may precede
			p.Done = 0
		}
		for i := range p.Samples {
			p.Samples[i].Image.Path = filepath.Base(p.Samples[i].Image.Path)
		}
		o.Progress = append(o.Progress, p)
	})
	if err != nil {
		o.Err = strings.ReplaceAll(err.Error(), dir, "DIR")
	} else {
		o.Result = *res
		o.Record = must.Get(e.Store.Record(res.Record))(t)
		o.Result.Frame, o.Result.Record = nil, ""
		o.Record.ID, o.Record.Saved, o.Record.Finished = "", "", o.Record.Finished.AddDate(-3000, 0, 0).Truncate(1e18)
	}
	o.Files = map[string]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		o.Files[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestStreamed saves tables part by part and as a whole, into stores without items and with all of them: files, images,
// records, counts, bad rows, errors and progress are the same.
func TestStreamed(t *testing.T) {
	for _, test := range []struct {
		name   string
		rows   []int
		marked bool
		parts  bool // the plan is evaluated part by part
		plan   func(rows datasets.Table) datasets.Table
		req    client.Request
		err    string
	}{
		{name: "one stage", rows: []int{0, 1, 4096, 4097}, parts: true, plan: makes},
		{name: "two stages, verbs above and between", rows: []int{9000}, parts: true, marked: true,
			req: client.Request{SkipBad: true, AllColumns: true}, plan: func(rows datasets.Table) datasets.Table {
				return reads2(makes(rows).Where("group", "!=", "west").With("kind", "x").SeedBy("caption")).
					Rename("caption", "said").RemovePrefix("said", "caption of").Where("words", ">", 3)
			}},
		{name: "no ids", rows: []int{5300}, parts: true, plan: func(rows datasets.Table) datasets.Table {
			return makes(rows.Select("prompt", "group"))
		}},
		{name: "the first bad row", rows: []int{4097}, parts: true, marked: true, plan: makes, err: "a bad prompt"},
		{name: "columns", rows: []int{300}, parts: true, req: client.Request{Columns: []string{"full", "group"}},
			plan: makes},
		{name: "no such column", rows: []int{300}, parts: true, req: client.Request{Columns: []string{"none"}},
			plan: makes, err: "no such column"},
		{name: "no row is left", rows: []int{300}, parts: true, plan: func(rows datasets.Table) datasets.Table {
			return makes(rows).Where("caption", "==", "none")
		}},
		{name: "a text of part 2", rows: []int{5000}, parts: true, plan: func(rows datasets.Table) datasets.Table {
			return makes(rows).Where("caption", "==", "caption of p4990").Where("group", "==", "South")
		}},
		{name: "no number", rows: []int{5000}, parts: true, plan: func(rows datasets.Table) datasets.Table {
			last := rows.Head(1).With("id", "last").With("prompt", "x")
			return makes(rows.Concat(last)).RemovePrefix("caption", "caption of p").Where("caption", "<", 3)
		}, err: "row 5001"},
		{name: "a verb fails", rows: []int{300}, parts: true, plan: func(rows datasets.Table) datasets.Table {
			return datasets.Extend(makes(rows)).Derive("rename", datasets.RenameArgs{From: "none", To: "x"}).Table
		}, err: "no such column"},
		{name: "several rows of a row", rows: []int{2500}, parts: true, plan: func(rows datasets.Table) datasets.Table {
			return reads2(makes(rows).Repeat(3, "of", 1))
		}, req: client.Request{SkipBad: true}},
		{name: "sorted below", rows: []int{500}, parts: true, plan: func(rows datasets.Table) datasets.Table {
			return reads2(makes(rows).Sort("caption").Head(300))
		}, req: client.Request{SkipBad: true}},
		{name: "sorted", rows: []int{500}, plan: func(rows datasets.Table) datasets.Table {
			return makes(rows).Sort("caption")
		}},
		{name: "no stage", rows: []int{500}, plan: func(rows datasets.Table) datasets.Table {
			return rows.Where("group", "==", "west")
		}},
	} {
		for _, n := range test.rows {
			t.Run(fmt.Sprintf("%s, %d rows", test.name, n), func(t *testing.T) {
				tab := test.plan(datasets.CSV(prompts(t, n, test.marked)))
				extensions := []string{".parquet", ".csv"}
				if n > 4097 {
					extensions = extensions[:1]
				}
				for _, ext := range extensions {
					streaming, whole := newEngine(t), newEngine(t)
					for _, state := range []string{"computed", "found"} {
						req := test.req
						req.Counts = true
						got := saves(t, streaming, t.Context(), tab, req, ext)
						req.Counts = false
						want := saves(t, whole, t.Context(), tab, req, ext)
						diff := cmp.Diff(want, got)
						must.True(t, diff == "", "%s, %s: whole − parts +\n%.3000s", ext, state, diff)
						must.True(t, strings.Contains(got.Err, test.err) && (got.Err == "") == (test.err == ""),
							"error %q, want %q", got.Err, test.err)
						must.True(t, test.err == "" || len(got.Files) == 0,
							"a run that fails leaves %d files", len(got.Files))
					}
				}
				plan := must.Get(tab.Plan())(t)
				saved := client.Request{Plan: plan, Save: "out.csv", Counts: true}
				r := newEngine(t).newRun(t.Context(), saved, nil, nil)
				if parts := r.streamed() != nil; parts != test.parts {
					t.Errorf("part by part: %v, want %v", parts, test.parts)
				}
			})
		}
	}
}

// TestStreamedAfterDamage: items and images that are damaged or lost are computed again, and the file is the same.
func TestStreamedAfterDamage(t *testing.T) {
	tab := makes(datasets.CSV(prompts(t, 5000, false)))
	e := newEngine(t)
	want := saves(t, e, t.Context(), tab, client.Request{Counts: true}, ".parquet")
	if want.Err != "" {
		t.Fatal(want.Err)
	}
	packs, _ := filepath.Glob(filepath.Join(e.Store.Dir(), "items", "made-v1", "*", "*.pack"))
	for _, pack := range packs {
		data := must.Get(os.ReadFile(pack))(t)
		if at := bytes.Index(data, []byte("caption of p4321")); at >= 0 {
			data[at+12] ^= 1
			must.Write(t, pack, string(data))
		}
	}
	blobs, _ := filepath.Glob(filepath.Join(e.Store.Dir(), "blobs", "*", "*.png"))
	must.Do(t, os.Remove(blobs[0]))
	must.Write(t, blobs[1], "damaged")
	got := saves(t, e, t.Context(), tab, client.Request{Counts: true}, ".parquet")
	diff := cmp.Diff(want.Files, got.Files)
	must.True(t, diff == "" && got.Err == "", "%s; other files: %.500s", got.Err, diff)
	items := want.Result.Computed
	must.True(t, got.Result.Computed >= 3 && got.Result.Computed+got.Result.Found == items,
		"%d computed, %d found, want at least 3 and %d in all", got.Result.Computed, got.Result.Found, items)
	notes := strings.Join(got.Result.Notes, "\n")
	must.True(t, strings.Contains(notes, "2 damaged results in the store"), "notes %q", notes)
}

// TestStreamedInterrupted: a run that is canceled at any moment leaves no file, and another one completes it.
func TestStreamedInterrupted(t *testing.T) {
	const n = 9000
	tab := makes(datasets.CSV(prompts(t, n, false)))
	e := newEngine(t)
	want := saves(t, e, t.Context(), tab, client.Request{Counts: true}, ".parquet")
	for _, at := range []int64{1, n - 1, n + 1, n + partRows + 1, 2 * n} {
		ctx, cancel := context.WithCancel(t.Context())
		keyCalls.Store(0)
		stop := func(n int64) {
			if n == at {
				cancel()
			}
		}
		onKey.Store(&stop)
		got := saves(t, e, ctx, tab, client.Request{Counts: true}, ".parquet")
		onKey.Store(nil)
		cancel()
		if at == 2*n { // all rows are there
			must.True(t, got.Err == "" && got.Files["/out.parquet"] == want.Files["/out.parquet"],
				"canceled after the last row: %s", got.Err)
			continue
		}
		must.True(t, got.Err == context.Canceled.Error(), "canceled at key %d: error %q", at, got.Err)
		for name := range got.Files {
			must.True(t, strings.HasPrefix(name, "/out.images/"), "canceled at key %d: %s is left", at, name)
		}
	}
	got := saves(t, e, t.Context(), tab, client.Request{Counts: true}, ".parquet")
	diff := cmp.Diff(want.Files, got.Files)
	must.True(t, diff == "", "other files: %.500s", diff)
}

// TestStreamedBatches: the missing items of all parts are computed in the batches of a whole table.
func TestStreamedBatches(t *testing.T) {
	tab := makes(datasets.CSV(prompts(t, 9000, false)))
	some := makes(datasets.CSV(prompts(t, 9000, false)).Where("group", "==", "west"))
	var sizes [2][]int
	for i := range sizes {
		e := newEngine(t)
		allRows(t, e, some)
		got := saves(t, e, t.Context(), tab, client.Request{Counts: i == 0}, ".csv")
		if got.Err != "" {
			t.Fatal(got.Err)
		}
		for _, p := range got.Progress {
			sizes[i] = append(sizes[i], p.Done)
		}
	}
	must.True(t, len(sizes[0]) >= 5 && slices.Equal(sizes[0], sizes[1]),
		"%d and %d reports", len(sizes[0]), len(sizes[1]))
}
