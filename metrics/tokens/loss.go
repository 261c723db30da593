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
	prompts   []Prompt
	sets      [][roles]interval.Powered // of the prompts, values minus Floor; N is 0 where there are not two images
	single    [roles]interval.Powered   // of the deviations of all images, for the others
	causes    []string                  // of the prompts, in order, without ""
	strata    map[string][]int          // the prompts by their causes, and those with refusals
	methods   map[string]string         // by cause
	standsFor float64                   // number of prompts of which those without a cause are the standard
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
	a := &attribution{AttributeOptions: o, prompts: prompts, causes: causes(prompts),
		strata: map[string][]int{Refused: nil}, methods: map[string]string{}}
	a.stratify()
	var out []Part
	for _, name := range parts(prompts) {
		out = append(out, a.part(name))
	}
	open := len(a.methods) < len(a.causes)
	left := out[len(out)-1].Loss
	for i := range out {
		if p := &out[i]; open && p.Method == "" && p.Cause != All && p.Cause != Refused {
			p.Loss, p.Share, p.Flagged = metrics.Exact(math.NaN()), metrics.Exact(math.NaN()), false
			p.Low, p.High = min(0, left.Low), max(0, left.High)
		}
	}
	out[0].Verdict, out[0].Rule = verdict(out)
	return out
}

// parts returns the names of the parts of a loss: all, refused where there are refusals, the causes, generator.
func parts(prompts []Prompt) []string {
	names := []string{All}
	if slices.ContainsFunc(prompts, func(p Prompt) bool { return p.Refused+p.ReferenceRefused > 0 }) {
		names = append(names, Refused)
	}
	return append(append(names, causes(prompts)...), Generator)
}

// causes returns the causes of the prompts in their order.
func causes(prompts []Prompt) []string {
	known := map[string]bool{}
	for _, p := range prompts {
		known[p.Causes] = true
	}
	delete(known, "")
	return slices.Sorted(maps.Keys(known))
}

// stratify computes means, divides the prompts by their causes, gives those without an image the loss of the others,
// and decides how each cause is compared.
func (a *attribution) stratify() {
	a.sets = make([][roles]interval.Powered, len(a.prompts))
	var deviations [roles][]float64
	losses := map[string][]float64{}
	var all []float64
	for i, p := range a.prompts {
		a.strata[p.Causes] = append(a.strata[p.Causes], i)
		if p.Refused > 0 {
			a.strata[Refused] = append(a.strata[Refused], i)
		}
		for role, scores := range p.roles() {
			if len(scores) > 1 {
				a.sets[i][role] = interval.Plain(scores)
				for _, s := range scores {
					n, d := float64(len(scores)), s-mean(scores)
					deviations[role] = append(deviations[role], d*math.Sqrt(n/(n-1)))
				}
			}
			a.sets[i][role].Value = mean(scores) - a.Floor
		}
		if len(p.Scores) > 0 {
			d := a.sets[i][reference].Value - a.sets[i][own].Value
			losses[p.Causes], all = append(losses[p.Causes], d), append(all, d)
		}
	}
	for role, d := range deviations {
		if d != nil {
			a.single[role] = interval.Plain(d)
		}
	}
	for i, p := range a.prompts {
		typical := losses[p.Causes]
		if typical == nil {
			typical = all
		}
		if len(p.Scores) == 0 {
			a.sets[i][own].Value = a.sets[i][reference].Value - mean(typical)
		}
	}
	a.standsFor = float64(len(a.strata[""]))
	for _, c := range a.causes {
		notRepaired := func(i int) bool { return len(a.prompts[i].Repaired) == 0 }
		if !slices.ContainsFunc(a.strata[c], notRepaired) {
			a.methods[c] = ByRepair
		} else if len(a.strata[""]) > 1 {
			a.methods[c] = ByOthers
			a.standsFor += float64(len(a.strata[c]))
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

// weight returns the weights of a prompt's means in a part.
func (a *attribution) weight(part string, p Prompt) [roles]float64 {
	n, standard, method := float64(len(a.prompts)), float64(len(a.strata[""])), a.methods[p.Causes]
	switch {
	case part == All:
		return [roles]float64{(p.Refused - 1) / n, (1 - p.ReferenceRefused) / n}
	case part == Refused:
		return [roles]float64{p.Refused / n, -p.ReferenceRefused / n}
	case p.Causes == "" && part == Generator:
		w := a.standsFor / standard / n
		return [roles]float64{-w, w}
	case p.Causes == "" && a.methods[part] == ByOthers:
		w := float64(len(a.strata[part])) / standard / n
		return [roles]float64{w, -w}
	case part == p.Causes && method == ByRepair:
		return [roles]float64{own: -1 / n, repaired: 1 / n}
	case part == Generator && method == ByRepair:
		return [roles]float64{reference: 1 / n, repaired: -1 / n}
	case part == p.Causes && method == ByOthers, part == Generator && method == "":
		return [roles]float64{-1 / n, 1 / n}
	}
	return [roles]float64{}
}

// part returns a part with its intervals.
func (a *attribution) part(cause string) Part {
	p := Part{Cause: cause, Prompts: len(a.prompts), Method: a.methods[cause], Low: math.NaN(), High: math.NaN(),
		Share: metrics.Exact(math.NaN())}
	others := p.Method == ByOthers || cause == Generator && a.standsFor > float64(len(a.strata[""]))
	if rows, known := a.strata[cause]; known {
		p.Prompts = len(rows)
	}
	p.Loss = a.estimate(cause, 0, others, a.Family)
	p.Flagged = p.Loss.Low > 0 && p.Loss.Value >= a.AtLeast
	if total := a.estimate(All, 0, others, a.Level); total.Low > 0 && cause != All {
		p.Share.Value = p.Loss.Value / total.Value
		p.Share.Low = a.fieller(cause, others, p.Share.Value, -1)
		p.Share.High = a.fieller(cause, others, p.Share.Value, 1)
	}
	return p
}

// estimate returns a part minus a share of the whole loss: about prompts like these, or about these prompts.
func (a *attribution) estimate(part string, share float64, others bool, level float64) metrics.Estimate {
	out := metrics.Estimate{Low: math.NaN(), High: math.NaN()}
	var samples []interval.Powered
	var by []float64
	few := false
	for _, cause := range append([]string{""}, a.causes...) {
		rows := a.strata[cause]
		var values []float64
		for _, i := range rows {
			v, whole := 0.0, a.weight(All, a.prompts[i])
			for role, w := range a.weight(part, a.prompts[i]) {
				w -= share * whole[role]
				v += w * a.sets[i][role].Value
				if !others && w != 0 && len(a.prompts[i].roles()[role]) > 0 {
					p := a.sets[i][role]
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
		return a.estimate(part, share, true, level)
	case !few && samples != nil:
		low, high := interval.PoweredGap(level, by, samples...)
		out.Low, out.High = out.Value-(high-low)/2, out.Value+(high-low)/2
	}
	return out
}

// fieller returns an end of the interval of a share: the largest or least multiple of the whole loss from which the
// part does not differ. NaN = there is no end.
func (a *attribution) fieller(cause string, others bool, share, sign float64) float64 {
	differs := func(by float64) bool {
		e := a.estimate(cause, share+sign*by, others, a.Level)
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
