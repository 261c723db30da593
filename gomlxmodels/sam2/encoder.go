package sam2

import (
	"context"
	"errors"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/sam"
)

// Options are the options of an [Encoder]; the zero value is the default.
type Options struct {
	DType dtypes.DType // Float32 (default), BFloat16 or Float16
	// each box gets the first mask, stable or not, whatever the configuration says: LangSAM's way
	NoFallback bool
}

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
	defer runner.Recovered("sam2", &err)
	if backend == nil || m == nil {
		return nil, errors.New("sam2: an encoder needs a backend and a model")
	}
	if err := runner.DType(&o.DType); err != nil {
		return nil, err
	}
	fallback := m.cfg.Decoder.Dynamic && !o.NoFallback
	e = &Encoder{m: m, Runner: runner.New(backend, "sam2", "encoder"), dtype: o.DType}
	net := func(p part, name string, forward func(*model.Scope, []*graph.Node) []*graph.Node) {
		e.graphs[p] = e.Net(func(s *model.Store) error { return load(s, m.Weights, m.cfg, fallback, p, o.DType) }).
			Graph(name, forward)
	}
	net(imagePart, "sam2/image", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := ForwardVision(s, m.cfg, in[0], o.DType)
		return []*graph.Node{out.Embedding, out.Half, out.Full}
	})
	net(masksPart, "sam2/masks", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := ForwardMasks(s, m.cfg, Features{in[0], in[1], in[2]}, in[3], fallback, o.DType)
		return []*graph.Node{out.Best, out.BestIoU}
	})
	return e, nil
}

// Segment returns a map for each box of an image, in order; any number of boxes, of which [sam.Boxes] are decoded at
// once. The image is encoded once, unless there is no box. A map does not depend on the other boxes. A box that is not
// of finite numbers, or whose second corner is not right of and below the first, is an error that names it. ctx is
// checked between calls of the device.
func (e *Encoder) Segment(ctx context.Context, p *Image, boxes []Box) (maps []Map, err error) {
	defer runner.Recovered("sam2", &err)
	if err := e.Closed(); err != nil {
		return nil, err
	}
	side := int(e.m.cfg.ImageSize)
	if p == nil || len(p.Pixels) != 3*side*side || p.Width < 1 || p.Height < 1 {
		return nil, errors.New("sam2: the image was not prepared by this model")
	}
	scaled, err := sam.Scaled("sam2", boxes, float64(side)/float64(p.Width), float64(side)/float64(p.Height))
	if err != nil || len(boxes) == 0 {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	image, err := e.graphs[imagePart].Image(runner.Pixel(e.dtype), p.Pixels, side)
	if err != nil {
		return nil, err
	}
	defer runner.Release(image...)
	return sam.Decode(ctx, "sam2", scaled, sam.Stretched(e.m.cfg.LogitSide(), p.Width, p.Height),
		func(boxes *tensors.Tensor) ([][]float32, error) {
			return e.graphs[masksPart].Values(append(slices.Clone(image), boxes)...)
		})
}
