package visage

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"antipode/internal/near"
	"antipode/kernel/client"
	"antipode/metrics/internal/tabulartest"
)

type captionGolden struct {
	Attributes []string
	Captions   [][3]string
	Rows       []struct {
		Identity, Attribute        string
		Times, Captions, Documents int
		Plain, Smooth, Tf, Share   float64
	}
	Pictures []struct {
		Identity, Set, Attribute string
		Vector                   []float32
	}
	Pulls []struct {
		Identity          string
		Attribute, Pooled []float64
		Own               float64
	}
}

func readCaptionGolden(t *testing.T) (g captionGolden) {
	t.Helper()
	text, err := os.ReadFile("testdata/captions.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestSalienceGolden(t *testing.T) {
	g := readCaptionGolden(t)
	var captions []Caption
	for _, c := range g.Captions {
		captions = append(captions, Caption{c[0], c[1], c[2]})
	}
	for _, idf := range []string{"plain", "smooth"} {
		scores, err := Salience(captions, Vocabulary{Attributes: g.Attributes}, SalienceOptions{Alpha: 1, Idf: idf})
		if err != nil {
			t.Fatal(err)
		}
		rows := map[[2]string]Salient{}
		for _, s := range scores {
			for _, a := range s.Attributes {
				rows[[2]string{s.Identity, a.Attribute}] = a
			}
		}
		var got, want []float64
		for _, r := range g.Rows {
			a := rows[[2]string{r.Identity, r.Attribute}]
			value := map[string]float64{"plain": r.Plain, "smooth": r.Smooth}[idf]
			got = append(got, float64(a.Times), float64(a.Captions), float64(a.Documents), a.Tf, a.Salience.Value, a.Share.Value)
			want = append(want, float64(r.Times), float64(r.Captions), float64(r.Documents), r.Tf, value, r.Share)
		}
		if len(rows) != len(g.Rows) || len(rows) < 20 {
			t.Errorf("%d rows, want %d", len(rows), len(g.Rows))
		}
		near.Check(t, idf, got, want, 1e-12, 1e-14)
	}
}

func TestPullGolden(t *testing.T) {
	g := readCaptionGolden(t)
	var pictures []Embedded
	for _, p := range g.Pictures {
		pictures = append(pictures, Embedded{p.Identity, p.Set, p.Attribute, p.Vector})
	}
	for _, average := range []string{"attribute", "pooled"} {
		got, err := Pulls(pictures, PullOptions{Average: average, Draws: 20})
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]Pull{}
		for _, p := range got {
			by[p.Identity] = p
			if !(p.Pull.Low < p.Pull.Value && p.Pull.Value < p.Pull.High) {
				t.Errorf("%+v", p.Pull)
			}
		}
		for _, want := range g.Pulls {
			p, w := by[want.Identity], want.Attribute
			if average == "pooled" {
				w = want.Pooled
			}
			near.Check(t, want.Identity+" "+average, []float64{p.DS.Value, p.DNS.Value, p.SNS.Value}, w, 1e-12, 1e-14)
		}
	}
	own, err := Similarities(pictures, Default, PullOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range g.Pulls {
		for _, s := range own {
			if s.A == want.Identity && s.B == want.Identity {
				near.Check(t, "within "+s.A, []float64{s.Value.Value}, []float64{want.Own}, 1e-12, 0)
			}
		}
	}
}

// TestPrintedPull: the paper's Tables 3 to 5 give its count, 121 of 135, and their own MeanSim to within rounding.
func TestPrintedPull(t *testing.T) {
	file, err := os.Open("testdata/printed_similarity.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != 136 {
		t.Fatal(len(rows), err)
	}
	columns := map[string][]float64{}
	var identities []string
	for _, row := range rows[1:] {
		identities = append(identities, row[1])
		for c := 2; c < 6; c++ {
			v, err := strconv.ParseFloat(row[c], 64)
			if err != nil {
				t.Fatal(err)
			}
			columns[rows[0][c]] = append(columns[rows[0][c]], v)
		}
	}
	for i, m := range columns["mean_sim"] {
		if got := (columns["s_d_s"][i] + columns["s_d_ns"][i] + columns["s_s_ns"][i]) / 3; math.Abs(got-m) > 0.000101 {
			t.Errorf("%s: MeanSim %g, printed %g", identities[i], got, m)
		}
	}
	f := tabulartest.Evaluate(t, "visage-pull-count", &client.Frame{Columns: []client.Column{client.TextColumn("identity", identities), client.NumberColumn("s_d_s", columns["s_d_s"]), client.NumberColumn("s_d_ns", columns["s_d_ns"])}}, nil)
	if n, used := f.Numbers("n_positive")[0], f.Numbers("n_used")[0]; n != 121 || used != 135 {
		t.Errorf("%g of %g identities have a positive pull", n, used)
	}
	if share, low, high := f.Numbers("share")[0], f.Numbers("share_low")[0], f.Numbers("share_high")[0]; share != 121.0/135 || !(low < share && share < high) {
		t.Errorf("%g [%g, %g]", share, low, high)
	}
}
