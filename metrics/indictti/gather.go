package indictti

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// group is what one model (one group of the grouping columns) made, ready to be scored.
type group struct {
	values   []string // of the grouping columns
	pictures Pictures
	refused  []int // by language
	empty    []int // by language: pictures with an empty caption
	most     int   // rows of the largest cell
	boot     *Bootstrap
}

// cell is a picture's place in a group.
type cell struct{ language, prompt, index string }

// rowCell is what rows of one prompt in one language have in common.
type rowCell struct {
	group            *group
	language, prompt string
}

// member is a row that holds a vector.
type member struct {
	cell
	id  string
	row int
}

// reader reads the "in" table of the scores on pictures.
type reader struct {
	call                       metrics.Call
	notes                      metrics.GroupNotes
	frame                      *client.Frame
	ids, outcomes, captions    []string
	languages, prompts         []string
	index                      func(row int) string // "" = there is no column of indices
	vectors                    [][]float32
	width                      int
	wanted                     []string // languages, in their order
	fixed                      bool     // wanted is a list that was given
	groups                     map[string]*group
	members                    map[*group][]member
	all                        map[*group]map[string]bool // prompts asked for
	asked, refused, empty      map[rowCell]int            // rows
	skipEmpty, common, failing bool
}

// gather groups the rows of the pictures' table by the grouping columns, language, prompt and index, and refuses what cannot be compared.
func gather(call metrics.Call) ([]*group, error) {
	f := call.Inputs["in"]
	r := &reader{call: call, frame: f, ids: f.Texts("id"), outcomes: f.Texts("outcome"), captions: f.Texts("caption"), languages: f.Texts("language"), prompts: f.Texts("prompt_id"),
		groups: map[string]*group{}, members: map[*group][]member{}, refused: map[rowCell]int{}, empty: map[rowCell]int{}, all: map[*group]map[string]bool{}, asked: map[rowCell]int{},
		skipEmpty: call.Options["empty"] == "skip", common: call.Options["prompts"] == "common", failing: call.Options["missing"] == "fail"}
	c, err := f.Need(call.Options["vector"], client.Vector)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "in", err)
	}
	r.vectors = c.Vectors
	r.index = indexColumn(f, call.Options["index"])
	r.wanted, r.fixed = languageOrder(r.languages, call.Options["languages"], call.Options["english"])
	order, err := r.read()
	if err != nil {
		return nil, err
	}
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	level, err := tabular.Number(call, "level")
	if err != nil {
		return nil, err
	}
	for _, g := range order {
		if err := r.arrange(g, order); err != nil {
			return nil, err
		}
		if g.boot, err = NewBootstrap(len(g.pictures.Prompts), draws, level, call.Seed); err != nil {
			return nil, err
		}
	}
	r.notes.Tell(call)
	return order, nil
}

// languageOrder are the languages that have rows in the result: those listed, else those of the table in order of appearance, English first.
func languageOrder(found []string, list, english string) (order []string, fixed bool) {
	if order = datasets.SplitColumns(list); len(order) > 0 {
		return order, true
	}
	if slices.Contains(found, english) {
		order = append(order, english)
	}
	seen := map[string]bool{english: true}
	for _, l := range found {
		if !seen[l] {
			seen[l] = true
			order = append(order, l)
		}
	}
	return order, false
}

func indexColumn(f *client.Frame, name string) func(row int) string {
	if texts := f.Texts(name); texts != nil {
		return func(row int) string { return texts[row] }
	}
	if numbers := f.Numbers(name); numbers != nil {
		return func(row int) string {
			if math.IsNaN(numbers[row]) {
				return ""
			}
			return strconv.FormatFloat(numbers[row], 'g', -1, 64)
		}
	}
	return func(int) string { return "" }
}

func (r *reader) id(row int) string {
	if r.ids == nil {
		return ""
	}
	return r.ids[row]
}

// read puts every row into its group, in the order of the groups' names.
func (r *reader) read() ([]*group, error) {
	by := make([][]string, len(r.call.By))
	for i, column := range r.call.By {
		c, err := r.frame.Need(column, client.Text)
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", "in", err)
		}
		by[i] = c.Texts
	}
	seen := map[string]bool{}
	var order []*group
	for row := range r.frame.Len() {
		if id := r.id(row); r.ids != nil && seen[id] {
			return nil, client.BadRow{Row: row + 1, ID: id, Column: "id", Reason: "the id occurs twice; a picture counted twice would be its own neighbour"}
		}
		seen[r.id(row)] = true
		values := make([]string, len(by))
		for i := range by {
			values[i] = by[i][row]
		}
		key := strings.Join(values, "\x00")
		g := r.groups[key]
		if g == nil {
			g = &group{values: values}
			r.groups[key], r.all[g] = g, map[string]bool{}
			order = append(order, g)
		}
		if err := r.take(g, row); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(order, func(a, b *group) int { return slices.Compare(a.values, b.values) })
	return order, nil
}

// take adds a row to its group.
func (r *reader) take(g *group, row int) error {
	language, prompt, v := r.languages[row], r.prompts[row], r.vectors[row]
	if language == "" || prompt == "" {
		return client.BadRow{Row: row + 1, ID: r.id(row), Column: "language, prompt_id", Reason: "the row names no language or no prompt; fill both in"}
	}
	if r.fixed && !slices.Contains(r.wanted, language) {
		return nil
	}
	r.all[g][prompt] = true
	at := rowCell{g, language, prompt}
	r.asked[at]++
	g.most = max(g.most, r.asked[at])
	if r.outcomes != nil {
		switch r.outcomes[row] {
		case "refused":
			r.refused[at]++
			return nil
		case "failed", "skipped":
			return nil
		}
	}
	if r.captions != nil && strings.TrimSpace(r.captions[row]) == "" && r.call.Options["empty"] != "" {
		r.empty[at]++
		if r.skipEmpty {
			return nil
		}
	}
	if v == nil {
		return nil
	}
	if r.width == 0 {
		r.width = len(v)
	}
	if _, err := length(v, r.width); err != nil {
		return client.BadRow{Row: row + 1, ID: r.id(row), Column: r.call.Options["vector"], Reason: err.Error()}
	}
	r.members[g] = append(r.members[g], member{cell{language, prompt, r.index(row)}, r.id(row), row})
	return nil
}

// label names the group in a list of groups.
func (g *group) label() string { return strings.Join(g.values, "/") }

// name says which group an error is about; "" without grouping columns.
func (g *group) name(by []string) string {
	parts := make([]string, len(by))
	for i := range by {
		parts[i] = fmt.Sprintf("%s %q", by[i], g.values[i])
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": "
}
