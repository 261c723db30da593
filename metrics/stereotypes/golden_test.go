package stereotypes

import (
	"encoding/json"
	"os"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
)

type captionGolden struct {
	Attributes []string
	Captions   [][3]string
	Rows       []struct {
		Identity, Attribute        string
		Times, Captions, Documents int
		Plain, Smooth, Tf, Share   float64
	}
	Images []struct {
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
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/captions.json"))(t), &g))
	return g
}

func TestSalienceGolden(t *testing.T) {
	g := readCaptionGolden(t)
	var captions []Caption
	for _, c := range g.Captions {
		captions = append(captions, Caption{c[0], c[1], c[2]})
	}
	for _, idf := range []string{"plain", "smooth"} {
		scores := must.Get(ComputeSalience(captions, Vocabulary{Attributes: g.Attributes},
			SalienceVariant{Weighting: Weighting{Alpha: 1, Idf: idf}}))(t)
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
			got = append(got, float64(a.Times), float64(a.Captions), float64(a.Documents), a.Tf, a.Salience.Value,
				a.Share.Value)
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
	var images []Embedded
	for _, p := range g.Images {
		images = append(images, Embedded{p.Identity, p.Set, p.Attribute, p.Vector})
	}
	for _, average := range []string{"attribute", "pooled"} {
		got := must.Get(ComputePulls(images, PullVariant{Method: average,
			Intervals: metrics.Intervals{Resamples: 20}}))(t)
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
}
