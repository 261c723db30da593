package main

import (
	"context"
	"fmt"
	"time"

	"antipode/gomlxmodels/sam"
)

// segmenter is package sam's encoder or sam2's.
type segmenter interface {
	Segment(ctx context.Context, p *sam.Image, boxes []sam.Box) ([]sam.Map, error)
	Close()
}

// boxMasks is a segmenter's side of a benchmark: the masks of boxes in one prepared image.
type boxMasks struct {
	segmenter segmenter
	image     []float32 // pixels
	boxes     []sam.Box
	logits    []float32 // of the last run
}

// open reads the image's pixels and the boxes that the peer wrote.
func (m *boxMasks) open(s *session, pixels string) (err error) {
	m.image = must(s.floats(pixels))
	boxes, err := s.rows("boxes.f32", s.int("n"))
	for _, b := range boxes {
		m.boxes = append(m.boxes, sam.Box{float64(b[0]), float64(b[1]), float64(b[2]), float64(b[3])})
	}
	return err
}

// segment returns the seconds of the segmenter.
func (m *boxMasks) segment(boxes []sam.Box) (float64, error) {
	img := &sam.Image{Pixels: m.image, Width: 1024, Height: 1024}
	begin := time.Now()
	maps, err := m.segmenter.Segment(context.Background(), img, boxes)
	m.logits = nil
	for _, one := range maps {
		m.logits = append(m.logits, one.Logits...)
	}
	return time.Since(begin).Seconds(), err
}

// run returns the seconds of the image encoder, of the mask decoder, and of both. Twice as many boxes cost the decoder
// once more.
func (m *boxMasks) run() ([]float64, error) {
	double := must(m.segment(append(m.boxes[:len(m.boxes):len(m.boxes)], m.boxes...)))
	both, err := m.segment(m.boxes)
	decoder := double - both
	return []float64{both - decoder, decoder, both}, err
}

// compareBoxes measures ours by parts, of one image each, and compares what results returns with the peer's.
func (s *session) compareBoxes(titles []string, run func() ([]float64, error), results func() [][]float32) error {
	var list []part
	for _, title := range titles {
		list = append(list, part{title, "images", 1})
	}
	check(s.parts(list, side{fmt.Sprintf("antipode, %s", s.device.Kind), run}))
	mine := must(memory("self", "VmHWM:"))
	fmt.Printf("  peak memory: antipode %.0f MiB, peer %.0f MiB\n", mine, s.last.MiB)
	return s.same(results(), 1e-3)
}
