package backend

import (
	"bytes"
	"image"
	"image/jpeg"
	"os"
	"slices"
	"time"

	"golang.org/x/image/draw"

	"antipode/gomlxmodels/preprocess"
	"antipode/kernel/client"
)

// How pictures that come as they are made are sent: none in a run's first second, which shows nothing, and no more often than a cell draws.
const (
	sampleSide     = 128 // pixels, of the longer side
	sampleQuality  = 75
	sampleStart    = time.Second
	sampleInterval = 200 * time.Millisecond
	maxSampleFile  = 32 << 20 // bytes; a larger picture is not shown
)

// strip makes the small pictures that one client is shown. They are made here, where pictures can be decoded and beside the work
// that makes them, and each once.
type strip struct {
	wanted     bool
	start, at  time.Time
	sent       []client.Image
	thumbnails map[client.Image][]byte // of what was sent last
}

func newStrip(wanted bool) *strip { return &strip{wanted: wanted, start: time.Now()} }

// next is what a report of these samples brings along: nil where the client knows them already, or will hear of newer ones at once.
func (s *strip) next(samples []client.Sample, newer bool) []client.Sample {
	if !s.wanted || newer || len(samples) == 0 || time.Since(s.start) < sampleStart || time.Since(s.at) < sampleInterval {
		return nil
	}
	images := make([]client.Image, len(samples))
	for i, sample := range samples {
		images[i] = sample.Image
	}
	if slices.Equal(images, s.sent) {
		return nil
	}
	made, out := map[client.Image][]byte{}, slices.Clone(samples)
	for i, img := range images {
		small, known := s.thumbnails[img]
		if !known {
			small = thumbnail(img.Path)
		}
		made[img], out[i].Thumb = small, small
		out[i].Image = client.Image{} // a cell shows what it is sent
	}
	s.sent, s.thumbnails, s.at = images, made, time.Now()
	return out
}

// thumbnail is a small JPEG of a picture file, nil where it cannot be decoded.
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
