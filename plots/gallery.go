package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"antipode/datasets"
	"antipode/datasets/table"
)

// Gallery shows reference images, each with the images that matched it. It reads a table with a row for each image:
//
//	image    the image
//	group    text: the reference that a row belongs to, a line of the gallery (Rows names another column)
//	role     text: "reference" or "match"
//	rank     number, optional: order of the matches of a group, smallest first (default: table order)
//
// A group with a reference and no match has an empty cell. In a table without matches the references are shown in
// lines. What is left out is counted.
//
// Figures 5 and 6 of the Decomposed-DIG paper have a block for each reference image and a line for each part of the
// image: Blocks: "object", Rows: "vector". Figure 13 has references alone.
type Gallery struct {
	Table          datasets.Table
	Rows           string   // column of the groups, which are then named (default: group)
	Blocks         string   // column with a block of lines for each value; the same group in two blocks is two groups
	Order          Order    // order of the values of columns
	Image          string   // image column (default: image)
	Outline        string   // mask column whose border is drawn in red
	Box            Box      // boxes to draw in red, in place of Outline
	Fade           Side     // side of the outline to make pale
	Patches        int      // draws the border between Patches × Patches patches, as in [Grid]
	Captions       []string // text and number columns to write below each image
	ReferenceLabel string   // label of the references (default: reference)
	MatchLabel     string   // label of the matches (default: matches)
	Limit          int      // groups shown (default: 12)
	PerCell        int      // matches shown of each group (default: 6)
	Title          string
	Note           string // first sentence of the caption
	Theme          Theme
}

func (f Gallery) figure() drawer {
	return figure{"gallery", f.Table, nil, options{
		rows: f.Rows, block: f.Blocks, order: f.Order, image: f.Image, mask: f.Outline, box: f.Box, fade: f.Fade,
		patches: f.Patches, captions: f.Captions, heads: [2]string{f.ReferenceLabel, f.MatchLabel}, limit: f.Limit,
		perCell: f.PerCell, title: f.Title, note: f.Note, theme: f.Theme,
	}, buildGallery}
}

const (
	referenceRole = "reference"
	matchRole     = "match"
)

func buildGallery(f *datasets.Frame, s *options) (drawing, error) {
	group := cmp.Or(s.rows, "group")
	groupOf, err := names(f, group)
	if err != nil {
		return nil, err
	}
	blockOf, err := optional(f, s.block)
	if err != nil {
		return nil, err
	}
	role, err := f.Need("role", table.KindText)
	if err != nil {
		return nil, err
	}
	thumbs, err := s.thumbs(f)
	if err != nil {
		return nil, err
	}
	order := all(f.Len())
	if ranks := f.Numbers("rank"); ranks != nil {
		last := func(i int) float64 { // rows without a rank come last
			if math.IsNaN(ranks[i]) {
				return math.Inf(1)
			}
			return ranks[i]
		}
		sort.SliceStable(order, func(i, j int) bool { return last(order[i]) < last(order[j]) })
	}
	references, matches := map[[2]string][]*thumbnail{}, map[[2]string][]*thumbnail{}
	found := 0
	for _, i := range order {
		k := [2]string{blockOf[i], groupOf[i]}
		switch role.Texts[i] {
		case referenceRole:
			references[k] = append(references[k], thumbs[i])
		case matchRole:
			matches[k] = append(matches[k], thumbs[i])
			found++
		default:
			return nil, fmt.Errorf("column \"role\" holds %q in %s; it takes %q and %q", role.Texts[i], rowName(f, i),
				referenceRole, matchRole)
		}
	}
	out := &sheet{set: s, title: cmp.Or(s.title, "Gallery"), caption: s.opening()}
	limit, perCell := cmp.Or(max(s.limit, 0), 12), cmp.Or(max(s.perCell, 0), 6)
	if found > 0 {
		out.heads = []string{cmp.Or(s.heads[0], "reference"), cmp.Or(s.heads[1], "matches")}
	}
	total, shown, lines := 0, 0, 0
	for _, b := range s.levels(s.block, blockOf) {
		block := sheetBlock{title: b}
		var alone sheetCell
		for _, g := range s.levels(group, groupOf) {
			k := [2]string{b, g}
			if references[k] == nil && matches[k] == nil {
				continue
			}
			total++
			if shown == limit {
				continue
			}
			shown++
			if found == 0 {
				alone.thumbs = append(alone.thumbs, references[k]...)
				continue
			}
			n := min(perCell, len(matches[k]))
			line := sheetRow{name: g, cells: []sheetCell{{thumbs: references[k], empty: "no reference"},
				{thumbs: slices.Clone(matches[k][:n]), empty: "nothing matched", more: len(matches[k]) - n}}}
			if s.rows == "" && s.block == "" {
				line.name = "" // the group is only a key
			}
			block.rows = append(block.rows, line)
			lines++
		}
		if alone.thumbs != nil {
			block.rows = append(block.rows, sheetRow{cells: []sheetCell{alone}})
		}
		if block.rows != nil {
			out.blocks = append(out.blocks, block)
		}
	}
	note := fmt.Sprintf("%d references", total)
	if total == 1 {
		note = "1 reference"
	}
	if total > shown {
		note = fmt.Sprintf("%d of %d references; %d more not shown", shown, total, total-shown)
	}
	if found > 0 {
		note += fmt.Sprintf(", %d matches", found)
	}
	out.caption = append(out.caption, note+".")
	out.caption = append(out.caption, s.outlineNote()...)
	return out.finish()
}
