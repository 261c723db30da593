package representation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"antipode/datasets"
	"antipode/metrics"
)

// Matching defines how phrases are found in captions, which the paper does not state. The zero value keeps the case and
// finds phrases inside words.
type Matching struct {
	IgnoreCase bool
	WholeWord  bool // no letter, mark or digit right before or after the phrase
}

func (r Matching) String() string {
	out := "case kept"
	if r.IgnoreCase {
		out = "case ignored"
	}
	if r.WholeWord {
		return out + ", whole words"
	}
	return out + ", inside words too"
}

// Find returns the occurrences of a phrase in a text as byte offsets of start and end, from left to right, without
// overlaps.
func (r Matching) Find(text, phrase string) (places [][2]int) {
	if phrase == "" {
		return nil
	}
	for at := 0; at < len(text); {
		n := 0
		if r.IgnoreCase {
			n = prefixFold(text[at:], phrase)
		} else if strings.HasPrefix(text[at:], phrase) {
			n = len(phrase)
		}
		if n > 0 && (!r.WholeWord || bounded(text, at, at+n)) {
			places = append(places, [2]int{at, at + n})
			at += n
			continue
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return places
}

// prefixFold returns the length of the prefix of text that equals phrase except for case, or 0.
func prefixFold(text, phrase string) int {
	n := 0
	for _, want := range phrase {
		got, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || got != want && unicode.ToLower(got) != unicode.ToLower(want) {
			return 0
		}
		n += size
	}
	return n
}

// bounded reports whether start and end are word boundaries.
func bounded(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return (start == 0 || !inWord(before)) && (end == len(text) || !inWord(after))
}

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

// PhraseOptions are the options of [Phrases]. The default ignores case and matches whole words.
type PhraseOptions struct {
	Queries     []string `json:"queries" default:"irrespective of,irrespective of their gender,gender+makeup,gender+police,culture+Western,culture+Indian,culture+Chinese" help:"phrases; + joins phrases of one caption"`
	KeepCase    bool     `json:"keep_case" help:"distinguish upper and lower case"`
	InsideWords bool     `json:"inside_words" help:"find phrases inside longer words too"`
}

// Phrases is the table operation entigen-phrases (Bansal et al., EMNLP 2022, section 4): the number of captions that
// contain a phrase, or several phrases together ("gender+makeup"), n_captions of n_used; n_places of the first phrase;
// per_million = 10⁶·n_captions/n_used.
func Phrases(captions datasets.Table, options ...PhraseOptions) datasets.Table {
	return phrases.Of(captions, options...)
}

type phraseRow struct {
	Query      string  `column:"query"`
	Captions   int     `column:"n_captions" unit:"captions"`
	Places     int     `column:"n_places" unit:"occurrences"`
	PerMillion float64 `column:"per_million" unit:"captions per million"`
	Used       int     `column:"n_used" unit:"captions"`
	Rules      string  `column:"rules" help:"how phrases are matched"`
}

var captionsIn = []metrics.Input{{Role: "in", Columns: columnsOf("caption:text"),
	About: "a caption a row, with id and link"}}

var phrases = listing(2, metrics.Definition[PhraseOptions, phraseRow]{
	Name: "entigen-phrases", Title: "captions that contain a phrase, or phrases together",
	Citation: "section 4, Table 7",
	Inputs:   captionsIn,
	Compute: func(_ context.Context, call *metrics.Call, o PhraseOptions) ([]phraseRow, error) {
		rows := map[string]*phraseRow{}
		rules, queries, err := o.search(call, func(q string, _ int, at [][2]int) {
			if rows[q] == nil {
				rows[q] = &phraseRow{}
			}
			rows[q].Captions++
			rows[q].Places += len(at)
		})
		if err != nil {
			return nil, err
		}
		n := call.Inputs["in"].Len()
		var out []phraseRow
		for _, q := range queries {
			r := phraseRow{}
			if rows[q] != nil {
				r = *rows[q]
			}
			r.Query, r.PerMillion, r.Used, r.Rules = q, 1e6*float64(r.Captions)/float64(n), n, rules.String()
			out = append(out, r)
		}
		return out, nil
	},
})

// ContextOptions are the options of [Contexts].
type ContextOptions struct {
	PhraseOptions
	Width int `json:"width" default:"60" none:"-1" min:"0" help:"characters of context on each side"`
}

// Contexts is the table operation entigen-contexts (Bansal et al., EMNLP 2022, Table 7): each place of the first
// phrase of a query in the captions that contain all of it, with the text around it, the link of the image and a
// blank tag, for manual tagging.
func Contexts(captions datasets.Table, options ...ContextOptions) datasets.Table {
	return contexts.Of(captions, options...)
}

type contextRow struct {
	Query  string `column:"query"`
	ID     string `column:"id"`
	Before string `column:"before"`
	Match  string `column:"match"`
	After  string `column:"after"`
	Link   string `column:"link"`
	Tag    string `column:"tag"`
	Rules  string `column:"rules" help:"how phrases are matched"`
}

var contexts = listing(2, metrics.Definition[ContextOptions, contextRow]{
	Name: "entigen-contexts", Title: "where captions contain a phrase, with the text around it",
	Citation: "section 4, Table 7", Inputs: captionsIn,
	Compute: func(_ context.Context, call *metrics.Call, o ContextOptions) ([]contextRow, error) {
		f := call.Inputs["in"]
		ids, links, texts := f.Texts("id"), f.Texts("link"), f.Texts("caption")
		var out []contextRow
		rules, _, err := o.search(call, func(q string, row int, at [][2]int) {
			r := contextRow{Query: q, ID: fmt.Sprintf("row %d", row+1)}
			if ids != nil {
				r.ID = ids[row]
			}
			if links != nil {
				r.Link = links[row]
			}
			for _, p := range at {
				before, after := []rune(texts[row][:p[0]]), []rune(texts[row][p[1]:])
				r.Before, r.Match = string(before[max(0, len(before)-o.Width):]), texts[row][p[0]:p[1]]
				r.After = string(after[:min(o.Width, len(after))])
				out = append(out, r)
			}
		})
		for i := range out {
			out[i].Rules = rules.String()
		}
		return out, err
	},
})

// search calls f for each caption that contains all phrases of a query, with the places of the first.
func (o PhraseOptions) search(call *metrics.Call, f func(query string, row int, places [][2]int)) (rules Matching,
	queries []string, err error) {
	rules = Matching{IgnoreCase: !o.KeepCase, WholeWord: !o.InsideWords}
	captions := call.Inputs["in"].Texts("caption")
	for _, query := range o.Queries {
		var parts []string
		for _, p := range strings.Split(query, "+") {
			if p = strings.TrimSpace(p); p == "" {
				return rules, nil, fmt.Errorf("option queries: %q has an empty phrase; use + only between phrases",
					query)
			}
			parts = append(parts, p)
		}
		if query = strings.Join(parts, " + "); slices.Contains(queries, query) {
			continue
		}
		queries = append(queries, query)
		for row, c := range captions {
			places := rules.Find(c, parts[0])
			if len(places) > 0 && !slices.ContainsFunc(parts[1:],
				func(p string) bool { return len(rules.Find(c, p)) == 0 }) {
				f(query, row, places)
			}
		}
	}
	return rules, queries, nil
}
