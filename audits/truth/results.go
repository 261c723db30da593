package truth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/audits"
	"antipode/datasets"
	"antipode/metrics/power"
)

// each concatenates a table of every audit.
func (t Test) each(of func(audit) datasets.Table) datasets.Table {
	return audits.Each(t.audits(), of)
}

// findings returns what an audit finds in samples of n units per cell.
func (t Test) findings(a audit, injected bool, n, resamples int) datasets.Table {
	p := power.Pools{Pool: t.Pool(a.pool, injected)}
	if injected {
		p.Injected = a.injected
	}
	o := a.options
	o.Name, o.Sizes, o.Resamples = a.name, []int{n}, resamples
	return power.Findings(p, a.run, o)
}

// Whole returns what each audit finds in the whole pool, one row per subject; see [power.Findings].
func (t Test) Whole(injected bool) datasets.Table {
	return t.each(func(a audit) datasets.Table { return t.findings(a, injected, a.whole, 1) })
}

// Studies returns what each audit finds in n samples of half to nine tenths of its pool.
func (t Test) Studies(injected bool, n int) datasets.Table {
	return t.each(func(a audit) datasets.Table { return t.findings(a, injected, a.study, n) })
}

// FalseAlarms returns the share of 200 samples of the pool without disparities in which each audit finds anything
// (kind family) or a certain subject (kind subject); see [power.Curve].
func (t Test) FalseAlarms() datasets.Table {
	return t.each(func(a audit) datasets.Table {
		o := a.options
		o.Name, o.Sizes, o.Resamples = a.name, []int{a.study}, 200
		if t.Scores && t.Quick {
			o.Resamples = 60
		}
		return power.Curve(power.Pools{Pool: t.Pool(a.pool, false)}, a.run, o)
	})
}

// Curves returns the share of samples in which each audit finds each injected disparity, by the number of units per
// cell and by the share of each sample that comes from the pool with disparities; see [power.Curve].
func (t Test) Curves() datasets.Table {
	return t.each(func(a audit) datasets.Table {
		o := a.options
		o.Name, o.Sizes, o.Resamples, o.Shares = a.name, a.sizes, 200, []float64{0.25, 0.5, 1}
		if t.Quick {
			o.Resamples, o.Shares = 100, []float64{0.5, 1}
		}
		if t.Scores && t.Quick {
			o.Resamples, o.Shares = 60, []float64{1}
		}
		return power.Curve(power.Pools{Pool: t.Pool(a.pool, true), Other: t.Pool(a.pool, false),
			Injected: a.injected},
			a.run, o)
	})
}

// Estimates returns the rows of [Test.Curves] at the largest number of units, of injected disparities.
func (t Test) Estimates() datasets.Table {
	curves := t.Curves().Where("kind", "==", "injected")
	return t.each(func(a audit) datasets.Table {
		return curves.Where("audit", "==", a.name).Where("n", "==", float64(slices.Max(a.sizes)))
	})
}

// Units names what is sampled from a cell, by audit.
var Units = map[string]string{
	"Decomposed-DIG": "images of each object on each island", "CoCo-CroLa": "images of each concept in each language",
	"IndicTTI": "captions (3 images of each in each language)", "ViSAGe": "default images of each people",
	"ENTIGEN": "images of each prompt",
}

// follows lists findings that an injected disparity implies: where the segmenter does not recognize an object, the
// object remains in the background.
func (t Test) follows() (subjects []string) {
	if t.sampler() {
		return nil
	}
	for _, region := range t.component("object").MustRows().Texts("region") {
		subjects = append(subjects, region+", background_only")
	}
	return subjects
}

// Unexpected returns the rows of findings that are flagged without an injected disparity, and that none implies.
func (t Test) Unexpected(findings datasets.Table) datasets.Table {
	out := findings.Where("kind", "!=", "injected").Where("found", "==", "yes")
	for _, subject := range t.follows() {
		out = out.Where("subject", "!=", subject)
	}
	return out
}

// Summary runs the test and returns a row for each audit and study: the column line reports the injected disparities,
// those found, the one with the largest estimate, and false findings.
func (t Test) Summary(studies int) datasets.Table {
	injected, fair := t.Studies(true, studies).MustRows(), t.Studies(false, studies).MustRows()
	curves, rates := t.Curves().MustRows(), t.FalseAlarms().Where("kind", "==", "family").MustRows()
	follows := t.follows()
	var out []map[string]any
	for i, a := range t.audits() {
		for n := 1; n <= studies; n++ {
			all, found := studyRows(injected, a.name, n, "injected", nil)
			_, wrong := studyRows(injected, a.name, n, "control", follows)
			_, alarms := studyRows(fair, a.name, n, "subject", nil)
			out = append(out, map[string]any{"audit": a.name, "study": fmt.Sprint(n), "injected": len(all),
				"found": len(found), "largest": largest(injected, all, curves, a.study),
				"false findings":      names(wrong),
				"without disparities": names(alarms),
				"false alarm rate": fmt.Sprintf("%.1f %% [%.1f, %.1f]", 100*rates.Numbers("found")[i],
					100*rates.Numbers("found_low")[i], 100*rates.Numbers("found_high")[i])})
		}
	}
	return datasets.FromRows(out)
}

// studyRows returns the rows of an audit's study of one kind, and the subjects found among them.
func studyRows(f *datasets.Frame, audit string, study int, kind string, except []string) (rows []int,
	found []string) {
	for i, k := range f.Texts("kind") {
		if f.Texts("audit")[i] == audit && int(f.Numbers("resample")[i]) == study && k == kind &&
			!slices.Contains(except, f.Texts("subject")[i]) {
			rows = append(rows, i)
			if f.Texts("found")[i] == "yes" {
				found = append(found, f.Texts("subject")[i])
			}
		}
	}
	return rows, found
}

func names(found []string) string {
	if len(found) == 0 {
		return "none"
	}
	return strings.Join(found, "; ")
}

// largest describes the finding with the largest estimate, with the audit's interval or, if it has none, the middle
// 95 % of all samples.
func largest(f *datasets.Frame, rows []int, curves *datasets.Frame, study int) string {
	estimate := f.Numbers("estimate")
	at := slices.MaxFunc(rows,
		func(a, b int) int { return cmp.Compare(math.Abs(estimate[a]), math.Abs(estimate[b])) })
	subject, low, high, of := f.Texts("subject")[at], f.Numbers("estimate_low")[at], f.Numbers("estimate_high")[at],
		""
	for i, s := range curves.Texts("subject") {
		if math.IsNaN(low) && s == subject && curves.Numbers("share")[i] == 1 &&
			int(curves.Numbers("n")[i]) == study {
			low, high, of = curves.Numbers("estimate_low")[i], curves.Numbers("estimate_high")[i], "samples "
		}
	}
	text := fmt.Sprintf("%s %+.2f %s[%+.2f, %+.2f]", subject, estimate[at], of, low, high)
	if p := f.Numbers("p")[at]; !math.IsNaN(p) {
		text += fmt.Sprintf(", p %.4f", p)
	}
	return text
}
