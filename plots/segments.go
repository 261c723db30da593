package plots

import (
	"fmt"

	"antipode/datasets"
)

// Segments takes images apart by the mask column of [Outline] ("mask" without it): in each line the full image, the object
// on white, and the background with a white hole. At most [Limit] images (4) are shown.
//
// It is Figure 8 of the Decomposed-DIG paper.
func Segments(t datasets.Table, options ...Option) Figure {
	return figure("segments", t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		s.mask, s.plain = or(s.mask, "mask"), true
		limit := or(max(s.limit, 0), 4)
		thumbs, err := s.thumbs(f)
		if err != nil {
			return nil, err
		}
		out := &sheet{set: s, title: or(s.title, "Image, object and background"), heads: []string{"full image", "object on white", "background, white hole"}}
		var block sheetBlock
		letter := 'a'
		for i, full := range thumbs[:min(limit, len(thumbs))] {
			object, ground := *full, *full
			object.part, ground.part = cutObject, background
			var line sheetRow
			for _, t := range []*thumbnail{full, &object, &ground} {
				if i < 8 { // as many letters as there are
					t.captions = append([]string{"(" + string(letter) + ")"}, t.captions...)
					letter++
				}
				line.cells = append(line.cells, sheetCell{thumbs: []*thumbnail{t}})
			}
			block.rows = append(block.rows, line)
		}
		out.blocks = []sheetBlock{block}
		if s.note != "" {
			out.caption = append(out.caption, isolate(oneLine(s.note)))
		}
		out.caption = append(out.caption, fmt.Sprintf("%d of %d images.", len(block.rows), len(thumbs)))
		return out.finish()
	})
}
