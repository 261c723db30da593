package indictti

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Motifs is the metric indictti-motifs: how often a motif (temple, sari, …) was tagged by hand, by script or language and by the columns of [metrics.By] (section 6 and supplement D of the paper, which give
// no counts). pictures has id and language; tags has a row for each tag given, id and tag, an empty tag for a picture that was looked at and has none. share is the part
// of the pictures looked at that carry the tag, in [0, 1]; n_tagged, n_looked_at and n_images stand beside it. A tag given twice to a picture counts once. Motifs say what
// annotators saw; they are no facts about people.
func Motifs(pictures, tags datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Table("indictti-motifs", map[string]datasets.Table{"in": pictures, "tags": tags}, settings)
}

// ByLanguage tabulates motifs by language in place of script.
func ByLanguage() metrics.Setting { return tabular.Set("per", "language") }

// Completeness is the metric indictti-counts: what is there of what was asked for, by language and the columns of [metrics.By]. pictures has language and prompt_id and, where there are any,
// outcome and caption. expected is n, the pictures of each prompt; 0 = as many as the largest prompt has rows. Columns: n_prompts, n_expected (all prompts of the group × n), n_rows, n_ok, n_refused,
// n_failed (failed or skipped), n_missing (n_expected less n_ok), n_empty (captions), n_short (prompts with fewer than n pictures).
func Completeness(pictures datasets.Table, expected int, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-counts", pictures, append([]metrics.Setting{tabular.Set("expected", fmt.Sprint(expected))}, settings...))
}

func init() {
	metrics.Register(metrics.Metric{
		Info:    metrics.Info{Name: "indictti-motifs", Title: "how often motifs were tagged by hand, by script and model", Unit: "share of pictures looked at", Range: "[0, 1]", Direction: "none", Citation: citation + ", section 6 and supplement D, Figures 5–7 and 10–13"},
		Version: 1, Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("id:text", "language:text"), About: "the pictures"}, {Role: "tags", Columns: datasets.Columns("id:text", "tag:text"), Optional: true, About: "a row for each tag; an empty one = looked at, none given; must be given"},
			inLanguages},
		Options: []metrics.Option{{Name: "per", Default: "script", Values: []string{"script", "language"}, About: "what pictures are taken together by"}},
		Columns: byColumns("=script", "=language", "=tag", "share", "n_tagged", "n_looked_at", "n_images"), Compute: motifs,
	})
	metrics.Register(metrics.Metric{
		Info:    metrics.Info{Name: "indictti-counts", Title: "pictures asked for, there, refused, failed and missing, and empty captions", Unit: "pictures", Range: "[0, ∞)", Direction: "none", Citation: citation + ", section 3.2"},
		Version: 1, Inputs: []metrics.Input{{Role: "in", Columns: pictureColumns, About: "one row for each picture asked for; also outcome and caption"}},
		Options: []metrics.Option{{Name: "expected", Default: "0", About: "pictures of each prompt; 0 = as many as the largest has"}, {Name: "languages", About: "the languages of the result, A,B,…; empty = those of the table"}, english},
		Columns: byColumns("=language", "n_prompts", "n_expected", "n_rows", "n_ok", "n_refused", "n_failed", "n_missing", "n_empty", "n_short"), Compute: completeness,
	})
}

// grouped gives each row's values of the grouping columns.
func grouped(call metrics.Call) (func(row int) []any, error) {
	var by [][]string
	for _, name := range call.By {
		c, err := call.Inputs["in"].Need(name, client.Text)
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", "in", err)
		}
		by = append(by, c.Texts)
	}
	return func(row int) (out []any) {
		for _, texts := range by {
			out = append(out, texts[row])
		}
		return out
	}, nil
}

func motifs(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f, given := call.Inputs["in"], call.Inputs["tags"]
	if given == nil {
		return nil, errors.New("motifs are hand tags: give the table \"tags\" with id and tag")
	}
	by, err := grouped(call)
	if err != nil {
		return nil, err
	}
	list, err := languages(call)
	if err != nil {
		return nil, err
	}
	scripts := map[string]string{}
	for _, l := range list {
		scripts[l.Code] = l.Script
	}
	tags, names := map[string][]string{}, []string{}
	for i, id := range given.Texts("id") {
		tag := given.Texts("tag")[i]
		if _, known := tags[id]; !known {
			tags[id] = []string{}
		}
		if tag != "" && !slices.Contains(tags[id], tag) {
			tags[id], names = append(tags[id], tag), append(names, tag)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	type tally struct {
		head           []any
		looked, images int
		of             map[string]int
	}
	var order []*tally
	groups, seen, used := map[string]*tally{}, map[string]bool{}, 0
	for row, id := range f.Texts("id") {
		if seen[id] {
			return nil, client.BadRow{Row: row + 1, ID: id, Column: "id", Reason: "the id occurs twice"}
		}
		seen[id] = true
		language := f.Texts("language")[row]
		script, known := scripts[language]
		if !known {
			return nil, client.BadRow{Row: row + 1, ID: id, Column: "language", Reason: fmt.Sprintf("%q is not in the table of languages; add a row for it", language)}
		}
		if call.Options["per"] == "script" {
			language = ""
		}
		head := append(by(row), script, language)
		key := fmt.Sprintf("%q", head)
		g := groups[key]
		if g == nil {
			g = &tally{head: head, of: map[string]int{}}
			groups[key] = g
			order = append(order, g)
		}
		g.images++
		if own, looked := tags[id]; looked {
			used++
			g.looked++
			for _, tag := range own {
				g.of[tag]++
			}
		}
	}
	if call.Note != nil && used < len(tags) {
		call.Note("%d tagged pictures are not in the table of pictures", len(tags)-used)
	}
	slices.SortStableFunc(order, func(a, b *tally) int { return strings.Compare(fmt.Sprintf("%q", a.head), fmt.Sprintf("%q", b.head)) })
	var rows [][]any
	for _, g := range order {
		for _, tag := range names {
			rows = append(rows, append(slices.Clone(g.head), tag, float64(g.of[tag])/float64(g.looked), g.of[tag], g.looked, g.images))
		}
	}
	return tabular.Result("indictti-motifs", call, rows)
}

func completeness(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	n, err := tabular.Count(call, "expected")
	if err != nil {
		return nil, err
	}
	by, err := grouped(call)
	if err != nil {
		return nil, err
	}
	type counts struct{ rows, ok, refused, failed, empty int }
	type group struct {
		head    []any
		cells   map[[2]string]*counts // by language and prompt
		prompts map[string]bool
		most    int
	}
	var order []*group
	groups := map[string]*group{}
	languages, _ := languageOrder(f.Texts("language"), call.Options["languages"], call.Options["english"])
	for row, prompt := range f.Texts("prompt_id") {
		head := by(row)
		key := fmt.Sprintf("%q", head)
		g := groups[key]
		if g == nil {
			g = &group{head: head, cells: map[[2]string]*counts{}, prompts: map[string]bool{}}
			groups[key] = g
			order = append(order, g)
		}
		at := [2]string{f.Texts("language")[row], prompt}
		c := g.cells[at]
		if c == nil {
			c = &counts{}
			g.cells[at] = c
		}
		g.prompts[prompt] = true
		c.rows++
		g.most = max(g.most, c.rows)
		outcome := "ok"
		if o := f.Texts("outcome"); o != nil {
			outcome = o[row]
		}
		switch outcome {
		case "refused":
			c.refused++
		case "failed", "skipped":
			c.failed++
		default:
			c.ok++
			if captions := f.Texts("caption"); captions != nil && strings.TrimSpace(captions[row]) == "" {
				c.empty++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *group) int { return strings.Compare(fmt.Sprintf("%q", a.head), fmt.Sprintf("%q", b.head)) })
	var rows [][]any
	for _, g := range order {
		each := n
		if each == 0 {
			each = g.most
		}
		for _, l := range languages {
			var sum counts
			short := 0
			for prompt := range g.prompts {
				c := g.cells[[2]string{l, prompt}]
				if c == nil {
					c = &counts{}
				}
				sum.rows, sum.ok, sum.refused, sum.failed, sum.empty = sum.rows+c.rows, sum.ok+c.ok, sum.refused+c.refused, sum.failed+c.failed, sum.empty+c.empty
				if c.ok < each {
					short++
				}
			}
			expected := each * len(g.prompts)
			rows = append(rows, append(slices.Clone(g.head), l, len(g.prompts), expected, sum.rows, sum.ok, sum.refused, sum.failed, max(0, expected-sum.ok), sum.empty, short))
		}
	}
	return tabular.Result("indictti-counts", call, rows)
}
