package clipseg

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
	"golang.org/x/sync/errgroup"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/runner"
)

// Options are the options of an [Encoder]; the zero value is the default.
type Options struct {
	Batch int          // images per call of the device; 0 = DefaultBatch. Smaller batches are padded
	DType dtypes.DType // Float32 (default), BFloat16 or Float16
}

// DefaultBatch is the number of images in a call of the device.
const DefaultBatch = 4

// keptPrompts is the number of prompts whose vectors an encoder caches.
const keptPrompts = 4096

// Encoder runs a model on a device. It is for one goroutine at a time.
type Encoder struct {
	m    *Model
	opts Options
	*runner.Runner
	graphs  [parts]*runner.Graph
	prompts map[string][]float32 // by token ids
}

// NewEncoder returns an encoder on the backend, which the caller owns. A part's weights are read, and its graphs
// compiled, when it is first needed.
func NewEncoder(backend compute.Backend, m *Model, o Options) (e *Encoder, err error) {
	defer runner.Recovered("clipseg", &err)
	if backend == nil || m == nil {
		return nil, errors.New("clipseg: an encoder needs a backend and a model")
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 4096)); err != nil {
		return nil, err
	}
	e = &Encoder{m: m, opts: o, Runner: runner.New(backend, "clipseg", "encoder"), prompts: map[string][]float32{}}
	for p := range parts {
		name, forward := e.forward(p)
		net := e.Net(func(s *model.Store) error { return load(s, m.Weights, m.cfg, p, o.DType) })
		e.graphs[p] = net.Graph(name, forward)
	}
	return e, nil
}

// forward returns a part's name and graph.
func (e *Encoder) forward(p part) (string, func(*model.Scope, []*graph.Node) []*graph.Node) {
	cfg, dtype := e.m.cfg, e.opts.DType
	switch p {
	case visionPart:
		return "clipseg/vision", func(s *model.Scope, in []*graph.Node) []*graph.Node {
			return ForwardVision(s, cfg, in[0], dtype).Reduced
		}
	case textPart:
		return "clipseg/text", func(s *model.Scope, in []*graph.Node) []*graph.Node {
			return []*graph.Node{clip.ForwardText(s, &cfg.Config, in[0], clip.GraphOptions{DType: dtype}).Projected}
		}
	default:
		return "clipseg/decoder", func(s *model.Scope, in []*graph.Node) []*graph.Node {
			reduced, of, prompts := in[:len(in)-2], graph.InsertAxes(in[len(in)-2], -1), in[len(in)-1]
			for i, r := range reduced { // the images that the prompts are for
				reduced[i] = graph.Gather(r, of)
			}
			return []*graph.Node{ForwardDecoder(s, cfg, reduced, prompts, dtype).Logits}
		}
	}
}

// Image is a prepared image and the prompts to segment it by.
type Image struct {
	Pixels  []float32 // from [Model.Prepare]
	Prompts [][]int32 // token ids, start and end included, each no longer than the model's context
}

// Segment returns a map for each prompt of each image, in order; any number of images. A map does not depend on the
// other images and prompts. A prompt that is too long, without an end or with an id out of range is an error that
// names it. ctx is checked between calls of the device.
func (e *Encoder) Segment(ctx context.Context, images []Image) (out [][]Map, err error) {
	defer runner.Recovered("clipseg", &err)
	if err := e.Closed(); err != nil {
		return nil, err
	}
	side := e.m.cfg.Side
	for i, p := range images {
		if err := runner.Pixels(i, p.Pixels, 3*side*side); err != nil {
			return nil, err
		}
		for k, ids := range p.Prompts {
			if err := e.m.cfg.Text.Check(ids); err != nil {
				return nil, fmt.Errorf("image %d, prompt %d: %w", i+1, k+1, err)
			}
		}
	}
	jobs, err := e.jobs(ctx, images)
	if err != nil || len(jobs) == 0 {
		return make([][]Map, len(images)), err
	}
	maps, err := e.maps(ctx, images, jobs)
	if err != nil {
		return nil, err
	}
	out = make([][]Map, len(images))
	for i, j := range jobs {
		out[j.img] = append(out[j.img], maps[i])
	}
	return out, nil
}

// maps computes jobs, those of up to Batch images at a time.
func (e *Encoder) maps(ctx context.Context, images []Image, jobs []job) ([]Map, error) {
	side, maps, done := e.m.cfg.Side, make([]Map, len(jobs)), 0
	var reading errgroup.Group // copies maps to the host while the device computes the next ones
	reading.SetLimit(1)
	err := e.Batches(ctx, len(images), e.opts.Batch, func(from, to int) ([]*tensors.Tensor, error) {
		pixels := make([][]float32, to-from)
		for i := range pixels {
			pixels[i] = images[from+i].Pixels
		}
		x, err := runner.Stack(e.Runner, runner.Pixel(e.opts.DType), pixels, e.opts.Batch, 3, side, side)
		return []*tensors.Tensor{x}, err
	}, func(inputs []*tensors.Tensor, from, to int) error {
		defer runner.Release(inputs...)
		n := 0 // jobs of these images
		for ; done+n < len(jobs) && jobs[done+n].img < to; n++ {
		}
		if n == 0 {
			return nil
		}
		reduced, err := e.graphs[visionPart].Results(inputs...)
		if err != nil {
			return err
		}
		defer runner.Release(reduced...)
		for some := range slices.Chunk(jobs[done:done+n], e.opts.Batch) {
			if err := ctx.Err(); err != nil {
				return err
			}
			logits, err := e.decode(reduced, from, some)
			if err != nil {
				return err
			}
			to := maps[done:][:len(some)]
			reading.Go(func() error { return e.read(logits, to) })
			done += len(some)
		}
		return nil
	})
	return maps, cmp.Or(reading.Wait(), err)
}

// job is one map to compute: an image, and a prompt's vector.
type job struct {
	img    int
	prompt []float32
}

// jobs returns the maps to compute, image by image.
func (e *Encoder) jobs(ctx context.Context, images []Image) (list []job, err error) {
	for i, p := range images {
		for _, ids := range p.Prompts {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			v, err := e.prompt(ids)
			if err != nil {
				return nil, err
			}
			list = append(list, job{i, v})
		}
	}
	return list, nil
}

// decode runs the decoder for up to Batch jobs on the image tower's results for their batch, whose first image has the
// number first. The logits stay on the device.
func (e *Encoder) decode(reduced []*tensors.Tensor, first int, jobs []job) (*tensors.Tensor, error) {
	b, cfg := e.opts.Batch, e.m.cfg
	of, prompts := make([]int32, b), make([]float32, b*cfg.ProjectionDim) // of no job: of image 0, zeros
	for i, j := range jobs {
		of[i] = int32(j.img - first)
		copy(prompts[i*cfg.ProjectionDim:], j.prompt)
	}
	own := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(of, b),
		tensors.FromFlatDataAndDimensions(prompts, b, cfg.ProjectionDim)}
	defer runner.Release(own...)
	results, err := e.graphs[decoderPart].Results(append(slices.Clone(reduced), own...)...)
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// read copies the first logits to maps on the host, and releases them.
func (e *Encoder) read(logits *tensors.Tensor, maps []Map) (err error) {
	defer runner.Recovered("clipseg/decoder", &err)
	defer runner.Release(logits)
	flat, err := runner.Numbers(logits)
	for i := range maps {
		if err == nil {
			maps[i].Side = e.m.cfg.LogitSide()
			maps[i].Logits, err = runner.Row(flat, i, e.opts.Batch)
		}
	}
	if err != nil {
		return fmt.Errorf("clipseg/decoder: %w", err)
	}
	return nil
}

// prompt returns a prompt's vector [P], computed on first use.
func (e *Encoder) prompt(ids []int32) ([]float32, error) {
	c := &e.m.cfg.Text
	end := c.End(ids)
	key := fmt.Sprint(ids[:end+1])
	if v := e.prompts[key]; v != nil {
		return v, nil
	}
	s := 16 // few lengths, so that few graphs are compiled
	for ; s < end+1; s *= 2 {
	}
	s = min(s, c.Context)
	flat := make([]int32, s) // padded with token 0, which comes after the end and is never higher than it
	copy(flat, ids[:end+1])
	out, err := e.graphs[textPart].Call(tensors.FromFlatDataAndDimensions(flat, 1, s))
	if err != nil {
		return nil, err
	}
	if len(e.prompts) >= keptPrompts {
		clear(e.prompts)
	}
	e.prompts[key] = out[0]
	return out[0], nil
}
