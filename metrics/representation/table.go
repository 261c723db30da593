package representation

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/metrics"
)

// Labeling are the options that select how ratings become labels, and what is scored.
type Labeling struct {
	Rule    string `json:"rule" default:"strict" values:"strict,plain-majority,drop-unsure,unanimous,plain-majority-gated,drop-unsure-gated,unanimous-gated,strict-ungated" help:"how the votes of raters become a label"`
	Prompts string `json:"prompts" default:"reported" values:"reported,all" help:"prompts with a hyphen in their id, as in the paper, or all"`
	Axes    string `json:"axes" help:"further axes, as COLUMN=GROUP/GROUP, …: perceived_age=young/old"`
}

// ratingColumns are the columns of ratings and of labels by CLIP.
const ratingColumns = "model:text category:text prompt_id:text attribute:text image_id:text"

var ratingsIn = metrics.Input{Role: "in", Columns: columnsOf(ratingColumns + " person:number as_described:number"),
	About: "a row for each rater and image, as datasets/entigen returns them, with perceived_gender, " +
		"perceived_skin_colour and perceived_culture where the raters answered them"}

// image collects the votes about an image.
type image struct {
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

// axes returns the paper's axes and those of the option axes.
func (o Labeling) axes() ([]axis, error) {
	out := slices.Clone(axisColumns)
	for _, text := range strings.Split(o.Axes, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		column, groups, _ := strings.Cut(text, "=")
		a, b, two := strings.Cut(groups, "/")
		if !two || a == "" || b == "" || a == b || !strings.HasPrefix(column, "perceived_") ||
			slices.ContainsFunc(out, func(k axis) bool { return k.column == column }) {
			return nil, fmt.Errorf("option axes: %q is not COLUMN=GROUP/GROUP with two groups and a new column named "+
				"perceived_…", text)
		}
		out = append(out, axis{strings.ReplaceAll(column, "_", " "), column, [2]string{a, b}})
	}
	return out, nil
}

// axisOf returns the axis of a name, one of the paper's or of the option axes.
func axisOf(name, further string) (axis, error) {
	all, err := Labeling{Axes: further}.axes()
	if err != nil {
		return axis{}, err
	}
	names := make([]string, len(all))
	for i, a := range all {
		if names[i] = a.axis; a.axis == name {
			return a, nil
		}
	}
	return axis{}, fmt.Errorf("option axis: no axis %q%s; known: %s", name, table.Hint(name, names),
		strings.Join(names, ", "))
}

// images collects the rows of a frame by image, in the order of first appearance.
func images(f *table.Frame, axes []axis) ([]*image, error) {
	kinds := f.Texts("kind")
	models, categories, promptIDs, attributes, names := f.Texts("model"), f.Texts("category"), f.Texts("prompt_id"),
		f.Texts("attribute"), f.Texts("image_id")
	person, described := f.Numbers("person"), f.Numbers("as_described")
	by := map[string]*image{}
	var out []*image
	for i, name := range names {
		bad := func(column, reason string) ([]*image, error) {
			return nil, table.BadRow{Row: i + 1, ID: name, Column: column, Reason: reason}
		}
		if name == "" {
			return bad("image_id", "it is blank; every rating needs its image")
		}
		p := by[name]
		if p == nil {
			p = &image{models[i], categories[i], promptIDs[i], kindOf(kinds, promptIDs, i), attributes[i], name,
				map[string][]Vote{}}
			by[name] = p
			out = append(out, p)
		}
		if p.model != models[i] || p.category != categories[i] || p.prompt != promptIDs[i] ||
			p.attribute != attributes[i] {
			return bad("image_id", "another row has another model, category, prompt_id or attribute for this image")
		}
		for k, v := range []float64{person[i], described[i]} {
			if v != 0 && v != 1 && !math.IsNaN(v) {
				return bad([]string{"person", "as_described"}[k], fmt.Sprintf("%g is neither 1 nor 0", v))
			}
		}
		for _, a := range axes {
			values := f.Texts(a.column)
			if values == nil || values[i] == "" {
				continue
			}
			v := Vote{Person: person[i] != 0, Described: described[i] != 0} // NaN: nobody was asked
			switch groups := a.groups; values[i] {
			case groups[0]:
				v.Group = First
			case groups[1]:
				v.Group = Second
			case data.NoGroup:
			default:
				return bad(a.column, fmt.Sprintf("%q is not %q, %q or %q", values[i], groups[0], groups[1],
					data.NoGroup))
			}
			p.votes[a.axis] = append(p.votes[a.axis], v)
		}
	}
	return out, nil
}

// kindOf returns the kind of a row's prompt: that of the column kind, if there is one, else that of the paper.
func kindOf(kinds, prompts []string, row int) string {
	if kinds != nil && kinds[row] != "" {
		return kinds[row]
	}
	return data.Kind(prompts[row])
}

// key identifies a cell of the paper's tables. Embedded in a row, with kind, it becomes the columns of a cell.
type key struct{ category, prompt, axis, model string }

// original returns the cell of the original prompt.
func (k key) original() key {
	k.prompt = data.Original
	return k
}

// cell holds the counts of a cell, by attribute in order of name.
type cell struct {
	key
	kind      string
	counts    []Counts
	described []Counts // of the same attributes: First as described, Uncertain not
}

type cellRow struct {
	Category string `column:"category"`
	Prompt   string `column:"prompt_id"`
	Kind     string `column:"kind" help:"what the added sentence is about"`
	Axis     string `column:"axis"`
	Model    string `column:"model"`
}

func (c *cell) row() cellRow { return cellRow{c.category, c.prompt, c.kind, c.axis, c.model} }

// read returns the images of the prompts that the option prompts keeps, and the axes.
func (o Labeling) read(call *metrics.Call, role string) ([]*image, []axis, error) {
	axes, err := o.axes()
	if err != nil {
		return nil, nil, err
	}
	all, err := images(call.Inputs[role], axes)
	if err != nil || o.Prompts == "all" {
		return all, axes, err
	}
	n := len(all)
	all = slices.DeleteFunc(all, func(p *image) bool { return !data.Reported(p.prompt) })
	switch left := n - len(all); {
	case left > 0 && len(all) == 0:
		return nil, nil, errors.New("no prompt_id has a hyphen, as the paper's; score all prompts with prompts=all")
	case left > 0:
		call.Notef("%d images of prompts without a hyphen in their id are left out; prompts=all keeps them", left)
	}
	return all, axes, nil
}

// cells labels the images of a table and counts them, in the paper's order of categories, prompts, axes and models.
func cells(call *metrics.Call, role string, o Labeling) ([]*cell, error) {
	all, axes, err := o.read(call, role)
	if err != nil {
		return nil, err
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].attribute < all[j].attribute })
	by := map[key]*cell{}
	var out []*cell
	for _, p := range all {
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
			label, err := Label(votes, o.Rule)
			if err != nil {
				return nil, err
			}
			c.count(p.attribute, label, Described(votes))
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no row has a vote on any axis: check the columns perceived_gender, " +
			"perceived_skin_colour and perceived_culture, or name other axes with axes, as perceived_age=young/old")
	}
	sort.SliceStable(out, func(i, j int) bool { return rank(out[i].key) < rank(out[j].key) })
	return out, nil
}

func (c *cell) count(attribute string, label PerceivedGroup, described bool) {
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

// rank sorts cells as the paper does: Table 1 (professions), 6 (objects), 2 (weddings); prompts in the tables' order,
// others by name after them.
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
		order(k.prompt, data.Original, "P-G1", "P-G2", "P-S1", "P-S2", "P-I1", "P-I2", "O-G1", "O-S1", "O-I2", "C-1",
			"C-2", "C-I2", "C-I1") + "\x00" +
		order(k.axis, data.PerceivedGender, data.PerceivedSkin, data.PerceivedScene) + "\x00" +
		order(k.model, data.MinDALLE, data.DALLEMini, data.SD)
}

func (k key) String() string { return k.category + "/" + k.prompt + "/" + k.axis + "/" + k.model }
