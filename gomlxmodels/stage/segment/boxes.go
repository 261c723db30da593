package segment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"antipode/datasets/mask"
	"antipode/gomlxmodels/groundingdino"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/sam"
	"antipode/gomlxmodels/stage"
)

// boxFinder finds objects with a detector and a segmenter: an image's result is a [detected] for each object.
type boxFinder struct {
	settings
	detector  detector
	segmenter *segmenter
	digests   [2]string // of the segmenter's files and the detector's
}

func openBoxes(s settings) (*boxFinder, error) {
	f := &boxFinder{settings: s}
	dir, err := hub.Resolve(s.env, s.args.Detector)
	if err == nil {
		f.detector, err = openDetector(dir, &f.settings)
	}
	if err != nil {
		return nil, fmt.Errorf("detector: %w", err)
	}
	if dir, err = hub.Resolve(s.env, s.args.Model); err != nil {
		return nil, err
	}
	if f.segmenter, err = openSegmenter(dir, s); err != nil {
		return nil, err
	}
	f.digests[0], err = hub.Digest(s.env, s.args.Model, f.segmenter.model.Files(), f.segmenter.model.Preprocess())
	if err == nil {
		f.digests[1], err = hub.Digest(s.env, s.args.Detector, f.detector.Files(), f.detector.Preprocess())
	}
	return f, err
}

func (f *boxFinder) contents() string {
	return fmt.Sprintf("%s %s %g %g %s", strings.Join(f.digests[:], " "), f.args.Profile, f.args.BoxThreshold,
		f.args.TextThreshold, f.args.Boxes)
}

func (f *boxFinder) batch() int { return 1 }

func (f *boxFinder) load(ctx context.Context) (stage.Release, error) {
	key := func(role, name, digest string) string {
		return fmt.Sprintf("%s %s (%s, %s, %s, %s)", role, hub.Name(name), digest, f.args.Profile, f.kind, f.dtype)
	}
	detector, err := f.detector.load(ctx, f.env, key("detect", f.args.Detector, f.digests[1]))
	if err != nil {
		return detector, err
	}
	segmenter, err := f.segmenter.load(ctx, f.env, key("segment", f.args.Model, f.digests[0]))
	return func() { segmenter.Close(); detector.Close() }, err
}

// boxInput is an image prepared for both models.
type boxInput struct {
	detect  detection
	segment *sam.Image
	failed  string // why the detector cannot take the image
}

func (f *boxFinder) prepare(rgb *preprocess.RGB, it *item) (err error) {
	if it.boxes.detect, err = f.detector.prepare(rgb, it.prompts); errors.As(err, new(textError)) {
		return err
	} else if err != nil {
		it.boxes.failed = err.Error() // its shape: it was decoded before
		return nil
	}
	it.boxes.segment, err = f.segmenter.model.Prepare(rgb)
	return err
}

// detected is what is found of one object.
type detected struct {
	boxes []groundingdino.Box // above the threshold
	best  float64             // the highest score of any box
	maps  []sam.Map           // of the boxes
}

func (f *boxFinder) segment(ctx context.Context, items []*item) ([]func() (found, error), error) {
	masks := make([]func() (found, error), len(items))
	for i, it := range items {
		reason := it.boxes.failed
		if reason == "" {
			objects, err := f.one(ctx, &it.boxes)
			if err != nil && !errors.Is(err, runner.ErrNotFinite) {
				return nil, err
			}
			masks[i] = func() (found, error) { return f.find(it, objects) }
			if err != nil { // of this image alone
				reason = err.Error()
			}
		}
		if reason != "" {
			masks[i] = func() (found, error) { return found{outcome: "failed", reason: reason}, nil }
		}
	}
	return masks, nil
}

// one runs the models on an image.
func (f *boxFinder) one(ctx context.Context, in *boxInput) ([]detected, error) {
	// all boxes, whose highest score is reported where none is kept
	all, err := in.detect(ctx)
	if err != nil {
		return nil, err
	}
	objects := make([]detected, len(all))
	var boxes []sam.Box
	for k, list := range all {
		if len(list) > 0 {
			objects[k].best = list[0].Score
		}
		for _, b := range list {
			if b.Score > f.args.BoxThreshold {
				objects[k].boxes = append(objects[k].boxes, b)
				boxes = append(boxes, sam.Box{b.X0, b.Y0, b.X1, b.Y1})
			}
		}
	}
	maps, err := f.segmenter.on.Segment(ctx, in.segment, boxes)
	if err != nil {
		return nil, err
	}
	for k := range objects {
		n := len(objects[k].boxes)
		objects[k].maps, maps = maps[:n], maps[n:]
	}
	return objects, nil
}

// listed is a box in the column boxes.
type listed struct {
	Object string     `json:"object"`
	Label  string     `json:"label"`
	Score  float64    `json:"score"`
	Box    [4]float64 `json:"box"`           // x0, y0, x1, y1 in pixels
	IoU    *float64   `json:"iou,omitempty"` // predicted; nil = not given
}

func (f *boxFinder) find(it *item, objects []detected) (found, error) {
	out := found{score: math.NaN(), stability: math.NaN()}
	united := mask.New(it.width, it.height)
	list, area := []listed{}, 0.0
	sumScore, sumStability := 0.0, 0.0
	for i, o := range objects {
		out.boxScore = max(out.boxScore, o.best)
		var largest sam.Mask
		most := -1
		add := func(m sam.Mask) {
			n := float64(m.Area())
			area, sumScore, sumStability = area+n, sumScore+n*m.IoU, sumStability+n*m.Stability
			for p, object := range m.Pix {
				united.Pix[p] = united.Pix[p] || object
			}
		}
		for k, logits := range o.maps { // the boxes are in descending order of scores
			m, err := logits.Mask()
			if err != nil {
				return found{}, err
			}
			b := o.boxes[k]
			list = append(list, listed{it.names[i], b.Label, rounded(b.Score, 1e6),
				[4]float64{rounded(b.X0, 1e3), rounded(b.Y0, 1e3), rounded(b.X1, 1e3), rounded(b.Y1, 1e3)},
				new(rounded(m.IoU, 1e6))})
			if n := m.Area(); f.args.Boxes == "largest" && n > most {
				largest, most = m, n
			}
			if f.args.Boxes == "union" || f.args.Boxes == "best" && k == 0 {
				add(m)
			}
		}
		if most >= 0 {
			add(largest)
		}
	}
	text, err := json.Marshal(list)
	if err == nil {
		out.boxes = string(text)
		err = out.cut(it, &f.args, united)
	}
	switch {
	case err != nil:
		return found{}, err
	case out.mask.Counts != "":
		out.score, out.stability = sumScore/area, sumStability/area
		if united.TouchesBorder() {
			out.border = 1
		}
	case len(list) == 0:
		out.reason = fmt.Sprintf("no box of %q reaches %g; the highest score is %.3g%s", short(it.objects),
			f.args.BoxThreshold, out.boxScore, f.detector.doubt(it.names))
	case out.components == 0:
		out.reason = fmt.Sprintf("the boxes of %q (%d, best score %.3g) give an empty mask", short(it.objects),
			len(list), out.boxScore)
	}
	return out, nil
}

func rounded(x, steps float64) float64 { return math.Round(x*steps) / steps }
