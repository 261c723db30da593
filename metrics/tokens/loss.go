package tokens

import (
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
	Causes           string  // what the tokenizer did to it and not to that in the reference language; "" = nothing
	Score, Reference float64 // means of its images and of those in the reference language; NaN = there is none
	Repaired         float64 // that of the prompt written so that the tokenizer does nothing to it; NaN = there is none
	Refused          float64 // share of its images that the generator refused, in [0, 1]
	ReferenceRefused float64
}

// Part is a part of the loss of a language, in points of the score.
type Part struct {
	Cause     string
	Loss      metrics.Estimate // NaN = only the bounds are known
	Share     metrics.Estimate // of the whole loss; NaN where that is not above 0
	Low, High float64          // bounds of a loss that is not known, else NaN
	Flagged   bool             // the interval of Loss is above 0, and Loss at least AtLeast
	Prompts   int              // with this cause
	Method    string
}

// AttributeOptions are the options of [Attribute].
type AttributeOptions struct {
	Floor   float64 // the score of an image that is not there
	Level   float64 // of the intervals of shares
	Family  float64 // the level of those of losses
	AtLeast float64 // the smallest loss that is flagged
}

// attribution divides a loss. A part is the sum, over strata, of the means of a value that each prompt has for it.
type attribution struct {
	AttributeOptions
	prompts []Prompt
	causes  []string // of the strata, in order; "" is first
	strata  [][]int
	methods map[string]string
	values  map[string][]float64 // of each prompt, by part
}

// Attribute divides the loss of a language, the mean over prompts of reference − score, into parts that sum to it. d is
// the loss of a prompt by the images that are there and r that of its repaired form; a share p of the prompts has the
// cause c:
//
//	refused    mean of refused·(score − floor), minus the same in the reference language
//	cause c    p·(mean of d − r of the prompts with c) if all of these, two or more, have a repaired form, else
//	           p·(mean of d of the prompts with c − mean of d of those without a cause)
//	generator  the rest: what remains of a prompt when it is repaired, or has no cause
//
// The first form of a cause compares a prompt with itself. The second is the decomposition of a difference of means by
// Kitagawa (1955), Oaxaca (1973) and Blinder (1973), with the prompts without a cause as the standard: it compares a
// prompt with others, and is right if the generator alone would lose as much of both. With fewer than two prompts
// without a cause, causes that are not repaired and the generator have bounds only: from 0 to what is left, if neither
// is a gain. The interval of a part is Student's, with the degrees of freedom of Welch and Satterthwaite; that of a
// share is Fieller's (1954). A prompt without any image counts as the others with its causes do.
func Attribute(prompts []Prompt, o AttributeOptions) []Part {
	a := &attribution{AttributeOptions: o, prompts: slices.Clone(prompts), methods: map[string]string{},
		values: map[string][]float64{}}
	a.stratify()
	a.divide()
	out := []Part{a.part(All, len(prompts))}
	refused := 0
	for _, p := range prompts {
		if p.Refused > 0 {
			refused++
		}
	}
	if slices.ContainsFunc(a.values[Refused], func(v float64) bool { return v != 0 }) {
		out = append(out, a.part(Refused, refused))
	}
	open := false
	for i, c := range a.causes {
		if c != "" {
			out, open = append(out, a.part(c, len(a.strata[i]))), open || a.methods[c] == ""
		}
	}
	out = append(out, a.part(Generator, len(prompts)))
	left := out[len(out)-1].Loss
	for i := range out {
		if p := &out[i]; open && (p.Cause == Generator || a.isCause(p.Cause) && p.Method == "") {
			p.Loss, p.Share, p.Flagged = metrics.Exact(math.NaN()), metrics.Exact(math.NaN()), false
			p.Low, p.High = min(0, left.Low), max(0, left.High)
		}
	}
	return out
}

func (a *attribution) isCause(name string) bool { return slices.Contains(a.causes, name) }

// stratify divides the prompts by their causes, gives those without an image the loss of the others, and decides how
// each cause is compared.
func (a *attribution) stratify() {
	a.causes = []string{""}
	for _, p := range a.prompts {
		a.causes = append(a.causes, p.Causes)
	}
	slices.Sort(a.causes)
	a.causes = slices.Compact(a.causes)
	a.strata = make([][]int, len(a.causes))
	losses := make([][]float64, len(a.causes))
	var all []float64
	for i, p := range a.prompts {
		k := slices.Index(a.causes, p.Causes)
		a.strata[k] = append(a.strata[k], i)
		if d := p.Reference - p.Score; !math.IsNaN(d) {
			losses[k], all = append(losses[k], d), append(all, d)
		}
	}
	for k, rows := range a.strata {
		repaired := true
		for _, i := range rows {
			p := &a.prompts[i]
			if repaired = repaired && !math.IsNaN(p.Repaired); !math.IsNaN(p.Score) {
				continue
			}
			p.Score = p.Reference
			for _, other := range [][]float64{all, losses[k]} {
				if len(other) > 0 {
					p.Score = p.Reference - mean(other)
				}
			}
		}
		switch c := a.causes[k]; {
		case c != "" && repaired && len(rows) > 1:
			a.methods[c] = ByRepair
		case c != "" && len(a.strata[0]) > 1:
			a.methods[c] = ByOthers
		}
	}
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// divide gives each prompt its value of each part.
func (a *attribution) divide() {
	n := float64(len(a.prompts))
	for _, name := range append([]string{All, Refused, Generator}, a.causes...) {
		a.values[name] = make([]float64, len(a.prompts))
	}
	standsFor := float64(len(a.strata[0])) / n // shares of prompts that those without a cause are the standard of
	for k, c := range a.causes {
		if a.methods[c] == ByOthers {
			standsFor += float64(len(a.strata[k])) / n
		}
	}
	for k, c := range a.causes {
		share := float64(len(a.strata[k])) / n
		for _, i := range a.strata[k] {
			p := a.prompts[i]
			d := p.Reference - p.Score
			f := p.Refused*(p.Score-a.Floor) - p.ReferenceRefused*(p.Reference-a.Floor)
			a.values[All][i], a.values[Refused][i] = share*(d+f), share*f
			switch {
			case c == "":
				a.values[Generator][i] = standsFor * d
			case a.methods[c] == ByRepair:
				a.values[c][i], a.values[Generator][i] = share*(p.Repaired-p.Score), share*(p.Reference-p.Repaired)
			case a.methods[c] == ByOthers:
				a.values[c][i] = share * d
			default:
				a.values[Generator][i] = share * d
			}
		}
		if a.methods[c] == ByOthers {
			for _, i := range a.strata[0] {
				a.values[c][i] = -share * (a.prompts[i].Reference - a.prompts[i].Score)
			}
		}
	}
}

// part returns a part with its intervals.
func (a *attribution) part(cause string, prompts int) Part {
	p := Part{Cause: cause, Prompts: prompts, Method: a.methods[cause], Low: math.NaN(), High: math.NaN(),
		Loss: a.estimate(a.values[cause], a.Family), Share: metrics.Exact(math.NaN())}
	p.Flagged = p.Loss.Low > 0 && p.Loss.Value >= a.AtLeast
	if total := a.estimate(a.values[All], a.Level); total.Low > 0 && cause != All {
		p.Share.Value = p.Loss.Value / total.Value
		p.Share.Low, p.Share.High = a.fieller(cause, p.Share.Value, -1), a.fieller(cause, p.Share.Value, 1)
	}
	return p
}

// estimate returns the sum of the means of the strata.
func (a *attribution) estimate(values []float64, level float64) metrics.Estimate {
	out := metrics.Estimate{Low: math.NaN(), High: math.NaN()}
	var means []interval.Powered
	var weights []float64
	few := false
	for _, rows := range a.strata {
		var own []float64
		for _, i := range rows {
			own = append(own, values[i])
		}
		if !slices.ContainsFunc(own, func(v float64) bool { return v != 0 }) {
			continue
		}
		out.Value += mean(own)
		if few = few || len(own) < 2; !few {
			means, weights = append(means, interval.Plain(own)), append(weights, 1)
		}
	}
	if !few && means != nil {
		out.Low, out.High = interval.PoweredGap(level, weights, means...)
	}
	return out
}

// fieller returns an end of the interval of a share: the largest or least multiple of the whole loss from which the
// part does not differ. NaN = there is no end.
func (a *attribution) fieller(cause string, share, sign float64) float64 {
	differs := func(by float64) bool {
		rest := make([]float64, len(a.prompts))
		for i, v := range a.values[cause] {
			rest[i] = v - (share+sign*by)*a.values[All][i]
		}
		e := a.estimate(rest, a.Level)
		return e.Low > 0 || e.High < 0
	}
	inside, outside := 0.0, 1.0
	for ; !differs(outside); outside *= 2 {
		if outside > 1000 {
			return math.NaN()
		}
	}
	for range 40 {
		if middle := (inside + outside) / 2; differs(middle) {
			outside = middle
		} else {
			inside = middle
		}
	}
	return share + sign*inside
}
