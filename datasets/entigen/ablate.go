package entigen

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// minus separates the prompt from the removed spans in the id of an ablated prompt.
const minus = " minus "

// Ablate returns a prompt without each subset of spans: the whole prompt, then without one span, then without two, and
// so on (section 4 of the paper: which words of the added sentence cause the change). Repeated spaces are joined. The
// ids state the removed spans: P-G1 minus [irrespective of their gender].
//
// Errors: a span that does not occur exactly once in the prompt, spans that overlap, more than 8 of them.
func Ablate(p Prompt, spans ...string) ([]Prompt, error) {
	if len(spans) > 8 {
		return nil, fmt.Errorf("entigen: %d spans give %d prompts; use at most 8", len(spans), 1<<min(len(spans), 30))
	}
	starts := make([]int, len(spans))
	for k, s := range spans {
		if n := strings.Count(p.Text, s); s == "" || n != 1 {
			return nil, fmt.Errorf("entigen: the span %q occurs %d times in %q; it must occur once", s, n, p.Text)
		}
		starts[k] = strings.Index(p.Text, s)
		for j := range k {
			if starts[j] < starts[k]+len(s) && starts[k] < starts[j]+len(spans[j]) {
				return nil, fmt.Errorf("entigen: the spans %q and %q overlap in %q", spans[j], s, p.Text)
			}
		}
	}
	choices := make([]uint, 1<<len(spans))
	for i := range choices {
		choices[i] = uint(i)
	}
	slices.SortStableFunc(choices, func(a, b uint) int { return bits.OnesCount(a) - bits.OnesCount(b) })
	var out []Prompt
	for _, c := range choices {
		q := p
		var removed []string
		for k, s := range spans {
			if c&(1<<k) != 0 {
				q.Text = strings.Replace(q.Text, s, " ", 1)
				removed = append(removed, "["+s+"]")
			}
		}
		q.Text = strings.Join(strings.Fields(q.Text), " ")
		if q.Removed = strings.Join(removed, " "); q.Removed != "" {
			q.ID += minus + q.Removed
		}
		out = append(out, q)
	}
	return out, nil
}

// Ablated splits the id of a prompt made by [Ablate]: the id of the whole prompt and the removed spans; "" = none.
func Ablated(id string) (whole, removed string) {
	whole, removed, _ = strings.Cut(id, minus)
	return whole, removed
}

// AblationOptions are the options of [Ablations]. The zero value is the paper's ablation: makeup and police officer,
// the sentences about perceived gender, without "irrespective of their gender".
type AblationOptions struct {
	// as in [PromptOptions]
	Grammar       string         `json:"grammar,omitempty" help:"as of entigen-prompts"`
	Tables        bool           `json:"tables,omitempty" help:"as of entigen-prompts"`
	Judged        bool           `json:"judged,omitempty" help:"as of entigen-prompts"`
	Axes          []Axis         `json:"axes,omitempty" help:"as of entigen-prompts"`
	Categories    []Category     `json:"categories,omitempty" help:"as of entigen-prompts"`
	Interventions []Intervention `json:"interventions,omitempty" help:"as of entigen-prompts"`
	N             int            `json:"-"`
	Seed          int64          `json:"-"`
	Model         string         `json:"-"`

	IDs        []string `json:"ids,omitempty" help:"of interventions; none = P-G1 and O-G1"`
	Attributes []string `json:"attributes,omitempty" help:"none = makeup and police officer"`
	Spans      []string `json:"spans,omitempty" help:"none = 'irrespective of their gender'"`
}

// BuildAblations returns for each attribute the base prompt, and the prompt with each intervention without each subset
// of the spans.
func BuildAblations(o AblationOptions) ([]Prompt, error) {
	if len(o.IDs) == 0 {
		o.IDs = []string{"P-G1", "O-G1"}
	}
	if len(o.Attributes) == 0 {
		o.Attributes = []string{"makeup", "police officer"}
	}
	if len(o.Spans) == 0 {
		o.Spans = []string{"irrespective of their gender"}
	}
	all, err := Build(PromptOptions{Grammar: o.Grammar, Tables: o.Tables, Judged: o.Judged, Axes: o.Axes,
		Categories: o.Categories, Interventions: o.Interventions})
	if err != nil {
		return nil, err
	}
	var out []Prompt
	known := map[string]bool{}
	for _, p := range all {
		known[p.ID] = true
		switch {
		case !slices.Contains(o.Attributes, p.Attribute):
		case p.ID == Original:
			out = append(out, p)
		case slices.Contains(o.IDs, p.ID):
			ablated, err := Ablate(p, o.Spans...)
			if err != nil {
				return nil, err
			}
			out = append(out, ablated...)
		}
	}
	for _, id := range o.IDs {
		if !known[id] {
			return nil, fmt.Errorf("entigen: no intervention %q among the prompts", id)
		}
	}
	for _, a := range o.Attributes {
		if !slices.ContainsFunc(out, func(p Prompt) bool { return p.Attribute == a }) {
			return nil, fmt.Errorf("entigen: no attribute %q among the prompts", a)
		}
	}
	return out, nil
}
