package groundingdino

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
	"antipode/gomlxmodels/textenc"
	"antipode/gomlxmodels/weights"
)

// Options are the options of a [Detector]; the zero value is the default.
type Options struct {
	Profile Profile // "" = Transformers
}

// DetectOptions are the options of [Detector.Detect]; the zero value is the default.
type DetectOptions struct {
	BoxThreshold  float64 // a box is kept if its score is above it; 0 = the profile's
	TextThreshold float64 // a token is part of a label if its probability is above it; 0 = the profile's
}

// keptTexts is the number of captions whose features a detector caches.
const keptTexts = 1024

// Detector runs a model on a device. It is for one goroutine at a time.
type Detector struct {
	m *Model
	s settings
	*runner.Runner
	nets   [parts]*runner.Net
	graphs map[key]*runner.Graph
	recent []key                // of graphs, the most recently used last
	texts  map[string][]float32 // features [T,D] of captions, by token ids
	last   *Image               // the image whose features are in vision
	vision []float32
}

// key is a graph by what it is compiled for.
type key struct {
	part   part
	bucket Size
	length int
}

// NewDetector returns a detector on the backend, which the caller owns. A part's weights are read when it is first
// needed; a graph is compiled for each bucket of sizes and each length of captions (16, 64, 256 tokens), of which the 8
// that were used last are kept.
func NewDetector(backend compute.Backend, m *Model, o Options) (d *Detector, err error) {
	defer runner.Recovered("groundingdino", &err)
	if backend == nil || m == nil {
		return nil, errors.New("groundingdino: a detector needs a backend and a model")
	}
	d = &Detector{m: m, Runner: runner.New(backend, "groundingdino", "detector"), graphs: map[key]*runner.Graph{},
		texts: map[string][]float32{}}
	if d.s, err = o.Profile.settings(); err != nil {
		return nil, err
	}
	for p := range parts {
		d.nets[p] = d.Net(func(s *model.Store) error {
			return weights.Load(s.RootScope(), m.Weights, table(m.cfg, m.Weights, p), dtypes.Float32)
		})
	}
	return d, nil
}

// Close releases weights and compiled graphs. The detector cannot be used afterwards; closing twice is fine.
func (d *Detector) Close() {
	if d != nil {
		d.Runner.Close()
		d.last, d.vision, d.texts, d.graphs, d.recent = nil, nil, nil, nil, nil
	}
}

// Detect returns the objects of an image that a caption names, the highest score first. The features of the last
// image and of captions are kept: several captions of one image cost the backbone once. ctx is checked between calls
// of the device.
func (d *Detector) Detect(ctx context.Context, img *Image, c Caption, o DetectOptions) (list []Box, err error) {
	defer runner.Recovered("groundingdino", &err)
	if err := d.Closed(); err != nil {
		return nil, err
	}
	if img == nil {
		return nil, errors.New("groundingdino: no image")
	}
	cfg := d.m.cfg
	if err := cmp.Or(cfg.checkImage(img), d.checkCaption(c), threshold("box", &o.BoxThreshold, d.s.boxThreshold),
		threshold("text", &o.TextThreshold, d.s.textThreshold)); err != nil {
		return nil, err
	}
	t, err := d.m.Tokenizer()
	if err != nil {
		return nil, err
	}
	logits, boxes, err := d.network(ctx, img, c)
	if err != nil {
		return nil, err
	}
	return d.found(logits, boxes, cfg.length(len(c.IDs)), c, img.Original, o, t), nil
}

func threshold(name string, value *float64, usual float64) error {
	if *value == 0 {
		*value = usual
	}
	if !(*value > 0 && *value < 1) {
		return fmt.Errorf("%s threshold %v is not between 0 and 1", name, *value)
	}
	return nil
}

// checkCaption checks a caption against the network.
func (d *Detector) checkCaption(c Caption) error {
	cfg := d.m.cfg
	n := len(c.IDs)
	if n < 1 || n > cfg.MaxText || len(c.Phrases) != n || len(c.Positions) != n {
		return fmt.Errorf("caption of %d tokens, %d phrase numbers and %d positions: not between 1 and %d of each", n,
			len(c.Phrases), len(c.Positions), cfg.MaxText)
	}
	for i, id := range c.IDs {
		phrase, at := c.Phrases[i], c.Positions[i]
		if id < 0 || int(id) >= cfg.Text.VocabSize || phrase < 1 || at < 0 || int(at) >= n {
			return fmt.Errorf("caption: token %d is number %d, of phrase %d, at position %d: out of range", i+1, id,
				phrase, at)
		}
	}
	return nil
}

// network runs the three graphs.
//
// Shapes: → logits [K,T], boxes [K,4].
func (d *Detector) network(ctx context.Context, img *Image, c Caption) (logits, boxes []float32, err error) {
	cfg, n := d.m.cfg, d.m.cfg.length(len(c.IDs))
	bucket := cfg.bucket(img.Size)
	sizes := func() *tensors.Tensor { return cfg.sizesTensor(img.Size) }
	if d.last != img {
		d.last = nil
		pixels := tensors.FromFlatDataAndDimensions(place(img, bucket), 1, 3, bucket.Height, bucket.Width)
		out, err := d.graph(key{imagePart, bucket, 0}).Call(pixels, sizes())
		if err != nil {
			return nil, nil, err
		}
		d.last, d.vision = img, out[0]
	}
	padded := func(values []int32) *tensors.Tensor {
		return tensors.FromFlatDataAndDimensions(append(slices.Clone(values), make([]int32, n-len(values))...), 1, n)
	}
	name := fmt.Sprint(c.IDs, c.Phrases, c.Positions)
	if d.texts[name] == nil {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		out, err := d.graph(key{textPart, Size{}, n}).Call(padded(c.IDs), padded(c.Positions), padded(c.Phrases))
		if err != nil {
			return nil, nil, err
		}
		if len(d.texts) >= keptTexts {
			clear(d.texts)
		}
		d.texts[name] = out[0]
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	out, err := d.graph(key{joinPart, bucket, n}).Call(
		tensors.FromFlatDataAndDimensions(d.vision, 1, len(d.vision)/cfg.Width, cfg.Width),
		tensors.FromFlatDataAndDimensions(d.texts[name], 1, n, cfg.Width), sizes(), padded(c.Phrases),
		padded(c.Positions))
	if err != nil {
		return nil, nil, err
	}
	for _, values := range out {
		if _, err := runner.Row(values, 0, 1); err != nil {
			return nil, nil, fmt.Errorf("groundingdino/join: %w", err)
		}
	}
	return out[0], out[1], nil
}

// keptGraphs is the number of graphs that stay compiled: images of one size and captions of one length use three.
const keptGraphs = 8

// graph returns a graph, compiled on first use, and closes the least recently used one beyond [keptGraphs].
func (d *Detector) graph(k key) *runner.Graph {
	d.recent = append(slices.DeleteFunc(d.recent, func(other key) bool { return other == k }), k)
	if d.graphs[k] != nil {
		return d.graphs[k]
	}
	if len(d.recent) > keptGraphs {
		d.graphs[d.recent[0]].Close()
		delete(d.graphs, d.recent[0])
		d.recent = d.recent[1:]
	}
	cfg := d.m.cfg
	name := [parts]string{"image", "text", "join"}[k.part]
	d.graphs[k] = d.nets[k.part].Graph("groundingdino/"+name, func(s *model.Scope, in []*graph.Node) []*graph.Node {
		switch k.part {
		case imagePart:
			return []*graph.Node{ForwardImage(s, cfg, in[0], in[1])}
		case textPart:
			return []*graph.Node{ForwardText(s, cfg, textenc.Inputs{IDs: in[0], Positions: in[1], Segments: in[2]})}
		default:
			logits, boxes := ForwardJoin(s, cfg, k.bucket, Inputs{Vision: in[0], Text: in[1], Sizes: in[2],
				Phrases: in[3], Positions: in[4]}, d.s.inverse)
			return []*graph.Node{logits, boxes}
		}
	})
	return d.graphs[k]
}

// sizesTensor is [Config.Sizes] of images as the graphs take it.
//
// Shapes: → [B,N,2] float32.
func (c *Config) sizesTensor(images ...Size) *tensors.Tensor {
	var flat []float32
	for _, s := range images {
		for _, m := range c.Sizes(s) {
			flat = append(flat, float32(m.Height), float32(m.Width))
		}
	}
	return tensors.FromFlatDataAndDimensions(flat, len(images), len(flat)/2/len(images), 2)
}

// place puts an image in the upper left corner of its bucket.
//
// Shapes: → [3·H·W] of the bucket.
func place(img *Image, bucket Size) []float32 {
	flat, w := make([]float32, 3*bucket.Height*bucket.Width), img.Size.Width
	for row := range 3 * img.Size.Height {
		channel, y := row/img.Size.Height, row%img.Size.Height
		copy(flat[(channel*bucket.Height+y)*bucket.Width:][:w], img.Pixels[row*w:])
	}
	return flat
}
