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

// Translator is one translation service. An answer lacks the languages it has no word for; an empty one is no answer.
type Translator interface {
	Name() string
	Translate(ctx context.Context, word string, languages []string) (map[string]string, error)
}

// Synset is a set of synonyms in several languages.
type Synset struct {
	POS   string              `json:"pos"` // part of speech: noun, verb, …
	Terms map[string][]string `json:"terms"`
}

// SynsetSource is a multilingual dictionary of synsets, in the paper BabelNet.
type SynsetSource interface {
	Synsets(ctx context.Context, word string) ([]Synset, error)
}

// Frequencies are a word list with frequencies per million words.
type Frequencies struct {
	Name       string             `json:"name"`
	PerMillion map[string]float64 `json:"per_million"`
}

// ListOptions are what a concept list is built from (section 4.1, Figure 5 and Appendix A of the paper).
type ListOptions struct {
	Languages   []string // en and the target languages
	Frequencies []Frequencies
	Top         int      // most frequent words of the merged lists that are kept; 0 = 2000
	Added       []string // words taken whatever their frequency: the names of CIFAR-100's classes
	Translators []Translator
	Synsets     SynsetSource
	Removed     map[string]string   // words removed by hand, with the reason: words that are also verbs
	Articles    map[string][]string // leading articles to strip, by language; those of en, es and de are known
	Narrowest   bool                // meld from the answer that covers the fewest languages
}

// Candidate is a word on its way into the list.
type Candidate struct {
	Word      string
	Frequency float64           // per million, summed over the lists
	Rank      int               // in the merged list, from 1; 0 = added
	Words     map[string]string // by language, as far as the pipeline came
	From      map[string]string // the translator behind each word, by language
	Step      string            // at which the word was dropped; "" = kept
	Reason    string            // why
}

// The steps at which a word can be dropped.
const (
	StepFrequency = "frequency"
	StepNoun      = "noun test"
	StepComplete  = "completeness"
	StepCheck     = "synset check"
	StepManual    = "manual removal"
)

var articles = map[string][]string{
	"en": {"the", "a", "an"}, "es": {"el", "la", "los", "las", "un", "una", "unos", "unas"}, "de": {"der", "die", "das", "ein", "eine"},
}

// plain is a word as it is compared and listed: NFC, lower case, without a leading article; diacritics stay.
func (o ListOptions) plain(language, word string) string {
	word = norm.NFC.String(strings.ToLower(strings.TrimSpace(word)))
	for _, a := range append(slices.Clone(articles[language]), o.Articles[language]...) {
		if rest, found := strings.CutPrefix(word, a+" "); found {
			return strings.TrimSpace(rest)
		}
	}
	return word
}

// BuildList runs the pipeline of the concept list and says of every word whether it stays, and if not at which step and why:
//
//  1. the frequency lists are merged by the sum of their frequencies, ties by the alphabet; the [ListOptions.Top] first words stay, and Added ones;
//  2. a word without a noun synset goes;
//  3. the translators' answers are melded: from the one that covers the most languages (ties by their order), missing words filled from the others, first those that agree with
//     it in the most shared languages;
//  4. a word that lacks a translation goes;
//  5. every translation must be a term of the word's noun synset (of several, the one that holds the most translations), else the word goes;
//  6. words removed by hand go.
//
// The paper leaves open how lists are merged, which synset counts and what agreement is; these are this package's readings. Words are compared in NFC, lower case and without a
// leading article. Rows are in the order of the merged list, added words at the end. Errors are those of the context and of what is plugged in, with the word.
func BuildList(ctx context.Context, o ListOptions) ([]Candidate, error) {
	if o.Top == 0 {
		o.Top = 2000
	}
	if len(o.Translators) == 0 || o.Synsets == nil || !slices.Contains(o.Languages, "en") || len(o.Languages) < 2 {
		return nil, errors.New("cococrola: a concept list needs languages (en among them), translators and a source of synsets")
	}
	candidates := o.merge()
	for i := range candidates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c := &candidates[i]; c.Step == "" {
			if err := o.consider(ctx, c); err != nil {
				return nil, fmt.Errorf("cococrola: the word %q: %w", c.Word, err)
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
	order := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	added := map[string]bool{}
	for _, word := range o.Added {
		added[o.plain("en", word)] = true
	}
	var out []Candidate
	for i, word := range order {
		c := Candidate{Word: word, Frequency: sums[word], Rank: i + 1}
		if i >= o.Top && !added[word] {
			c.Step, c.Reason = StepFrequency, fmt.Sprintf("place %d of the merged lists, after the first %d", i+1, o.Top)
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

// unknown are the translations that the noun synset which holds the most of them lacks, LANGUAGE WORD each.
func (o ListOptions) unknown(words map[string]string, nouns []Synset) (fewest []string) {
	for i, s := range nouns {
		var missing []string
		for _, l := range o.Languages {
			if l != "en" && !slices.ContainsFunc(s.Terms[l], func(term string) bool { return o.plain(l, term) == words[l] }) {
				missing = append(missing, l+" "+words[l])
			}
		}
		if i == 0 || len(missing) < len(fewest) {
			fewest = missing
		}
	}
	return fewest
}
