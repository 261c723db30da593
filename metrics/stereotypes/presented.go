package stereotypes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/datasets/seegull"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// PairColumns are the numbers of a pair of identity and attribute: annotators who call it a stereotype, in North
// America and in the region, offensiveness, and the three scores of how visual the attribute is.
var PairColumns = []string{"na_stereo", "region_stereo", "offensiveness", "score_asia", "score_europe", "score_na"}

// PairAttribute is an attribute with respect to an identity.
type PairAttribute struct {
	Name   string
	Values []float64 // of PairColumns; NaN = no value
}

// Pairs are the attributes of a table with the columns of visage.Pairs of package datasets.
type Pairs struct {
	// Hidden is the number of stereotypes left out, by identity: SeeGULL rates them offensive, or nobody rated them.
	Hidden map[string]int

	stereotypes map[string][]PairAttribute // St(identity)
	called      map[[2]string]bool         // identity and attribute that an annotator calls a stereotype
	values      map[[2]string][]float64    // of identity and attribute
	visual      []PairAttribute            // every visual attribute once, with values but those of a pair
}

// ReadPairs reads pairs; offensive ones only if they are shown. Stereotypes are those of the default
// [StereotypeOptions]. Errors: a missing column, a masked attribute.
func ReadPairs(f *table.Frame, showOffensive bool) (*Pairs, error) {
	p := &Pairs{map[string]int{}, map[string][]PairAttribute{}, map[[2]string]bool{}, map[[2]string][]float64{}, nil}
	for _, name := range []string{"identity", "attribute"} {
		if _, err := f.Need(name, table.KindText); err != nil {
			return nil, err
		}
	}
	var columns [][]float64
	for _, name := range PairColumns {
		c, err := f.Need(name, table.KindNumber)
		if err != nil {
			return nil, err
		}
		columns = append(columns, c.Numbers)
	}
	offends, seen := map[string]bool{}, map[string]bool{}
	var visual []PairAttribute
	for i, name := range f.Texts("attribute") {
		if seegull.IsMasked(name) { // whether the attribute offends anybody cannot be known
			return nil, fmt.Errorf("row %d: %q is a masked name; use a table of visage.Pairs with ShowOffensive, or "+
				"leave --attributes out: offensive ones are not shown unless --show-offensive", i+1, name)
		}
		a := PairAttribute{Name: name}
		for _, c := range columns {
			a.Values = append(a.Values, c[i])
		}
		pair := [2]string{f.Texts("identity")[i], name}
		p.values[pair] = a.Values
		p.called[pair] = a.Values[0] > 0
		offends[name] = offends[name] || a.Values[2] > 0
		can, err := Visual([3]float64(a.Values[3:]), AllAgree, 4)
		if err != nil || !can {
			continue
		}
		if !seen[name] {
			seen[name] = true
			unknown := slices.Repeat([]float64{math.NaN()}, 3)
			visual = append(visual, PairAttribute{name, append(unknown, a.Values[3:]...)})
		}
		switch {
		case !(a.Values[0] >= 2):
		case !showOffensive && !seegull.Shown(a.Values[2]):
			p.Hidden[pair[0]]++
		default:
			p.stereotypes[pair[0]] = append(p.stereotypes[pair[0]], a)
		}
	}
	for _, a := range visual {
		if showOffensive || !offends[a.Name] {
			p.visual = append(p.visual, a)
		}
	}
	slices.SortFunc(p.visual, func(a, b PairAttribute) int { return cmp.Compare(a.Name, b.Name) })
	return p, nil
}

// Presented returns the attributes that raters or a judge see for an identity: its stereotypes, and as many visual
// attributes that nobody calls a stereotype of it, chosen by the seed; others is the number of these.
func (p *Pairs) Presented(identity string, seed int64) (list []PairAttribute, others int) {
	list = slices.Clone(p.stereotypes[identity])
	want := len(list)
	for _, at := range tabular.Random(seed, "others\x00"+identity).Perm(len(p.visual)) {
		a := p.visual[at]
		pair := [2]string{identity, a.Name}
		if others == want || p.called[pair] {
			continue
		}
		if values, known := p.values[pair]; known {
			a.Values = values
		}
		list, others = append(list, a), others+1
	}
	slices.SortFunc(list, func(a, b PairAttribute) int { return cmp.Compare(a.Name, b.Name) })
	return list, others
}

// PresentedOptions are the options of [Presented].
type PresentedOptions struct {
	Seed          int64 `json:"seed,omitempty" help:"chooses the attributes that are no stereotypes"`
	ShowOffensive bool  `json:"show_offensive,omitempty" help:"include attributes that are offensive or not rated for the identity"`
}

type presentedRow struct {
	ID        string `column:"id"`
	Identity  string `column:"identity"`
	Attribute string `column:"attribute"`
	facts
	described
}

var presented = listing(metrics.Definition[PresentedOptions, presentedRow]{
	Name: "visage-presented", Version: 1, Title: "attributes that raters or a judge see for an identity: its visual " +
		"stereotypes, and as many others", Citation: "section 4",
	Inputs: []metrics.Input{{Role: "in", Columns: columnsOf("identity:text attribute:text"),
		About: "pairs with the columns of ViSAGe's, not masked"}},
	Compute: func(_ context.Context, call *metrics.Call, o PresentedOptions) (out []presentedRow, err error) {
		f := call.Inputs["in"]
		p, err := ReadPairs(f, o.ShowOffensive)
		if err != nil {
			return nil, err
		}
		var notes metrics.GroupNotes
		done := map[string]bool{}
		for _, identity := range f.Texts("identity") {
			if done[identity] {
				continue
			}
			done[identity] = true
			list, others := p.Presented(identity, o.Seed)
			if n := p.Hidden[identity]; n > 0 {
				notes.Add("%d stereotypes are left out: rated offensive, or not rated", identity, n)
			}
			if len(list) == others {
				notes.Add("no visual stereotype: nothing is presented", identity)
				continue
			}
			for _, a := range list {
				v := a.Values
				out = append(out, presentedRow{ID: identity + "/" + a.Name, Identity: identity, Attribute: a.Name,
					facts: facts{v[0], v[1], v[2], v[3], v[4], v[5]}})
			}
		}
		notes.AddTo(call, "identity")
		return out, nil
	},
})

// Presented is the table operation visage-presented (Jha et al., ACL 2024, section 4): a row for each identity and
// attribute that raters or a judge see, with the columns of the pairs: the visual stereotypes of the identity, and as
// many visual attributes that nobody calls a stereotype of it. `antipode annotate` presents the same ones.
func Presented(pairs datasets.Table, options ...PresentedOptions) datasets.Table {
	return presented.Of(pairs, options...)
}

// JudgedOptions are the options of [Judged].
type JudgedOptions struct {
	Value         string `json:"value,omitempty" default:"answer" help:"column of the answers"`
	Positive      string `json:"positive,omitempty" default:"yes" help:"the answer that the image shows the attribute"`
	Negative      string `json:"negative,omitempty" default:"no" help:"the answer that it does not; images with another answer, or none, are left out"`
	ShowOffensive bool   `json:"show_offensive,omitempty" help:"show attributes that are offensive or not rated for the identity"`
}

type judgedRow struct {
	foundRow
	facts
	By string `column:"found_by"`
	described
}

var judged = listing(metrics.Definition[JudgedOptions, judgedRow]{
	Name: "visage-judged", Version: 1, Title: "a judge's answers whether images show attributes, in the form of " +
		"annotations", Citation: "an addition to section 4",
	Inputs: []metrics.Input{{Role: "in", Columns: columnsOf("identity:text attribute:text image_id:text"),
		About: "answers, a row for each image and attribute, with the columns of visage-presented"}},
	Compute: func(_ context.Context, call *metrics.Call, o JudgedOptions) (out []judgedRow, err error) {
		f := call.Inputs["in"]
		answers, err := f.Need(o.Value, table.KindText)
		if err != nil {
			return nil, err
		}
		of, attributes, images := readFacts(f), f.Texts("attribute"), f.Texts("image_id")
		var mask seegull.Masker
		unclear := map[string]int{}
		numbers, count := map[[2]string]int{}, map[string]int{}
		for i, identity := range f.Texts("identity") {
			image := [2]string{identity, images[i]}
			if numbers[image] == 0 {
				count[identity]++
				numbers[image] = count[identity]
			}
			answer := answers.Texts[i]
			if answer != o.Positive && answer != o.Negative {
				unclear[identity]++
				continue
			}
			row := judgedRow{foundRow: foundRow{ID: images[i] + "/" + attributes[i], Identity: identity,
				Number: numbers[image], ImageID: images[i], Attribute: attributes[i]}, By: "judge",
				facts: of(identity, attributes[i])}
			if answer == o.Positive {
				row.Selected = 1
			}
			if !o.ShowOffensive {
				row.Attribute = mask.Label(identity, attributes[i], row.Offensiveness)
				row.ID = images[i] + "/" + row.Attribute
			}
			out = append(out, row)
		}
		var notes metrics.GroupNotes
		for _, identity := range slices.Sorted(maps.Keys(unclear)) {
			notes.Add("%d answers are neither "+o.Positive+" nor "+o.Negative+" and are left out", identity,
				unclear[identity])
		}
		notes.AddTo(call, "identity")
		return out, nil
	},
})

// Judged is the table operation visage-judged, an addition to section 4 of Jha et al., ACL 2024: the answers of a judge
// ([gomlxmodels.Ask]) whether an image shows an attribute, in the form of annotations, which [Likelihoods],
// [Tendencies] and [Offensiveness] accept in place of human ones. The rows are those of the images' Questions with the
// attributes of [Presented]. Attributes are masked by the rule of package seegull.
func Judged(answers datasets.Table, options ...JudgedOptions) datasets.Table {
	return judged.Of(answers, options...)
}
