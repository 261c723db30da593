package consistency

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/significance"
)

// MotifOptions are the options of [Motifs].
type MotifOptions struct {
	By  []string `json:"by,omitempty" help:"text columns that define the groups"`
	Per string   `json:"per,omitempty" default:"script" values:"script,language" help:"combine images by script or by language"`
}

// motifRow is a row of [Motifs].
type motifRow struct {
	Group     metrics.Group
	Script    string  `column:"script"`
	Language  string  `column:"language"`
	Tag       string  `column:"tag"`
	Share     float64 `column:"share" unit:"share of inspected images" range:"[0, 1]"`
	Tagged    int     `column:"n_tagged" unit:"images"`
	Inspected int     `column:"n_inspected" unit:"images"`
	Images    int     `column:"n_images" unit:"images"`
}

var motifs = metrics.Define(metrics.Definition[MotifOptions, motifRow]{
	Name: "indictti-motifs", Title: "share of images with each hand-tagged motif, by script and model",
	Version: 2, Unit: "share of inspected images", Range: "[0, 1]", Direction: "none",
	Citation: citation + ", section 6 and supplement D, Figures 5–7 and 10–13",
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("id:text", "language:text"), About: "the images"},
		{Role: "tags", Columns: datasets.Columns("id:text", "tag:text"), Optional: true, RepeatedIDs: true,
			About: "one row per tag of an image, which the column image_id names if there is one, else id; an empty " +
				"tag = inspected without a tag; required"}, inLanguages},
	Compute: computeMotifs,
})

// Motifs is the metric indictti-motifs: the share of images with a motif (temple, sari, …) tagged by hand, by script
// or language (section 6 and supplement D of the paper, which give no counts). images has id and language; tags has
// one row per tag, image_id (or id) and tag, with an empty tag for an image that was inspected and has none. share is
// the part of the inspected images that have the tag; a repeated tag counts once. Motifs are what annotators saw, not
// facts about people.
func Motifs(images, tags datasets.Table, options ...MotifOptions) datasets.Table {
	return motifs.Table(map[string]datasets.Table{"in": images, "tags": tags}, options...)
}

// motifTestRow is a row of [MotifTests].
type motifTestRow struct {
	Group      metrics.Group
	Script     string  `column:"script"`
	Language   string  `column:"language"`
	Tag        string  `column:"tag"`
	Share      float64 `column:"share" unit:"share of inspected images" range:"[0, 1]"`
	Others     float64 `column:"share_others" unit:"share of inspected images" range:"[0, 1]" help:"of the other scripts or languages"`
	Difference float64 `column:"difference" unit:"difference of shares" range:"[-1, 1]"`
	P          float64 `column:"p" unit:"probability" range:"(0, 1]" help:"exact, two-sided"`
	Holm       float64 `column:"p_holm" unit:"probability" range:"(0, 1]" help:"corrected over all rows"`
	Inspected  int     `column:"n_inspected" unit:"images"`
	NOthers    int     `column:"n_others" unit:"images" help:"inspected, of the other scripts or languages"`
}

var motifTests = metrics.Define(metrics.Definition[MotifOptions, motifTestRow]{
	Name: "indictti-motif-tests", Title: "whether a motif is more or less frequent in a script than in the others",
	Version: 2, Unit: "probability", Range: "(0, 1]", Direction: "lower is less likely by chance",
	Citation: citation + ", section 6; Fisher 1935; Holm 1979", Inputs: motifs.Operation.Inputs,
	Compute: func(ctx context.Context, call *metrics.Call, o MotifOptions) (out []motifTestRow, err error) {
		rows, err := computeMotifs(ctx, call, o)
		if err != nil {
			return nil, err
		}
		ones := func(k, n int) []float64 {
			return append(slices.Repeat([]float64{1}, k), make([]float64, n-k)...)
		}
		var p []float64
		for i, r := range rows {
			k, n := 0, 0
			for j, other := range rows {
				if j != i && other.Tag == r.Tag && slices.Equal(other.Group, r.Group) {
					k, n = k+other.Tagged, n+other.Inspected
				}
			}
			if r.Inspected == 0 || n == 0 {
				continue
			}
			result, err := significance.Means(ones(r.Tagged, r.Inspected), ones(k, n), 0, 0)
			if err != nil {
				return nil, err
			}
			p = append(p, result.P)
			others := float64(k) / float64(n)
			out = append(out, motifTestRow{Group: r.Group, Script: r.Script, Language: r.Language, Tag: r.Tag,
				Share: r.Share, Others: others, Difference: r.Share - others, P: result.P, Inspected: r.Inspected,
				NOthers: n})
		}
		holm, err := significance.Holm(p)
		for i, v := range holm {
			out[i].Holm = v
		}
		return out, err
	},
})

// MotifTests is the metric indictti-motif-tests: for each motif and script (or language) of [Motifs] an exact test
// whether its share of the inspected images differs from that in all other scripts, corrected for the number of tests.
// It takes images for independent: tag one image of each prompt and language, or read the p-values with care.
func MotifTests(images, tags datasets.Table, options ...MotifOptions) datasets.Table {
	return motifTests.Table(map[string]datasets.Table{"in": images, "tags": tags}, options...)
}

// CountOptions are the options of [Completeness].
type CountOptions struct {
	By        []string `json:"by,omitempty" help:"text columns that define the groups"`
	N         int      `json:"n,omitempty" min:"0" help:"expected images per prompt; 0 = as many as the largest has"`
	Languages []string `json:"languages,omitempty" help:"languages of the result; default: those of the table, English first"`
	English   string   `json:"english,omitempty" default:"en" help:"code of English in the column language"`
}

// countRow is a row of [Completeness].
type countRow struct {
	Group    metrics.Group
	Language string `column:"language"`
	Prompts  int    `column:"n_prompts" unit:"prompts" help:"of the group"`
	Expected int    `column:"n_expected" unit:"images" help:"prompts × images per prompt"`
	Rows     int    `column:"n_rows" unit:"images"`
	OK       int    `column:"n_ok" unit:"images"`
	Refused  int    `column:"n_refused" unit:"images"`
	Failed   int    `column:"n_failed" unit:"images" help:"failed or skipped"`
	Missing  int    `column:"n_missing" unit:"images" help:"expected minus ok"`
	Empty    int    `column:"n_empty" unit:"images" help:"with an empty caption"`
	Short    int    `column:"n_short" unit:"prompts" help:"with fewer images than expected"`
}

var completeness = metrics.Define(metrics.Definition[CountOptions, countRow]{
	Name: "indictti-counts", Title: "expected, available, refused, failed and missing images, and empty captions",
	Version: 1, Unit: "images", Range: "[0, ∞)", Direction: "none", Citation: citation + ", section 3.2",
	Inputs: []metrics.Input{{Role: "in", Columns: imageColumns,
		About: "one row per requested image; optionally outcome and caption"}},
	Compute: computeCounts,
})

// Completeness is the metric indictti-counts: the number of expected, available, refused, failed and missing images,
// and of empty captions, by language. images has language and prompt_id, and optionally outcome and caption.
func Completeness(images datasets.Table, options ...CountOptions) datasets.Table {
	return completeness.Of(images, options...)
}

func byQuotedValues(a, b table.Group) int {
	return strings.Compare(fmt.Sprintf("%q", a.By), fmt.Sprintf("%q", b.By))
}

func computeMotifs(_ context.Context, call *metrics.Call, o MotifOptions) ([]motifRow, error) {
	given := call.Inputs["tags"]
	if given == nil {
		return nil, errors.New("no tags; give the table \"tags\" with the columns id and tag")
	}
	in := tabular.Read(call, "in")
	in.UniqueIDs()
	groups := in.Groups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	list, err := languages(call)
	if err != nil {
		return nil, err
	}
	scripts := map[string]string{}
	for _, l := range list {
		scripts[l.Code] = l.Script
	}
	f, used := in.Frame, 0
	tags, names := tagsOf(given)
	parts, err := partsOf(f, groups, scripts, o.Per)
	if err != nil {
		return nil, err
	}
	var rows []motifRow
	for _, part := range parts {
		n := len(o.By)
		total := motifRow{Group: part.By[:n], Script: part.By[n], Language: part.By[n+1], Images: len(part.Rows)}
		tagged := map[string]int{}
		for _, row := range part.Rows {
			own, inspected := tags[f.Texts("id")[row]]
			if inspected {
				total.Inspected++
			}
			for _, tag := range own {
				tagged[tag]++
			}
		}
		used += total.Inspected
		for _, tag := range names {
			row := total
			row.Tag, row.Tagged, row.Share = tag, tagged[tag], float64(tagged[tag])/float64(row.Inspected)
			rows = append(rows, row)
		}
	}
	if used < len(tags) {
		call.Notef("%d tagged images are not in the table of images", len(tags)-used)
	}
	return rows, nil
}

// partsOf returns the rows by the grouping columns, script and language; per is the option.
func partsOf(f *table.Frame, groups []table.Group, scripts map[string]string, per string) (parts []table.Group,
	err error) {
	for _, g := range groups {
		at := map[[2]string]int{}
		for _, row := range g.Rows {
			language := f.Texts("language")[row]
			script, known := scripts[language]
			if !known {
				return nil, tabular.BadRow(f, row, "language", "%q is not in the table of languages; add a row for it",
					language)
			}
			if per == "script" {
				language = ""
			}
			key := [2]string{script, language}
			i, known := at[key]
			if !known {
				i = len(parts)
				at[key] = i
				parts = append(parts, table.Group{By: append(slices.Clone(g.By), script, language)})
			}
			parts[i].Rows = append(parts[i].Rows, row)
		}
	}
	slices.SortFunc(parts, byQuotedValues)
	return parts, nil
}

// tagsOf returns the tags of each image that has a row, and all tags in order.
func tagsOf(given *table.Frame) (tags map[string][]string, names []string) {
	tags = map[string][]string{}
	ids := given.Texts("image_id")
	if ids == nil {
		ids = given.Texts("id")
	}
	for i, id := range ids {
		tag := given.Texts("tag")[i]
		if _, known := tags[id]; !known {
			tags[id] = []string{}
		}
		if tag != "" && !slices.Contains(tags[id], tag) {
			tags[id], names = append(tags[id], tag), append(names, tag)
		}
	}
	slices.Sort(names)
	return tags, slices.Compact(names)
}

func computeCounts(_ context.Context, call *metrics.Call, o CountOptions) ([]countRow, error) {
	in := tabular.Read(call, "in")
	groups := slices.DeleteFunc(in.Groups(o.By), func(g table.Group) bool { return len(g.Rows) == 0 })
	if in.Err != nil {
		return nil, in.Err
	}
	slices.SortFunc(groups, byQuotedValues)
	f := in.Frame
	outcomes, captions := f.Texts("outcome"), f.Texts("caption")
	var out []countRow
	for _, g := range groups {
		prompts, cells, most := map[string]bool{}, map[[2]string]*countRow{}, 0 // cells by language and prompt
		for _, row := range g.Rows {
			at := [2]string{f.Texts("language")[row], f.Texts("prompt_id")[row]}
			prompts[at[1]] = true
			c := cells[at]
			if c == nil {
				c = &countRow{}
				cells[at] = c
			}
			c.Rows++
			most = max(most, c.Rows)
			outcome := "ok"
			if outcomes != nil {
				outcome = outcomes[row]
			}
			switch outcome {
			case "refused":
				c.Refused++
			case "failed", "skipped":
				c.Failed++
			default:
				c.OK++
				if captions != nil && strings.TrimSpace(captions[row]) == "" {
					c.Empty++
				}
			}
		}
		each := cmp.Or(o.N, most)
		for _, l := range languageOrder(f.Texts("language"), o.Languages, o.English) {
			sum := countRow{Group: g.By, Language: l, Prompts: len(prompts), Expected: each * len(prompts)}
			for prompt := range prompts {
				c := cells[[2]string{l, prompt}]
				if c == nil {
					c = &countRow{}
				}
				sum.Rows, sum.OK, sum.Refused = sum.Rows+c.Rows, sum.OK+c.OK, sum.Refused+c.Refused
				sum.Failed, sum.Empty = sum.Failed+c.Failed, sum.Empty+c.Empty
				if c.OK < each {
					sum.Short++
				}
			}
			sum.Missing = max(0, sum.Expected-sum.OK)
			out = append(out, sum)
		}
	}
	return out, nil
}
