package tokens

import (
	"maps"
	"math"
	"slices"

	"antipode/metrics"
	"antipode/metrics/interval"
)

// Causes of a loss that are no counts of tokens.
const (
	All       = "all"       // the whole loss
	Refused   = "refused"   // images that the generator refused
	Generator = "generator" // the rest
)

// Methods of [Part]: what the prompts with a cause are compared with.
const (
	ByRepair = "repaired prompts"
	ByOthers = "prompts without a cause"
)

// Prompt is a prompt in a language, with that in the reference language.
type Prompt struct {
	Causes    string    // what the tokenizer did to it and not to that in the reference language; "" = nothing
	Scores    []float64 // of its images; none = all were refused
	Reference []float64 // those in the reference language, one or more
	Repaired  []float64 // those of the prompt written so that the tokenizer does nothing to it; none = not written
	Refused   float64   // share of its images that the generator refused, in [0, 1]

	ReferenceRefused float64
}

// Part is a part of the loss of a language, in points of the score. Loss is NaN where only its bounds Low and High are
// known, which are NaN elsewhere; it is flagged if it is at least AtLeast, too. All has the verdict.
type Part struct {
	Cause   string           `column:"cause" help:"all, refused, what the tokenizer did, generator: the rest"`
	Loss    metrics.Estimate `column:"loss" unit:"the scores'" help:"the parts sum to that of all"`
	Share   metrics.Estimate `column:"share" unit:"share of the loss" help:"blank where the whole loss is not above 0"`
	Low     float64          `column:"bound_low" unit:"the scores'" help:"where the loss cannot be divided"`
	High    float64          `column:"bound_high" unit:"the scores'"`
	Flagged bool             `column:"flagged" help:"the interval of loss is above 0"`
	Verdict string           `column:"verdict" help:"the flagged causes, the largest first; no loss; undecided"`
	Rule    string           `column:"rule" help:"what the verdict follows from"`
	Method  string           `column:"method" help:"what the prompts with the cause are compared with"`
	Prompts int              `column:"n_prompts" unit:"prompts" help:"with the cause"`
}

// AttributeOptions are the options of [Attribute].
type AttributeOptions struct {
	Floor   float64 // the score of an image that was refused
	Level   float64 // of the intervals of shares
	Family  float64 // the level of those of losses
	AtLeast float64 // the smallest loss that is flagged
}

// roles are the sets of scores of a prompt.
const (
	own = iota
	reference
	repaired
	roles
)

// attribution divides a loss. Each part is a weighted sum of the mean scores of the prompts.
type attribution struct {
	AttributeOptions
	prompts []Prompt
	means   [][roles]float64          // of the prompts, minus Floor
	plain   [][roles]interval.Powered // of those with two images or more
	single  [roles]interval.Powered   // of the deviations of all images, for the others
	causes  []string                  // of the strata, in order; "" is first
	strata  [][]int
	methods map[string]string
	weights map[string][][roles]float64 // of the means, by part
}

// Attribute divides the loss of a language, the mean over prompts of reference − score, into parts that sum to it. d is
// the loss of a prompt by the images that are there and r that of its repaired form; a share p of the prompts has the
// cause c:
//
//	refused    mean of refused·(score − floor), minus the same in the reference language
//	cause c    p·(mean of d − r of the prompts with c) if all of these have a repaired form, else
//	           p·(mean of d of the prompts with c − mean of d of those without a cause)
//	generator  the rest: what remains of a prompt when it is repaired, or has no cause
//
// The first form of a cause compares a prompt with itself. The second is the decomposition of a difference of means by
// Kitagawa (1955), Oaxaca (1973) and Blinder (1973), with the prompts without a cause as the standard: it compares a
// prompt with others, and is right if the generator alone would lose as much of both. With fewer than two prompts
// without a cause, causes that are not repaired and the generator have bounds only: from 0 to what is left, if neither
// is a gain.
//
// Intervals are Student's, with the degrees of freedom of Welch and Satterthwaite; those of shares are Fieller's
// (1954). Those of parts that compare prompts with others are about prompts like these, which vary; the others are
// about these prompts, of which other images could have been generated, and refusals as they happened (if no prompt has
// two images, about prompts like these, too). A prompt whose images were all refused counts as the others with its
// causes do.
func Attribute(prompts []Prompt, o AttributeOptions) []Part {
	a := &attribution{AttributeOptions: o, prompts: prompts, methods: map[string]string{},
		weights: map[string][][roles]float64{}}
	a.stratify()
	a.weigh()
	var out []Part
	open := false
	for _, name := range parts(prompts) {
		n := len(prompts)
		if name == Refused {
			n = len(slices.DeleteFunc(slices.Clone(prompts), func(p Prompt) bool { return p.Refused == 0 }))
		} else if i := slices.Index(a.causes, name); i >= 0 {
			n, open = len(a.strata[i]), open || a.methods[name] == ""
		}
		out = append(out, a.part(name, n))
	}
	left := out[len(out)-1].Loss
	for i := range out {
		if p := &out[i]; open && (p.Cause == Generator || slices.Contains(a.causes, p.Cause) && p.Method == "") {
			p.Loss, p.Share, p.Flagged = metrics.Exact(math.NaN()), metrics.Exact(math.NaN()), false
			p.Low, p.High = min(0, left.Low), max(0, left.High)
		}
	}
	out[0].Verdict, out[0].Rule = verdict(out)
	return out
}

// parts returns the names of the parts of a loss: all, refused where there are refusals, the causes, generator.
func parts(prompts []Prompt) []string {
	causes := map[string]bool{}
	for _, p := range prompts {
		causes[p.Causes] = true
	}
	delete(causes, "")
	names := []string{All}
	if slices.ContainsFunc(prompts, func(p Prompt) bool { return p.Refused+p.ReferenceRefused > 0 }) {
		names = append(names, Refused)
	}
	return append(append(names, slices.Sorted(maps.Keys(causes))...), Generator)
}

// stratify computes means, divides the prompts by their causes, gives those without an image the loss of the others,
// and decides how each cause is compared.
func (a *attribution) stratify() {
	a.causes = []string{""}
	for _, p := range a.prompts {
		a.causes = append(a.causes, p.Causes)
	}
	slices.Sort(a.causes)
	a.causes = slices.Compact(a.causes)
	a.strata = make([][]int, len(a.causes))
	a.means, a.plain = make([][roles]float64, len(a.prompts)), make([][roles]interval.Powered, len(a.prompts))
	var deviations [roles][]float64
	losses := make([][]float64, len(a.causes))
	var all []float64
	for i, p := range a.prompts {
		k := slices.Index(a.causes, p.Causes)
		a.strata[k] = append(a.strata[k], i)
		for role, scores := range p.roles() {
			if a.means[i][role] = mean(scores) - a.Floor; len(scores) > 1 {
				a.plain[i][role] = interval.Plain(scores)
				for _, s := range scores {
					n, d := float64(len(scores)), s-mean(scores)
					deviations[role] = append(deviations[role], d*math.Sqrt(n/(n-1)))
				}
			}
		}
		if len(p.Scores) > 0 {
			d := a.means[i][reference] - a.means[i][own]
			losses[k], all = append(losses[k], d), append(all, d)
		}
	}
	for role, d := range deviations {
		if d != nil {
			a.single[role] = interval.Plain(d)
		}
	}
	for k, rows := range a.strata {
		written := true
		for _, i := range rows {
			written = written && len(a.prompts[i].Repaired) > 0
			if len(a.prompts[i].Scores) == 0 {
				a.means[i][own] = a.means[i][reference] - mean(all)
				if len(losses[k]) > 0 {
					a.means[i][own] = a.means[i][reference] - mean(losses[k])
				}
			}
		}
		switch c := a.causes[k]; {
		case c != "" && written:
			a.methods[c] = ByRepair
		case c != "" && len(a.strata[0]) > 1:
			a.methods[c] = ByOthers
		}
	}
}

func (p *Prompt) roles() [roles][]float64 { return [roles][]float64{p.Scores, p.Reference, p.Repaired} }

// mean returns the mean of values, 0 of none.
func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// weigh sets the weights of the prompts' means in each part.
func (a *attribution) weigh() {
	for _, name := range append([]string{All, Refused, Generator}, a.causes...) {
		a.weights[name] = make([][roles]float64, len(a.prompts))
	}
	n, standard := float64(len(a.prompts)), float64(len(a.strata[0]))
	standsFor := standard // number of prompts of which those without a cause are the standard
	for k, c := range a.causes {
		if a.methods[c] == ByOthers {
			standsFor += float64(len(a.strata[k]))
		}
	}
	for k, c := range a.causes {
		for _, i := range a.strata[k] {
			p := a.prompts[i]
			a.weights[All][i] = [roles]float64{(p.Refused - 1) / n, (1 - p.ReferenceRefused) / n}
			a.weights[Refused][i] = [roles]float64{p.Refused / n, -p.ReferenceRefused / n}
			switch {
			case c == "":
				w := standsFor / standard / n
				a.weights[Generator][i] = [roles]float64{-w, w}
			case a.methods[c] == ByRepair:
				a.weights[c][i] = [roles]float64{own: -1 / n, repaired: 1 / n}
				a.weights[Generator][i] = [roles]float64{reference: 1 / n, repaired: -1 / n}
			case a.methods[c] == ByOthers:
				a.weights[c][i] = [roles]float64{-1 / n, 1 / n}
			default:
				a.weights[Generator][i] = [roles]float64{-1 / n, 1 / n}
			}
		}
		if a.methods[c] == ByOthers {
			w := float64(len(a.strata[k])) / standard / n
			for _, i := range a.strata[0] {
				a.weights[c][i] = [roles]float64{w, -w}
			}
		}
	}
}

// part returns a part with its intervals.
func (a *attribution) part(cause string, prompts int) Part {
	others := a.methods[cause] == ByOthers
	for _, method := range a.methods {
		others = others || cause == Generator && method == ByOthers
	}
	p := Part{Cause: cause, Prompts: prompts, Method: a.methods[cause], Low: math.NaN(), High: math.NaN(),
		Loss: a.estimate(a.weights[cause], others, a.Family), Share: metrics.Exact(math.NaN())}
	p.Flagged = p.Loss.Low > 0 && p.Loss.Value >= a.AtLeast
	if total := a.estimate(a.weights[All], others, a.Level); total.Low > 0 && cause != All {
		p.Share.Value = p.Loss.Value / total.Value
		p.Share.Low, p.Share.High = a.fieller(cause, others, p.Share.Value, -1),
			a.fieller(cause, others, p.Share.Value, 1)
	}
	return p
}

// estimate returns a weighted sum of means: about prompts like these, or about these prompts.
func (a *attribution) estimate(weights [][roles]float64, others bool, level float64) metrics.Estimate {
	out := metrics.Estimate{Low: math.NaN(), High: math.NaN()}
	var samples []interval.Powered
	var by []float64
	few := false
	for _, rows := range a.strata {
		var values []float64
		for _, i := range rows {
			v := 0.0
			for role, w := range weights[i] {
				v += w * a.means[i][role]
				if !others && w != 0 && len(a.prompts[i].roles()[role]) > 0 {
					p := a.plain[i][role]
					if p.N == 0 { // the variance of one of the images
						p, w = a.single[role], w*math.Sqrt(float64(a.single[role].N))
					}
					samples, by, few = append(samples, p), append(by, w), few || p.N == 0
				}
			}
			out.Value += v
			values = append(values, v*float64(len(rows)))
		}
		if others && slices.ContainsFunc(values, func(v float64) bool { return v != 0 }) {
			if few = few || len(values) < 2; !few {
				samples, by = append(samples, interval.Plain(values)), append(by, 1)
			}
		}
	}
	switch {
	case few && !others:
		return a.estimate(weights, true, level)
	case !few && samples != nil:
		low, high := interval.PoweredGap(level, by, samples...)
		out.Low, out.High = out.Value-(high-low)/2, out.Value+(high-low)/2
	}
	return out
}

// fieller returns an end of the interval of a share: the largest or least multiple of the whole loss from which the
// part does not differ. NaN = there is no end.
func (a *attribution) fieller(cause string, others bool, share, sign float64) float64 {
	rest := make([][roles]float64, len(a.prompts))
	differs := func(by float64) bool {
		for i, w := range a.weights[cause] {
			for role := range w {
				rest[i][role] = w[role] - (share+sign*by)*a.weights[All][i][role]
			}
		}
		e := a.estimate(rest, others, a.Level)
		return e.Low > 0 || e.High < 0
	}
	inside, outside := 0.0, 1.0
	for ; !differs(outside); outside *= 2 {
		if outside > 1000 {
			return math.NaN()
		}
	}
	for range 30 {
		if middle := (inside + outside) / 2; differs(middle) {
			outside = middle
		} else {
			inside = middle
		}
	}
	return share + sign*inside
}
