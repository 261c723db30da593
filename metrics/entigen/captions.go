package entigen

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Matching is how phrases are found in captions; the paper gives none. The zero value keeps the case and finds phrases inside words.
type Matching struct {
	IgnoreCase bool
	WholeWord  bool // no letter, mark or digit stands right before or after the phrase
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

// Find gives the places of a phrase in a text, as byte offsets of start and end, from left to right and without overlaps.
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

// prefixFold is the length of what text begins with that equals phrase but for case, rune by rune; 0 = it does not.
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

// bounded says whether no word goes on before start or after end.
func bounded(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return (start == 0 || !inWord(before)) && (end == len(text) || !inWord(after))
}

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

// Phrases is the metric entigen-phrases (Bansal et al., EMNLP 2022, section 4): how many captions hold a phrase, or several phrases together ("gender+makeup"): n_captions in
// [0, n_used], n_places of the first phrase, per_million = 10⁶·n_captions/n_used. The paper gives no rules of matching; the rules used stand in each row.
//
// Options: queries, ignore_case (on), whole_word (on).
func Phrases(captions datasets.Table, queries []string, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("entigen-phrases", captions, append(slices.Clone(settings), tabular.Set("queries", strings.Join(queries, "|"))))
}

// Contexts is the metric entigen-contexts (Bansal et al., EMNLP 2022, Table 7): each place of the first phrase of a query in the captions that hold all of it, with the text around it, the
// picture's link and a blank tag, for tagging by hand.
//
// Options: queries, ignore_case and whole_word as in [Phrases]; width (60 characters on each side).
func Contexts(captions datasets.Table, queries []string, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("entigen-contexts", captions, append(slices.Clone(settings), tabular.Set("queries", strings.Join(queries, "|"))))
}

// MatchBy sets the rules of [Phrases] and [Contexts]; the default ignores case and takes whole words.
func MatchBy(r Matching) metrics.Setting {
	return func(a *metrics.Args) {
		tabular.Set("ignore_case", map[bool]string{true: "on", false: "off"}[r.IgnoreCase])(a)
		tabular.Set("whole_word", map[bool]string{true: "on", false: "off"}[r.WholeWord])(a)
	}
}

func init() {
	in := []metrics.Input{{Role: "in", Columns: datasets.Columns("caption:text"), About: "one caption a row; also id and link"}}
	onOff := []string{"on", "off"}
	options := []metrics.Option{
		{Name: "queries", Default: "irrespective of|irrespective of their gender|gender+makeup|gender+police|culture+Western|culture+Indian|culture+Chinese",
			About: "phrases, with | between queries; + joins phrases that must stand in one caption. The default is the paper's"},
		{Name: "ignore_case", Default: "on", About: "capital and small letters are the same", Values: onOff},
		{Name: "whole_word", Default: "on", About: "a phrase is not found inside a longer word (culture in cultures)", Values: onOff},
	}
	other(metrics.Metric{Info: metrics.Info{Name: "entigen-phrases", Title: "captions that hold a phrase, or phrases together", Unit: "captions", Range: "[0, ∞)", Direction: "none"},
		Inputs: in, Columns: tabular.Fixed("=query", "n_captions", "n_places", "per_million", "n_used", "=rules"), Compute: phrases}, "section 4, Table 7", options...)
	other(metrics.Metric{Info: metrics.Info{Name: "entigen-contexts", Title: "where captions hold a phrase, with the text around it", Unit: "text", Range: "", Direction: "none"},
		Inputs: in, Columns: tabular.Fixed("=query", "=id", "=before", "=match", "=after", "=link", "=tag", "=rules"), Compute: contexts}, "section 4, Table 7",
		append(options, metrics.Option{Name: "width", Default: "60", About: "characters shown on each side"})...)
}

// found calls f for each caption that holds all phrases of a query, with the places of the first.
func found(call metrics.Call, f func(query string, row int, places [][2]int)) (rules Matching, queries []string, err error) {
	rules = Matching{call.Options["ignore_case"] == "on", call.Options["whole_word"] == "on"}
	captions := call.Inputs["in"].Texts("caption")
	for _, query := range strings.Split(call.Options["queries"], "|") {
		var parts []string
		for _, p := range strings.Split(query, "+") {
			if p = strings.TrimSpace(p); p == "" {
				return rules, nil, fmt.Errorf("option queries: %q holds an empty phrase; write phrases with | between queries and + inside one", call.Options["queries"])
			}
			parts = append(parts, p)
		}
		query = strings.Join(parts, " + ")
		queries = append(queries, query)
		for row, c := range captions {
			places := rules.Find(c, parts[0])
			if len(places) > 0 && !slices.ContainsFunc(parts[1:], func(p string) bool { return len(rules.Find(c, p)) == 0 }) {
				f(query, row, places)
			}
		}
	}
	return rules, queries, nil
}

func phrases(_ context.Context, call metrics.Call) (*client.Frame, error) {
	captions, places := map[string]int{}, map[string]int{}
	rules, queries, err := found(call, func(q string, _ int, at [][2]int) {
		captions[q]++
		places[q] += len(at)
	})
	if err != nil {
		return nil, err
	}
	n := call.Inputs["in"].Len()
	var out [][]any
	for _, q := range queries {
		out = append(out, []any{q, captions[q], places[q], 1e6 * float64(captions[q]) / float64(n), n, rules.String()})
	}
	return tabular.Result("entigen-phrases", call, out)
}

func contexts(_ context.Context, call metrics.Call) (*client.Frame, error) {
	width, err := tabular.Count(call, "width")
	if err != nil {
		return nil, err
	}
	f := call.Inputs["in"]
	ids, links, texts := f.Texts("id"), f.Texts("link"), f.Texts("caption")
	rules := Matching{call.Options["ignore_case"] == "on", call.Options["whole_word"] == "on"}
	var out [][]any
	_, _, err = found(call, func(q string, row int, at [][2]int) {
		id, link := fmt.Sprintf("row %d", row+1), ""
		if ids != nil {
			id = ids[row]
		}
		if links != nil {
			link = links[row]
		}
		for _, p := range at {
			before, after := []rune(texts[row][:p[0]]), []rune(texts[row][p[1]:])
			out = append(out, []any{q, id, string(before[max(0, len(before)-width):]), texts[row][p[0]:p[1]], string(after[:min(width, len(after))]), link, "", rules.String()})
		}
	})
	if err != nil {
		return nil, err
	}
	return tabular.Result("entigen-contexts", call, out)
}
