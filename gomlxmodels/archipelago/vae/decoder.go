package vae

import (
	_ "embed"
	"errors"
	"flag"
	"path/filepath"
	"strings"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/vit"
	"antipode/gomlxmodels/diffusion"
	netvit "antipode/gomlxmodels/vit"
)

//go:embed decoder.md
var decoderCard string

// Decoder is the second phase of the autoencoder: it trains the decoder alone, so that the latents, and what was
// trained on them, stay as they are. Besides pixels the loss compares features of archipelago-vit and how steep edges
// are, see [steepness]: the error of pixels alone is smallest where an edge of uncertain position is blurred.
var Decoder = func() trainer.Model {
	var from string
	return trainer.Model{
		Name:     "vae-decoder",
		Defaults: trainer.Settings{Steps: 2000, Batch: 4, Seed: 2, Rate: 5e-4},
		Card:     decoderCard,
		Score:    score,
		Size:     Model.Size,
		Sheet:    sheet,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&from, "vae", "", "exported folder of the model vae")
		},
		New: func(s trainer.Settings) (*trainer.Job, error) {
			if from == "" {
				return nil, errors.New("set -vae to the exported folder of the model vae")
			}
			return newDecoderJob(s, from, vit.Model.Out)
		},
	}
}()

// Weights of the terms of the decoder's loss; the mean absolute error of pixels has weight 1.
const (
	featureWeight = 0.5
	steepWeight   = 1.0
)

// mostNoise is the largest standard deviation of the noise that is added to the scaled latents, whose own is 1: those
// that the UNet generates are less exact than the encoder's.
const mostNoise = 0.15

// decoderJob is a run of the second phase.
type decoderJob struct {
	c        *diffusion.VAEConfig
	features *netvit.Model
}

// newDecoderJob starts from the autoencoder in a folder and compares features of the ViT in another.
func newDecoderJob(s trainer.Settings, from, features string) (*trainer.Job, error) {
	sum, err := trainer.Digest(filepath.Join(from, weightsFile), 6)
	if err != nil {
		return nil, err
	}
	s.From = sum
	j := &decoderJob{}
	if j.features, err = netvit.Open(features); err != nil {
		return nil, err
	}
	initial := model.NewStore()
	defer initial.Finalize()
	if j.c, err = Restore(initial.RootScope(), from); err != nil {
		return nil, err
	}
	return &trainer.Job{
		Settings: s,
		Losses:   []string{"pixels", "features", "steepness"},
		Batch: func(step int) ([]*tensors.Tensor, error) {
			return decoderBatch(s, step).tensors(), nil
		},
		Loss: j.lossGraph,
		Start: func(store *model.Store) error {
			return j.start(store, from, s.Seed)
		},
		Export: func(dir string, store *model.Store) (int, error) { return write(dir, store, *j.c) },
	}, nil
}

// start restores all weights and freezes those outside the decoder and the discriminator.
func (j *decoderJob) start(store *model.Store, from string, seed uint64) error {
	root := store.RootScope()
	if _, err := Restore(root, from); err != nil {
		return err
	}
	for v := range store.IterVariables() {
		v.SetTrainable(strings.HasPrefix(v.Path(), "/decoder/") || strings.HasPrefix(v.Path(), "/post_quant_conv/"))
	}
	features := root.At("features")
	if err := j.features.Load(features, dtypes.Float32); err != nil {
		return err
	}
	for v := range store.IterVariables() {
		if strings.HasPrefix(v.Path(), features.Scope()) {
			v.SetTrainable(false)
		}
	}
	return nil
}

// featureLoss returns the mean squared difference of the hidden states of two images' patches, relative to their mean
// square, averaged over the blocks of the ViT.
//
// Shapes: got and want [B,H,W,3] in [-1,1] → [].
func (j *decoderJob) featureLoss(scope *model.Scope, got, want *Node) *Node {
	blocks := func(x *Node) []*Node {
		return netvit.Forward(scope.At("features"), j.features.Config(), TransposeAllDims(x, 0, 3, 1, 2),
			netvit.GraphOptions{Tokens: true}).Blocks
	}
	a, b := blocks(got), blocks(want)
	sum := ScalarZero(got.Graph(), dtypes.Float32)
	for i := range a {
		truth := StopGradient(b[i])
		sum = Add(sum, Div(ReduceAllMean(Square(Sub(a[i], truth))), ReduceAllMean(Square(truth))))
	}
	return DivScalar(sum, float64(len(a)))
}

// steepness returns the root mean square of the differences between neighboring pixels, over all channels, in windows
// of 8×8 pixels, which overlap by half. A blurred edge has the same sum of differences as a sharp one, but a smaller
// sum of squares; where in its window an edge is does not matter.
//
// Shapes: x [B,H,W,C] → [B,h,w,1].
func steepness(x *Node) *Node {
	inner := func(dy, dx int) *Node {
		h, w := x.Shape().Dim(1)-1, x.Shape().Dim(2)-1
		return Slice(x, AxisRange(), AxisRange(dy, dy+h), AxisRange(dx, dx+w), AxisRange())
	}
	squares := Add(Square(Sub(inner(0, 1), inner(0, 0))), Square(Sub(inner(1, 0), inner(0, 0))))
	mean := MeanPool(ReduceAndKeep(squares, ReduceMean, -1)).Window(8).Strides(4).NoPadding().Done()
	return Sqrt(AddScalar(mean, 1e-5)) // a square root has no gradient at 0
}

// lossGraph returns the loss of the decoder.
//
// Shapes: in = pixels [B,H,W,3]; noise [B,h,w,C]; spread [B,1,1,1] → [] and [3].
func (j *decoderJob) lossGraph(scope *model.Scope, in []*Node) (total, terms *Node) {
	pixels, noise, spread := in[0], in[1], in[2]
	z := diffusion.ForwardEncoder(scope, j.c, pixels, diffusion.GraphOptions{}).Mean
	z = StopGradient(Add(z, DivScalar(Mul(noise, spread), j.c.ScalingFactor)))
	img := diffusion.ForwardDecoder(scope, j.c, z, diffusion.GraphOptions{}).Image
	direct := ReduceAllMean(Abs(Sub(img, pixels)))
	features := j.featureLoss(scope, img, pixels)
	steep := ReduceAllMean(Abs(Sub(steepness(img), steepness(pixels))))
	total = Add(Add(direct, MulScalar(features, featureWeight)), MulScalar(steep, steepWeight))
	return total, Stack([]*Node{direct, features, steep}, 0)
}

// decoderExamples is the input of a step of the second phase: whole images, and the standard deviation of the noise of
// each.
type decoderExamples struct {
	batch
	spread []float32
}

func decoderBatch(s trainer.Settings, step int) decoderExamples {
	b := decoderExamples{batch: batch{size: examples.Size}}
	side := b.size / shape.Factor()
	for i := range s.Batch {
		r := examples.Stream(s.Seed, step, i)
		img, _ := examples.World.Paint(describe(r))
		b.pixels = AppendPixels(b.pixels, img, img.Rect)
		for range side * side * shape.LatentChannels {
			b.noise = append(b.noise, float32(r.NormFloat64()))
		}
		b.spread = append(b.spread, float32(mostNoise*r.Float64()))
	}
	return b
}

func (b decoderExamples) tensors() []*tensors.Tensor {
	return append(b.batch.tensors(), tensors.FromFlatDataAndDimensions(b.spread, len(b.spread), 1, 1, 1))
}
