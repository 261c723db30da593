package plots

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"unicode"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/fault"
	"antipode/plots/internal/letters"
)

// sheet is a figure made of images: blocks of rows of cells of thumbnails.
type sheet struct {
	set     *options
	title   string
	caption []string
	heads   []string // names of the cells' columns; nil = none
	blocks  []sheetBlock
	across  []int   // images next to each other in each column of cells
	size    float64 // side of a thumbnail's box, in pixels
	named   float64 // width of the rows' names
}

type sheetBlock struct {
	title string
	rows  []sheetRow
}

type sheetRow struct {
	name  string
	note  string // below the name
	cells []sheetCell
}

type sheetCell struct {
	thumbs []*thumbnail
	empty  string // text of a cell without images
	more   int    // images left out of it
}

// inlineBytes is the limit of image data in the HTML of a figure of n images, in base64 characters; each image takes at
// least about a thousand. Images larger than the default may take all that a figure may.
func inlineBytes(n int, large bool) int {
	if large {
		return 190_000
	}
	return min(60_000+1000*n, 190_000)
}

// thumbs returns a thumbnail of each row.
func (s *options) thumbs(f *datasets.Frame) ([]*thumbnail, error) {
	column := cmp.Or(s.image, "image")
	if _, err := f.Need(column, table.KindImage); err != nil {
		return nil, err
	}
	images := f.Images(column)
	var masks []table.Mask
	if s.mask != "" {
		if _, err := f.Need(s.mask, table.KindMask); err != nil {
			return nil, err
		}
		masks = f.Masks(s.mask)
	}
	boxes, err := s.boxesOf(f)
	if err != nil {
		return nil, err
	}
	detected, err := s.detectedIn(f)
	if err != nil {
		return nil, err
	}
	for _, name := range s.captions {
		if c := f.Column(name); c == nil || c.Kind != table.KindText && c.Kind != table.KindNumber {
			if _, err := f.Need(name, table.KindText); err != nil {
				return nil, fmt.Errorf("caption: %w", err)
			}
		}
	}
	ids := f.Texts("id")
	out := make([]*thumbnail, f.Len())
	for i := range out {
		t := &thumbnail{id: fmt.Sprintf("row %d", i+1), source: images[i]}
		if ids != nil {
			t.id = ids[i]
		}
		if masks != nil {
			t.mask = masks[i]
		}
		if boxes != nil {
			t.box = boxes[i]
		}
		for _, d := range detected[i] {
			t.boxes = append(t.boxes, d.Box)
			caption := fmt.Sprintf("%s %.2f", letters.OneLine(d.Label), d.Score)
			t.captions = append(t.captions, strings.TrimSpace(caption))
		}
		for _, name := range s.captions {
			c := f.Column(name)
			text := letters.OneLine(c.Cell(i))
			switch {
			case text == "":
			case c.Kind == table.KindNumber:
				t.captions = append(t.captions, name+" "+short(c.Numbers[i]))
			default:
				t.captions = append(t.captions, text)
			}
		}
		out[i] = t
	}
	return out, nil
}

// detection is a box in the column Boxes.
type detection struct {
	Label string
	Score float64
	Box   [4]float64 // left, top, right, bottom in pixels
}

// detectedIn returns the detector's boxes of each row.
func (s *options) detectedIn(f *datasets.Frame) ([][]detection, error) {
	out := make([][]detection, f.Len())
	if s.boxes == "" {
		return out, nil
	}
	c, err := f.Need(s.boxes, table.KindText)
	if err != nil {
		return nil, fmt.Errorf("boxes: %w", err)
	}
	for i, text := range c.Texts {
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), &out[i]); err != nil {
			return nil, fmt.Errorf("column %q: the boxes in %s are not a JSON array of objects with label, score and "+
				"box (left, top, right, bottom): %w", s.boxes, rowName(f, i), err)
		}
	}
	return out, nil
}

// boxesOf returns the box of each row, nil where it has none.
func (s *options) boxesOf(f *datasets.Frame) ([]*[4]float64, error) {
	if s.box == (Box{}) {
		return nil, nil
	}
	size := s.box.Size
	if s.mask != "" {
		return nil, errors.New("an image has one outline; set Outline or Box")
	}
	if !finite(size) || size <= 0 {
		return nil, fmt.Errorf("Box: the corners are pixels of an image of a size above 0, not %g; set Size", size)
	}
	out := make([]*[4]float64, f.Len())
	for k, name := range []string{s.box.Left, s.box.Top, s.box.Right, s.box.Bottom} {
		c, err := f.Need(name, table.KindNumber)
		if err != nil {
			return nil, fmt.Errorf("box: %w", err)
		}
		for i, v := range c.Numbers {
			if k == 0 && !math.IsNaN(v) {
				out[i] = &[4]float64{}
			}
			if out[i] == nil {
				continue
			}
			if !finite(v) || k > 1 && v/size < out[i][k-2] {
				return nil, fmt.Errorf("column %q: the box in %s has no finite corners, left before right and top "+
					"before bottom", name, rowName(f, i))
			}
			out[i][k] = v / size
		}
	}
	return out, nil
}

func (s *sheet) each(visit func(t *thumbnail)) {
	for _, b := range s.blocks {
		for _, r := range b.rows {
			for _, c := range r.cells {
				for _, t := range c.thumbs {
					visit(t)
				}
			}
		}
	}
}

// sizes chooses the sizes of names and thumbnails.
func (s *sheet) sizes() {
	th := s.set.theme
	wide := th.Width - 2*margin
	for _, b := range s.blocks {
		for _, r := range b.rows {
			name, note := letters.Measure(r.name, th.Text, true), letters.Measure(r.note, th.Small, false)
			s.named = max(s.named, min(max(1.2*name, 1.05*note), 0.2*wide))
			for i, c := range r.cells {
				for len(s.across) <= i {
					s.across = append(s.across, 1)
				}
				s.across[i] = max(s.across[i], len(c.thumbs))
			}
		}
	}
	if s.named > 0 {
		s.named += 10
	}
	const gap = 6
	images := 0
	s.each(func(*thumbnail) { images++ })
	smallest, largest := 64.0, 200.0
	switch {
	case s.set.size > 0:
		smallest, largest = s.set.size, s.set.size
	case s.set.perCell > 0:
		smallest = 48 // so that PerCell images fit side by side
	case images == 1:
		largest = wide
	}
	for {
		total, widest := 0, 0
		for i, n := range s.across {
			total += n
			if n > s.across[widest] {
				widest = i
			}
		}
		s.size = (wide-s.named-12*float64(len(s.across)-1))/float64(total) - gap
		if s.size >= smallest || s.across[widest] == 1 {
			break
		}
		s.across[widest]--
	}
	s.size = math.Floor(min(max(s.size, 40, s.set.size), largest))
}

// finish chooses sizes, loads the images and encodes them within the limit of inline data.
func (s *sheet) finish() (*sheet, error) {
	s.sizes()
	s.parallel(func(t *thumbnail) { t.load(s.set, max(2, float64(s.set.theme.DPI)/96)*s.size) })
	var bad []string
	loaded := 0
	s.each(func(t *thumbnail) {
		if t.full != nil {
			loaded++
		} else if t.reason != "no image" {
			bad = append(bad, letters.Isolate(t.name())+" ("+t.reason+")")
		}
	})
	if loaded == 0 {
		if len(bad) > 0 {
			return nil, fmt.Errorf("%w: no image is readable: %s", ErrNoData, list(bad, 2))
		}
		return nil, fmt.Errorf("%w: no row has an image", ErrNoData)
	}
	if len(bad) > 0 {
		s.caption = append(s.caption, fmt.Sprintf("Not readable, %d: %s.", len(bad), list(bad, 3)))
	}
	s.encode()
	return s, nil
}

// encode reduces resolution and quality until the images fit into the limit; at the smallest step images are left out.
// In print there is no limit.
func (s *sheet) encode() {
	steps := []struct {
		scale   float64
		quality int
	}{{1.5, 82}, {1.25, 80}, {1.1, 80}, {1, 75}, {1, 65}, {0.9, 60}, {0.8, 55}, {0.66, 50}, {0.5, 45}}
	n := 0
	s.each(func(*thumbnail) { n++ })
	most := inlineBytes(n, s.size > 200)
	if s.set.print {
		steps[0].scale, steps[0].quality, most = float64(s.set.theme.DPI)/96, 92, math.MaxInt
	}
	for i, step := range steps {
		s.parallel(func(t *thumbnail) {
			if t.full != nil {
				t.encode(s.set, s.size, step.scale, step.quality)
			}
		})
		total := 0
		s.each(func(t *thumbnail) { total += base64.StdEncoding.EncodedLen(len(t.data)) })
		if total <= most {
			return
		}
		if i < len(steps)-1 {
			continue
		}
		total = 0
		s.each(func(t *thumbnail) {
			if total += base64.StdEncoding.EncodedLen(len(t.data)); total > most {
				t.data, t.reason = nil, "left out"
			}
		})
		s.caption = append(s.caption, "Some images are left out to keep the figure small.")
	}
}

// parallel visits every thumbnail, several at a time.
func (s *sheet) parallel(visit func(t *thumbnail)) {
	var all []*thumbnail
	s.each(func(t *thumbnail) { all = append(all, t) })
	var next atomic.Int64
	var done fault.Group
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				visit(all[i])
			}
		})
	}
	done.Wait()
}

func fileName(id string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_#=+", r) {
			return r
		}
		return '_'
	}, strings.ToValidUTF8(id, "_"))
	if r := []rune(name); len(r) > 60 {
		name = string(r[:60])
	}
	if name == "" {
		return "_"
	}
	return name
}
