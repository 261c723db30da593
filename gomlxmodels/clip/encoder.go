package clip

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/pack"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// Options are the options of an [Encoder]; the zero value is the default.
type Options struct {
	Batch  int          // images per call of the device; 0 = 8. Smaller batches are padded
	Tokens int          // tokens of texts in a full call of the device; 0 = 512. What remains runs in calls of one row
	DType  dtypes.DType // Float32 (default), BFloat16 or Float16
}

// The numbers of images and of texts' tokens in a call of the device.
const (
	DefaultBatch  = 8
	DefaultTokens = 512
)

// Encoder runs a model on a device. It is for one goroutine at a time.
type Encoder struct {
	m    *Model
	opts Options
	*runner.Runner
	towers [2]*runner.Graph // by tower
}

// NewEncoder returns an encoder on the backend, which the caller owns. A tower's weights are read, and its graphs
// compiled, when it is first needed: an encoder of images holds no text tower.
func NewEncoder(backend compute.Backend, m *Model, o Options) (e *Encoder, err error) {
	defer runner.Recovered("clip", &err)
	if backend == nil || m == nil {
		return nil, errors.New("clip: an encoder needs a backend and a model")
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 4096),
		runner.Count("tokens", &o.Tokens, DefaultTokens, 1<<20)); err != nil {
		return nil, err
	}
	e = &Encoder{m: m, opts: o, Runner: runner.New(backend, "clip", "encoder")}
	g := GraphOptions{DType: o.DType}
	e.towers[imageTower] = e.net(imageTower).Graph("clip/image", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := ForwardImage(s, m.cfg, in[0], g)
		return []*graph.Node{out.Pooled, out.Projected}
	})
	e.towers[textTower] = e.net(textTower).Graph("clip/text", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := ForwardTextRows(s, m.cfg, TextRows{IDs: in[0], Positions: in[1], Segments: in[2], Ends: in[3]}, g)
		return []*graph.Node{out.Pooled, out.Projected}
	})
	return e, nil
}

// net is a tower's weights.
func (e *Encoder) net(t tower) *runner.Net {
	return e.Net(func(s *model.Store) error {
		if t == textTower && e.m.cfg.ImagesOnly {
			return errors.New("clip: the text tower of this model is package textenc's")
		}
		return weights.Load(s.RootScope(), e.m.Weights, table(e.m.cfg, e.m.Weights, t), e.opts.DType)
	})
}

// LoadImageTower reads the weights of the tower of images now rather than with the first image, so that
// [Encoder.Bytes] counts them.
func (e *Encoder) LoadImageTower() (err error) {
	defer runner.Recovered("clip", &err)
	return e.towers[imageTower].Load()
}

// LoadTextTower is LoadImageTower for texts.
func (e *Encoder) LoadTextTower() (err error) {
	defer runner.Recovered("clip", &err)
	return e.towers[textTower].Load()
}

// EncodeImages embeds images prepared by [Model.Prepare], in order; any number of them. An image's embedding does
// not depend on the others. ctx is checked between calls of the device.
func (e *Encoder) EncodeImages(ctx context.Context, images [][]float32) (out []Embedding, err error) {
	defer runner.Recovered("clip", &err)
	out = make([]Embedding, 0, len(images))
	err = e.towers[imageTower].Images(ctx, runner.Pixel(e.opts.DType), images, e.m.cfg.Vision.ImageSize, e.opts.Batch,
		func(results [][]float32, at, n int) error {
			em, err := embedding(results, at, n)
			out = append(out, em)
			return err
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// EncodeTokens embeds texts given as token ids, start and end tokens included, in order; any number of them, of any
// length up to the model's context. What follows the end-of-text token (padding) does not matter; texts of a SigLIP
// come without padding, after [Model.Texts]. Texts share rows (package pack), and a token attends to its own text
// alone: a text's embedding depends on the others by no more than rounding. A text that is too long, without an end or
// with an id out of range is an error that names it. ctx is checked between device calls.
func (e *Encoder) EncodeTokens(ctx context.Context, texts [][]int32) (out []Embedding, err error) {
	defer runner.Recovered("clip", &err)
	c := &e.m.cfg.Text
	own := make([][]int32, len(texts)) // up to the end token
	for i, ids := range texts {
		if err := c.Check(ids); err != nil {
			return nil, fmt.Errorf("text %d: %w", i+1, err)
		}
		own[i] = c.own(ids)
	}
	if err := e.LoadTextTower(); err != nil {
		return nil, err
	}
	out = make([]Embedding, len(texts))
	err = pack.Calls(ctx, own, c.Context, e.opts.Tokens, func(rows [][]pack.Place, size, l int) error {
		return e.texts(rows, size, l, own, out)
	})
	return out, err
}

// texts runs rows of length l, padded to size of them, and stores the vectors of their texts.
func (e *Encoder) texts(rows [][]pack.Place, size, l int, list [][]int32, out []Embedding) error {
	slots := pack.Texts(l)
	ids, positions, segments := pack.Fill(rows, size, l, list)
	ends := make([]int32, size*slots)
	for r, p := range pack.Each(rows) {
		ends[r*slots+p.Slot()] = int32(p.Start + len(list[p.Text]) - 1)
	}
	rowsOf := func(flat []int32, n int) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(flat, size, n) }
	results, err := e.towers[textTower].Call(rowsOf(ids, l), rowsOf(positions, l), rowsOf(segments, l),
		rowsOf(ends, slots))
	if err != nil {
		return err
	}
	for r, p := range pack.Each(rows) {
		if out[p.Text], err = embedding(results, r*slots+p.Slot(), size*slots); err != nil {
			return fmt.Errorf("clip/text: text %d: %w", p.Text+1, err)
		}
	}
	return nil
}

// Check reports invalid token ids of a text: none, too many, one out of range, no end token.
func (t *TextConfig) Check(ids []int32) error {
	err := pack.Check(ids, t.Context, t.VocabSize)
	if err == nil && t.End(ids) < 0 {
		err = fmt.Errorf("no end-of-text token (id %d)", t.EndToken)
	}
	return err
}

// embedding returns row i of n of the results of a tower.
func embedding(results [][]float32, i, n int) (e Embedding, err error) {
	if e.Pooled, err = runner.Row(results[0], i, n); err == nil {
		e.Projected, err = runner.Row(results[1], i, n)
	}
	return e, err
}
