package execmodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"strings"

	"antipode/gomlxmodels/preprocess"
)

// The size of the image of [writeSample] in pixels.
const sampleWidth, sampleHeight = 64, 48

// writeSample writes an image: a light disc on a dark gradient.
func writeSample(path string) error {
	m := image.NewNRGBA(image.Rect(0, 0, sampleWidth, sampleHeight))
	for y := range sampleHeight {
		for x := range sampleWidth {
			c := color.NRGBA{uint8(2 * x), uint8(3 * y), 60, 255}
			if (x-32)*(x-32)+(y-24)*(y-24) < 200 {
				c = color.NRGBA{240, 230, 200, 255}
			}
			m.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// unusual are texts that programs must survive.
var unusual = []string{"", strings.Repeat("very long prompt ", 118), "झील पर नाव", "قارب في بحيرة", "סירה באגם",
	"湖上的船", "🚣🏽‍♀️ 🌊", `"quotes" 'and' \ "backslash\"`, "two\nlines", "<|endoftext|> \u202e\u0000"}

// unsupported returns a size that the program does not make.
func (s *Sizes) unsupported() (width, height int) {
	switch {
	case len(s.List) > 0:
		return s.List[0][0] + 1, s.List[0][1]
	case s.Multiple > 1:
		return max(s.Min, s.Multiple) + 1, max(s.Min, s.Multiple)
	case s.Max > 0:
		return s.Max + 1, s.Max
	case s.Min > 1:
		return s.Min - 1, s.Min
	}
	return 0, 0
}

// text is an answer as text, for a digest.
func (a *Answer) text() string {
	sum := sha256.Sum256(a.Data)
	text, _ := json.Marshal([]any{a.Outcome, a.Captions, a.Dim, a.Masks, a.Choice, a.Probabilities, a.Text})
	return string(text) + hex.EncodeToString(sum[:])
}

// tolerance is the largest mean difference of two images that count as the same, of 255.
const tolerance = 2

// same reports two answers that differ.
func same(a, b *Answer) error {
	switch {
	case a.Extension == ".f32":
		return sameVector(a.Vector(), b.Vector())
	case len(a.Masks)+len(b.Masks) > 0:
		return sameMasks(a.Masks, b.Masks)
	case len(a.Probabilities) > 0:
		return sameVector(a.Probabilities, b.Probabilities)
	case a.Extension == "":
		if a.text() != b.text() {
			return fmt.Errorf("the answers differ: %s and %s", clip(a.text(), 100), clip(b.text(), 100))
		}
		return nil
	}
	m, err := preprocess.Decode(a.Data)
	if err != nil {
		return err
	}
	n, err := preprocess.Decode(b.Data)
	if err != nil {
		return err
	}
	if m.Width != n.Width || m.Height != n.Height {
		return fmt.Errorf("%d×%d and %d×%d pixels", m.Width, m.Height, n.Width, n.Height)
	}
	sum := 0.0
	for i := range m.Pix {
		sum += math.Abs(float64(m.Pix[i]) - float64(n.Pix[i]))
	}
	if mean := sum / float64(len(m.Pix)); mean > tolerance {
		return fmt.Errorf("the images differ by %.1f/255 on average; at most %d/255 is allowed", mean, tolerance)
	}
	return nil
}

func sameVector[N float32 | float64](a, b []N) error {
	if len(a) != len(b) {
		return fmt.Errorf("vectors of %d and %d numbers", len(a), len(b))
	}
	worst, scale := 0.0, 0.0
	for i := range a {
		worst, scale = max(worst, math.Abs(float64(a[i]-b[i]))), max(scale, math.Abs(float64(b[i])))
	}
	if worst > scale/100 {
		return fmt.Errorf("the vectors differ by %.3g, more than a hundredth of %.3g", worst, scale)
	}
	return nil
}

// sameMasks reports united masks that differ in more pixels than [tolerance] allows.
func sameMasks(a, b []Mask) error {
	x, err := Union(a, sampleWidth, sampleHeight)
	if err != nil {
		return err
	}
	y, err := Union(b, sampleWidth, sampleHeight)
	if err != nil {
		return err
	}
	n := 0
	for i, object := range x.Pix {
		if object != y.Pix[i] {
			n++
		}
	}
	if all := len(x.Pix); n*255 > tolerance*all {
		return fmt.Errorf("the masks differ in %d of %d pixels; at most %d/255 of them may", n, all, tolerance)
	}
	return nil
}
