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
		check(s.begin(s.int("n")))
		l := &langsam{session: s}
		check(l.open())
		defer func() { l.detector.Close(); l.segmenter.Close() }()
		return s.compareBoxes([]string{"Swin-T and levels", "text, enhancer and decoder", "grounding-dino-tiny",
			"SAM encoder, ViT-B", fmt.Sprintf("SAM decoder, %d boxes", s.int("n")), "sam-vit-base"}, l.run,
			func() [][]float32 { return [][]float32{l.scores, l.logits} })
	},
}

// langsam is this project's side.
type langsam struct {
	*session
	boxMasks
	detector *groundingdino.Detector
	pixels   []float32 // of the detector's image
	runs     int32
	scores   []float32 // of the last run
}

func (l *langsam) open() error {
	d := must(groundingdino.Open(filepath.Join(l.dir, "detector")))
	l.detector = must(groundingdino.NewDetector(l.device.Backend, d, groundingdino.Options{}))
	m := must(sam.Open(filepath.Join(l.dir, "segmenter")))
	l.segmenter = must(sam.NewEncoder(l.device.Backend, m, sam.Options{}))
	l.pixels = must(l.floats("pixels.f32"))
	return l.boxMasks.open(l.session, "padded.f32")
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

// run measures the parts: the second caption of an image costs all but the backbone.
func (l *langsam) run() ([]float64, error) {
	size := groundingdino.Size{Height: 800, Width: 1066}
	img := &groundingdino.Image{Pixels: l.pixels, Size: size, Original: size}
	detector := must(l.detect(img))
	both := must(l.detect(img))
	masks, err := l.boxMasks.run()
	return append([]float64{detector - both, both, detector}, masks...), err
}
