package inception

import (
	"cmp"
	"context"
	"errors"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/runner"
)

// Options are the options of an [Encoder]; the zero value is the default.
type Options struct {
	Batch int          // images per call of the device; 0 = 8. Smaller batches are padded
	DType dtypes.DType // Float32 (default), BFloat16 or Float16
}

// DefaultBatch is the number of images in a call of the device.
const DefaultBatch = 8

// Embedding holds the vectors of one image.
type Embedding struct {
	Pooled []float32 // [D] the last map, averaged: pool3 of the scores
	Logits []float32 // [K] of the classes; without the bias in the scores' variant
}

// Encoder runs a model on a device. It is for one goroutine at a time.
type Encoder struct {
	*runner.Runner
	batch int
	graph *runner.Graph
}

// NewEncoder reads the weights of a model and makes it ready to run on the backend, which the caller owns. The graph is
// compiled when first needed.
func NewEncoder(backend compute.Backend, m *Model, o Options) (e *Encoder, err error) {
	defer runner.Recovered("inception", &err)
	if backend == nil || m == nil {
		return nil, errors.New("inception: an encoder needs a backend and a model")
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 4096)); err != nil {
		return nil, err
	}
	e = &Encoder{Runner: runner.New(backend, "inception", "encoder"), batch: o.Batch}
	net := e.Net(func(s *model.Store) error { return load(s.RootScope(), m.Weights, &m.cfg, o.DType) })
	e.graph = net.Graph("inception", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		pooled, logits := Forward(s, &m.cfg, in[0], o.DType)
		return []*graph.Node{pooled, logits}
	})
	return e, net.Load()
}

// Encode embeds images prepared by [Model.Prepare], in order; any number of them. An image's embedding does not depend
// on the others. ctx is checked between calls of the device.
func (e *Encoder) Encode(ctx context.Context, images [][]float32) (out []Embedding, err error) {
	defer runner.Recovered("inception", &err)
	out = make([]Embedding, 0, len(images))
	err = e.graph.Images(ctx, dtypes.Float32, images, Side, e.batch, func(results [][]float32, at, n int) (err error) {
		var v Embedding
		if v.Pooled, err = runner.Row(results[0], at, n); err == nil {
			v.Logits, err = runner.Row(results[1], at, n)
		}
		out = append(out, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
