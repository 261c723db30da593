package stereotypes

import (
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"antipode/datasets/manifest"
	"antipode/datasets/table"
	data "antipode/datasets/visage"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

func released(t *testing.T, source string, o data.Options) *table.Frame {
	t.Helper()
	return tabulartest.Released(t, data.Name, source, o)
}

func TestPaperTablesComeOut(t *testing.T) {
	for _, show := range []bool{false, true} { // masking must not move a score
		rows := released(t, "visage-annotations", data.Options{Version: data.WorkbookOnly, ShowOffensive: show})
		f := tabulartest.Evaluate(t, "visage-tables", rows, nil)
		cells := 0.0
		for i, n := range f.Numbers("cells_equal") {
			cells += n
			must.Equal(t, n, 3, f.Texts("identity")[i], "of 3 cells equal")
		}
		must.Equal(t, f.Len(), 105, "show=", show)
		must.Equal(t, cells, 315, "show=", show)
	}
}

func TestCheckValues(t *testing.T) {
	rows := released(t, "visage-annotations", data.Options{Version: data.WorkbookOnly})
	f := tabulartest.Evaluate(t, "visage-association", rows, map[string]string{"resamples": "0"})
	at := map[string]int{}
	for i, id := range f.Texts("identity") {
		at[id] = i
	}
	text := must.Get(os.ReadFile("testdata/check_values.csv"))(t)
	want := must.Get(manifest.ReadSheet("check_values.csv", text, "identity", "n_stereotypes", "n_random", "l_stereo",
		"l_random", "theta"))(t)
	if want.Len() != 53 || f.Len() != 105 {
		t.Fatalf("%d check values, %d identities", want.Len(), f.Len())
	}
	for row, v := range want.Rows {
		i, known := at[v[want.Column("identity")]]
		if !known {
			t.Errorf("no row for %v", v)
			continue
		}
		for _, name := range []string{"n_stereotypes", "n_random", "l_stereo", "l_random", "theta"} {
			got, printed := f.Numbers(name)[i], v[want.Column(name)]
			if printed == "N/A" {
				must.Near(t, got, math.NaN(), 0, v, "theta")
				continue
			}
			x := must.Get(want.Number(row, want.Column(name)))(t)
			if !Agrees(got, x, 6) {
				t.Errorf("%v: %s is %.8f", v, name, got)
			}
		}
	}
}

// TestCleanMode: leaving "none of the above" out multiplies each finite theta by N/(N+1), N the real random attributes.
func TestCleanMode(t *testing.T) {
	rows := released(t, "visage-annotations", data.Options{Version: data.WorkbookOnly})
	compat := tabulartest.Evaluate(t, "visage-association", rows, map[string]string{"resamples": "0"})
	clean := tabulartest.Evaluate(t, "visage-association", rows, map[string]string{"resamples": "0", "method": "clean"})
	at := map[string]int{}
	for i, id := range clean.Texts("identity") {
		at[id] = i
	}
	for i, id := range compat.Texts("identity") {
		j := at[id]
		n := clean.Numbers("n_random")[j]
		a, b := compat.Numbers("theta")[i], clean.Numbers("theta")[j]
		if math.IsNaN(a) != math.IsNaN(b) || (!math.IsNaN(a) && math.Abs(b-a*n/(n+1)) > 1e-12*(1+a)) {
			t.Errorf("%s: theta %g with N=%g real attributes, clean %g", id, a, n, b)
		}
	}
}

func TestConsensusFigure(t *testing.T) {
	f := tabulartest.Evaluate(t, "visage-consensus", released(t, "visage-ratings", data.Options{}), nil)
	want := map[string]float64{"Strongly Agree": 407, "Agree": 442, "Disagree": 406, "Strongly Disagree": 150,
		"Unsure": 4}
	for i, label := range f.Texts("label") {
		must.Equal(t, f.Numbers("n_attributes")[i], want[label], label)
		must.Equal(t, f.Numbers("n_used")[i], 1994, label)
	}
	must.Equal(t, f.Len(), 5, "labels")
}

func TestStereotypeCounts(t *testing.T) {
	f := tabulartest.Evaluate(t, "visage-stereotypes", released(t, "visage-pairs", data.Options{}), nil)
	got := map[string]float64{}
	ones := 0
	for i, id := range f.Texts("identity") {
		got[id] = f.Numbers("n_stereotypes")[i]
		if got[id] == 1 {
			ones++
		}
	}
	for id, n := range map[string]float64{"Australian": 63, "Mexican": 46, "Indian": 34, "New Zealand": 31,
		"Ethiopian": 27, "Japanese": 20, "Omani": 1, "Swiss": 1} {
		must.Equal(t, got[id], n, id, "visual stereotypes")
	}
	regions := tabulartest.Released(t, data.Name, "visage-regions", nil).Texts("identity")
	for _, id := range f.Texts("identity") { // bars and maps join the two
		if !slices.Contains(regions, id) {
			t.Errorf("%s has no region under the name that scores show", id)
		}
	}
	must.Equal(t, [2]int{f.Len(), ones}, [2]int{135, 30}, "identities with one attribute;")
}

func TestCheckCounts(t *testing.T) {
	f := released(t, "visage-annotations", data.Options{Version: data.WorkbookOnly, ShowOffensive: true})
	images, pairs, options := map[string]bool{}, map[string]bool{}, map[string]bool{}
	attributes := f.Texts("attribute")
	for i, id := range f.Texts("identity") {
		image := id + strconv.Itoa(int(f.Numbers("image_number")[i]))
		images[image] = true
		options[image+"\x00"+attributes[i]] = true
		if attributes[i] != NoneOfTheAbove {
			pairs[image+"\x00"+attributes[i]] = true
		}
	}
	if f.Len() != 120170 || len(images) != 2025 || len(pairs) != 21653 || len(options) != 23678 {
		t.Errorf("%d rows, %d images, %d pairs, %d with none of the above; want 120170, 2025, 21653, 23678", f.Len(),
			len(images), len(pairs), len(options))
	}
	visual := map[string]bool{}
	rows := 0
	ratings := released(t, "visage-ratings", data.Options{})
	for i, a := range ratings.Texts("attribute") {
		v := must.Get(Visual([3]float64{ratings.Numbers("score_asia")[i], ratings.Numbers("score_europe")[i],
			ratings.Numbers("score_na")[i]}, AllAgree, 4))(t)
		if v {
			rows++
			visual[a] = true
		}
	}
	must.Equal(t, rows, 519)
	must.Equal(t, len(visual), 518)
}

// TestReleasedVocabulary: captions are searched for the 518 visual attributes, or for all of SeeGULL's 1994. The
// captions are made up.
func TestReleasedVocabulary(t *testing.T) {
	pairs := released(t, "visage-pairs", data.Options{ShowOffensive: true})
	captions := &table.Frame{Columns: []table.Column{table.TextColumn("identity", []string{"Mexican", "Mexican"}),
		table.TextColumn("caption", []string{"a man in a Sombrero.", "a smart man"})}}
	for vocabulary, want := range map[string][3]float64{"visual": {518, 1, 1}, "all": {1994, 2, 1}} {
		f, _ := must.Get2(evaluate(t, "visage-captions", "attributes", captions, pairs,
			map[string]string{"vocabulary": vocabulary, "image": "none"}))(t)
		must.Equal(t, [3]float64{f.Numbers("n_vocabulary")[0], f.Numbers("n_any")[0], f.Numbers("n_stereotype")[0]},
			want, vocabulary, "vocabulary, captions with an attribute, with a stereotype")
	}
}

// TestHeadlineClaims: claims 5 to 8 of the paper's text from the released annotations.
func TestHeadlineClaims(t *testing.T) {
	rows := released(t, "visage-annotations", data.Options{Version: data.WorkbookOnly})
	f := tabulartest.Evaluate(t, "visage-association", rows, map[string]string{"resamples": "0"})
	text, first := map[string]string{}, 0
	for i, id := range f.Texts("identity") {
		text[id] = f.Texts("theta_text")[i]
		if text[id] == "N/A" {
			must.Equal(t, first, i, id, "N/A does not stand first")
			first++
		}
	}
	for id, want := range map[string]string{"Nigerian": "27.30", "Togolese": "N/A", "Zimbabwean": "N/A",
		"Swedes": "N/A", "Danish": "N/A"} {
		must.Equal(t, text[id], want, id, "theta")
	}
	o := tabulartest.Evaluate(t, "visage-overall", rows, nil)
	for i, name := range o.Texts("aggregation") {
		v, low, high := o.Numbers("ratio")[i], o.Numbers("ratio_low")[i], o.Numbers("ratio_high")[i]
		if name == "ratio-of-means" && math.Round(v) != 3 || !(low < v && v < high) {
			t.Errorf("%s: %g [%g, %g]", name, v, low, high)
		}
		t.Logf("%s: %.2f [%.2f, %.2f]", name, v, low, high)
	}
	l := tabulartest.Evaluate(t, "visage-likelihood", rows, map[string]string{"resamples": "0"})
	top := map[string]float64{}
	for i, id := range l.Texts("identity") {
		top[id] = max(top[id], l.Numbers("likelihood")[i])
	}
	must.Equal(t, top["Sudanese"], 1, "Sudanese") // an attribute that every showing selected
}

// TestOffensivenessOptions: each reading of section 4.4 runs on the released files; unrated pairs are told apart from
// those rated 0.
func TestOffensivenessOptions(t *testing.T) {
	rows := released(t, "visage-annotations", data.Options{Version: data.WorkbookOnly})
	seen := map[string]bool{}
	unrated := 0.0
	for _, o := range []map[string]string{{}, {"present": "share", "threshold": "0.1"}, {"weight": "likelihood"},
		{"unrated": "zero"}, {"negative": "zero"}} {
		o["resamples"] = "0"
		f := tabulartest.Evaluate(t, "visage-offensiveness", rows, o)
		sum := 0.0
		for i, v := range f.Numbers("offensiveness") {
			if !math.IsNaN(v) {
				sum += v
			}
			if v < -1 || v > 4 || f.Numbers("n_rated")[i] > f.Numbers("n_present")[i] {
				t.Errorf("%v, %s: %g", o, f.Texts("identity")[i], v)
			}
			unrated += f.Numbers("n_unrated")[i]
		}
		seen[strconv.FormatFloat(sum, 'g', -1, 64)] = true
	}
	if len(seen) != 5 || unrated == 0 {
		t.Errorf("%d of 5 readings differ, %g unrated", len(seen), unrated)
	}
	f := released(t, "visage-pairs", data.Options{})
	without := 0
	for _, v := range f.Numbers("offensiveness") {
		if math.IsNaN(v) {
			without++
		}
	}
	must.Equal(t, without, 1197, "unrated pairs, the file has 1197")
}
