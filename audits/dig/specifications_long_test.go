//go:build calibration

package dig_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/table"
	models "antipode/gomlxmodels"
	"antipode/metrics/disparity"
)

// varied are images with the vectors of other maskings, of which a share has no mask.
func varied(t *testing.T, w *archipelago.World, items []archipelago.Item) *datasets.Frame {
	good, components := photographed{quality: 92}, []string{"object_only", "background_only"}
	f := drawn(t, w, items, good)
	for name, o := range map[string]models.EmbedOptions{"+zeroprob": {Masking: "zeroprob"}, "+white": {Fill: "white"}} {
		g := drawn(t, w, items, good, o)
		for _, c := range components {
			f = f.With(table.VectorColumn(c+name, g.Vectors(c)))
		}
	}
	rng := rand.New(rand.NewPCG(5, 5))
	unmasked := make([]bool, f.Len())
	for i := range unmasked {
		unmasked[i] = rng.Float64() < 0.05
	}
	for _, c := range components {
		for _, name := range []string{"", "+zeroprob", "+white"} {
			v := slices.Clone(f.Vectors(c + name))
			for i := range v {
				if unmasked[i] {
					v[i] = nil
				}
			}
			f = f.With(table.VectorColumn(c+name, v))
		}
	}
	f.Columns = slices.DeleteFunc(f.Columns, func(c table.Column) bool { return strings.HasSuffix(c.Name, "_patches") })
	return f
}

// TestCalibrationOfSpecifications tests all choices in 200 samples of a world without disparities and of worlds with
// one; docs/trust.md has the table, and TestCalibrationOfWhoseGap what it needs. Run with:
//
//	go test -tags calibration -run CalibrationOfSpecifications -timeout 3h -v ./audits/dig
func TestCalibrationOfSpecifications(t *testing.T) {
	engine(t)
	base := archipelago.New(archipelago.Options{Seed: 1, PerCell: 40})
	photos, fair := varied(t, base, base.Reference()), varied(t, base, base.Sampled())
	type injection struct {
		island string
		images *datasets.Frame
	}
	injected := map[string][]injection{}
	for seed := range uint64(8) {
		w := archipelago.New(archipelago.Options{Seed: 100 + seed, PerCell: 32, Injected: true})
		for _, d := range w.InjectedDisparities() {
			items := slices.DeleteFunc(w.Sampled(), func(it archipelago.Item) bool { return it.Region != d.Island })
			injected[d.Kind] = append(injected[d.Kind], injection{d.Island, varied(t, w, items)})
		}
	}
	t.Log("| case | vector | score | images | joint test flags any | flags the island, below 0 | choices that hold | " +
		"choices |")
	for _, c := range []struct {
		kind, vector, score string
		perCell, draws      int
	}{
		{"fair", "background_only", "coverage", 12, 200}, {"fair", "object_only", "coverage", 12, 200},
		{"few backgrounds", "background_only", "coverage", 12, 200},
		{"unseen variants", "object_only", "coverage", 12, 200},
		{"fair", "object_only", "coverage", 24, 100},
		{"few backgrounds", "background_only", "coverage", 24, 50},
		{"unseen variants", "object_only", "coverage", 24, 50},
		{"few backgrounds", "background_only", "recall", 12, 200},
		{"unseen variants", "object_only", "recall", 12, 200},
	} {
		t.Run(fmt.Sprintf("%s/%s/%d", c.kind, c.score, c.perCell), func(t *testing.T) {
			any, found, holds, choices, draws := 0, 0, 0.0, 0.0, float64(c.draws)
			for draw := range c.draws {
				rng := rand.New(rand.NewPCG(uint64(draw), 43))
				island, made := "", some(rng, fair, c.perCell, "", nil, nil)
				if of := injected[c.kind]; of != nil {
					one := of[rng.IntN(len(of))]
					island = one.island
					made = some(rng, fair, c.perCell, island, one.images, nil)
				}
				var kept []int // a tenth is missing, so that balancing matters
				for row := range made.Len() {
					if rng.Float64() > 0.1 {
						kept = append(kept, row)
					}
				}
				out := evaluated(t, "specifications", fmt.Sprintf(`{"by":["region"],"vectors":["%[1]s","%[1]s+zeroprob",`+
					`"%[1]s+white"],"k":[1,3,5],"scores":[%[2]q],"unmasked":["profile","drop"],"balance":["no","yes"],`+
					`"seed":%[3]d}`, c.vector, c.score, draw), map[string]*datasets.Frame{
					"real": some(rng, photos, c.perCell, "", nil, nil), "generated": made.Pick(kept)})
				flagged := false
				for i, choice := range out.Texts("choice") {
					if choice != disparity.AllChoices {
						continue
					}
					yes := out.Texts("flagged")[i] == "yes"
					flagged = flagged || yes
					if out.Texts("region")[i] == island {
						if holds += out.Numbers("holds")[i] / draws; yes && out.Numbers("z")[i] < 0 {
							found++
						}
					}
					choices = out.Numbers("n_choices")[i]
				}
				if flagged {
					any++
				}
			}
			t.Logf("| %s | %s | %s | %d | %.1f %% | %.1f %% | %.1f %% | %g |", c.kind, c.vector, c.score, 48*c.perCell,
				100*float64(any)/draws, 100*float64(found)/draws, 100*holds, choices)
			if c.kind == "fair" && float64(any)/draws > 0.05 {
				t.Error("too many alarms")
			}
		})
	}
}
