package dig_test

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/audits"
	"antipode/audits/dig"
	"antipode/datasets"
	"antipode/datasets/digin"
	models "antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/metrics/significance"
	"antipode/test/testengine"
)

// objects are those of the fixture.
var objects = []string{"bag", "plate of food"}

// geoDE writes an archive in the layout of GeoDE, with n photos of each object in each region: a disc on a background,
// whose colors depend on object, region and number.
func geoDE(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "images"), 0o755))
	var index strings.Builder
	index.WriteString("file_path,object,region,ip_country\n")
	for o, object := range append(objects, "boat") {
		for r, region := range digin.GeoDERegions() {
			for i := range n {
				name := fmt.Sprintf("%d_%d_%d.png", o, r, i)
				fmt.Fprintf(&index, "%s,%s,%s,%s\n", name, strings.ReplaceAll(object, " ", "_"), region.Key,
					region.Countries[0])
				img := image.NewRGBA(image.Rect(0, 0, 40, 32))
				for y := range 32 {
					for x := range 40 {
						c := color.RGBA{uint8(40 * r), uint8(x*3 + 20*i), uint8(y*4 + o), 255}
						if dx, dy := x-20, y-16; dx*dx+dy*dy < 100 {
							c = color.RGBA{uint8(10 * o), uint8(255 - 30*i), uint8(40 * r), 255}
						}
						img.Set(x, y, c)
					}
				}
				f := must.Get(os.Create(filepath.Join(dir, "images", name)))(t)
				must.Do(t, png.Encode(f, img))
				must.Do(t, f.Close())
			}
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "index.csv"), []byte(index.String()), 0o644))
	return dir
}

// network is the folder of a network with random weights.
func network(name string) string { return "../../gomlxmodels/" + name }

// photographs is the audit of the fixture, with random weights in the architectures of a generator, a segmenter and an
// encoder that the audit takes.
func photographs(t *testing.T, n int) dig.Audit {
	return dig.Audit{Photos: "geode:" + geoDE(t, n), Objects: objects, N: n, Resamples: 4,
		Generator: network("diffusion/testdata/sd1"), Generation: models.GenerateOptions{Steps: 1, Safety: "off"},
		Segmenter:    network("clipseg/testdata/refined"),
		Segmentation: models.SegmentOptions{Threshold: 0.95, Components: "largest"},
		Encoder:      network("vit/testdata/hf-bf16-shards")}
}

// The audit of photographs, from parameters alone: every table of it.
func TestPhotographs(t *testing.T) {
	testengine.Use(t)
	a := photographs(t, 4)
	work := testengine.Rows(t, "workload", a.Workload(datasets.WorkloadOptions{}))
	must.Equal(t, fmt.Sprint(work.Texts("stage"), work.Numbers("items")),
		"[segment refined embed hf-bf16-shards generate sd1 total] [144 144 96 384]", "workload")
	for template, want := range map[string]string{dig.Original: "bag in the Americas", dig.New: "American bag"} {
		f := testengine.Rows(t, template, a.Images(template))
		if got := f.Texts("prompt"); len(got) != 48 || got[4] != want || f.Texts("template")[4] != template {
			t.Errorf("%s: prompts %q", template, got)
		}
	}
	if got := testengine.Rows(t, "reference", a.Reference().Count("object", "region")); got.Len() != 12 ||
		got.Numbers("n")[0] != 4 {
		t.Errorf("reference images %v", got)
	}
	ledger := testengine.Rows(t, "ledger", a.Ledger())
	for i, item := range ledger.Texts("item") {
		if strings.HasPrefix(item, "Table 1, Orig.") &&
			(ledger.Numbers("n")[i] != 48 || ledger.Texts("verdict")[i] == metrics.NotComputable) {
			t.Errorf("%s: n = %v, %s", item, ledger.Numbers("n")[i], ledger.Texts("verdict")[i])
		}
	}
	for name, tab := range map[string]datasets.Table{"objects": a.ByObject(), "deltas": a.Deltas(),
		"claims": a.Claims(), "ratios": a.Ratios(), "examples": a.Examples(2), "failures": a.Failures(),
		"table": a.PaperTable("1"), "summary": a.Summary(), "acquisition": a.Acquisition(),
		"gap sources": a.GapSources(), "specifications": a.Specifications()} {
		if f := testengine.Rows(t, name, tab); f.Len() == 0 {
			t.Errorf("%s: no rows", name)
		}
	}
	findings := testengine.Rows(t, "findings", a.Findings())
	if findings.Len() != 12 || !slices.Contains(findings.Texts("verdict"), significance.Found) ||
		!slices.Contains(findings.Texts("verdict"), significance.Undecided) {
		t.Errorf("findings %v", findings.Texts("verdict"))
	}
	must.Equal(t, testengine.Rows(t, "truth", a.Truth()).Len(), 0, "injected disparities in photographs")
	sensitivity(t, a)
	a.Template, a.Comparison.K, a.Embedding.Masking = "{object}, {country}", 1, "zeroprob"
	third := testengine.Rows(t, "deltas", a.Deltas().Where("of", "==", "average"))
	if got := third.Texts("template"); third.Len() != 12 || got[0] != dig.New || got[11] != a.Template {
		t.Errorf("three templates: %q", got)
	}
	must.Equal(t, testengine.Rows(t, "prompts", a.Prompts(a.Template).Head(1)).Texts("prompt")[0], "bag, Nigeria",
		"prompt")
	if a.Photos = ""; a.Images(dig.Original).Err() == nil {
		t.Error("a third template in the built-in world")
	}
}

// sensitivity: the first choice is the audit's; a choice that is the default's other name changes nothing, another k
// does; a field of the audit is no choice any more. Images of other regions have trends, none of which names one of
// GeoDE's.
func sensitivity(t *testing.T, a dig.Audit) {
	all := testengine.Rows(t, "sensitivity", a.Sensitivity())
	gaps := map[string][]float64{}
	for i, c := range all.Texts("choice") {
		gaps[c] = append(gaps[c], all.Numbers("gap")[i])
	}
	if len(gaps) != 13 || all.Texts("choice")[0] != dig.Configured ||
		!slices.Equal(gaps["masking neginf"], gaps[dig.Configured]) ||
		slices.Equal(gaps["k 1"], gaps[dig.Configured]) || slices.Equal(gaps["fill white"], gaps[dig.Configured]) {
		t.Errorf("gaps by choice: %v", gaps)
	}
	conclusions := testengine.Rows(t, "conclusions", a.Conclusions())
	choices := testengine.Rows(t, "choices", a.Choices())
	if conclusions.Len() != len(gaps[dig.Configured]) || conclusions.Numbers("n_choices")[0] != 13 ||
		choices.Len() != 13 || choices.Numbers("same")[0] != 1 || choices.Numbers("rank_correlation")[0] != 1 {
		t.Errorf("conclusions %v, choices %v", conclusions.Numbers("n_choices"), choices.Numbers("same"))
	}
	a.Comparison.K = 1
	other := testengine.Rows(t, "k 1", a.Findings())
	must.EqualSlices(t, other.Numbers("gap"), gaps["k 1"], "gaps with k 1")
	photos := testengine.Rows(t, "photos", a.Candidates())
	for i, region := range photos.Texts("region") {
		photos.Texts("region")[i] = "region " + region[len(region)-2:]
	}
	a.Photos = filepath.Join(strings.TrimPrefix(a.Photos, "geode:"), "photos.csv")
	a.Comparison.K, a.Resamples = 0, -1
	a.Generator = a.Photos
	must.Get(datasets.FromFrame(photos).SaveE(t.Context(), a.Photos))(t)
	trends := testengine.Rows(t, "claims", a.Claims())
	if text := strings.Join(trends.Texts("trend"), "; "); trends.Len() != 3 || strings.Contains(text, "Africa") {
		t.Errorf("%d trends: %s", trends.Len(), text)
	}
	built := dig.Audit{Generator: dig.Sampler, Objects: []string{"boat"}} // has enough images for a third k
	_ = must.Get(built.Claims().Plan())(t)
	plan := must.Get(json.Marshal(must.Get(built.Sensitivity().Plan())(t)))(t)
	if !strings.Contains(string(plan), `"k 5"`) {
		t.Error("the built-in world has no choice of k = 5")
	}
}

// TestTable: of a table of images N of each object in each region are sampled, without N all are taken; tags of those
// images are counted.
func TestTable(t *testing.T) {
	testengine.Use(t)
	dir := geoDE(t, 3)
	var index strings.Builder
	index.WriteString("id,image,object,region,template,outcome\n")
	for _, template := range []string{dig.Original, dig.New} {
		for o, object := range objects {
			for i := range 3 {
				fmt.Fprintf(&index, "%s %d %d,images/%d_0_%d.png,%s,Africa,%s,%s\n", template, o, i, o, i, object,
					template, []string{"ok", "ok", "flagged"}[i])
			}
		}
	}
	table, tags := filepath.Join(dir, "generated.csv"), filepath.Join(dir, "tags.csv")
	people := "id,image_id,tag\n1," + dig.Original + " 0 0,red\n2," + dig.Original + " 0 1,\n3," + dig.New +
		" 0 1,red\n"
	for path, text := range map[string]string{table: index.String(), tags: people} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	parquet := filepath.Join(dir, "generated.parquet")
	must.Get(datasets.Images(table).SaveE(t.Context(), parquet))(t)
	for _, table := range []string{table, parquet} {
		for n, want := range map[int]float64{0: 3, 2: 2} {
			a := dig.Audit{Photos: "geode:" + dir, Generator: table, N: n}
			counts := testengine.Rows(t, "counts", a.Images(dig.New).Count("object", "region", "template"))
			if counts.Len() != 2 || counts.Numbers("n")[0] != want || counts.Texts("template")[0] != dig.New {
				t.Errorf("%s, n = %d: %v %v", table, n, counts.Numbers("n"), counts.Texts("template"))
			}
		}
		one := dig.Audit{Photos: "geode:" + dir, Generator: table, Objects: objects[:1]}.Images(dig.New)
		must.EqualSlices(t, testengine.Rows(t, "one object", one).Texts("outcome"),
			[]string{"ok", "ok", "flagged"}, table)
	}
	must.Get(datasets.Images(table).With("more", 1).SaveE(t.Context(), parquet))(t)
	must.True(t, audits.Has(audits.Existing(parquet), "more"), "a file that has changed has its former columns")
	a := dig.Audit{Photos: "geode:" + dir, Generator: table, Tags: tags}
	shares := testengine.Rows(t, "tags", a.TagShares())
	if shares.Len() != 1 || shares.Numbers("share")[0] != 0.5 || shares.Numbers("n_inspected")[0] != 2 {
		t.Errorf("%v of %v images", shares.Numbers("share"), shares.Numbers("n_inspected"))
	}
	a.Tags = ""
	must.Equal(t, testengine.Rows(t, "no tags", a.TagShares()).Len(), 0, "rows without tags")
}
