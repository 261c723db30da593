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

// matching are the images of a gallery by the block and the group of their rows.
type matching struct {
	groupOf, blockOf    []string
	references, matches map[[2]string][]*thumbnail
}

// matching reads the images, those of a group in the order of their ranks.
func (s *options) matching(f *datasets.Frame, group string) (m matching, err error) {
	m = matching{references: map[[2]string][]*thumbnail{}, matches: map[[2]string][]*thumbnail{}}
	m.groupOf, m.blockOf = or(names(f, group))(&err), or(optional(f, s.block))(&err)
	role := or(f.Need("role", table.KindText))(&err)
	thumbs := or(s.thumbs(f))(&err)
	if err != nil {
		return m, err
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
	for _, i := range order {
		k := [2]string{m.blockOf[i], m.groupOf[i]}
		switch role.Texts[i] {
		case referenceRole:
			m.references[k] = append(m.references[k], thumbs[i])
		case matchRole:
			m.matches[k] = append(m.matches[k], thumbs[i])
		default:
			return m, fmt.Errorf("column \"role\" holds %q in %s; it takes %q and %q", role.Texts[i], rowName(f, i),
				referenceRole, matchRole)
		}
	}
	return m, nil
}

func buildGallery(f *datasets.Frame, s *options) (drawing, error) {
	group := cmp.Or(s.rows, "group")
	m, err := s.matching(f, group)
	if err != nil {
		return nil, err
	}
	out := &sheet{set: s, title: cmp.Or(s.title, "Gallery"), caption: s.opening()}
	limit, perCell := cmp.Or(max(s.limit, 0), 12), cmp.Or(max(s.perCell, 0), 6)
	found := 0
	for _, matches := range m.matches {
		found += len(matches)
	}
	if found > 0 {
		out.heads = []string{cmp.Or(s.heads[0], "reference"), cmp.Or(s.heads[1], "matches")}
	}
	total, shown := 0, 0
	for _, b := range s.levels(s.block, m.blockOf) {
		block := sheetBlock{title: b}
		var alone sheetCell
		for _, g := range s.levels(group, m.groupOf) {
			k := [2]string{b, g}
			references, matches := m.references[k], m.matches[k]
			if references == nil && matches == nil {
				continue
			}
			total++
			if shown == limit {
				continue
			}
			shown++
			if found == 0 {
				alone.thumbs = append(alone.thumbs, references...)
				continue
			}
			n := min(perCell, len(matches))
			line := sheetRow{name: g, cells: []sheetCell{{thumbs: references, empty: "no reference"},
				{thumbs: slices.Clone(matches[:n]), empty: "nothing matched", more: len(matches) - n}}}
			if s.rows == "" && s.block == "" {
				line.name = "" // the group is only a key
			}
			block.rows = append(block.rows, line)
		}
		if alone.thumbs != nil {
			block.rows = append(block.rows, sheetRow{cells: []sheetCell{alone}})
		}
		if block.rows != nil {
			out.blocks = append(out.blocks, block)
		}
	}
	note := plural(total, "reference")
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
