package blip2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/pack"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/textenc"
)

// Pooling selects what an image's vector is computed from.
type Pooling string

// The poolings. Those from Projected on need the projection of a Blip2ForImageTextRetrieval, and return vectors of
// length 1.
const (
	Pooled    Pooling = "pooled"          // [E] the tower's pooled output
	Patches   Pooling = "patches"         // [E] the mean of the tower's patch tokens
	Queries   Pooling = "queries"         // [D] the mean of the Q-Former's outputs
	Projected Pooling = "projected"       // [C] the mean of the projected queries, each of length 1
	First     Pooling = "projected_first" // [C] the first projected query
	// [K·C] all projected queries, one after another, each of length 1; see [Closest]
	All Pooling = "projected_all"
)

// parts are those of a model that a pooling takes.
func (p Pooling) parts() need {
	switch p {
	case Pooled, Patches:
		return tower
	case Queries:
		return tower | queries
	case Projected, First, All:
		return tower | queries | project
	}
	return 0
}

// Options are the options of an [Encoder]; the zero value is the default.
type Options struct {
	Batch  int          // images per call of the device; 0 = 4. Smaller batches are padded
	Tokens int          // tokens of texts in a full call of the device; 0 = 512
	DType  dtypes.DType // Float32 (default), BFloat16 or Float16
}

// DefaultBatch is the default number of images in a call of the device.
const DefaultBatch = 4

// Encoder makes vectors on a device. It is for one goroutine at a time.
type Encoder struct {
	m       *Model
	pooling Pooling
	opts    Options
	*runner.Runner
	image *runner.Graph
	net   *runner.Net
	text  map[int]*runner.Graph // by row length
}

// NewEncoder makes an encoder on the backend, which the caller owns, of images' vectors by a pooling, "" = none,
// and of texts. Weights are read, and graphs compiled, when they are first needed; see [Encoder.LoadImages] and
// [Encoder.LoadTexts].
func NewEncoder(backend compute.Backend, m *Model, p Pooling, o Options) (e *Encoder, err error) {
	defer runner.Recovered("blip2", &err)
	if backend == nil || m == nil {
		return nil, errors.New("blip2: an encoder needs a backend and a model")
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 4096),
		runner.Count("tokens", &o.Tokens, 512, 1<<20)); err != nil {
		return nil, err
	}
	if p != "" {
		if err := m.Gives(p); err != nil {
			return nil, err
		}
	}
	e = &Encoder{m: m, pooling: p, opts: o, Runner: runner.New(backend, "blip2", "encoder"),
		text: map[int]*runner.Graph{}}
	net := func(parts need) *runner.Net {
		return e.Net(func(s *model.Store) error {
			return load(backend, s, m.Weights, table(m.cfg, m.Weights, parts),
				o.DType)
		})
	}
	e.image = net(p.parts()).Graph("blip2/image", func(s *model.Scope, in []*Node) []*Node {
		return []*Node{pool(s, m.cfg, in[0], p, GraphOptions{DType: o.DType})}
	})
	e.net = net(texts)
	return e, nil
}

// Gives reports if a folder has no vectors of a pooling.
func (m *Model) Gives(p Pooling) error {
	parts := p.parts()
	switch {
	case parts == 0:
		return fmt.Errorf("pooling %q: a BLIP-2's is one of %s, %s, %s, %s, %s", p, Pooled, Patches, Queries, Projected,
			First)
	case m.has&tower == 0:
		return fmt.Errorf("%s: the folder contains no vision tower", m.Dir)
	case m.has&parts != parts:
		return fmt.Errorf("%s: pooling %q needs the projection of a Blip2ForImageTextRetrieval, which the folder "+
			"lacks: take pooled, patches or queries", m.Dir, p)
	}
	return nil
}

// pool is the graph of images' vectors.
//
// Shapes: pixels [B,3,H,W] → [B,·] float32, see [Pooling].
func pool(s *model.Scope, cfg *Config, pixels *Node, p Pooling, o GraphOptions) *Node {
	t := ForwardTower(s, cfg, pixels, o)
	switch p {
	case Pooled:
		return t.Pooled
	case Patches:
		return ReduceMean(Slice(t.Tokens, AxisRange(), AxisRange(1)), 1)
	}
	x, _ := ForwardQueries(s, cfg, t.Tokens, o)
	if p == Queries {
		return ReduceMean(x, 1)
	}
	x = shared(s.At("shared"), cfg, x, o)
	switch p {
	case Projected:
		return nn.Unit(ReduceMean(x, 1))
	case First:
		return Squeeze(Slice(x, AxisRange(), AxisElem(0)), 1)
	}
	return Reshape(x, x.Shape().Dim(0), cfg.Queries*cfg.SharedSize)
}

// LoadImages reads the weights for images now, so that [Encoder.Bytes] counts them.
func (e *Encoder) LoadImages() (err error) {
	defer runner.Recovered("blip2", &err)
	if e.pooling == "" {
		return errors.New("blip2: the encoder was made for texts alone")
	}
	return e.image.Load()
}

// LoadTexts is LoadImages for texts.
func (e *Encoder) LoadTexts() (err error) {
	defer runner.Recovered("blip2", &err)
	if e.m.has&texts == 0 {
		return fmt.Errorf("%s: texts have vectors in a Blip2ForImageTextRetrieval, which the folder is not", e.m.Dir)
	}
	return e.net.Load()
}

// EncodeImages returns the vectors of images prepared by [Model.Prepare], in order; any number of them. An image's
// vector does not depend on the others. ctx is checked between calls of the device.
func (e *Encoder) EncodeImages(ctx context.Context, images [][]float32) (out [][]float32, err error) {
	defer runner.Recovered("blip2", &err)
	if err := e.LoadImages(); err != nil {
		return nil, err
	}
	err = e.image.Images(ctx, runner.Pixel(e.opts.DType), images, e.m.cfg.Vision.ImageSize[0], e.opts.Batch,
		func(results [][]float32, at, n int) error {
			v, err := runner.Row(results[0], at, n)
			out = append(out, v)
			return err
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// EncodeTexts returns the vectors of texts in the space shared with images, [C] of length 1 each: their first
// token's. Texts are token ids as [Model.PrepareText] returns them. ctx is checked between calls of the device.
func (e *Encoder) EncodeTexts(ctx context.Context, list [][]int32) (out [][]float32, err error) {
	defer runner.Recovered("blip2", &err)
	if err := cmp.Or(e.Closed(), e.LoadTexts()); err != nil {
		return nil, err
	}
	c := &e.m.cfg.QFormer
	for i, ids := range list {
		if err := pack.Check(ids, c.Positions, c.VocabSize); err != nil {
			return nil, fmt.Errorf("text %d: %w", i+1, err)
		}
	}
	out = make([][]float32, len(list))
	err = pack.Calls(ctx, list, c.Positions, e.opts.Tokens, func(rows [][]pack.Place, size, l int) error {
		ids, positions, segments := pack.Fill(rows, size, l, list)
		rowsOf := func(flat []int32) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(flat, size, l) }
		results, err := e.textGraph(l).Call(rowsOf(ids), rowsOf(positions), rowsOf(segments))
		if err != nil {
			return err
		}
		for r, p := range pack.Each(rows) {
			if out[p.Text], err = runner.Row(results[0], r*pack.Texts(l)+p.Slot(), size*pack.Texts(l)); err != nil {
				return fmt.Errorf("blip2/text: text %d: %w", p.Text+1, err)
			}
		}
		return nil
	})
	return out, err
}

// textGraph returns the graph of rows of length l.
func (e *Encoder) textGraph(l int) *runner.Graph {
	if e.text[l] == nil {
		c := e.m.cfg
		o := textenc.GraphOptions{Texts: pack.Texts(l), DType: e.opts.DType}
		e.text[l] = e.net.Graph(fmt.Sprintf("blip2/text/%d", l), func(s *model.Scope, in []*Node) []*Node {
			out := textenc.Forward(s.At("qformer"), c.QFormer.encoder(), c.modules(),
				textenc.Inputs{IDs: in[0], Positions: in[1], Segments: in[2]}, o)
			return out.Modules[len(out.Modules)-1:]
		})
	}
	return e.text[l]
}

// modules make a text's vector of its tokens.
func (c *Config) modules() []textenc.Module {
	d := c.QFormer.HiddenSize
	return []textenc.Module{{Kind: textenc.Pooling, Modes: []textenc.Mode{textenc.ModeCLS}, In: d, Out: d},
		{Kind: textenc.Dense, In: d, Out: c.SharedSize, Bias: true},
		{Kind: textenc.Normalize, In: c.SharedSize, Out: c.SharedSize}}
}

// Closest is the one of an image's projected queries, of pooling [All], whose cosine to a text is the highest:
// BLIP-2's image-text similarity is that cosine. Of equal ones it is the first.
func Closest(all, text []float32) []float32 {
	best, most := all[:len(text)], 0.0
	for q := range slices.Chunk(all, len(text)) {
		dot := 0.0
		for i, v := range q {
			dot += float64(v) * float64(text[i])
		}
		if dot > most || &q[0] == &all[0] {
			best, most = q, dot
		}
	}
	return slices.Clone(best)
}
