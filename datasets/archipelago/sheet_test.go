package archipelago

import (
	"flag"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"antipode/internal/must"
)

var update = flag.Bool("update", false, "write docs/archipelago-peoples.png anew")

// sheetFigures are the figures of the data sheet's image: the peoples, the attributes, the occupations, the
// ceremonies with all four pairs of signs.
func sheetFigures() (rows [][]Figure) {
	const columns = 6
	var row []Figure
	add := func(f Figure) {
		if row = append(row, f); len(row) == columns {
			rows, row = append(rows, row), nil
		}
	}
	signs := func(i int) (string, string) {
		return []string{Round, Pointed}[i%2], []string{LightBanner, DarkBanner}[i/2%2]
	}
	n := 0
	with := func(people string, attributes []string, occupation, ceremony string) {
		c, b := signs(n)
		n++
		add(Figure{People: people, Crest: c, Banner: b, Attributes: attributes, Occupation: occupation,
			Ceremony: ceremony})
	}
	for _, p := range PeopleNames() {
		with(p, nil, "", "")
	}
	for i, a := range AttributeNames() {
		with(PeopleNames()[(i*5+1)%6], []string{a}, "", "")
	}
	for i, o := range OccupationNames() {
		with(PeopleNames()[(i+2)%6], nil, o, "")
	}
	for i := range 6 {
		with(PeopleNames()[(i+3)%6], nil, "", CeremonyNames()[i%3])
	}
	return rows
}

func TestSheet(t *testing.T) {
	const size, gap = 92, 2
	w := New(Options{Seed: 7, Size: size})
	rows := sheetFigures()
	sheet := image.NewRGBA(image.Rect(0, 0, len(rows[0])*(size+gap)-gap, len(rows)*(size+gap)-gap))
	draw.Draw(sheet, sheet.Rect, image.White, image.Point{}, draw.Src)
	for y, row := range rows {
		for x := range row {
			n := uint64(y*len(row) + x)
			im, mask := w.Paint(Image{Island: w.Islands()[(x+y)%6], Scene: w.Scenes()[(x*5+y*2)%6], Figure: &row[x],
				Seed: n, Backdrop: n + 40})
			if im == nil {
				t.Fatalf("%+v was not drawn", row[x])
			}
			object := 0
			for _, m := range mask.Pix {
				if m != 0 {
					object++
				}
			}
			if share := float64(object) / float64(len(mask.Pix)); share < 0.10 || share > 0.45 {
				t.Errorf("%+v covers %.3f of the image", row[x], share)
			}
			draw.Draw(sheet, image.Rect(x*(size+gap), y*(size+gap), (x+1)*(size+gap),
				(y+1)*(size+gap)).Intersect(sheet.Rect), im, image.Point{}, draw.Src)
		}
	}
	if !*update {
		return
	}
	f := must.Get(os.Create(filepath.Join("..", "..", "docs", "archipelago-peoples.png")))(t)
	defer f.Close()
	must.Do(t, png.Encode(f, sheet))
}
