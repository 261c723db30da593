package vit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/runner"
)

// Masking is a definition of "attention to the excluded patches is zeroed".
type Masking string

// The definitions. Drop and NegInf return the same class token, and here run the same graph.
const (
	Drop   Masking = "drop"   // excluded tokens are removed before block 1, positions kept
	NegInf Masking = "neginf" // excluded keys get −∞ before the softmax, in every block and head
	// attention to excluded keys is multiplied by 0 after the softmax; the rest does not add up to 1
	ZeroProb Masking = "zeroprob"
)

// Options are the options of an [Encoder]; the zero value is the default.
type Options struct {
	Masking Masking      // "" = Drop
	Batch   int          // images per call of the device; 0 = 8. Smaller batches are padded
	DType   dtypes.DType // Float32 (default) or BFloat16
}

// Embedding holds the vectors of one image.
type Embedding struct {
	Full           []float32 // [D] Full-image
	ObjectOnly     []float32 // [D] Obj-only; nil without a mask or without an object patch
	BackgroundOnly []float32 // [D] BG-only; nil without a mask or without a background patch

	ObjectPatches, BackgroundPatches int // 0, 0 without a mask
}

// Encoder runs a model on a device. It is for one goroutine at a time.
type Encoder struct {
	cfg  *Config
	opts Options
	*runner.Runner
	net    *runner.Net
	full   *runner.Graph // pixels → CLS
	masked *runner.Graph // pixels, object → CLS, object, background
	filled *runner.Graph // pixels, object, object pixels, background pixels → the same
}

// DefaultBatch is the number of images in a call of the device.
const DefaultBatch = 8

// NewEncoder reads the weights of a model and makes it ready to run on the backend, which the caller owns. Graphs
// are compiled when first needed; see [Encoder.Compile].
func NewEncoder(backend compute.Backend, m *Model, o Options) (e *Encoder, err error) {
	defer runner.Recovered("vit", &err)
	switch o.Masking {
	case "":
		o.Masking = Drop
	case Drop, NegInf, ZeroProb:
	default:
		return nil, fmt.Errorf("masking %q is not one of drop, neginf, zeroprob", o.Masking)
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 4096)); err != nil {
		return nil, err
	}
	e = &Encoder{cfg: m.cfg, opts: o, Runner: runner.New(backend, "vit", "encoder")}
	e.net = e.Net(func(s *model.Store) error {
		return m.Load(s.RootScope(), o.DType)
	})
	e.full = e.net.Graph("vit/full", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{Forward(s, m.cfg, in[0], GraphOptions{DType: o.DType}).CLS}
	})
	e.masked = e.net.Graph("vit/masked", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := Forward(s, m.cfg, in[0], GraphOptions{DType: o.DType, Masking: o.Masking, Object: in[1]})
		return []*graph.Node{out.CLS, out.Object, out.Background}
	})
	e.filled = e.net.Graph("vit/filled", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := Forward(s, m.cfg, in[0], GraphOptions{DType: o.DType, Masking: o.Masking, Object: in[1],
			Pieces: &[2]*graph.Node{in[2], in[3]}})
		return []*graph.Node{out.CLS, out.Object, out.Background}
	})
	if err := e.net.Load(); err != nil {
		return nil, err
	}
	return e, nil
}

// Compile compiles the graphs for images with or without masks, so that their time can be measured separately.
func (e *Encoder) Compile(masks bool) (err error) {
	defer runner.Recovered("vit", &err)
	b, c := e.opts.Batch, e.cfg
	pixels := shapes.Make(runner.Pixel(e.opts.DType), b, c.NumChannels, c.ImageSize[0], c.ImageSize[1])
	if masks {
		return e.masked.Ready(pixels, shapes.Make(dtypes.Bool, b, c.Patches()))
	}
	return e.full.Ready(pixels)
}

// Batch is the number of images a call of the device takes.
func (e *Encoder) Batch() int { return e.opts.Batch }

// Encode embeds images, in order; any number of them. Those with a mask get the two masked sequences too. An image's
// embedding does not depend on the others. ctx is checked between calls of the device.
func (e *Encoder) Encode(ctx context.Context, images []*Prepared) (out []Embedding, err error) {
	defer runner.Recovered("vit", &err)
	if err := e.Closed(); err != nil {
		return nil, err
	}
	out = make([]Embedding, len(images))
	var plain, masked, filled []int
	for i, p := range images {
		if err := e.check(p); err != nil {
			return nil, fmt.Errorf("image %d: %w", i+1, err)
		}
		switch {
		case p.Object == nil:
			plain = append(plain, i)
		case p.Pieces[0] == nil:
			masked = append(masked, i)
		default:
			filled = append(filled, i)
		}
	}
	for _, group := range []struct {
		rows   []int
		graph  *runner.Graph
		inputs int
	}{{plain, e.full, 1}, {masked, e.masked, 2}, {filled, e.filled, 4}} {
		rows := group.rows
		err := e.Batches(ctx, len(rows), e.opts.Batch, func(from, to int) ([]*tensors.Tensor, error) {
			return e.stack(images, rows[from:to], group.inputs)
		}, func(inputs []*tensors.Tensor, from, to int) error {
			results, err := group.graph.Call(inputs...)
			if err != nil {
				return err
			}
			return e.take(results, images, rows[from:to], out)
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (e *Encoder) check(p *Prepared) error {
	if p == nil {
		return errors.New("nothing was prepared")
	}
	c := e.cfg
	n := c.NumChannels * c.ImageSize[0] * c.ImageSize[1]
	if len(p.Pixels) != n {
		return fmt.Errorf("%d pixel values, the model takes %d", len(p.Pixels), n)
	}
	if p.Object != nil && len(p.Object) != c.Patches() {
		return fmt.Errorf("%d patches, the model has %d", len(p.Object), c.Patches())
	}
	if (p.Pieces[0] == nil) != (p.Pieces[1] == nil) || p.Pieces[0] != nil &&
		(p.Object == nil || len(p.Pieces[0]) != n || len(p.Pieces[1]) != n) {
		return errors.New("filled pixels must come in pairs of the image's size, with patches")
	}
	return nil
}

// stack makes the inputs of a call for rows, padded with the last of them.
func (e *Encoder) stack(images []*Prepared, rows []int, inputs int) (args []*tensors.Tensor, err error) {
	b, c := e.opts.Batch, e.cfg
	pixels := func(of func(*Prepared) []float32) {
		list := make([][]float32, len(rows))
		for k, row := range rows {
			list[k] = of(images[row])
		}
		x, one := runner.Stack(e.Runner, runner.Pixel(e.opts.DType), list, b, c.NumChannels, c.ImageSize[0],
			c.ImageSize[1])
		args, err = append(args, x), cmp.Or(err, one)
	}
	pixels(func(p *Prepared) []float32 { return p.Pixels })
	if inputs > 1 {
		objects := make([][]bool, len(rows))
		for k, row := range rows {
			objects[k] = images[row].Object
		}
		x, one := runner.Stack(e.Runner, dtypes.Bool, objects, b, c.Patches())
		args, err = append(args, x), cmp.Or(err, one)
	}
	for side := range inputs / 4 * 2 {
		pixels(func(p *Prepared) []float32 { return p.Pieces[side] })
	}
	return args, err
}

// take stores the results of a call for rows.
func (e *Encoder) take(results [][]float32, images []*Prepared, rows []int, out []Embedding) (err error) {
	b := e.opts.Batch
	for k, row := range rows {
		p, em := images[row], &out[row]
		for _, object := range p.Object {
			if object {
				em.ObjectPatches++
			} else {
				em.BackgroundPatches++
			}
		}
		em.Full, err = runner.Row(results[0], k, b)
		if err == nil && em.ObjectPatches > 0 {
			em.ObjectOnly, err = runner.Row(results[1], k, b)
		}
		if err == nil && em.BackgroundPatches > 0 {
			em.BackgroundOnly, err = runner.Row(results[2], k, b)
		}
		if err != nil {
			return fmt.Errorf("vit: image %d: %w", row+1, err)
		}
	}
	return nil
}
