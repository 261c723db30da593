package sam

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/runner"
)

// Options are the options of an [Encoder]; the zero value is the default.
type Options struct {
	// Epsilon of the norms in the mask decoder's layers; 0 = the configuration's. segment-anything has 1e-5
	Epsilon float64
	DType   dtypes.DType // Float32 (default), BFloat16 or Float16
}

// Boxes is the number of boxes in a call of the device.
const Boxes = 8

// Box is x and y of the left upper corner and of the right lower one, in pixels of the image. A box may reach over the
// image's border.
type Box [4]float64

// Encoder runs a model on a device. It is for one goroutine at a time.
type Encoder struct {
	m *Model
	*runner.Runner
	dtype  dtypes.DType
	graphs [parts]*runner.Graph
}

// NewEncoder returns an encoder on the backend, which the caller owns. A part's weights are read, and its graph
// compiled, when it is first needed.
func NewEncoder(backend compute.Backend, m *Model, o Options) (e *Encoder, err error) {
	defer runner.Recovered("sam", &err)
	if backend == nil || m == nil {
		return nil, errors.New("sam: an encoder needs a backend and a model")
	}
	o.Epsilon = cmp.Or(o.Epsilon, m.cfg.Decoder.LayerNormEps)
	if err := cmp.Or(runner.DType(&o.DType), checkEpsilon(o.Epsilon)); err != nil {
		return nil, err
	}
	e = &Encoder{m: m, Runner: runner.New(backend, "sam", "encoder"), dtype: o.DType}
	net := func(p part, name string, forward func(*model.Scope, []*graph.Node) []*graph.Node) {
		e.graphs[p] = e.Net(func(s *model.Store) error { return load(s, m.Weights, m.cfg, p, o.DType) }).
			Graph(name, forward)
	}
	net(imagePart, "sam/image", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{ForwardVision(s, m.cfg, in[0], o.DType).Embedding}
	})
	net(masksPart, "sam/masks", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := ForwardMasks(s, m.cfg, in[0], in[1], o.Epsilon, o.DType)
		return []*graph.Node{out.Logits, out.IoU}
	})
	return e, nil
}

// Segment returns a map for each box of an image, in order; any number of boxes. The image is encoded once, unless
// there is no box. A map does not depend on the other boxes. A box that is not of finite numbers, or whose second
// corner is not right of and below the first, is an error that names it. ctx is checked between calls of the device.
func (e *Encoder) Segment(ctx context.Context, p *Image, boxes []Box) (maps []Map, err error) {
	defer runner.Recovered("sam", &err)
	if err := e.Closed(); err != nil {
		return nil, err
	}
	side := e.m.cfg.Vision.ImageSize
	if p == nil || len(p.Pixels) != 3*side*side || p.Width < 1 || p.Height < 1 {
		return nil, errors.New("sam: the image was not prepared by this model")
	}
	pre := e.m.Preprocess()
	empty := Map{Side: e.m.cfg.LogitSide(), padded: side, width: p.Width, height: p.Height}
	empty.insideWidth, empty.insideHeight = pre.Resized(p.Width, p.Height)
	x, y := float64(empty.insideWidth)/float64(p.Width), float64(empty.insideHeight)/float64(p.Height)
	scaled, err := Scaled("sam", boxes, x, y)
	if err != nil || len(boxes) == 0 {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	embedding, err := e.graphs[imagePart].Image(runner.Pixel(e.dtype), p.Pixels, side)
	if err != nil {
		return nil, err
	}
	defer runner.Release(embedding...)
	return Decode(ctx, "sam", scaled, empty, func(boxes *tensors.Tensor) ([][]float32, error) {
		return e.graphs[masksPart].Values(embedding[0], boxes)
	})
}

// Scaled returns boxes in pixels of the resized image, x times as wide as the image and y times as high. An error names
// the network and the first box that is none.
func Scaled(network string, boxes []Box, x, y float64) ([][]float32, error) {
	scaled := make([][]float32, len(boxes))
	for i, b := range boxes {
		if !(b[0] < b[2] && b[1] < b[3] && b[2]-b[0] < 1<<24 && b[3]-b[1] < 1<<24) {
			return nil, fmt.Errorf("%s: box %d, %v, is not x0, y0, x1, y1 of two corners in pixels", network, i+1, b)
		}
		scaled[i] = []float32{float32(b[0] * x), float32(b[1] * y), float32(b[2] * x), float32(b[3] * y)}
	}
	return scaled, nil
}

// Decode returns the maps of scaled boxes, [Boxes] of which call decodes at once: from a tensor [Boxes,4] to the logits
// and the predicted IoU of each. The maps are as empty besides. ctx is checked between calls.
func Decode(ctx context.Context, network string, boxes [][]float32, empty Map,
	call func(boxes *tensors.Tensor) ([][]float32, error)) (maps []Map, err error) {
	for some := range slices.Chunk(boxes, Boxes) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var flat []float32
		for k := range Boxes {
			flat = append(flat, some[min(k, len(some)-1)]...)
		}
		corners := tensors.FromFlatDataAndDimensions(flat, Boxes, 4)
		results, err := call(corners)
		corners.FinalizeAll()
		if err != nil {
			return nil, err
		}
		for i := range some {
			m := empty
			if m.Logits, err = runner.Row(results[0], i, Boxes); err != nil {
				return nil, fmt.Errorf("%s/masks: box %d: %w", network, len(maps)+1, err)
			}
			iou, err := runner.Row(results[1], i, Boxes)
			if err != nil {
				return nil, fmt.Errorf("%s/masks: box %d: %w", network, len(maps)+1, err)
			}
			m.IoU = iou[0]
			maps = append(maps, m)
		}
	}
	return maps, nil
}
