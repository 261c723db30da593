package backend

import (
	"bytes"
	"image"
	"image/jpeg"
	"os"
	"slices"
	"time"

	"golang.org/x/image/draw"

	"antipode/datasets/table"
	"antipode/gomlxmodels/preprocess"
)

// Thumbnails of new images are sent after the first second of a run, at most as often as a cell updates its display.
const (
	sampleSide     = 128 // pixels, of the longer side
	sampleQuality  = 75
	sampleStart    = time.Second
	sampleInterval = 200 * time.Millisecond
	maxSampleFile  = 32 << 20 // bytes; a larger image is not shown
)

// strip makes the thumbnails for one client, each once.
type strip struct {
	wanted     bool
	start, at  time.Time
	sent       []table.Image
	thumbnails map[table.Image][]byte // of the last report
}

func newStrip(wanted bool) *strip { return &strip{wanted: wanted, start: time.Now()} }

// next returns the samples of a report with their thumbnails; nil if the client has them already, or if newer reports
// are waiting.
func (s *strip) next(samples []table.Sample, newer bool) []table.Sample {
	if !s.wanted || newer || len(samples) == 0 || time.Since(s.start) < sampleStart ||
		time.Since(s.at) < sampleInterval {
		return nil
	}
	images := make([]table.Image, len(samples))
	for i, sample := range samples {
		images[i] = sample.Image
	}
	if slices.Equal(images, s.sent) {
		return nil
	}
	made, out := map[table.Image][]byte{}, slices.Clone(samples)
	for i, img := range images {
		small, known := s.thumbnails[img]
		if !known {
			small = thumbnail(img.Path)
		}
		made[img], out[i].Thumb = small, small
		out[i].Image = table.Image{} // cells show the thumbnail
	}
	s.sent, s.thumbnails, s.at = images, made, time.Now()
	return out
}

// thumbnail returns a small JPEG of an image file, nil if it cannot be decoded.
func thumbnail(path string) []byte {
	if info, err := os.Stat(path); err != nil || info.Size() > maxSampleFile {
		return nil
	}
	img, err := preprocess.DecodeFile(path)
	if err != nil {
		return nil
	}
	zoom := min(1, sampleSide/float64(max(img.Width, img.Height)))
	side := func(n int) int { return max(1, int(float64(n)*zoom+0.5)) }
	small := image.NewRGBA(image.Rect(0, 0, side(img.Width), side(img.Height)))
	draw.BiLinear.Scale(small, small.Rect, img, img.Bounds(), draw.Src, nil)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, small, &jpeg.Options{Quality: sampleQuality}); err != nil {
		return nil
	}
	return b.Bytes()
}
