package dig

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"antipode/audits"
	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/disparity"
	"antipode/metrics/significance"
)

// Configured is the choice of [Audit.Sensitivity] that changes nothing.
const Configured = "as configured"

// choice is a choice that the paper leaves open, or that one could make otherwise.
type choice struct {
	name string
	set  func(*Audit)
}

// choices returns every choice that differs in one field from the audit: how patches are hidden, what their pixels
// become, which patches are the object's, k and the boundary of the balls, and the treatment of images without a mask.
func (a Audit) choices() []choice {
	out := []choice{{Configured, func(*Audit) {}}}
	patches := []string{"any", "resized"}
	if a.publicCode() {
		slices.Reverse(patches)
	}
	for _, c := range []struct {
		name   string
		field  func(*Audit) *string
		values []string // the default first
	}{
		{"masking", func(a *Audit) *string { return &a.Embedding.Masking }, []string{"drop", "neginf", "zeroprob"}},
		{"fill", func(a *Audit) *string { return &a.Embedding.Fill }, []string{"none", "white", "black"}},
		{"patches", func(a *Audit) *string { return &a.Embedding.PatchRule }, patches},
		{"boundary", func(a *Audit) *string { return &a.Comparison.Boundary }, []string{"<", "<="}},
		{"unmasked", func(a *Audit) *string { return &a.Comparison.Unmasked },
			[]string{"profile", "miss", "full-image", "drop", "zero-vector"}},
		{"unmasked_real", func(a *Audit) *string { return &a.Comparison.UnmaskedReal },
			[]string{"profile", "full-image"}},
	} {
		for _, v := range c.values {
			if v != cmp.Or(*c.field(&a), c.values[0]) {
				out = append(out, choice{c.name + " " + v, func(a *Audit) { *c.field(a) = v }})
			}
		}
	}
	for _, k := range a.radii() {
		if k != cmp.Or(a.Comparison.K, 3) {
			out = append(out, choice{fmt.Sprint("k ", k), func(a *Audit) { a.Comparison.K = k }})
		}
	}
	return out
}

// radii are the choices of k.
func (a Audit) radii() []int {
	if !a.builtIn() && a.perCell() < 12 {
		return []int{1, 3} // half of so few reference images has no fifth neighbor
	}
	return []int{1, 3, 5}
}

// Sensitivity returns [Audit.Findings] under each open choice of the analysis, one changed at a time, with the column
// choice; the first is [Configured]. See significance.ByConclusion and significance.ByChoice, which summarize it, and
// [Audit.Conclusions].
func (a Audit) Sensitivity() datasets.Table {
	return audits.Each(a.choices(), func(c choice) datasets.Table {
		one := a
		one.skipFew = c.name != Configured
		c.set(&one)
		return one.Findings().Select("model", "region", "vector", "score", "gap", "gap_low", "gap_high",
			"injected", "verdict").With("choice", c.name)
	})
}

var conclusions = significance.ChoiceOptions{By: metrics.By("model", "region", "vector", "score"), Estimate: "gap"}

// Conclusions returns, for each gap, in how many choices of [Audit.Sensitivity] its verdict is the same, which differ,
// and the range of the gap; see significance.ByConclusion.
func (a Audit) Conclusions() datasets.Table {
	return significance.ByConclusion(a.Sensitivity(), conclusions)
}

// Choices returns, for each choice of [Audit.Sensitivity], how many verdicts it changes and the rank correlation of its
// gaps with those of the audit; see significance.ByChoice.
func (a Audit) Choices() datasets.Table { return significance.ByChoice(a.Sensitivity(), conclusions) }

// Specifications returns the gaps in coverage between regions, for the template Original, under every combination of
// the choices of [Audit.Sensitivity] and of balancing, with a joint test of each region; see
// disparity.Specifications. The column component has the component.
func (a Audit) Specifications() datasets.Table { return a.models(Audit.specifications) }

func (a Audit) specifications() datasets.Table {
	sets, variants := a.Sets(Original), []string{""}
	components := vectors[1:]
	for _, c := range a.choices() {
		one := a
		if c.set(&one); reflect.DeepEqual(one.Embedding, a.Embedding) {
			continue
		}
		variant := "+" + strings.ReplaceAll(c.name, " ", "_")
		add := func(to, from datasets.Table) datasets.Table {
			from = from.Select(append([]string{"id"}, components...)...)
			for _, v := range components {
				from = from.Rename(v, v+variant)
			}
			return to.Join(from, "id")
		}
		variants = append(variants, variant)
		sets.Real, sets.Generated = add(sets.Real, one.Reference()), add(sets.Generated, one.Generated(Original))
	}
	return audits.Each(components, func(component string) datasets.Table {
		o := disparity.SpecificationOptions{By: metrics.By("region"), K: a.radii(), Scores: []string{"coverage"},
			Unmasked: []string{"profile", "miss", "full-image", "drop"}, Balance: []string{"no", "yes"},
			Intervals: a.family()}
		for _, v := range variants {
			o.Vectors = append(o.Vectors, component+v)
		}
		return disparity.Specifications(sets, o).With("component", component)
	})
}
