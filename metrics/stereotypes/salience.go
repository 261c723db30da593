package stereotypes

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"antipode/internal/fault"
	"antipode/metrics"
	"antipode/metrics/interval"
)

// Weighting selects the variant of tf-idf, which the paper leaves open. The zero value has no smoothing and the first
// of each choice; the metrics' default for Alpha is 1.
type Weighting struct {
	Alpha    float64 `json:"alpha" default:"1" none:"-1" min:"0" help:"added to the count of each attribute"`
	Count    string  `json:"count" default:"occurrences" values:"occurrences,captions" help:"what count(a, id) counts"`
	Total    string  `json:"total" default:"attributes" values:"attributes,words" help:"what total(id) sums"`
	Idf      string  `json:"idf" default:"plain" values:"plain,smooth" help:"ln(|C|/(1+df)) or ln((1+|C|)/(1+df))+1"`
	Document string  `json:"document" default:"caption" values:"caption,identity" help:"what |C| and df count"`
}

// SalienceVariant are the options of [ComputeSalience].
type SalienceVariant struct {
	Matching
	Weighting
	metrics.Intervals
}

// Salient is an attribute found in the captions of an identity.
type Salient struct {
	Attribute  string
	Stereotype bool             // of St(id)
	Times      int              // occurrences in the identity's captions
	Captions   int              // captions of the identity that contain it
	Documents  int              // df(a, C)
	Tf, Idf    float64          // tf in [0, 1]
	Salience   metrics.Estimate // tf · idf
	Share      metrics.Estimate // share of the identity's captions that contain it, [0, 1]
}

// CaptionScores are the scores of the captions of one identity.
type CaptionScores struct {
	Identity         string
	Captions, Images int
	Words            int
	WithAny          int              // captions with an attribute of the vocabulary
	WithStereotype   int              // captions with a stereotype of the identity
	Any, Stereotype  metrics.Estimate // their shares, [0, 1]
	Corpus           int              // |C|
	Attributes       []Salient        // most salient first, then by name
}

// ComputeSalience is section 3.2 of the paper (automated methods): attributes found in captions by string match, and
//
//	salience(a, id) = tf(a, id) · idf(a, C)
//	tf(a, id)       = (count(a, id) + α) / (total(id) + α·|V|)
//	idf(a, C)       = ln(|C| / (1 + df(a, C)))
//
// a modified tf-idf whose exact form the paper does not state; see [Weighting]. Only attributes found are listed,
// since smoothing alone makes none salient; identities are sorted by name. Intervals: bootstrap of images
// with their captions, in all identities at once, so that idf varies too; none for an identity with one image.
func ComputeSalience(captions []Caption, v Vocabulary, o SalienceVariant) ([]CaptionScores, error) {
	m, err := newMatcher(v.Attributes, o.Matching)
	if err != nil {
		return nil, err
	}
	return salienceOf(search(captions, m), m.attributes, v, o)
}

// salienceOf scores documents; names are the sorted attributes of the vocabulary.
func salienceOf(documents []document, names []string, v Vocabulary, o SalienceVariant) ([]CaptionScores, error) {
	for _, err := range []error{choice("count", &o.Count, "occurrences", "captions"),
		choice("total", &o.Total, "attributes", "words"), choice("idf", &o.Idf, "plain", "smooth"),
		choice("document", &o.Document, "caption", "identity")} {
		if err != nil {
			return nil, err
		}
	}
	if !(o.Alpha >= 0) || math.IsInf(o.Alpha, 0) {
		return nil, fmt.Errorf("stereotypes: alpha %g; use 0 or more", o.Alpha)
	}
	if _, err := interval.NewBootstrap(o.Bootstrap()); err != nil {
		return nil, err
	}
	all := collect(documents, names, v.Stereotypes)
	c := corpus{SalienceVariant: o, vocabulary: len(names), df: make([]int, len(names))}
	for _, s := range all {
		t := s.tally()
		for p := range s.images {
			t.add(&s.images[p])
		}
		c.count(s, t)
	}
	c.weigh()
	for _, s := range all {
		var err error
		if s.boot, err = interval.NewBootstrap(o.Bootstrap("captions", s.identity), len(s.images)); err != nil {
			return nil, err
		}
	}
	samples := c.samples(all)
	out := make([]CaptionScores, len(all))
	fault.Each(len(out), func(i int) { out[i] = c.score(all[i], names, v, samples) })
	return out, nil
}

// score returns the scores of one identity with their intervals.
func (c *corpus) score(s *searched, names []string, v Vocabulary, samples []corpus) CaptionScores {
	t := s.tally()
	for p := range s.images {
		t.add(&s.images[p])
	}
	out := CaptionScores{Identity: s.identity, Captions: t.captions, Images: len(s.images), Words: t.words,
		WithAny: t.any, WithStereotype: t.stereo, Corpus: c.size,
		Any: share(t.any, t.captions), Stereotype: share(t.stereo, t.captions)}
	if v.Stereotypes == nil {
		out.Stereotype.Value = math.NaN()
	}
	for k, a := range s.attributes {
		tf, idf := c.tf(t, k), c.idf[a]
		out.Attributes = append(out.Attributes,
			Salient{Attribute: names[a], Stereotype: v.Stereotypes[[2]string{s.identity, names[a]}], Times: t.times[k],
				Captions:  t.with[k],
				Documents: c.df[a], Tf: tf, Idf: idf, Salience: metrics.Exact(tf * idf),
				Share: share(t.with[k], t.captions)})
	}
	if len(s.images) > 1 && len(samples) > 0 {
		s.bootstrap(&out, samples)
	}
	slices.SortFunc(out.Attributes, func(a, b Salient) int {
		return cmp.Or(cmp.Compare(b.Salience.Value, a.Salience.Value), cmp.Compare(a.Attribute, b.Attribute))
	})
	return out
}

func share(k, n int) metrics.Estimate { return metrics.Exact(float64(k) / float64(n)) }

// captionTally sums images of an identity: times and with by attribute, sumTimes and sumWith over all attributes.
type captionTally struct {
	captions, words, any, stereo int
	sumTimes, sumWith            int
	times, with                  []int
}

func (s *searched) tally() *captionTally {
	return &captionTally{times: make([]int, len(s.attributes)), with: make([]int, len(s.attributes))}
}

func (t *captionTally) add(p *captioned) {
	t.captions, t.words, t.any, t.stereo = t.captions+p.captions, t.words+p.words, t.any+p.any, t.stereo+p.stereo
	for _, h := range p.hits {
		t.times[h.attribute] += h.times
		t.with[h.attribute] += h.captions
		t.sumTimes, t.sumWith = t.sumTimes+h.times, t.sumWith+h.captions
	}
}

// resample sums sampled images.
func (t *captionTally) resample(s *searched, units []int) {
	clear(t.times)
	clear(t.with)
	*t = captionTally{times: t.times, with: t.with}
	for _, u := range units {
		t.add(&s.images[u])
	}
}

// corpus is C: all captions, or a resample of them.
type corpus struct {
	SalienceVariant
	vocabulary int   // |V|
	size       int   // |C|
	df         []int // by attribute of the vocabulary
	idf        []float64
}

// count adds an identity to the corpus.
func (c *corpus) count(s *searched, t *captionTally) {
	identities := c.Document == "identity"
	if identities {
		c.size++
	} else {
		c.size += t.captions
	}
	for k, a := range s.attributes {
		switch n := t.with[k]; {
		case !identities:
			c.df[a] += n
		case n > 0:
			c.df[a]++
		}
	}
}

// samples returns the corpora of the bootstrap.
func (c *corpus) samples(all []*searched) []corpus {
	out := make([]corpus, c.Resamples)
	for b := range out {
		out[b] = *c
		out[b].size, out[b].df = 0, make([]int, len(c.df))
	}
	for _, s := range all {
		t := s.tally()
		for b, units := range s.boot.Units() {
			t.resample(s, units)
			out[b].count(s, t)
		}
	}
	for b := range out {
		out[b].weigh()
	}
	return out
}

// tf is NaN without smoothing where nothing was found.
func (c *corpus) tf(t *captionTally, k int) float64 {
	counts, total := t.times, t.sumTimes
	if c.Count == "captions" {
		counts, total = t.with, t.sumWith
	}
	if c.Total == "words" {
		total = t.words
	}
	return (float64(counts[k]) + c.Alpha) / (float64(total) + c.Alpha*float64(c.vocabulary))
}

// weigh sets idf from the counts.
func (c *corpus) weigh() {
	c.idf = make([]float64, len(c.df))
	for a, df := range c.df {
		if c.Idf == "smooth" {
			c.idf[a] = math.Log(float64(1+c.size)/float64(1+df)) + 1
		} else {
			c.idf[a] = math.Log(float64(c.size) / float64(1+df))
		}
	}
}

// bootstrap sets the intervals from the resampled corpora, with the samples of images that they were computed from. The
// attributes of out are in the order of discovery.
func (s *searched) bootstrap(out *CaptionScores, samples []corpus) {
	t := s.tally()
	var anys, stereos []float64
	saliences, shares := make([][]float64, len(s.attributes)), make([][]float64, len(s.attributes))
	for k := range saliences {
		saliences[k], shares[k] = make([]float64, 0, len(samples)), make([]float64, 0, len(samples))
	}
	for b, units := range s.boot.Units() {
		t.resample(s, units)
		n := float64(t.captions)
		anys, stereos = append(anys, float64(t.any)/n), append(stereos, float64(t.stereo)/n)
		for k, a := range s.attributes {
			saliences[k] = append(saliences[k], samples[b].tf(t, k)*samples[b].idf[a])
			shares[k] = append(shares[k], float64(t.with[k])/n)
		}
	}
	ends := func(e *metrics.Estimate, values []float64) { e.Low, e.High = s.boot.Ends(e.Value, values) }
	ends(&out.Any, anys)
	ends(&out.Stereotype, stereos)
	for k := range out.Attributes {
		ends(&out.Attributes[k].Salience, saliences[k])
		ends(&out.Attributes[k].Share, shares[k])
	}
}
