package stereotypes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NgramVariant selects which n-grams of captions count as terms. The zero value: 1 to 3 words, English stop words,
// terms in at least two captions.
type NgramVariant struct {
	Matching
	Least, Most int      // words; 0 = 1 and 3
	Stop        []string // words that a term neither begins nor ends with; nil = [StopWords]
	MinCaptions int      // least number of captions that contain the term; 0 = 2
}

// StopWords returns English function words and words that frame a caption ("a photo of").
func StopWords() []string {
	return strings.Fields("a about above after again against all also am an and another any are as at be because " +
		"been before being below between both but by can could did do does doing down during each few for from " +
		"further had has have having he her here hers him his how i if image in into is it its itself just me more " +
		"most my near next no nor not of off on once one only or other our out over own painting " +
		"person people photo photograph picture portrait s same she should so some such t than that the their them " +
		"then there these they this those through to too under until up upon very was we were what " +
		"when where which while who whom why will with would you your")
}

// Ngrams returns the terms of captions, sorted: runs of words as [Matching] splits them. Use them as the vocabulary of
// [Salience].
func Ngrams(captions []Caption, o NgramVariant) ([]string, error) {
	if o.Least == 0 {
		o.Least = 1
	}
	if o.Most == 0 {
		o.Most = max(3, o.Least)
	}
	if o.MinCaptions == 0 {
		o.MinCaptions = 2
	}
	if o.Stop == nil {
		o.Stop = StopWords()
	}
	if o.Least < 1 || o.Most < o.Least || o.Most > 8 || o.MinCaptions < 1 {
		return nil, fmt.Errorf("stereotypes: n-grams of %d to %d words in at least %d captions; use 1 to 8 "+
			"words, and 1 caption or more", o.Least, o.Most, o.MinCaptions)
	}
	if err := cmp.Or(choice("match", &o.Match, "words"), o.Matching.check()); err != nil {
		return nil, err
	}
	stop := map[string]bool{}
	for _, w := range o.Stop {
		for _, n := range o.words(o.normal(w)) {
			stop[n] = true
		}
	}
	type count struct{ captions, last int }
	counts := map[string]count{}
	for i, c := range captions {
		words := o.words(o.normal(c.Text))
		for start := range words {
			for n := o.Least; n <= o.Most && start+n <= len(words); n++ {
				if stop[words[start]] || stop[words[start+n-1]] {
					continue
				}
				term := strings.Join(words[start:start+n], " ")
				if k := counts[term]; k.last != i+1 {
					counts[term] = count{k.captions + 1, i + 1}
				}
			}
		}
	}
	var out []string
	for term, k := range counts {
		if k.captions >= o.MinCaptions {
			out = append(out, term)
		}
	}
	slices.Sort(out)
	return out, nil
}
