package visage

import (
	"fmt"

	"antipode/datasets/manifest"
)

// WriteAnnotations writes annotations as a CSV file that [ReadAnnotations] reads back as they are, but for Line.
// Boxes are written as two corners.
//
// Errors: a row without identity or attribute, or with a box outside the image.
func WriteAnnotations(rows []Annotation) ([]byte, error) {
	out := [][]string{{"worker_id", "img_path", "attribute", "present", "coords"}}
	for i, a := range rows {
		b := a.Box
		if a.Identity == "" || a.Attribute == "" || !(0 <= b.Left && b.Left <= b.Right && b.Right <= ImageSize &&
			0 <= b.Top && b.Top <= b.Bottom && b.Bottom <= ImageSize) {
			return nil, fmt.Errorf("visage: annotation %d (%s, image %d) lacks an identity or attribute, or its "+
				"box is not inside 0 to %d", i+1, a.Identity, a.Image, ImageSize)
		}
		path := fmt.Sprintf("%s%d.png", a.Identity, a.Image)
		if a.Batch != "" {
			path = a.Batch + "/" + path
		}
		coords := "[]"
		if b != (Box{}) {
			coords = fmt.Sprintf("['%v,%v', '%v,%v']", b.Left, b.Top, b.Right, b.Bottom)
		}
		out = append(out, []string{a.Task, path, a.Attribute, map[bool]string{true: "yes", false: "no"}[a.Selected],
			coords})
	}
	return manifest.WriteCSV(out)
}
