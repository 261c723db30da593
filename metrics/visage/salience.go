package visage

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// SalienceOptions settle what the paper leaves open about the salience of an attribute. The zero value smooths nothing and takes
// the first of each choice; the metric's default for Alpha is 1.
type SalienceOptions struct {
	Matching
	Alpha    float64 // added to each attribute's count; from 0 up
	Count    string  // "occurrences" (also "") or "captions": what count(a, id) counts
	Total    string  // "attributes" (also "") or "words": what total(id) sums, the counts of the whole vocabulary or the captions' words
	Idf      string  // "plain" (also ""): ln(|C|/(1+df)), below 0 where nearly all documents have it; or "smooth": ln((1+|C|)/(1+df)) + 1
	Document string  // "caption" (also "") or "identity": what |C| and df count, captions or identities with all theirs
	Draws    int     // bootstrap draws of pictures; 0 = no intervals
	Level    float64 // of the intervals; 0 = 0.95
	Seed     int64
}

// Bounded is a value with its interval; an end is NaN where there is none.
type Bounded struct{ Value, Low, High float64 }

// Salient is an attribute found in the captions of an identity.
type Salient struct {
	Attribute  string
	Stereotype bool    // of St(id)
	Times      int     // occurrences in the identity's captions
	Captions   int     // of the identity's captions, those with it
	Documents  int     // df(a, C)
	Tf, Idf    float64 // tf in [0, 1]
	Salience   Bounded // tf · idf
	Share      Bounded // of the identity's captions that have it, [0, 1]
}

// CaptionScores are what the captions of one identity show.
type CaptionScores struct {
	Identity           string
	Captions, Pictures int
	Words              int
	WithAny            int       // captions with an attribute of the vocabulary
	WithStereotype     int       // captions with a stereotype of the identity
	Any, Stereotype    Bounded   // their shares, [0, 1]
	Corpus             int       // |C|
	Attributes         []Salient // most salient first, then by name
}

// Salience is section 3.2 of the paper (automated methods): attributes found in captions by string match, and
//
//	salience(a, id) = tf(a, id) · idf(a, C)
//	tf(a, id)       = (count(a, id) + α) / (total(id) + α·|V|)
//	idf(a, C)       = ln(|C| / (1 + df(a, C)))
//
// a modified tf-idf whose exact form the paper does not give. Only attributes found are listed; identities come by name. Intervals: percentile
// bootstrap, pictures with all their captions within every identity at once, so that idf moves too; none for an identity with one picture.
func Salience(captions []Caption, v Vocabulary, o SalienceOptions) ([]CaptionScores, error) {
	m, err := newMatcher(v.Attributes, o.Matching)
	if err != nil {
		return nil, err
	}
	return salienceOf(search(captions, m, v.Stereotypes), m.attributes, v, o)
}

// salienceOf scores what was found; names are the vocabulary's attributes, sorted.
func salienceOf(all []*searched, names []string, v Vocabulary, o SalienceOptions) ([]CaptionScores, error) {
	if o.Level == 0 {
		o.Level = 0.95
	}
	if !(o.Alpha >= 0) || math.IsInf(o.Alpha, 0) || !(o.Level > 0 && o.Level < 1) || o.Draws < 0 {
		return nil, fmt.Errorf("visage: alpha %g, level %g and %d draws; alpha and draws are not negative, the level lies between 0 and 1", o.Alpha, o.Level, o.Draws)
	}
	for _, err := range []error{choice("count", &o.Count, "occurrences", "captions"), choice("total", &o.Total, "attributes", "words"),
		choice("idf", &o.Idf, "plain", "smooth"), choice("document", &o.Document, "caption", "identity")} {
		if err != nil {
			return nil, err
		}
	}
	c := corpus{SalienceOptions: o, vocabulary: len(names), df: make([]int, len(names))}
	for _, s := range all {
		t := s.tally()
		for p := range s.pictures {
			t.add(&s.pictures[p])
		}
		c.count(s, t)
	}
	c.weigh()
	drawn := c.draws(all)
	out := make([]CaptionScores, len(all))
	each(len(out), func(i int) { out[i] = c.score(all[i], names, v, drawn) })
	return out, nil
}

// score gives the scores of one identity with their intervals.
func (c *corpus) score(s *searched, names []string, v Vocabulary, drawn []corpus) CaptionScores {
	t := s.tally()
	for p := range s.pictures {
		t.add(&s.pictures[p])
	}
	out := CaptionScores{Identity: s.identity, Captions: t.captions, Pictures: len(s.pictures), Words: t.words, WithAny: t.any, WithStereotype: t.stereo, Corpus: c.size,
		Any: share(t.any, t.captions), Stereotype: share(t.stereo, t.captions)}
	if v.Stereotypes == nil {
		out.Stereotype.Value = math.NaN()
	}
	for k, a := range s.attributes {
		tf, idf := c.tf(t, k), c.idf[a]
		out.Attributes = append(out.Attributes, Salient{Attribute: names[a], Stereotype: v.Stereotypes[[2]string{s.identity, names[a]}], Times: t.times[k], Captions: t.with[k],
			Documents: c.df[a], Tf: tf, Idf: idf, Salience: Bounded{tf * idf, math.NaN(), math.NaN()}, Share: share(t.with[k], t.captions)})
	}
	if len(s.pictures) > 1 && len(drawn) > 0 {
		s.bootstrap(&out, c.Seed, c.Level, drawn)
	}
	slices.SortFunc(out.Attributes, func(a, b Salient) int {
		return cmp.Or(cmp.Compare(b.Salience.Value, a.Salience.Value), cmp.Compare(a.Attribute, b.Attribute))
	})
	return out
}

func share(k, n int) Bounded { return Bounded{float64(k) / float64(n), math.NaN(), math.NaN()} }

// captionTally sums up pictures of an identity; times and with are by the identity's attributes, sumTimes and sumWith their sums.
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

// draw sums up a draw of pictures with replacement.
func (t *captionTally) draw(s *searched, source *rand.Rand) {
	clear(t.times)
	clear(t.with)
	*t = captionTally{times: t.times, with: t.with}
	for range s.pictures {
		t.add(&s.pictures[source.IntN(len(s.pictures))])
	}
}

// corpus is C: all captions, or a draw of them.
type corpus struct {
	SalienceOptions
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

// draws are the corpora of the bootstrap.
func (c *corpus) draws(all []*searched) []corpus {
	drawn := make([]corpus, c.Draws)
	for b := range drawn {
		drawn[b] = *c
		drawn[b].size, drawn[b].df = 0, make([]int, len(c.df))
	}
	for _, s := range all {
		source, t := seeded(c.Seed, "captions", s.identity), s.tally()
		for b := range drawn {
			t.draw(s, source)
			drawn[b].count(s, t)
		}
	}
	for b := range drawn {
		drawn[b].weigh()
	}
	return drawn
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

// weigh fills in idf once all is counted.
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

// bootstrap fills in the intervals from the draws that the corpora were drawn with; out's attributes are in the order of their finding.
func (s *searched) bootstrap(out *CaptionScores, seed int64, level float64, drawn []corpus) {
	source, t := seeded(seed, "captions", s.identity), s.tally()
	var anys, stereos []float64
	saliences, shares := make([][]float64, len(s.attributes)), make([][]float64, len(s.attributes))
	for k := range saliences {
		saliences[k], shares[k] = make([]float64, 0, len(drawn)), make([]float64, 0, len(drawn))
	}
	for b := range drawn {
		t.draw(s, source)
		n := float64(t.captions)
		anys, stereos = append(anys, float64(t.any)/n), append(stereos, float64(t.stereo)/n)
		for k, a := range s.attributes {
			saliences[k] = keep(saliences[k], drawn[b].tf(t, k)*drawn[b].idf[a])
			shares[k] = append(shares[k], float64(t.with[k])/n)
		}
	}
	out.Any.bound(anys, level)
	out.Stereotype.bound(stereos, level)
	for k := range out.Attributes {
		out.Attributes[k].Salience.bound(saliences[k], level)
		out.Attributes[k].Share.bound(shares[k], level)
	}
}
