package entigen

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// ByRule chooses how three raters' votes become a label; the default is [Strict].
func ByRule(r Rule) metrics.Setting { return tabular.Set("rule", string(r)) }

// Draws is the number of bootstrap draws behind a diversity's interval; the default is 1000, 0 = no intervals.
func Draws(n int) metrics.Setting { return tabular.Set("draws", strconv.Itoa(n)) }

// Axes adds axes of one's own: COLUMN=GROUP/GROUP, several with commas, for example "perceived_age=young/old".
func Axes(list string) metrics.Setting { return tabular.Set("axes", list) }

// AllPrompts also scores the folders that the paper reports nothing about.
func AllPrompts() metrics.Setting { return tabular.Set("prompts", "all") }

// DiversityTable is the metric entigen-diversity (Bansal et al., EMNLP 2022, equation 1; Tables 1, 2, 6): one row for each category, prompt, axis and model.
//
//	DS = Σ_k |a_k − b_k| / Σ_k (a_k + b_k)    over the category's attributes k, in [0, 1]; lower is more diverse
//
// No value where no picture is usable. change is DS minus that of the original prompt. Counts: n_group_a = Σ a_k, n_group_b = Σ b_k, n_used their sum, n_asked all
// pictures, n_attributes; no_usable_picture lists attributes with none, warning says where few pictures are usable.
//
// Options: rule (strict; votes to label, see [Rule]), prompts (reported or all), axes (further ones), draws (1000) and cluster (picture or prompt) of [Bootstrap], min_used (10; below
// it a warning).
func DiversityTable(ratings datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("entigen-diversity", ratings, settings)
}

// BiasTable is the metric entigen-bias (Bansal et al., EMNLP 2022, equation 2; Figure 3): one row for each attribute, prompt, axis and model.
//
//	bias = (a_k − b_k) / (a_k + b_k)    in [-1, 1]; above 0: man, light-skinned, Western
//
// No value where no picture is usable. change compares it with the original prompt's, see [Change]; the interval is [BiasInterval]. Counts as in [DiversityTable].
//
// Options: rule, prompts, axes and min_used as in [DiversityTable].
func BiasTable(ratings datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("entigen-bias", ratings, settings)
}

// QualityTable is the metric entigen-quality (Bansal et al., EMNLP 2022, Table 3): good pictures per attribute, for each category, prompt and model, in [0, pictures of an
// attribute]; higher is better. By two readings, see [Quality]: n_used / n_attributes and n_as_described / n_attributes, on perceived gender, for weddings on perceived culture.
//
// Options: rule, prompts, axes, draws and cluster as in [DiversityTable].
func QualityTable(ratings datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("entigen-quality", ratings, settings)
}

// PaperCells is the metric entigen-cells (Bansal et al., EMNLP 2022, Tables 1, 2, 3, 6): every human value of the paper's tables beside the same from the ratings, one a row: printed, value
// in [0, 1] (Table 3: pictures, [0, 9]), equal (1 where the value rounds or is cut to the printed one, [Printed.Agrees]), feasible (whether so few pictures can give the printed
// value, [Feasible]), n_used.
//
// Options: rule, prompts and axes as in [DiversityTable]; table (all, 1, 2, 3 or 6).
func PaperCells(ratings datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("entigen-cells", ratings, settings)
}

// PaperTable is the metric entigen-table (Bansal et al., EMNLP 2022, Tables 1, 2, 3, 6): one of the paper's tables in its own layout, a row for each prompt and a column for each axis and
// model, in [0, 1] (Table 3: pictures, [0, 9]). A value is followed by the printed one where the two differ.
//
// Options: rule, prompts and axes as in [DiversityTable]; table (1), judges (human, or both: also the columns by CLIP, from a table clip), decimals (2), rounding (round or cut).
func PaperTable(ratings datasets.Table, table int, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("entigen-table", ratings, append(slices.Clone(settings), tabular.Set("table", strconv.Itoa(table))))
}

// picture is what the votes about one picture are collected in.
type picture struct {
	model, category, prompt, kind, attribute, name string
	votes                                          map[string][]Vote // by axis
}

// axis is an axis with the column that holds its labels.
type axis struct {
	axis, column string
	groups       [2]string
}

var axisColumns = []axis{
	{data.PerceivedGender, "perceived_gender", data.Groups[data.PerceivedGender]},
	{data.PerceivedSkin, "perceived_skin_colour", data.Groups[data.PerceivedSkin]},
	{data.PerceivedScene, "perceived_culture", data.Groups[data.PerceivedScene]},
}

// axesOf are the paper's axes and those of the option axes.
func axesOf(call metrics.Call) ([]axis, error) {
	out := slices.Clone(axisColumns)
	for _, text := range strings.Split(call.Options["axes"], ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		column, groups, _ := strings.Cut(text, "=")
		a, b, two := strings.Cut(groups, "/")
		own := axis{strings.ReplaceAll(column, "_", " "), column, [2]string{a, b}}
		if !two || a == "" || b == "" || a == b || !strings.HasPrefix(column, "perceived_") || slices.ContainsFunc(out, func(k axis) bool { return k.column == column }) {
			return nil, fmt.Errorf("option axes: %q is not COLUMN=GROUP/GROUP with two groups and a new column named perceived_…", text)
		}
		out = append(out, own)
	}
	return out, nil
}

// pictures collects the rows of the "in" table by picture, in the order of first appearance.
func pictures(f *client.Frame, axes []axis) ([]*picture, error) {
	kinds := f.Texts("kind")
	models, categories, promptIDs, attributes, names := f.Texts("model"), f.Texts("category"), f.Texts("prompt_id"), f.Texts("attribute"), f.Texts("picture")
	person, described := f.Numbers("person"), f.Numbers("as_described")
	by := map[string]*picture{}
	var out []*picture
	for i, name := range names {
		p := by[name]
		if p == nil {
			kind := data.Kind(promptIDs[i])
			if kinds != nil && kinds[i] != "" {
				kind = kinds[i]
			}
			p = &picture{models[i], categories[i], promptIDs[i], kind, attributes[i], name, map[string][]Vote{}}
			by[name] = p
			out = append(out, p)
		}
		if p.model != models[i] || p.category != categories[i] || p.prompt != promptIDs[i] || p.attribute != attributes[i] {
			return nil, client.BadRow{Row: i + 1, ID: name, Column: "picture", Reason: "another row gives this picture another model, category, prompt_id or attribute"}
		}
		for _, a := range axes {
			values := f.Texts(a.column)
			if values == nil || values[i] == "" {
				continue
			}
			v := Vote{Person: math.IsNaN(person[i]) || person[i] == 1, Described: math.IsNaN(described[i]) || described[i] == 1}
			switch groups := a.groups; values[i] {
			case groups[0]:
				v.Group = First
			case groups[1]:
				v.Group = Second
			case data.NoGroup:
			default:
				return nil, client.BadRow{Row: i + 1, ID: name, Column: a.column, Reason: fmt.Sprintf("%q is none of %q, %q, %q", values[i], groups[0], groups[1], data.NoGroup)}
			}
			p.votes[a.axis] = append(p.votes[a.axis], v)
		}
	}
	return out, nil
}

// key is a cell of the paper's tables.
type key struct{ category, prompt, axis, model string }

// cell is what is counted in it: its attributes in order of name.
type cell struct {
	key
	kind      string
	counts    []Counts
	described []Counts // of the same attributes: First as described, Uncertain not
}

// cells labels all pictures by the rule and counts them, in the paper's order of categories, prompts, axes and models.
func cells(call metrics.Call) ([]*cell, error) {
	if len(call.By) > 0 {
		return nil, fmt.Errorf("ENTIGEN's scores are by category, prompt, axis and model; there is no grouping by %v", call.By)
	}
	axes, err := axesOf(call)
	if err != nil {
		return nil, err
	}
	all, err := pictures(call.Inputs["in"], axes)
	if err != nil {
		return nil, err
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].attribute < all[j].attribute })
	by := map[key]*cell{}
	var out []*cell
	for _, p := range all {
		if call.Options["prompts"] != "all" && !data.Reported(p.prompt) {
			continue
		}
		for _, a := range axes {
			votes := p.votes[a.axis]
			if len(votes) == 0 {
				continue
			}
			k := key{p.category, p.prompt, a.axis, p.model}
			c := by[k]
			if c == nil {
				c = &cell{key: k, kind: p.kind}
				by[k] = c
				out = append(out, c)
			}
			label, err := Label(votes, Rule(call.Options["rule"]))
			if err != nil {
				return nil, err
			}
			c.count(p.attribute, label, Described(votes))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no row has a vote on any axis: check the columns perceived_gender, perceived_skin_colour and perceived_culture")
	}
	sort.SliceStable(out, func(i, j int) bool { return rank(out[i].key) < rank(out[j].key) })
	return out, nil
}

func (c *cell) count(attribute string, label Group, described bool) {
	if len(c.counts) == 0 || c.counts[len(c.counts)-1].Attribute != attribute {
		c.counts = append(c.counts, Counts{Attribute: attribute})
		c.described = append(c.described, Counts{Attribute: attribute})
	}
	if d := &c.described[len(c.described)-1]; described {
		d.First++
	} else {
		d.Uncertain++
	}
	n := &c.counts[len(c.counts)-1]
	switch label {
	case First:
		n.First++
	case Second:
		n.Second++
	default:
		n.Uncertain++
	}
}

// rank sorts cells as the paper does: Table 1 (professions), 6 (objects), 2 (weddings); prompts in the tables' order, others by name after them.
func rank(k key) string {
	order := func(v string, known ...string) string {
		for i, n := range known {
			if n == v {
				return fmt.Sprintf("%02d", i)
			}
		}
		return "99" + v
	}
	return order(k.category, data.Profession, data.Object, data.Culture) + "\x00" +
		order(k.prompt, data.Original, "P-G1", "P-G2", "P-S1", "P-S2", "P-I1", "P-I2", "O-G1", "O-S1", "O-I2", "C-1", "C-2", "C-I2", "C-I1") + "\x00" +
		order(k.axis, data.PerceivedGender, data.PerceivedSkin, data.PerceivedScene) + "\x00" + order(k.model, data.MinDALLE, data.DALLEMini, data.SD)
}

func (k key) String() string { return k.category + "/" + k.prompt + "/" + k.axis + "/" + k.model }
