package segment

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/stagetest"
	"antipode/test/testbackend"
)

// model and seer are the small random models that tools/pyref/clipseg.py and clipseg_stage.py make.
var (
	model, _ = filepath.Abs("../../clipseg/testdata/refined")
	seer, _  = filepath.Abs("testdata/clip")
)

// env shares the loaded models between the tests.
func env(t *testing.T) stagetest.Env { return stagetest.SharedEnv(t, testbackend.Any(t)) }

func start(t *testing.T, a gomlxmodels.SegmentArgs) *stage.Opened {
	t.Helper()
	return stagetest.Start(t, env(t), gomlxmodels.SegmentOp, a)
}

func defaults() gomlxmodels.SegmentArgs {
	return gomlxmodels.SegmentArgs{Model: model, SegmentOptions: gomlxmodels.SegmentOptions{Text: "object",
		Template: "%s", Separator: "|", Threshold: 0.5, Components: "all"}}
}

// row is one row of a table with the given columns of text and an image.
func row(file string, texts map[string]string) stage.Row {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"})}}
	img := table.Image{}
	if file != "" {
		data, _ := os.ReadFile(file) // missing in some tests
		img = table.Image{Path: file, SHA256: stagetest.Digest(data)}
	}
	f = f.With(table.ImageColumn("image", []table.Image{img}))
	for name, v := range texts {
		f = f.With(table.TextColumn(name, []string{v}))
	}
	return stage.Row{Frame: f}
}

func testFile(name string) string { return filepath.Join("testdata", name) }

// result runs rows and gives their values by column.
func result(t *testing.T, w *stage.Opened, rows ...stage.Row) []map[string]table.Value {
	t.Helper()
	must.Do(t, w.Load(t.Context()))
	var out []map[string]table.Value
	for _, v := range stagetest.Compute(t.Context(), t, w, rows...) {
		named := map[string]table.Value{}
		for i, c := range w.Outputs(nil) {
			named[c.Name] = v[i]
		}
		out = append(out, named)
	}
	return out
}

func TestEqualReference(t *testing.T) {
	text := must.Get(os.ReadFile(testFile("expected.json")))(t)
	var cases []struct {
		Image, Object, Mask    string
		Size                   [2]int
		Threshold, Score, Area float64
		Presence               float64
		Regions                []int
	}
	must.Do(t, json.Unmarshal(text, &cases))
	if len(cases) < 12 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		a := defaults()
		a.Template, a.Threshold, a.Presence = "a photo of a %s", c.Threshold, seer
		r := row(testFile(c.Image), map[string]string{"object": c.Object})
		got := result(t, start(t, a), r)[0]
		what := fmt.Sprintf("%s, %.10s, threshold %g", c.Image, c.Object, c.Threshold)
		must.Equal(t, got["mask"].Mask, (table.Mask{Size: c.Size, Counts: c.Mask}), what,
			"another mask than the reference's (size")
		must.Near(t, got["mask_score"].Number, c.Score, 1e-5, what, "score")
		must.Near(t, got["mask_area"].Number, c.Area, 1e-12, what, "area")
		must.Near(t, got["presence"].Number, c.Presence, 1e-5, what, "presence")
		must.Equal(t, got["mask_components"].Number, float64(len(c.Regions)), what, "regions")
		must.Equal(t, got["outcome"].Text, "ok", what)
		must.Equal(t, got["reason"].Text, "", what)
		// the rules for regions
		pixels := float64(c.Size[0] * c.Size[1])
		a.Components = "largest"
		got = result(t, start(t, a), r)[0]
		if n, err := mask.Area(got["mask"].Mask); err != nil || n != c.Regions[0] ||
			got["mask_area"].Number != float64(n)/pixels || got["mask_components"].Number != float64(len(c.Regions)) {
			t.Errorf("%s: the largest region has %d pixels (%v), want %d", what, n, err, c.Regions[0])
		}
		a.Components = fmt.Sprintf("above %.9f", 14.5/pixels)
		want := 0
		for _, n := range c.Regions {
			if n >= 15 {
				want += n
			}
		}
		must.Equal(t, must.Get(mask.Area(result(t, start(t, a), r)[0]["mask"].Mask))(t), want, what,
			"regions of 15 pixels and more have", "pixels together")
	}
}

// TestRows: what a row gets depends on it alone, and rows without an image keep their outcome.
func TestRows(t *testing.T) {
	a := defaults()
	a.Presence = seer
	w := start(t, a)
	files := []string{"rgb-61x40.png", "alpha-33x70.png", "grey-48x48.png", "rgb-20x130.png"}
	var rows []stage.Row
	for i := range 7 {
		rows = append(rows, row(testFile(files[i%4]),
			map[string]string{"object": []string{"cat", "dog|cat", " sea | ", strings.Repeat("long words ", 500),
				"<|endoftext|>", "\xff\x00\n"}[i%6]}))
	}
	refused := row("", map[string]string{"object": "", "outcome": "refused", "reason": "policy"})
	rows = slices.Insert(rows, 2, refused)
	all := result(t, w, rows...)
	for i, r := range rows {
		one := result(t, w, r)[0]
		must.Equal(t, fmt.Sprint(one), fmt.Sprint(all[i]), "row", i, "its result depends on its neighbors")
	}
	if got := all[2]; got["outcome"].Text != "refused" || got["reason"].Text != "policy" ||
		got["mask"].Mask.Counts != "" || !math.IsNaN(got["mask_score"].Number) ||
		!math.IsNaN(got["mask_area"].Number) || !math.IsNaN(got["presence"].Number) {
		t.Errorf("a refused row: %v", got)
	}
	keys := map[string]bool{w.Key(rows[0]): true}
	for _, r := range []stage.Row{
		row(testFile(files[0]), map[string]string{"object": "dog"}),
		row(testFile(files[1]), map[string]string{"object": "cat"}),
		row(testFile(files[0]), map[string]string{"object": "cat", "outcome": "failed"}),
		row(testFile(files[0]), map[string]string{"object": "cat", "reason": "x"}),
	} {
		if keys[w.Key(r)] {
			t.Error("two different rows have one key")
		}
		keys[w.Key(r)] = true
	}
}

func TestOutcomes(t *testing.T) {
	file := testFile("rgb-61x40.png")
	never, tiny := defaults(), defaults()
	never.Threshold = 0.999999999999
	tiny.Threshold, tiny.Components = 0.7, "above 0.9"
	for _, c := range []struct {
		args             gomlxmodels.SegmentArgs
		before, reason   string
		outcome, because string
	}{
		{defaults(), "", "", "ok", ""},
		{defaults(), "unmasked", "earlier", "ok", ""},
		{defaults(), "failed", "disk", "failed", "disk"},
		{never, "", "", "unmasked", `"cat" is not found: the highest probability is `},
		{never, "ok", "", "unmasked", "the threshold 0.999999999999"},
		{never, "refused", "policy", "refused", "policy"},
		{tiny, "", "", "unmasked", `no region of "cat" covers 0.9 of the image; the largest covers `},
	} {
		got := result(t, start(t, c.args),
			row(file, map[string]string{"object": "cat", "outcome": c.before, "reason": c.reason}))[0]
		if got["outcome"].Text != c.outcome || !strings.Contains(got["reason"].Text, c.because) || c.because == "" &&
			got["reason"].Text != "" {
			t.Errorf("%v after %q: outcome %q, reason %q", c.args, c.before, got["outcome"].Text, got["reason"].Text)
		}
		if none := got["mask"].Mask == (table.Mask{}); none != (c.args.Threshold > 0.5) || none &&
			(!math.IsNaN(got["mask_score"].Number) || got["mask_area"].Number != 0) {
			t.Errorf("%v: mask %v, score %v, area %v", c.args, got["mask"].Mask, got["mask_score"].Number,
				got["mask_area"].Number)
		}
	}
}

func TestBadRows(t *testing.T) {
	w := start(t, defaults())
	broken := filepath.Join(t.TempDir(), "broken.png")
	must.Do(t, os.WriteFile(broken, []byte("no image"), 0o644))
	for _, c := range []struct {
		r            stage.Row
		column, want string
	}{
		{row("", map[string]string{"object": "cat"}), "image", "the row has no image"},
		{row("", map[string]string{"object": "cat", "outcome": "unmasked"}), "image", "the row has no image"},
		{row(testFile("none.png"), map[string]string{"object": "cat"}), "image", "none.png cannot be read"},
		{row(broken, map[string]string{"object": "cat"}), "image", "broken.png"},
		{row(testFile("rgb-61x40.png"), map[string]string{"object": ""}), "object", "names no object"},
		{row(testFile("rgb-61x40.png"), map[string]string{"object": " | \n"}), "object", "names no object"},
	} {
		if column, err := w.Rows(1).Prepare(t.Context(), 0, c.r); err == nil || column != c.column ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("column %q, %v, want %q, %s", column, err, c.column, c.want)
		}
	}
}

func TestOpen(t *testing.T) {
	digests := map[string]bool{}
	for _, change := range []func(*gomlxmodels.SegmentArgs){
		func(*gomlxmodels.SegmentArgs) {}, func(a *gomlxmodels.SegmentArgs) { a.Threshold = 0.6 },
		func(a *gomlxmodels.SegmentArgs) { a.Components = "largest" },
		func(a *gomlxmodels.SegmentArgs) { a.Template = "a %s" }, func(a *gomlxmodels.SegmentArgs) { a.Separator = "" },
		func(a *gomlxmodels.SegmentArgs) { a.Presence = seer },
	} {
		a := defaults()
		change(&a)
		digests[start(t, a).Digest()] = true
	}
	must.Equal(t, len(digests), 6, "digests for six settings")
	w := start(t, defaults())
	columns := []table.ColumnSpec{{Name: "id", Kind: table.KindText}, {Name: "image", Kind: table.KindImage},
		{Name: "object", Kind: table.KindVector}}
	must.Fail(w.Check(columns))(t, `segment needs the column "object" (text)`) // an object that is a vector
	columns[2].Kind = table.KindText
	must.Do(t, w.Check(columns))
	spoil := func(name, text string) gomlxmodels.SegmentArgs {
		a := defaults()
		a.Model = t.TempDir()
		must.Do(t, os.CopyFS(a.Model, os.DirFS(model)))
		must.Do(t, os.Remove(filepath.Join(a.Model, name)))
		if text != "" {
			must.Do(t, os.WriteFile(filepath.Join(a.Model, name), []byte(text), 0o644))
		}
		return a
	}
	config := must.Get(os.ReadFile(filepath.Join(model, "config.json")))(t)
	for _, c := range []struct {
		a    gomlxmodels.SegmentArgs
		want string
	}{
		{spoil("tokenizer.json", ""), "tokenizer"},
		{spoil("model.safetensors", ""), "safetensors"},
		{spoil("config.json", strings.Replace(string(config), `"eos_token_id": 2`, `"eos_token_id": 7`, 1)),
			"they are of two models"},
		{func() gomlxmodels.SegmentArgs { a := defaults(); a.Components = "few"; return a }(), `components "few"`},
		{func() gomlxmodels.SegmentArgs { a := defaults(); a.Presence = model; return a }(), "is not a CLIPModel"},
	} {
		must.Fail(stagetest.Open(t, env(t), gomlxmodels.SegmentOp, c.a))(t, c.want)
	}
}

func TestRegions(t *testing.T) {
	b := mask.New(5, 4)
	for i, c := range "##..." + "..#.." + "....#" + "#...." {
		b.Pix[i] = c == '#'
	}
	if count, most := keep(b, false, 2); count != 3 || most != 3 || b.Area() != 3 || !b.At(2, 1) || b.At(4, 2) {
		t.Errorf("two pixels and more: %d, %d, %v", count, most, b.Pix)
	}
	empty := mask.New(3, 3)
	if count, most := keep(empty, true, 0); count != 0 || most != 0 || empty.Area() != 0 {
		t.Errorf("an empty mask: %d, %d", count, most)
	}
}

// TestRegionsEqualFlood compares random masks with a flood fill.
func TestRegionsEqualFlood(t *testing.T) {
	r := near.Rand(t, 2)
	for range 300 {
		b := mask.New(1+r.IntN(12), 1+r.IntN(12))
		share := r.Float64()
		for i := range b.Pix {
			b.Pix[i] = r.Float64() < share
		}
		left := mask.Bitmap{Width: b.Width, Height: b.Height, Pix: slices.Clone(b.Pix)}
		var fill func(x, y int) []int
		fill = func(x, y int) (region []int) {
			if !left.At(x, y) {
				return nil
			}
			left.Set(x, y, false)
			region = []int{y*b.Width + x}
			for d := range 9 {
				region = append(region, fill(x+d%3-1, y+d/3-1)...)
			}
			return region
		}
		var best []int
		count := 0
		for i := range left.Pix {
			if region := fill(i%b.Width, i/b.Width); region != nil {
				count++
				if len(region) > len(best) {
					best = region
				}
			}
		}
		want := make([]bool, len(b.Pix))
		for _, i := range best {
			want[i] = true
		}
		before := fmt.Sprint(b)
		if n, most := keep(b, true, 0); n != count || most != len(best) || !slices.Equal(b.Pix, want) {
			t.Fatalf("%d regions, the largest of %d; want %d and %d; %s", n, most, count, len(best), before)
		}
	}
}

// TestReadings counts the images in which nothing was found; a run prints it where they are most of a group.
func TestReadings(t *testing.T) {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c", "d"}),
		table.TextColumn("region", []string{"North", "North", "South", "South"}),
		table.TextColumn("outcome", []string{"unmasked", "ok", "ok", "refused"}),
		table.TextColumn("reason", []string{"no pixel", "", "", ""})}}
	w := &worker{name: "m"}
	x := w.Readings(f)[0]
	if want := "segment m: 1 of 3 unmasked (region: North 1 of 2); no pixel"; x.Line() != want || x.Noted() {
		t.Errorf("%q, printed: %v", x.Line(), x.Noted())
	}
	f.Columns[2].Texts[1] = "unmasked"
	if x := w.Readings(f)[0]; !x.Noted() {
		t.Errorf("%q is not printed", x.Line())
	}
}

// TestPrecision: in bfloat16 numbers and digest differ, the numbers a little; in float32, named or not, none does.
func TestPrecision(t *testing.T) {
	args := func(precision string) gomlxmodels.SegmentArgs {
		a := defaults()
		a.Precision = precision
		return a
	}
	rows := row(testFile("rgb-61x40.png"), map[string]string{"object": "cat"})
	of := func(a gomlxmodels.SegmentArgs) (string, map[string]table.Value) {
		w := stagetest.Start(t, stagetest.SharedEnv(t, testbackend.QuickXLA(t)), gomlxmodels.SegmentOp, a)
		return w.Digest(), result(t, w, rows)[0]
	}
	plain, exact := of(args(""))
	named, _ := of(args("float32"))
	other, rounded := of(args("bfloat16"))
	must.Equal(t, named, plain)
	if other == plain {
		t.Errorf("digest %s in both", plain)
	}
	a, b := exact["mask_score"].Number, rounded["mask_score"].Number
	if a == b || math.Abs(a-b) > 0.02 {
		t.Errorf("mask scores %v and %v", a, b)
	}
	near.Check(t, "area", []float64{rounded["mask_area"].Number}, []float64{exact["mask_area"].Number}, 0, 0.02)
}
