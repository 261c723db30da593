package owlv2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// Options are the options of a [Detector]; the zero value is the default.
type Options struct {
	DType dtypes.DType // Float32 (default), BFloat16 or Float16
}

// DetectOptions are the options of [Detector.Detect]; the zero value is the default.
type DetectOptions struct {
	BoxThreshold float64 // a box is kept if its score is above it; 0 = [BoxThreshold]
}

// BoxThreshold is the threshold of transformers' post_process_grounded_object_detection.
const BoxThreshold = 0.1

// Box is a detected object.
type Box struct {
	// corners in pixels of the image, x from the left and y from the top; they may be outside of it
	X0, Y0, X1, Y1 float64
	Score          float64 // from 0 to 1: of the text with the highest
	Label          string  // that text, the first of equals
	Query          int     // the patch that found it, from 0, row by row
}

// textsAtOnce is the number of texts that are compared with an image's patches at once, always: so that a text's logits
// do not depend on the others, not in their last bits either.
const textsAtOnce = 16

// keptTexts is the number of texts whose vectors a detector caches.
const keptTexts = 4096

// Detector runs a model on a device. It is for one goroutine at a time.
type Detector struct {
	m     *Model
	dtype dtypes.DType
	*runner.Runner
	graphs  [parts]*runner.Graph
	compare *runner.Graph        // the highest logits of [Compare], and the numbers of their texts
	texts   map[string][]float32 // vectors [P], by token ids
	last    *Image               // the image that seen is of
	seen    []*tensors.Tensor    // Classes, Shifts and Scales of its [Patches], on the device
	boxes   []float32            // their Boxes
}

// NewDetector returns a detector on the backend, which the caller owns. A part's weights are read, and its graph
// compiled, when it is first needed.
func NewDetector(backend compute.Backend, m *Model, o Options) (d *Detector, err error) {
	defer runner.Recovered("owlv2", &err)
	if backend == nil || m == nil {
		return nil, errors.New("owlv2: a detector needs a backend and a model")
	}
	if err := runner.DType(&o.DType); err != nil {
		return nil, err
	}
	d = &Detector{m: m, dtype: o.DType, Runner: runner.New(backend, "owlv2", "detector"),
		texts: map[string][]float32{}}
	net := func(p part) *runner.Net {
		return d.Net(func(s *model.Store) error {
			return weights.Load(s.RootScope(), m.Weights, table(m.cfg, p), o.DType)
		})
	}
	d.graphs[imagePart] = net(imagePart).Graph("owlv2/image", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := ForwardImage(s, m.cfg, in[0], o.DType)
		return []*graph.Node{out.Classes, out.Shifts, out.Scales, out.Boxes}
	})
	d.graphs[textPart] = net(textPart).Graph("owlv2/text", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{ForwardText(s, m.cfg, in[0], o.DType)}
	})
	none := d.Net(func(*model.Store) error { return nil })
	d.compare = none.Graph("owlv2/compare", func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		logits := Compare(Patches{Classes: in[0], Shifts: in[1], Scales: in[2]}, in[3])
		of := graph.ArgMax(logits, 1) // the first of equals
		return []*graph.Node{graph.ReduceMax(logits, 1), graph.ConvertDType(of, dtypes.Float32)}
	})
	return d, nil
}

// Close releases weights and compiled graphs. The detector cannot be used afterwards; closing twice is fine.
func (d *Detector) Close() {
	if d != nil {
		d.forget()
		d.Runner.Close()
		d.texts = nil
	}
}

// forget releases the last image's results.
func (d *Detector) forget() {
	runner.Release(d.seen...)
	d.last, d.seen, d.boxes = nil, nil, nil
}

// Detect returns the objects of an image that the texts of a caption name, the highest score first, of equal scores the
// first patch. A patch gives one box, of the text that fits best: with another text it may get another label. The
// results for the last image and the vectors of texts are cached: further texts for an image cost the text tower alone.
// ctx is checked between calls of the device.
func (d *Detector) Detect(ctx context.Context, img *Image, c Caption, o DetectOptions) (list []Box, err error) {
	defer runner.Recovered("owlv2", &err)
	if err := d.Closed(); err != nil {
		return nil, err
	}
	if img == nil {
		return nil, errors.New("owlv2: no image")
	}
	o.BoxThreshold = cmp.Or(o.BoxThreshold, BoxThreshold)
	if err := cmp.Or(d.checkImage(img), d.checkCaption(c)); err != nil {
		return nil, err
	}
	if !(o.BoxThreshold > 0 && o.BoxThreshold < 1) {
		return nil, fmt.Errorf("box threshold %v is not between 0 and 1", o.BoxThreshold)
	}
	texts := make([][]float32, len(c.IDs))
	for i, ids := range c.IDs {
		if texts[i], err = d.text(ctx, ids); err != nil {
			return nil, fmt.Errorf("text %d: %w", i+1, err)
		}
	}
	if d.last != img {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := d.see(img); err != nil {
			return nil, err
		}
	}
	best, of, err := d.fits(texts)
	if err != nil {
		return nil, err
	}
	return found(best, of, d.boxes, c.Texts, float64(max(img.Width, img.Height)), o.BoxThreshold), nil
}

// checkImage checks an image against the network.
func (d *Detector) checkImage(img *Image) error {
	side := d.m.cfg.Vision.ImageSize
	if img.Width < 1 || img.Height < 1 || len(img.Pixels) != 3*side*side {
		return fmt.Errorf("image of %d×%d pixels with %d values, the model takes 3×%d×%d", img.Width, img.Height,
			len(img.Pixels), side, side)
	}
	return nil
}

// checkCaption checks a caption against the network.
func (d *Detector) checkCaption(c Caption) error {
	if len(c.IDs) < 1 || len(c.Texts) != len(c.IDs) {
		return fmt.Errorf("caption of %d texts and tokens of %d: there must be one or more of each", len(c.Texts),
			len(c.IDs))
	}
	for i, ids := range c.IDs {
		if err := d.m.cfg.Text.Check(ids); err != nil {
			return fmt.Errorf("text %d: %w", i+1, err)
		}
	}
	return nil
}

// see runs the image's graph.
func (d *Detector) see(img *Image) error {
	d.forget()
	out, err := d.graphs[imagePart].Image(runner.Pixel(d.dtype), img.Pixels, d.m.cfg.Vision.ImageSize)
	if err != nil {
		return err
	}
	if d.boxes, err = runner.Numbers(out[3]); err == nil {
		_, err = runner.Row(d.boxes, 0, 1)
	}
	runner.Release(out[3])
	if d.seen = out[:3]; err != nil {
		d.forget()
		return fmt.Errorf("owlv2/image: %w", err)
	}
	d.last = img
	return nil
}

// fits returns for each patch of the last image the logit of the text that fits best, and that text's number.
func (d *Detector) fits(texts [][]float32) (best []float32, of []int, err error) {
	for at := 0; at < len(texts); at += textsAtOnce {
		some := texts[at:min(at+textsAtOnce, len(texts))]
		vectors, err := runner.Stack(d.Runner, dtypes.Float32, some, textsAtOnce, len(some[0]))
		if err != nil {
			return nil, nil, err
		}
		out, err := d.compare.Values(append(slices.Clone(d.seen), vectors)...)
		runner.Release(vectors)
		if err != nil {
			return nil, nil, err
		}
		if _, err := runner.Row(out[0], 0, 1); err != nil {
			return nil, nil, fmt.Errorf("owlv2/compare: %w", err)
		}
		if at == 0 {
			best, of = out[0], make([]int, len(out[0]))
		}
		for patch, logit := range out[0] {
			if at == 0 || logit > best[patch] {
				best[patch], of[patch] = logit, at+int(out[1][patch])
			}
		}
	}
	return best, of, nil
}

// text returns the vector of a text.
func (d *Detector) text(ctx context.Context, ids []int32) ([]float32, error) {
	name := fmt.Sprint(ids)
	if v, is := d.texts[name]; is {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	padded := make([]int32, d.m.cfg.Text.Context)
	copy(padded, ids)
	out, err := d.graphs[textPart].Call(tensors.FromFlatDataAndDimensions(padded, 1, len(padded)))
	if err != nil {
		return nil, err
	}
	v, err := runner.Row(out[0], 0, 1)
	if err != nil {
		return nil, fmt.Errorf("owlv2/text: %w", err)
	}
	if len(d.texts) >= keptTexts {
		clear(d.texts)
	}
	d.texts[name] = v
	return v, nil
}

// found makes boxes [N,4] of the patches whose score is above the threshold, in descending order of scores; best are
// the logits, of the texts' numbers, side is that of the padded image.
func found(best []float32, of []int, boxes []float32, labels []string, side, threshold float64) (list []Box) {
	type patch struct {
		score float64
		at    int
	}
	var kept []patch
	for i, l := range best {
		if score := 1 / (1 + math.Exp(-float64(l))); score > threshold {
			kept = append(kept, patch{score, i})
		}
	}
	slices.SortFunc(kept, func(a, b patch) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return a.at - b.at
	})
	list = make([]Box, len(kept))
	for k, p := range kept {
		at := func(k int) float64 { return float64(boxes[4*p.at+k]) * side }
		x, y, dx, dy := at(0), at(1), at(2)/2, at(3)/2
		list[k] = Box{x - dx, y - dy, x + dx, y + dy, p.score, labels[of[p.at]], p.at}
	}
	return list
}
