package datasets_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/internal/must"
)

// values is a table whose groups and summaries below are those of pandas 2.3: groupby(sort=False), describe, nunique.
var values = datasets.FromRows([]map[string]any{
	{"id": "a", "region": "x", "v": 3.5, "w": 1}, {"id": "b", "region": "y", "v": 1, "w": 2},
	{"id": "c", "region": "x", "w": 3}, {"id": "d", "region": "y", "v": 4.25, "w": 4},
	{"id": "e", "region": "x", "v": -2, "w": 5}, {"id": "f", "region": "z", "w": 6},
	{"id": "g", "region": "x", "v": 8, "w": 7}, {"id": "h", "region": "y", "v": 0.125, "w": 8},
})

func near(a, b float64) bool { return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-12 }

func TestGroupBy(t *testing.T) {
	g, nan := values.GroupBy("region"), math.NaN()
	for name, c := range map[string]struct {
		got  datasets.Table
		want []float64
	}{
		"mean":     {g.Mean("v"), []float64{3.1666666666666665, 1.7916666666666667, nan}},
		"sum":      {g.Sum("v"), []float64{9.5, 5.375, 0}},
		"min":      {g.Min("v"), []float64{-2, 0.125, nan}},
		"max":      {g.Max("v"), []float64{8, 4.25, nan}},
		"quantile": {g.Quantile("v", 0.3), []float64{1.2999999999999998, 0.65, nan}},
	} {
		f, err := c.got.Rows(t.Context())
		if err != nil || !slices.Equal(f.Texts("region"), []string{"x", "y", "z"}) ||
			!slices.EqualFunc(f.Numbers("v"), c.want, near) || !slices.Equal(f.Numbers("n"), []float64{3, 3, 0}) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	for want, wrong := range map[string]datasets.Table{
		`"nosuch"`:        g.Mean("nosuch"),
		"between 0 and 1": g.Quantile("v", 1.5),
		"not a number":    values.GroupBy("region").Mean("id"),
		"occur twice":     values.Rename("v", "n").GroupBy("region").Mean("n"),
	} {
		must.Fail(wrong.Rows(t.Context()))(t, want)
	}
	must.EqualSlices(t, must.Get(values.GroupBy().Mean("w").Rows(t.Context()))(t).Numbers("w"), []float64{4.5},
		"without columns")
}

func TestDescribe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.csv")
	_ = must.Get(values.SaveE(t.Context(), path))(t)
	for name, tab := range map[string]datasets.Table{"rows": values, "file": datasets.CSV(path)} {
		f := must.Get(tab.Describe().Rows(t.Context()))(t)
		want := map[string][4]float64{"n": {8, 8, 6, 8}, "missing": {0, 0, 2, 0}, "unique": {8, 3, 6, 8},
			"mean": {math.NaN(), math.NaN(), 2.4791666666666665, 4.5},
			"sd":   {math.NaN(), math.NaN(), 3.5341341466711, 2.449489742783178},
			"min":  {math.NaN(), math.NaN(), -2, 1}, "q25": {math.NaN(), math.NaN(), 0.34375, 2.75},
			"median": {math.NaN(), math.NaN(), 2.25, 4.5}, "q75": {math.NaN(), math.NaN(), 4.0625, 6.25},
			"max": {math.NaN(), math.NaN(), 8, 8}}
		must.EqualSlices(t, f.Texts("column"), []string{"id", "region", "v", "w"}, name)
		must.EqualSlices(t, f.Texts("kind"), []string{"text", "text", "number", "number"}, name)
		for column, numbers := range want {
			if got := f.Numbers(column); !slices.EqualFunc(got, numbers[:], near) {
				t.Errorf("%s: %s: %v, want %v", name, column, got, numbers)
			}
		}
	}
}

// grays is a table of images of one gray each; two are the same file.
func grays(t testing.TB) datasets.Table {
	dir := t.TempDir()
	var rows []map[string]any
	for i, v := range []uint8{10, 200, 10, 90} {
		img := image.NewGray(image.Rect(0, 0, 4, 3))
		for p := range img.Pix {
			img.Pix[p] = v
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.png", i))
		f, err := os.Create(path)
		if err == nil {
			err = png.Encode(f, img)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, map[string]any{"id": string(rune('a' + i)), "image": path})
	}
	path := filepath.Join(dir, "t.csv")
	var b strings.Builder
	b.WriteString("id,image\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%s,%s\n", r["id"], filepath.Base(r["image"].(string)))
	}
	b.WriteString("none,\n")
	must.Do(t, os.WriteFile(path, []byte(b.String()), 0o644))
	return datasets.CSV(path)
}

var calls atomic.Int64

func corner(img image.Image) float64 {
	calls.Add(1)
	return float64(color.GrayModel.Convert(img.At(0, 0)).(color.Gray).Y)
}

// Values are stored by image: equal images and later runs compute nothing.
func TestApplyImage(t *testing.T) {
	t.Setenv("ANTIPODE_HOME", t.TempDir())
	calls.Store(0)
	tab := grays(t)
	want := []float64{10, 200, 10, 90, math.NaN()}
	for run, computed := range []int64{3, 0} { // equal images are one, and the second run computes nothing
		f, err := tab.ApplyImage("corner", corner).Rows(t.Context())
		if err != nil || !slices.EqualFunc(f.Numbers("corner"), want, near) {
			t.Fatalf("%v, %v", f, err)
		}
		must.Equal(t, calls.Swap(0), computed, "run", run, "calls")
	}
	kept, _ := filepath.Glob(filepath.Join(os.Getenv("ANTIPODE_HOME"), "kept", "image-values-*.txt"))
	if len(kept) != 1 {
		t.Fatal(kept)
	}
	// A line that was cut off is computed again.
	text := must.Get(os.ReadFile(kept[0]))(t)
	before := calls.Load()
	must.Do(t, os.WriteFile(kept[0], text[:len(text)-2], 0o600))
	f, err := tab.ApplyImage("corner", corner).Rows(t.Context())
	if err != nil || !slices.EqualFunc(f.Numbers("corner"), want, near) || calls.Load() != before+1 {
		t.Errorf("%v, %v, %d calls more", f, err, calls.Load()-before)
	}
	// A function of another source is another one, whose values replace those that were not used for a day.
	old := time.Now().Add(-25 * time.Hour)
	must.Do(t, os.Chtimes(kept[0], old, old))
	f, err = tab.ApplyImage("corner", func(image.Image) float64 { return 1 }).Rows(t.Context())
	if err != nil || !slices.EqualFunc(f.Numbers("corner"), []float64{1, 1, 1, 1, math.NaN()}, near) {
		t.Errorf("%v, %v", f, err)
	}
	must.Fail(os.Stat(kept[0]))(t) // the values of the function before are gone
}

func TestApplyErrors(t *testing.T) {
	t.Setenv("ANTIPODE_HOME", t.TempDir())
	cut := filepath.Join(t.TempDir(), "t.csv")
	must.Do(t, os.WriteFile(cut, []byte("id,image\na,a.png\n"), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(cut), "a.png"), []byte("\x89PNG\r\n"), 0o644))
	for want, tab := range map[string]datasets.Table{
		`no such column: "nosuch"`: values.Apply("x", func(r datasets.Row) float64 { return r.Number("nosuch") }),
		`id "`:                     values.Apply("x", func(datasets.Row) float64 { panic("own") }),
		"panicked: own":            values.Apply("x", func(datasets.Row) float64 { panic("own") }),
		"another name":             values.Apply("id", func(datasets.Row) float64 { return 0 }),
		`"image"`:                  values.ApplyImage("x", corner),
		"a.png":                    datasets.CSV(cut).ApplyImage("x", corner),
	} {
		must.Fail(tab.Rows(t.Context()))(t, want)
	}
	ctx, stop := context.WithCancel(t.Context())
	started := make(chan bool, 64)
	go func() { <-started; stop() }()
	must.Fail(values.Apply("x", func(datasets.Row) float64 {
		started <- true
		time.Sleep(20 * time.Millisecond)
		return 0
	}).Rows(ctx))(t) // an interrupted run
}

// A column of a function is one like any other: verbs read it, and it is computed in the order of the rows.
func TestApplyInAPlan(t *testing.T) {
	double := values.Apply("twice", func(r datasets.Row) float64 { return 2 * r.Number("w") })
	f, err := double.Where("twice", ">", 8).Apply("sum", func(r datasets.Row) float64 {
		return r.Number("twice") + float64(len(r.Text("id"))+len(r.Vector("none")))
	}).Sort("twice").Rows(t.Context())
	must.Fail(err)(t, `"none"`)
	f = must.Get(double.Where("twice", ">", 8).Concat(double.Head(1)).SortDown("twice").Rows(t.Context()))(t)
	must.EqualSlices(t, f.Numbers("twice"), []float64{16, 14, 12, 10, 2})
	plan, err := double.Plan()
	if err != nil || plan.Local == nil {
		t.Fatalf("%v, %v", plan, err)
	}
	again, err := plan.Resolved(t.Context())
	if err != nil || again.Local != nil || len(again.Args) == 0 {
		t.Errorf("%v, %v", again, err)
	}
}

func ExampleTable_GroupBy() {
	images.GroupBy("region").Mean("score").Print()
	// Output:
	// region  score  n
	// north   0.375  2
	// south       1  1
}

func ExampleTable_Unique() {
	images.Unique("scene").Print()
	// Output:
	// scene
	// indoor
	// street
}

func ExampleTable_Describe() {
	images.Describe().Select("column", "kind", "n", "missing", "unique", "mean").Print()
	// Output:
	// column  kind    n  missing  unique      mean
	// id      text    4        0       4
	// region  text    4        0       2
	// scene   text    4        0       2
	// score   number  3        1       3  0.583333
}

func ExampleTable_Apply() {
	percent := images.Apply("percent", func(r datasets.Row) float64 { return 100 * r.Number("score") })
	percent.Select("id", "percent").Head(2).Print()
	fmt.Println(percent.Len(), "rows")
	// Output:
	// id  percent
	// a        50
	// b        25
	// 4 rows
}

func ExampleTable_ApplyImage() {
	photos := datasets.Folder("testdata/images")
	width := photos.ApplyImage("width", func(img image.Image) float64 { return float64(img.Bounds().Dx()) })
	width.Select("id", "width").Head(2).Print()
	for id, img := range photos.Head(1).Images() {
		fmt.Println(id, img.Bounds().Dy())
	}
	// Output:
	// id           width
	// north/1.png      1
	// south/1.png      1
	// north/1.png 1
}

// TestApplyConverts: a column that is read as another kind is converted once.
func TestApplyConverts(t *testing.T) {
	const n = 300
	rows := make([]map[string]any, n)
	for i := range rows {
		rows[i] = map[string]any{"id": fmt.Sprint(i), "year": 1900.5 + float64(i)}
	}
	years := datasets.FromRows(rows).Apply("length",
		func(r datasets.Row) float64 { return float64(len(r.Text("year"))) })
	if made := testing.AllocsPerRun(1, func() { must.Get(years.Rows(t.Context()))(t) }); made > 100*n {
		t.Errorf("%v allocations for %d rows", made, n)
	}
}
