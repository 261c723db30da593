//go:build calibration

package crossed

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/internal/must"
)

// TestCalibrationOfCrossed prints, for 1,000 simulated tables of each kind, how often a gap is flagged where the groups
// differ under each template and not beyond, how often a gap is found, and how often intervals of components contain
// the true variance.
func TestCalibrationOfCrossed(t *testing.T) {
	t.Log("templates, seeds, group × template, missing, yes or no, gap | any gap flagged over rows, template, all | " +
		"the first group's over rows, template, all | coverage of template, group × template, seed, residual")
	for _, s := range []simulated{
		{templates: 8, seeds: 12},
		{templates: 8, seeds: 12, both: 0.5},
		{templates: 8, seeds: 12, both: 1},
		{templates: 4, seeds: 12, both: 0.5},
		{templates: 16, seeds: 12, both: 0.5},
		{templates: 8, seeds: 12, both: 0.5, missing: 0.2},
		{templates: 8, seeds: 12, both: 0.5, yes: true},
		{templates: 4, seeds: 12, both: 0.5, yes: true, missing: 0.2},
		{templates: 8, seeds: 12, both: 0.5, gap: 1},
		{templates: 4, seeds: 12, both: 0.5, gap: 1},
		{templates: 16, seeds: 12, both: 0.5, gap: 1},
		{templates: 8, seeds: 12, both: 0.5, gap: 1, yes: true},
	} {
		s.groups, s.template, s.seed, s.noise = 4, 0.5, 0.3, 1
		r := s.rates(t, 1000)
		if s.yes {
			r.coverage = nil // the variances of shares are others
		}
		t.Logf("%d %d %.1f %.1f %v %.1f | %.3f %.3f %.3f | %.3f %.3f %.3f | %.3f %.3f %.3f %.3f", s.templates, s.seeds,
			s.both, s.missing, s.yes, s.gap, r.flagged[Rows], r.flagged["template"], r.flagged[All], r.first[Rows],
			r.first["template"], r.first[All], r.coverage["template"], r.coverage["group × template"],
			r.coverage["seed"], r.coverage[Residual])
		if s.gap == 0 && (r.flagged["template"] > 0.08 || r.flagged[All] > 0.08) {
			t.Errorf("%+v: too many false alarms", s)
		}
	}
}

// TestCalibrationOfCrossedWorld prints, for 200 built-in worlds of 20 and of 60 images of each occupation with each of
// four sentences, how often the interval of a component, or of a gap between sentences, excludes 0: on the axis on
// which one sentence changes one occupation, on the other axis, on which that occupation is skewed with every sentence,
// and in worlds without disparities.
func TestCalibrationOfCrossedWorld(t *testing.T) {
	const worlds = 200
	for _, images := range []int{20, 60} {
		found := map[string]float64{}
		for seed := range uint64(worlds) {
			for _, injected := range []bool{true, false} {
				w := archipelago.New(archipelago.Options{Seed: seed, Injected: injected, PerCell: images})
				fixed := "" // the axis on which a sentence changes something
				for _, x := range w.AuditDisparities() {
					if x.Audit == archipelago.ENTIGEN && x.Kind == "fixed" {
						fixed, _, _ = strings.Cut(x.Subject, " ")
					}
				}
				for _, axis := range []string{archipelago.AxisCrest, archipelago.AxisBanner} {
					kind, share := "other axis", 1.0/worlds
					if axis == fixed {
						kind = "axis of the sentence"
					} else if !injected {
						kind, share = "no disparities", share/2
					}
					for what := range excluded(t, w, axis) {
						found[fmt.Sprintf("%d images, %s: %s", images, kind, what)] += share
					}
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(found)) {
			t.Logf("%s: %.3f", name, found[name])
		}
	}
}

// excluded returns the components and the gaps of sentences whose intervals exclude 0.
func excluded(t *testing.T, w *archipelago.World, axis string) map[string]bool {
	t.Helper()
	sentence, occupation := Factor{Name: "sentence"}, Factor{Name: "occupation"}
	var y []float64
	for _, it := range w.Occupations() {
		sign := map[string]string{archipelago.AxisCrest: it.Image.Figure.Crest,
			archipelago.AxisBanner: it.Image.Figure.Banner}[axis]
		y = append(y, float64(slices.Index(archipelago.Groups(axis), sign)))
		sentence.Levels = append(sentence.Levels, it.PromptID)
		occupation.Levels = append(occupation.Levels, it.Attribute)
	}
	d := must.Get(NewDesign(y, sentence, occupation))(t)
	out := map[string]bool{}
	for _, c := range must.Get(d.Components(0.95))(t) {
		if c.Variance.Low > 0 && c.Name != Residual {
			out[c.Name] = true
		}
	}
	for _, ways := range d.Gaps(0.95) {
		for _, o := range ways {
			if o.Flagged {
				out["a gap over "+o.Name] = true
			}
		}
	}
	return out
}
