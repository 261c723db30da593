package cococrola

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Translator is a translation service. Its answer omits the languages for which it has no word.
type Translator interface {
	Name() string
	Translate(ctx context.Context, word string, languages []string) (map[string]string, error)
}

// Synset is a set of synonyms in several languages.
type Synset struct {
	POS   string              `json:"pos"` // part of speech: noun, verb, …
	Terms map[string][]string `json:"terms"`
}

// SynsetSource is a multilingual dictionary of synsets; BabelNet in the paper.
type SynsetSource interface {
	Synsets(ctx context.Context, word string) ([]Synset, error)
}

// Frequencies is a word list with frequencies per million words.
type Frequencies struct {
	Name       string             `json:"name"`
	PerMillion map[string]float64 `json:"per_million"`
}

// ListOptions are the inputs and options of [BuildList] (section 4.1, Figure 5 and Appendix A of the paper).
type ListOptions struct {
	Languages   []string // en and the target languages
	Frequencies []Frequencies
	Top         int      // number of most frequent words of the merged lists to keep; 0 = 2000
	Added       []string // words added regardless of frequency: the class names of CIFAR-100
	Translators []Translator
	Synsets     SynsetSource
	Removed     map[string]string   // words removed manually, with the reason: words that are also verbs
	Articles    map[string][]string // leading articles to strip, by language, in addition to those of en, es, de
	Narrowest   bool                // start from the answer that covers the fewest languages
}

// Candidate is a word considered for the list.
type Candidate struct {
	Word      string
	Frequency float64           // per million, summed over the lists
	Rank      int               // in the merged list, from 1; 0 = added word
	Words     map[string]string // by language, up to the step reached
	From      map[string]string // the translator of each word, by language
	Step      string            // that dropped the word; "" = kept
	Reason    string            // why
}

// The steps that drop words.
const (
	StepFrequency = "frequency"
	StepNoun      = "noun test"
	StepComplete  = "completeness"
	StepCheck     = "synset check"
	StepManual    = "manual removal"
)

var articles = map[string][]string{
	"en": {"the", "a", "an"}, "es": {"el", "la", "los", "las", "un", "una", "unos", "unas"},
	"de": {"der", "die", "das", "ein", "eine"},
}

// plain normalizes a word: NFC, lower case, no leading article; diacritics are kept.
func (o ListOptions) plain(language, word string) string {
	word = norm.NFC.String(strings.ToLower(strings.TrimSpace(word)))
	for _, a := range append(slices.Clone(articles[language]), o.Articles[language]...) {
		if rest, found := strings.CutPrefix(word, a+" "); found {
			return strings.TrimSpace(rest)
		}
	}
	return word
}

// BuildList runs the pipeline of the concept list and returns every word with the step and the reason that dropped it,
// if any:
//
//  1. Merge the frequency lists by the sum of their frequencies, ties alphabetically; keep the first [ListOptions.Top]
//     words, and the added ones.
//  2. Drop words without a noun synset.
//  3. Combine the translators' answers: start from the one that covers the most languages (ties by the order of
//     translators) and fill in missing words from the others, in the order of their agreement with the first.
//  4. Drop words without a translation in every language.
//  5. Drop words with a translation that is not a term of their noun synset (of several, the one that contains the most
//     translations).
//  6. Drop the words removed manually.
//
// The paper does not define how lists are merged, which synset is used and how agreement is measured (here: the
// number of languages with equal words). Words are compared in NFC, lower case and without a leading article. The
// result is in the order of the merged list, added words last. Errors are those of the context, translators and
// dictionary, with the word.
func BuildList(ctx context.Context, o ListOptions) ([]Candidate, error) {
	o.Top = cmp.Or(o.Top, 2000)
	if len(o.Translators) == 0 || o.Synsets == nil || !slices.Contains(o.Languages, "en") || len(o.Languages) < 2 {
		return nil, errors.New("cococrola: a concept list needs languages (including en), translators and a " +
			"source of synsets")
	}
	candidates := o.merge()
	for i := range candidates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c := &candidates[i]; c.Step == "" {
			if err := o.consider(ctx, c); err != nil {
				return nil, fmt.Errorf("cococrola: word %q: %w", c.Word, err)
			}
		}
	}
	return candidates, nil
}

// merge is step 1.
func (o ListOptions) merge() []Candidate {
	sums := map[string]float64{}
	for _, list := range o.Frequencies {
		for _, word := range slices.Sorted(maps.Keys(list.PerMillion)) {
			sums[o.plain("en", word)] += list.PerMillion[word]
		}
	}
	order := slices.SortedFunc(maps.Keys(sums),
		func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	added := map[string]bool{}
	for _, word := range o.Added {
		added[o.plain("en", word)] = true
	}
	var out []Candidate
	for i, word := range order {
		c := Candidate{Word: word, Frequency: sums[word], Rank: i + 1}
		if i >= o.Top && !added[word] {
			c.Step, c.Reason = StepFrequency, fmt.Sprintf("rank %d in the merged lists, after the first %d", i+1,
				o.Top)
		}
		out = append(out, c)
	}
	for _, word := range slices.Sorted(maps.Keys(added)) {
		if _, listed := sums[word]; !listed {
			out = append(out, Candidate{Word: word})
		}
	}
	return out
}

// consider is steps 2 to 6 for one word.
func (o ListOptions) consider(ctx context.Context, c *Candidate) error {
	drop := func(step, format string, args ...any) error {
		c.Step, c.Reason = step, fmt.Sprintf(format, args...)
		return nil
	}
	all, err := o.Synsets.Synsets(ctx, c.Word)
	if err != nil {
		return fmt.Errorf("synsets: %w", err)
	}
	var nouns []Synset
	var parts []string
	for _, s := range all {
		if strings.EqualFold(s.POS, "noun") {
			nouns = append(nouns, s)
		}
		parts = append(parts, s.POS)
	}
	switch {
	case len(all) == 0:
		return drop(StepNoun, "no synset")
	case len(nouns) == 0:
		slices.Sort(parts)
		return drop(StepNoun, "not a noun (%s)", strings.Join(slices.Compact(parts), ", "))
	}
	if err := o.meld(ctx, c); err != nil {
		return err
	}
	var lacking []string
	for _, l := range o.Languages {
		if c.Words[l] == "" {
			lacking = append(lacking, l)
		}
	}
	if len(lacking) > 0 {
		return drop(StepComplete, "no word in %s", strings.Join(lacking, ", "))
	}
	if unknown := o.unknown(c.Words, nouns); len(unknown) > 0 {
		return drop(StepCheck, "not in its synset: %s", strings.Join(unknown, ", "))
	}
	if reason, removed := o.Removed[c.Word]; removed {
		return drop(StepManual, "%s", reason)
	}
	return nil
}

// meld is step 3.
func (o ListOptions) meld(ctx context.Context, c *Candidate) error {
	type answer struct {
		name  string
		words map[string]string
	}
	var answers []answer
	for _, t := range o.Translators {
		got, err := t.Translate(ctx, c.Word, o.Languages)
		if err != nil {
			return fmt.Errorf("translator %s: %w", t.Name(), err)
		}
		a := answer{t.Name(), map[string]string{}}
		for _, l := range o.Languages {
			if word := o.plain(l, got[l]); word != "" && l != "en" {
				a.words[l] = word
			}
		}
		if len(a.words) > 0 {
			answers = append(answers, a)
		}
	}
	c.Words, c.From = map[string]string{"en": c.Word}, map[string]string{}
	if len(answers) == 0 {
		return nil
	}
	slices.SortStableFunc(answers, func(a, b answer) int {
		if o.Narrowest {
			a, b = b, a
		}
		return cmp.Compare(len(b.words), len(a.words))
	})
	base := answers[0]
	agrees := func(a answer) (n int) {
		for l, word := range a.words {
			if base.words[l] == word {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(answers[1:], func(a, b answer) int { return cmp.Compare(agrees(b), agrees(a)) })
	for _, a := range answers {
		for l, word := range a.words {
			if c.Words[l] == "" {
				c.Words[l], c.From[l] = word, a.name
			}
		}
	}
	return nil
}

// unknown returns the translations (LANGUAGE WORD) missing from the noun synset that contains the most of them.
func (o ListOptions) unknown(words map[string]string, nouns []Synset) (fewest []string) {
	for i, s := range nouns {
		var missing []string
		for _, l := range o.Languages {
			if l != "en" && !slices.ContainsFunc(s.Terms[l],
				func(term string) bool { return o.plain(l, term) == words[l] }) {
				missing = append(missing, l+" "+words[l])
			}
		}
		if i == 0 || len(missing) < len(fewest) {
			fewest = missing
		}
	}
	return fewest
}
