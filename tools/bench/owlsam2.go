package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"antipode/gomlxmodels/owlv2"
	"antipode/gomlxmodels/sam2"
)

// owlsam2Benchmark measures the way from prepared pixels to boxes, and from prepared pixels to the masks of boxes.
var owlsam2Benchmark = benchmark{
	about: "OWLv2 and SAM 2.1 in the shapes of owlv2-base-patch16-ensemble and sam2.1-hiera-tiny, one image of " +
		"960×960 and one of 1024×1024 pixels, against transformers, by parts",
	ints: map[string]int{"n": 8, "repeat": 5, "seed": 1},
	run: func(s *session) error {
		check(s.begin(s.int("n")))
		o := &owlsam2{session: s}
		check(o.open())
		defer func() { o.detector.Close(); o.segmenter.Close() }()
		return s.compareBoxes([]string{"owlv2-base-patch16-ensemble", "SAM 2.1 encoder, Hiera tiny",
			fmt.Sprintf("SAM 2.1 decoder, %d boxes", s.int("n")), "sam2.1-hiera-tiny"}, o.run,
			func() [][]float32 { return [][]float32{o.scores, o.logits} })
	},
}

// owlsam2 is this project's side.
type owlsam2 struct {
	*session
	boxMasks
	detector *owlv2.Detector
	pixels   []float32 // of the detector's image
	scores   []float32 // of the last run
}

func (o *owlsam2) open() error {
	d := must(owlv2.Open(filepath.Join(o.dir, "detector")))
	o.detector = must(owlv2.NewDetector(o.device.Backend, d, owlv2.Options{}))
	m := must(sam2.Open(filepath.Join(o.dir, "segmenter")))
	o.segmenter = must(sam2.NewEncoder(o.device.Backend, m, sam2.Options{}))
	o.pixels = must(o.floats("pixels.f32"))
	return o.boxMasks.open(o.session, "stretched.f32")
}

// run measures the parts. The text's vector is not measured: it is cached after the first run, as for all images but
// the first of a table.
func (o *owlsam2) run() ([]float64, error) {
	img := &owlv2.Image{Pixels: o.pixels, Width: 960, Height: 960}
	caption := owlv2.Caption{Texts: []string{"a"}, IDs: [][]int32{{523, 70, 524}}}
	begin := time.Now()
	boxes := must(o.detector.Detect(context.Background(), img, caption, owlv2.DetectOptions{BoxThreshold: 1e-9}))
	detector := time.Since(begin).Seconds()
	o.scores = nil
	for _, b := range boxes {
		o.scores = append(o.scores, float32(b.Score))
	}
	masks, err := o.boxMasks.run()
	return append([]float64{detector}, masks...), err
}
