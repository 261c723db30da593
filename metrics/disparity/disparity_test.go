package disparity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/metrics"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabulartest"
)

type ask = tabulartest.Ask

var (
	evaluate = tabulartest.Answer
	options  = tabulartest.Options
)

// cloud is a set of images around a center, in two regions and two objects.
func cloud(seed uint64, n int, shift float64) *table.Frame {
	r := rand.New(rand.NewPCG(seed, 1))
	var ids, region, object []string
	var full, objectOnly, background [][]float32
	var patches []float64
	var images []table.Image
	for i := range n {
		ids = append(ids, fmt.Sprintf("%d-%d", seed, i))
		region = append(region, []string{"north", "south"}[i%2])
		object = append(object, []string{"bag", "car"}[i/2%2])
		v := make([]float32, 8)
		for j := range v {
			v[j] = float32(r.NormFloat64() + shift*float64(i%2))
		}
		full, objectOnly, background = append(full, v), append(objectOnly, v[:4]), append(background, v[4:])
		patches = append(patches, 100)
		images = append(images, table.Image{SHA256: ids[i], Path: "/" + ids[i]})
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("region", region),
		table.TextColumn("object", object),
		table.VectorColumn("full", full), table.VectorColumn("object_only", objectOnly),
		table.VectorColumn("background_only", background),
		table.NumberColumn("object_patches", patches), table.NumberColumn("background_patches", patches),
		table.ImageColumn("image", images)}}
}

func TestPrecisionCoverageByRegion(t *testing.T) {
	real, gen := cloud(1, 200, 0), cloud(2, 200, 2)
	f, notes := must.Get2(evaluate(t, ask{Metric: "precision-coverage", By: []string{"region"}}, real, gen))(t)
	p, low, high := f.Numbers("precision"), f.Numbers("precision_low"), f.Numbers("precision_high")
	if strings.Join(f.Texts("region"), " ") != "north south" || len(notes) != 0 {
		t.Fatal(f.Texts("region"), notes)
	}
	if p[1] >= p[0]-0.3 { // the generated images of the south lie elsewhere
		t.Errorf("precision %v", p)
	}
	for i := range p {
		if !(low[i] <= p[i] && p[i] <= high[i] && low[i] < high[i]) {
			t.Errorf("interval [%v, %v] of %v", low[i], high[i], p[i])
		}
	}
	must.Equal(t, f.Numbers("n_used")[0], 100, "n_used")
	changes := must.Get(tabulartest.RunOn("compare", map[string]*table.Frame{"a": gen, "b": gen, "fixed1": real},
		map[string]string{"audit": "precision-coverage by=region resamples=20", "scores": "precision_ceiling",
			"resamples": "4"}))(t)
	must.EqualSlices(t, changes.Numbers("change"), []float64{0, 0}, "changes of a score of half-samples")
	// exchanged sets give other numbers: the two roles are not the same
	g, _, err := evaluate(t, ask{Metric: "precision-coverage", By: []string{"region"}}, gen, real)
	if err != nil || g.Numbers("coverage")[1] == f.Numbers("coverage")[1] && g.Numbers("precision")[1] == p[1] {
		t.Errorf("exchanged sets: %v %v", g, err)
	}
}

// four splits a cloud's regions in four, so that there are controls to compare.
func four(f *table.Frame) *table.Frame {
	region := make([]string, f.Len())
	for i := range region {
		if f.Texts("region")[i] == "south" {
			region[i] = []string{"south", "far south"}[i/2%2]
		} else {
			region[i] = []string{"north", "far north"}[i/2%2]
		}
	}
	return f.With(table.TextColumn("region", region))
}

func TestGapsFlagTheRegionsThatDiffer(t *testing.T) {
	f, _ := must.Get2(evaluate(t, ask{Metric: "region-gaps", By: []string{"region"},
		Options: options("against", "north,far north")}, four(cloud(1, 800, 0)), four(cloud(2, 800, 2))))(t)
	if f.Len() != 8 {
		t.Fatalf("%d rows", f.Len())
	}
	for i, region := range f.Texts("region") {
		want := map[bool]string{false: "no", true: "yes"}[strings.HasSuffix(region, "south")]
		must.Equal(t, f.Texts("flagged")[i], want, f.Texts("score")[i], "of", region, "flagged")
	}
}

// TestUnmaskedRules gives a set in which each rule of table 4.6 gives another, known number: 8 real images on a line
// (spacing 1, k = 1, radius 1), 4 generated ones in balls, 4 without a mask.
func TestUnmaskedRules(t *testing.T) {
	frame := func(n int, shift float32, masked int) *table.Frame {
		var ids []string
		var full, part [][]float32
		var patches []float64
		for i := range n {
			ids = append(ids, fmt.Sprint(i))
			full = append(full, []float32{float32(i%4) + shift + 0.1, 0})
			if i < masked {
				part, patches = append(part, []float32{float32(i) + shift, 0}), append(patches, 5)
			} else {
				part, patches = append(part, nil), append(patches, math.NaN())
			}
		}
		return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.VectorColumn("full", full),
			table.VectorColumn("object_only", part), table.VectorColumn("background_only", part),
			table.NumberColumn("object_patches", patches), table.NumberColumn("background_patches", patches)}}
	}
	real, gen := frame(8, 0, 8), frame(8, 0.25, 4)
	for name, c := range map[string]struct {
		vector, rule string
		precision    float64
		generated    float64
	}{
		"object: paper":       {"object_only", "profile", 0.5, 8},
		"object: miss":        {"object_only", "miss", 0.5, 8},
		"object: drop":        {"object_only", "drop", 1, 4},
		"background: paper":   {"background_only", "profile", 1, 8},
		"background: miss":    {"background_only", "miss", 0.5, 8},
		"background: drop":    {"background_only", "drop", 1, 4},
		"object: full-image":  {"object_only", "full-image", 1, 8},
		"object: zero-vector": {"object_only", "zero-vector", 1, 8},
	} {
		f, notes, err := evaluate(t,
			ask{Metric: "precision-coverage", Options: options("vector", c.vector, "unmasked", c.rule, "k", "1",
				"resamples", "0")}, real, gen)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		must.Equal(t, f.Numbers("precision")[0], c.precision, name, "precision")
		must.Equal(t, f.Numbers("n_generated")[0], c.generated, name)
		if f.Numbers("n_unmasked")[0] != 4 || len(notes) == 0 {
			t.Errorf("%s: n_unmasked %v, notes %v", name, f.Numbers("n_unmasked"), notes)
		}
	}
}

func TestErrorsNameTheOffendingValue(t *testing.T) {
	real, gen := cloud(1, 40, 0), cloud(2, 40, 0)
	nan := cloud(3, 40, 0)
	nan.Vectors("full")[7][2] = float32(math.NaN())
	nan.RowNumbers = slices.Repeat([]int{1, 3, 5, 7, 9, 11, 13, 15}, 5)
	for _, c := range map[string]struct {
		args      ask
		real, gen *table.Frame
		want      string
	}{
		"column": {ask{Options: options("vector", "clip_image")}, real, gen, `no such column: "clip_image"`},
		"few":    {ask{By: []string{"id"}}, real, gen, `has 1 real images`},
		"nan":    {ask{}, nan, gen, `row 15 (id "3-7")`},
		"option": {ask{Options: options("kk", "3")}, real, gen, `no option "kk"`},
		"k":      {ask{Options: options("k", "x")}, real, gen, `k: "x" is not an integer`},
		"rule":   {ask{Options: options("unmasked", "guess")}, real, gen, `it must be one of`},
		"nothing": {ask{}, &table.Frame{Columns: []table.Column{table.VectorColumn("full", nil)}},
			&table.Frame{Columns: []table.Column{table.VectorColumn("full", nil)}}, "nothing to compare"},
	} {
		c.args.Metric = "precision-coverage"
		must.Fail(evaluate(t, c.args, c.real, c.gen))(t, c.want)
	}
}

func TestNoGeneratedImages(t *testing.T) {
	f, notes := must.Get2(evaluate(t, ask{Metric: "precision-coverage"}, cloud(1, 20, 0), cloud(2, 0, 0)))(t)
	if !math.IsNaN(f.Numbers("precision")[0]) || f.Numbers("coverage")[0] != 0 || len(notes) == 0 {
		t.Errorf("precision %v, coverage %v, notes %v", f.Numbers("precision"), f.Numbers("coverage"), notes)
	}
}

// One generated image of each object: half of them may be none, which leaves the scores without intervals and gaps
// without an answer.
func TestFewGeneratedImages(t *testing.T) {
	f, notes := must.Get2(evaluate(t, ask{Metric: "precision-coverage", By: []string{"region"}}, cloud(1, 80, 0),
		cloud(2, 4, 0)))(t)
	if math.IsNaN(f.Numbers("precision")[0]) || !math.IsNaN(f.Numbers("precision_low")[0]) ||
		!strings.Contains(strings.Join(notes, " "),
			"too few images for an interval; by region: north (2 generated), "+
				"south (2 generated)") {
		t.Errorf("precision %v from %v, notes %v", f.Numbers("precision"), f.Numbers("precision_low"), notes)
	}
	must.Fail(evaluate(t, ask{Metric: "region-gaps", By: []string{"region"}}, cloud(1, 80, 0),
		cloud(2, 4, 0)))(t, "too few images for a gap") // gaps of one image each
	f, notes = must.Get2(evaluate(t, ask{Metric: "precision-coverage", Options: options("cells", "none")},
		cloud(1, 200, 0), cloud(2, 6, 0)))(t)
	must.EqualSlices(t, notes, []string{"too few images for an interval of recall (6 generated)"})
	if math.IsNaN(f.Numbers("recall")[0]) || !math.IsNaN(f.Numbers("recall_low")[0]) ||
		math.IsNaN(f.Numbers("precision_low")[0]) {
		t.Errorf("halves of three images: %v", datasets.Format(f, 0))
	}
	f, _ = must.Get2(evaluate(t, ask{Metric: "precision-coverage"}, cloud(1, 6, 0), cloud(2, 40, 0)))(t)
	must.Equal(t, f.Texts("interval")[0], "", "too few reference images for an interval")
}

func TestGallery(t *testing.T) {
	real, gen := cloud(1, 120, 0), cloud(2, 120, 1)
	for _, selection := range []string{LowDiversityBackgrounds, LowDiversityObjects, LowRealismBackgrounds, Hubs} {
		f, _, err := evaluate(t, ask{Metric: "gallery", By: []string{"region"},
			Options: options("selection", selection, "n", "2", "matches", "3")}, real, gen)
		if err != nil {
			t.Fatalf("%s: %v", selection, err)
		}
		for _, want := range []string{"group", "setup", "role", "rank", "id", "image", "mask", "n_inside", "distance",
			"region"} {
			if !f.Has(want) {
				t.Errorf("%s lacks the column %s", selection, want)
			}
		}
		again, _, _ := evaluate(t, ask{Metric: "gallery", By: []string{"region"},
			Options: options("selection", selection, "n", "2", "matches", "3")}, real, gen)
		must.Equal(t, datasets.Format(f, 0), datasets.Format(again, 0), selection, "not the same twice")
		for i, role := range f.Texts("role") {
			if selection == LowDiversityBackgrounds && role == "match" && f.Texts("setup")[i] == "BG-only" {
				t.Errorf("%s: row %d is a match in BG-only", selection, i)
			}
		}
	}
}

func TestTagShares(t *testing.T) {
	in := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c", "d"})}}
	tags := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "a", "b", "c", "x"}),
		table.TextColumn("tag", []string{"rusty", "dirty", "rusty", "", "rusty"})}}
	f, notes := must.Get2(evaluate(t, ask{Metric: "tag-shares"}, in, tags))(t)
	must.EqualSlices(t, notes, []string{"1 images have no row among the tags: they count as not inspected",
		"1 tagged images are not in the table of images"})
	must.Equal(t, f.Texts("tag")[0], "rusty")
	must.Near(t, f.Numbers("share")[0], 2.0/3, 1e-12)
	must.Equal(t, f.Numbers("n_inspected")[0], 3)
	named := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"1", "2", "3", "4", "5"}),
		table.TextColumn("image_id", []string{"a", "a", "b", "c", "x"}), tags.Columns[1]}}
	if again, _, err := evaluate(t, ask{Metric: "tag-shares"}, in, named); err != nil ||
		!reflect.DeepEqual(again, f) {
		t.Errorf("with image_id: %v %v, want %v", again, err, f)
	}
}

func TestScoreChecksBeforeRunning(t *testing.T) {
	real := datasets.FromFrame(cloud(1, 4, 0))
	for name, tab := range map[string]datasets.Table{
		"by": PrecisionCoverage(metrics.Sets{Real: real, Generated: real},
			PrecisionCoverageOptions{By: metrics.By("country")}),
		"option": PrecisionCoverage(metrics.Sets{Real: real, Generated: real},
			PrecisionCoverageOptions{Comparison: Comparison{Unmasked: "guess"}}),
		"zero": PrecisionCoverage(metrics.Sets{Real: real}),
	} {
		if tab.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := PrecisionCoverage(metrics.Sets{Real: real, Generated: real},
		PrecisionCoverageOptions{By: metrics.By("region")}).Err(); err != nil {
		t.Error(err)
	}
}

func TestGapsToControls(t *testing.T) {
	real, gen := four(cloud(1, 400, 0)), four(cloud(2, 400, 2))
	except := &table.Frame{Columns: []table.Column{table.TextColumn("region", []string{"south", "far south"})}}
	named, _ := must.Get2(evaluate(t, ask{Metric: "region-gaps", By: []string{"region"},
		Options: options("against", "north,far north")}, real, gen))(t)
	f, _ := must.Get2(evaluate(t, ask{Metric: "region-gaps", By: []string{"region"}}, real, gen, except))(t)
	must.Equal(t, datasets.Format(f, 0), datasets.Format(named, 0), "all but the south")
	except.Texts("region")[0] = "sotuh"
	must.Fail(evaluate(t, ask{Metric: "region-gaps", By: []string{"region"}}, real, gen, except))(t,
		`except: there is no group "sotuh"; did you mean "south"?`)
}

// TestNearGroup: the error about a group without images names the group with a similar name.
func TestNearGroup(t *testing.T) {
	real, gen := cloud(1, 40, 0), cloud(2, 40, 0)
	for i, region := range gen.Texts("region") {
		if region == "south" {
			gen.Texts("region")[i] = "sputh"
		}
	}
	must.Fail(evaluate(t, ask{Metric: "precision-coverage", By: []string{"region"}}, real, gen))(t,
		`"sputh" has 0 real images`, `did you mean "south"?`)
}
