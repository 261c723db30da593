package visage_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/audits/visage"
	"antipode/datasets"
	"antipode/datasets/manifest/manifesttest"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
	"antipode/metrics/significance"
	"antipode/metrics/stereotypes"
	"antipode/test/testengine"
)

// With perfect annotators and a perfect encoder the audit finds the people with the injected stereotypes, by both
// methods, and nothing without them.
func TestSampler(t *testing.T) {
	testengine.Use(t)
	for generator, want := range map[string]int{visage.Sampler: 1, visage.SamplerFair: 0} {
		a := visage.Audit{Generator: generator, Encoder: "traits", Resamples: 200}
		for name, findings := range map[string]datasets.Table{"likelihoods": a.Findings(), "pull": a.PullFindings()} {
			verdicts := strings.Join(testengine.Rows(t, name, findings).Texts("verdict"), ", ")
			if strings.Count(verdicts, "found") != want || strings.Contains(verdicts, "missed") ||
				strings.Contains(verdicts, "by mistake") {
				t.Errorf("%s, %s: %s", generator, name, verdicts)
			}
		}
		must.Equal(t, testengine.Rows(t, "truth", a.Truth()).Len(), 3*want, generator, "injected stereotypes")
		for name, tab := range map[string]datasets.Table{"tendencies": a.Scores(), "overall": a.Overall(),
			"salience": a.SalienceOf(visage.Visual), "all": a.SalienceOf(visage.All), "shares": a.CaptionShares(),
			"agreement": a.Agreed(), "counts": a.StereotypeCounts(), "attributes": a.VisualAttributes(),
			"consensus": a.Consensus(), "variants": a.OffensiveVariants(), "table 1": a.PaperTable("1"),
			"table 4": a.PaperTable("4"),
			"ranks":   a.Ranks(), "pulls": a.PaperPulls(), "prompts": a.SetPrompts(), "pull counts": a.PullCounts()} {
			if f := testengine.Rows(t, name, tab); f.Len() == 0 {
				t.Errorf("%s: no rows", name)
			}
		}
		ledger := testengine.Rows(t, "ledger", a.Ledger())
		for _, v := range ledger.Texts("verdict") {
			if v != metrics.NotComputable {
				t.Fatalf("the built-in world has a value of the paper: %s", v)
			}
		}
		if ledger.Len() != 882 { // 27 claims, 315 cells of Tables 1 and 2, 540 of Tables 3 to 5
			t.Errorf("%d printed values", ledger.Len())
		}
	}
}

// The released annotations give every printed cell of Tables 1 and 2, and the tables of images have no rows.
func TestReleased(t *testing.T) {
	a := visage.Audit{Annotations: visage.Released, Data: manifesttest.Dir(t, "visage"),
		SeeGULLData: manifesttest.Dir(t, "seegull"), Resamples: -1}
	testengine.Use(t)
	got := testengine.Rows(t, "tables", a.PaperTable("1").Concat(a.PaperTable("2")))
	must.Equal(t, got.Len(), 105)
	must.Equal(t, sum(got.Numbers("cells_equal")), 315)
	south := testengine.Rows(t, "south", a.GlobalSouth())
	verdicts := map[string]string{}
	for i, m := range south.Texts("measure") {
		verdicts[south.Texts("from")[i]+" "+m] = south.Texts("verdict")[i]
	}
	// without intervals nothing is undecided; the numbers are those of pandas
	if d := south.Numbers("difference"); south.Len() != 6 || verdicts["paper s_s_ns"] != significance.Found ||
		near.Compare([]float64{d[1], south.Numbers("mean_a")[1], south.Numbers("n_b")[1]},
			[]float64{0.0049269940, 0.0255927835, 38}, 0, 1e-9) != nil {
		t.Errorf("the Global South: %v, %v", verdicts, south.Numbers("difference"))
	}
	ledger := testengine.Rows(t, "ledger", a.Ledger())
	same := map[string]int{}
	for i, item := range ledger.Texts("item") {
		if table, _, _ := strings.Cut(item, ","); table == "Table 1" || table == "Table 2" {
			same[ledger.Texts("verdict")[i]+" "+ledger.Texts("why")[i]]++
		}
	}
	if same[metrics.SameDigits+" "] != 295 || same[metrics.DirectionOnly+" holds"] != 20 || len(same) != 2 {
		t.Errorf("Tables 1 and 2: %v", same)
	}
	for name, tab := range map[string]datasets.Table{"images": a.SetImages(), "captions": a.Captions(),
		"pulls": a.Pulls(), "salience": a.SalienceOf(visage.Visual), "pull findings": a.PullFindings()} {
		must.Equal(t, testengine.Rows(t, name, tab).Len(), 0, name, "rows without images")
	}
	clean := a
	clean.Profile = visage.Clean
	if got := testengine.Rows(t, "clean",
		clean.PaperTable("1").Concat(clean.PaperTable("2"))); sum(got.Numbers("cells_equal")) == 315 {
		t.Error("the profile changes nothing")
	}
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// Wrong fields are errors that name the fix.
func TestInvalid(t *testing.T) {
	for want, a := range map[string]visage.Audit{
		"use paper or clean":  {Profile: "public-code"},
		"knows world 7 only":  {Seed: 3},
		"built-in world only": {Attributes: visage.SeeGULL, Generator: visage.Sampler},
		"images of your own": {Attributes: visage.SeeGULL,
			Stereotypes: stereotypes.StereotypeOptions{Rule: "majority"}},
		"identity": {Generator: table(t, "id,image\na,b.png\n")},
	} {
		must.Fail(a.SetImages().Err())(t, want)
	}
}

// table writes a table into a file.
func table(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "t.csv")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestRegions: a mapping of one's own reaches the tables by region.
func TestRegions(t *testing.T) {
	testengine.Use(t)
	path := filepath.Join(t.TempDir(), "regions.csv")
	text := "identity,region,country,iso3\nIndian,Global South,India,IND\n"
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	for mapping, want := range map[string]string{"": "South Asia", path: "Global South"} {
		a := visage.Audit{Regions: mapping, Generator: visage.Sampler, N: 1}
		pulls := testengine.Rows(t, "pulls", a.PaperPulls())
		must.Equal(t, pulls.Texts("region")[slices.Index(pulls.Texts("identity"), "Indian")], want, "regions", mapping)
	}
}
