package plots

import (
	"cmp"
	"fmt"

	"antipode/datasets"
)

// Segments splits images by a mask column: each line shows the full image, the object on white, and the background with
// a white hole. It is Figure 8 of the Decomposed-DIG paper.
type Segments struct {
	Table    datasets.Table
	Image    string   // image column (default: image)
	Mask     string   // mask column (default: mask)
	Patches  int      // splits at the border between Patches × Patches patches, as in [Grid], and draws their borders
	Captions []string // text and number columns to write below each image
	Limit    int      // images shown (default: 4)
	Title    string
	Note     string // first sentence of the caption
	Theme    Theme
}

func (f Segments) figure() drawer {
	return figure{"segments", f.Table, nil, options{image: f.Image, mask: cmp.Or(f.Mask, "mask"), plain: true,
		patches: f.Patches, captions: f.Captions, limit: f.Limit, title: f.Title, note: f.Note, theme: f.Theme,
	}, buildSegments}
}

func buildSegments(f *datasets.Frame, s *options) (drawing, error) {
	thumbs, err := s.thumbs(f)
	if err != nil {
		return nil, err
	}
	out := &sheet{set: s, title: cmp.Or(s.title, "Image, object and background"), caption: s.opening(),
		heads: []string{"full image", "object on white", "background (object white)"}}
	if s.patches > 0 {
		out.heads = []string{"full image", "object patches", "background patches"}
		out.caption = append(out.caption, fmt.Sprintf("%d × %d patches; white: the patches of the other part.",
			s.patches, s.patches))
	}
	var block sheetBlock
	letter := 'a'
	for i, full := range thumbs[:min(cmp.Or(max(s.limit, 0), 4), len(thumbs))] {
		object, ground := *full, *full
		object.part, ground.part = cutObject, background
		var line sheetRow
		for _, t := range []*thumbnail{full, &object, &ground} {
			if i < 8 { // letters a to x
				t.captions = append([]string{"(" + string(letter) + ")"}, t.captions...)
				letter++
			}
			line.cells = append(line.cells, sheetCell{thumbs: []*thumbnail{t}})
		}
		block.rows = append(block.rows, line)
	}
	out.blocks = []sheetBlock{block}
	out.caption = append(out.caption, fmt.Sprintf("%d of %d images shown.", len(block.rows), len(thumbs)))
	return out.finish()
}
