package seegull

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"antipode/datasets/manifest"
	"antipode/datasets/manifest/manifesttest"
	"antipode/datasets/manifest/pull"
	"antipode/internal/must"
)

func fixture(t *testing.T) ([]Pair, Report) {
	t.Helper()
	data := must.Get(os.ReadFile("testdata/pairs.csv"))(t)
	pairs, report := must.Get2(Read("pairs.csv", data))(t)
	return pairs, report
}

func TestUnratedIsNotZero(t *testing.T) {
	pairs, report := fixture(t)
	want := []float64{-1, 0, math.NaN(), 3, 0.5}
	for i, p := range pairs {
		if p.Offensiveness != want[i] && !(math.IsNaN(p.Offensiveness) && math.IsNaN(want[i])) {
			t.Errorf("%s, %s: %g, want %g", p.Identity, p.Attribute, p.Offensiveness, want[i])
		}
	}
	if report.Rows != 5 || report.Identities != 4 || report.Unrated != 1 || report.MeanOff != 1 {
		t.Errorf("%+v", report)
	}
	must.Equal(t, pairs[0].Identity, "मेघा द्वीप", "texts changed")
	must.Equal(t, pairs[2].Attribute, "كثير الصمت", "texts changed")
	must.Equal(t, pairs[4].Attribute, "loud, and late", "texts changed")
}

func TestBadSheets(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/pairs.csv"))(t)
	good := string(data)
	for _, c := range []struct{ name, text, want string }{
		{"no column", strings.Replace(good, "NA_stereo", "na", 1), `no column "NA_stereo"`},
		{"not a number", strings.Replace(good, "4,3,2,3", "4,x,2,3", 1),
			`line 5, column Annotation2: "x" is not a number`},
		{"count missing", strings.Replace(good, "2,1,0,2,1,0,-1", "2,1,0,,1,0,-1", 1),
			"line 2, column NA_stereo: the count is missing"},
		{"twice", good + "wears tall hats,Veltan,3,0,0,3,0,0,4,3,2,3\n", "line 7, column attribute"},
	} {
		must.Fail(Read("pairs.csv", []byte(c.text)))(t, c.want, "pairs.csv")
	}
}

func TestMask(t *testing.T) {
	var m Masker
	for _, c := range []struct {
		identity, attribute string
		mean                float64
		want                string
	}{
		{"Veltan", "cheerful", -1, "cheerful"},
		{"Veltan", "neutral", 0, "neutral"},
		{"Veltan", "a", 0.01, "masked 1 (rated offensive)"},
		{"Veltan", "b", math.NaN(), "masked 2 (not rated)"},
		{"Veltan", "a", 0.01, "masked 1 (rated offensive)"},
		{"Other", "a", 4, "masked 1 (rated offensive)"},
	} {
		must.Equal(t, m.Label(c.identity, c.attribute, c.mean), c.want, c.identity, c.attribute, c.mean)
	}
}

func TestFrameMasksByDefault(t *testing.T) {
	pairs, _ := fixture(t)
	masked, shown := stereotypes.Frame(), stereotypes.Frame()
	add(masked, pairs, Options{})
	add(shown, pairs, Options{ShowOffensive: true})
	for i, p := range pairs {
		must.Equal(t, (masked.Texts("attribute")[i] == p.Attribute), Shown(p.Offensiveness), p.Offensiveness,
			"shown as")
		must.Equal(t, shown.Texts("attribute")[i], p.Attribute, "with ShowOffensive")
	}
	must.Do(t, masked.Check())
	for i, c := range Stereotypes(Options{}).Columns() {
		must.Equal(t, masked.Columns[i].ColumnSpec, c, "column", i, "declared")
	}
}

func TestReleasedFile(t *testing.T) {
	dir := manifesttest.Dir(t, Name)
	pairs, report := must.Get2(Load(os.DirFS(dir)))(t)
	attributes := map[string]bool{}
	harmless := 0
	for _, p := range pairs {
		attributes[p.Attribute] = true
		if p.Offensiveness == -1 {
			harmless++
		}
	}
	if report.Rows != 6781 || report.Identities != 176 || len(attributes) != 1994 || report.Unrated != 1197 ||
		harmless != 2735 {
		t.Errorf("%+v, %d attributes, %d pairs with mean -1", report, len(attributes), harmless)
	}
	t.Log(report.Remark())
}

func TestPullReleased(t *testing.T) {
	source := manifesttest.Dir(t, Name)
	m := must.Get(manifest.Get(Name))(t)
	dir := t.TempDir()
	must.Do(t, pull.DataSet(context.Background(), Name,
		pull.Options{Dest: dir, BaseURL: manifesttest.Serve(t, m, source)}))
	if _, report, err := Load(os.DirFS(dir)); err != nil || report.Rows != m.File(File).Rows {
		t.Errorf("%+v, %v", report, err)
	}
}
