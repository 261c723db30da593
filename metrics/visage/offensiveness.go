package visage

import (
	"fmt"
	"math"
)

// OffensivenessOptions settle what the paper leaves open about O(id). The zero value: present once selected, each stereotype once,
// unrated pairs left out, negative means kept.
type OffensivenessOptions struct {
	Present   string  // "any" (selected at least once; also "") or "share" (L(a, id) at least Threshold)
	Threshold float64 // with "share"
	Weight    string  // "once" (also "") or "likelihood": stereotypes weigh with L(a, id)
	Unrated   string  // "skip" (also "") or "zero"
	Negative  string  // "keep" (also "") or "zero": -1 means "not offensive"
}

// Offensiveness is O(id) = the mean of SeeGULL's mean offensiveness over the stereotypes of id that annotators saw in its pictures.
type Offensiveness struct {
	Identity string
	Value    float64 // [-1, 4]; NaN = no data: no stereotype present, or none of them rated
	Present  int     // stereotypes present
	Rated    int     // of them, rated: what Value is the mean of
}

// OffensivenessOf computes O(id) of each identity; mean gives the offensiveness of a pair, NaN = never rated. The paper's ranking of the most and
// least offensive groups is reproduced by no variant tried, so it is no test of this number.
func OffensivenessOf(ts []Tendency, mean func(identity, attribute string) float64, o OffensivenessOptions) ([]Offensiveness, error) {
	for _, choice := range []struct{ name, value, other string }{{"present", o.Present, "any share"}, {"weight", o.Weight, "once likelihood"}, {"unrated", o.Unrated, "skip zero"}, {"negative", o.Negative, "keep zero"}} {
		var a, b string
		fmt.Sscan(choice.other, &a, &b)
		if choice.value != "" && choice.value != a && choice.value != b {
			return nil, fmt.Errorf("visage: offensiveness option %s=%q; use %s or %s", choice.name, choice.value, a, b)
		}
	}
	out := make([]Offensiveness, len(ts))
	for i, t := range ts {
		r := Offensiveness{Identity: t.Identity}
		sum, weights := 0.0, 0.0
		for _, l := range t.Attributes {
			if !l.Stereotype || l.Selected == 0 || (o.Present == "share" && l.Value < o.Threshold) {
				continue
			}
			r.Present++
			v := mean(t.Identity, l.Attribute)
			if math.IsNaN(v) {
				if o.Unrated != "zero" {
					continue
				}
				v = 0
			}
			r.Rated++
			if v < 0 && o.Negative == "zero" {
				v = 0
			}
			w := 1.0
			if o.Weight == "likelihood" {
				w = l.Value
			}
			sum += w * v
			weights += w
		}
		r.Value = sum / weights // NaN where nothing entered
		out[i] = r
	}
	return out, nil
}
