package plots

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"antipode/datasets"
	"antipode/kernel/client"
)

// Gallery shows reference images, each with the images that matched it. It reads a table with one row for each image
// shown:
//
//	image    the picture; a mask column for [Outline] may stand beside it
//	group    text: which reference a row belongs to; one line of the gallery for each value, in table order ([Rows] names another column)
//	role     text: "reference" or "match"
//	rank     number, optional: order of the matches of a group, smallest first; table order without it
//
// [Captions] names the columns shown below the images, for example a count or a distance. A group with a reference and
// no match gets an empty cell. [Blocks] names a column that heads blocks of lines: one block for each reference image
// and one line for each set-up is Figure 5 (and 6) of the Decomposed-DIG paper: Blocks("object"), Rows("setup"). Groups
// are then told apart within their block. Without any match in the table the references alone are shown, in lines: Figure
// 13. At most [Limit] groups (12) and [PerCell] matches of each (6) are shown; what is left out is counted.
func Gallery(t datasets.Table, options ...Option) Figure {
	return figure("gallery", t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		return buildGallery(f, s)
	})
}

const (
	referenceRole = "reference"
	matchRole     = "match"
)

func buildGallery(f *datasets.Frame, s *settings) (drawing, error) {
	group := or(s.rows, "group")
	groupOf, err := names(f, group)
	if err != nil {
		return nil, err
	}
	blockOf, err := optional(f, s.block)
	if err != nil {
		return nil, err
	}
	role, err := f.Need("role", client.Text)
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
			return nil, fmt.Errorf("column \"role\" holds %q in %s; it takes %q and %q", role.Texts[i], rowName(f, i), referenceRole, matchRole)
		}
	}
	out := &sheet{set: s, title: or(s.title, "Gallery")}
	if s.note != "" {
		out.caption = append(out.caption, isolate(oneLine(s.note)))
	}
	limit, perCell := or(max(s.limit, 0), 12), or(max(s.perCell, 0), 6)
	if found > 0 {
		out.heads = []string{"reference", "matches"}
		if s.heads != nil {
			out.heads = s.heads
		}
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
