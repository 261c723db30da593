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
		if err := s.begin(s.int("n")); err != nil {
			return err
		}
		o := &owlsam2{session: s}
		if err := o.open(); err != nil {
			return err
		}
		defer func() { o.detector.Close(); o.segmenter.Close() }()
		one := func(title string) part { return part{title, "images", 1} }
		err := s.parts([]part{one("owlv2-base-patch16-ensemble"), one("SAM 2.1 encoder, Hiera tiny"),
			one(fmt.Sprintf("SAM 2.1 decoder, %d boxes", s.int("n"))), one("sam2.1-hiera-tiny")},
			side{fmt.Sprintf("antipode, %s", s.device.Kind), o.run})
		if err != nil {
			return err
		}
		mine, err := memory("VmHWM:")
		if err != nil {
			return err
		}
		fmt.Printf("  peak memory: antipode %.0f MiB, peer %.0f MiB\n", mine, s.last.MiB)
		return s.same([][]float32{o.scores, o.logits}, 1e-3)
	},
}

// owlsam2 is this project's side.
type owlsam2 struct {
	*session
	detector          *owlv2.Detector
	segmenter         *sam2.Encoder
	pixels, stretched []float32
	boxes             []sam2.Box
	scores, logits    []float32 // of the last run
}

func (o *owlsam2) open() error {
	d, err := owlv2.Open(filepath.Join(o.dir, "detector"))
	if err != nil {
		return err
	}
	if o.detector, err = owlv2.NewDetector(o.device.Backend, d, owlv2.Options{}); err != nil {
		return err
	}
	m, err := sam2.Open(filepath.Join(o.dir, "segmenter"))
	if err != nil {
		return err
	}
	if o.segmenter, err = sam2.NewEncoder(o.device.Backend, m, sam2.Options{}); err != nil {
		return err
	}
	if o.pixels, err = o.floats("pixels.f32"); err != nil {
		return err
	}
	if o.stretched, err = o.floats("stretched.f32"); err != nil {
		return err
	}
	boxes, err := o.session.rows("boxes.f32", o.int("n"))
	for _, b := range boxes {
		o.boxes = append(o.boxes, sam2.Box{float64(b[0]), float64(b[1]), float64(b[2]), float64(b[3])})
	}
	return err
}

// segment returns the seconds of the segmenter.
func (o *owlsam2) segment(boxes []sam2.Box) (float64, error) {
	img := &sam2.Image{Pixels: o.stretched, Width: 1024, Height: 1024}
	begin := time.Now()
	maps, err := o.segmenter.Segment(context.Background(), img, boxes)
	o.logits = nil
	for _, m := range maps {
		o.logits = append(o.logits, m.Logits...)
	}
	return time.Since(begin).Seconds(), err
}

// run measures the parts: twice as many boxes cost the decoder once more. The text's vector is not measured: it is
// cached after the first run, as for all images but the first of a table.
func (o *owlsam2) run() ([]float64, error) {
	img := &owlv2.Image{Pixels: o.pixels, Width: 960, Height: 960}
	caption := owlv2.Caption{Texts: []string{"a"}, IDs: [][]int32{{523, 70, 524}}}
	begin := time.Now()
	boxes, err := o.detector.Detect(context.Background(), img, caption, owlv2.DetectOptions{BoxThreshold: 1e-9})
	if err != nil {
		return nil, err
	}
	detector := time.Since(begin).Seconds()
	o.scores = nil
	for _, b := range boxes {
		o.scores = append(o.scores, float32(b.Score))
	}
	double, err := o.segment(append(o.boxes[:len(o.boxes):len(o.boxes)], o.boxes...))
	if err != nil {
		return nil, err
	}
	segmenter, err := o.segment(o.boxes)
	decoder := double - segmenter
	return []float64{detector, segmenter - decoder, decoder, segmenter}, err
}
