package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"antipode/gomlxmodels/groundingdino"
	"antipode/gomlxmodels/sam"
)

// langsamBenchmark measures the way from prepared pixels to boxes, and from prepared pixels to the masks of boxes.
var langsamBenchmark = benchmark{
	about: "GroundingDINO and SAM in the shapes of grounding-dino-tiny and sam-vit-base, one image of 800×1066 and " +
		"one of 1024×1024 pixels, against transformers, by parts",
	ints: map[string]int{"n": 8, "repeat": 5, "seed": 1},
	run: func(s *session) error {
		if err := s.begin(s.int("n")); err != nil {
			return err
		}
		l := &langsam{session: s}
		if err := l.open(); err != nil {
			return err
		}
		defer func() { l.detector.Close(); l.segmenter.Close() }()
		one := func(title string) part { return part{title, "images", 1} }
		err := s.parts([]part{one("Swin-T and levels"), one("text, enhancer and decoder"), one("grounding-dino-tiny"),
			one("SAM encoder, ViT-B"), one(fmt.Sprintf("SAM decoder, %d boxes", s.int("n"))), one("sam-vit-base")},
			side{fmt.Sprintf("antipode, %s", s.device.Kind), l.run})
		if err != nil {
			return err
		}
		mine, err := memory("VmHWM:")
		if err != nil {
			return err
		}
		fmt.Printf("  peak memory: antipode %.0f MiB, peer %.0f MiB\n", mine, s.last.MiB)
		return s.same([][]float32{l.scores, l.logits}, 1e-3)
	},
}

// langsam is this project's side.
type langsam struct {
	*session
	detector       *groundingdino.Detector
	segmenter      *sam.Encoder
	pixels, padded []float32
	boxes          []sam.Box
	runs           int32
	scores, logits []float32 // of the last run
}

func (l *langsam) open() error {
	d, err := groundingdino.Open(filepath.Join(l.dir, "detector"))
	if err != nil {
		return err
	}
	if l.detector, err = groundingdino.NewDetector(l.device.Backend, d, groundingdino.Options{}); err != nil {
		return err
	}
	m, err := sam.Open(filepath.Join(l.dir, "segmenter"))
	if err != nil {
		return err
	}
	if l.segmenter, err = sam.NewEncoder(l.device.Backend, m, sam.Options{}); err != nil {
		return err
	}
	if l.pixels, err = l.floats("pixels.f32"); err != nil {
		return err
	}
	if l.padded, err = l.floats("padded.f32"); err != nil {
		return err
	}
	boxes, err := l.session.rows("boxes.f32", l.int("n"))
	for _, b := range boxes {
		l.boxes = append(l.boxes, sam.Box{float64(b[0]), float64(b[1]), float64(b[2]), float64(b[3])})
	}
	return err
}

// detect returns the seconds of the detector. Its caption differs from all before, in numbers of phrases that change
// no result: features of captions are cached.
func (l *langsam) detect(img *groundingdino.Image) (float64, error) {
	l.runs++
	c := groundingdino.Caption{IDs: []int32{101, 200, 201, 1012, 202, 203, 204, 1012, 102},
		Positions: []int32{0, 0, 1, 2, 0, 1, 2, 3, 0}}
	for _, phrase := range []int32{0, 1, 1, 1, 2, 2, 2, 2, 3} {
		c.Phrases = append(c.Phrases, 1+4*l.runs+phrase)
	}
	begin := time.Now()
	boxes, err := l.detector.Detect(context.Background(), img, c, groundingdino.DetectOptions{BoxThreshold: 1e-9})
	l.scores = nil
	for _, b := range boxes {
		l.scores = append(l.scores, float32(b.Score))
	}
	return time.Since(begin).Seconds(), err
}

// segment returns the seconds of the segmenter.
func (l *langsam) segment(boxes []sam.Box) (float64, error) {
	img := &sam.Image{Pixels: l.padded, Width: 1024, Height: 1024}
	begin := time.Now()
	maps, err := l.segmenter.Segment(context.Background(), img, boxes)
	l.logits = nil
	for _, m := range maps {
		l.logits = append(l.logits, m.Logits...)
	}
	return time.Since(begin).Seconds(), err
}

// run measures the parts: the second caption of an image costs all but the backbone, twice as many boxes cost the
// decoder once more.
func (l *langsam) run() ([]float64, error) {
	size := groundingdino.Size{Height: 800, Width: 1066}
	img := &groundingdino.Image{Pixels: l.pixels, Size: size, Original: size}
	detector, err := l.detect(img)
	if err != nil {
		return nil, err
	}
	both, err := l.detect(img)
	if err != nil {
		return nil, err
	}
	double, err := l.segment(append(l.boxes[:len(l.boxes):len(l.boxes)], l.boxes...))
	if err != nil {
		return nil, err
	}
	segmenter, err := l.segment(l.boxes)
	decoder := double - segmenter
	return []float64{detector - both, both, detector, segmenter - decoder, decoder, segmenter}, err
}
