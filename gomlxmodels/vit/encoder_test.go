package vit

import (
	"context"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/preprocess"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// tiny is a small configuration: 16 patches, 2 blocks.
func tiny() Config {
	c := DefaultConfig()
	c.HiddenSize, c.Layers, c.Heads, c.IntermediateSize, c.ImageSize, c.PatchSize = 32, 2, 4, 48, Pair{32, 32},
		Pair{8, 8}
	return c
}

func encode(t *testing.T, e *Encoder, images ...*Prepared) []Embedding {
	t.Helper()
	return must.Get(e.Encode(context.Background(), images))(t)
}

func newEncoder(t *testing.T, m *Model, o Options) *Encoder {
	t.Helper()
	backend := testbackend.Any(t)
	if o.DType == dtypes.BFloat16 { // which the pure Go backend lacks
		backend = testbackend.QuickXLA(t)
	}
	e := must.Get(NewEncoder(backend, m, o))(t)
	t.Cleanup(e.Close)
	return e
}

// TestEncode holds the properties of embeddings that hold for every model.
func TestEncode(t *testing.T) {
	m := randomFolder(t, tiny())
	e := newEncoder(t, m, Options{Batch: 3})
	images := randomImages(m.Config(), 4, true, 9)
	all := encode(t, e, images...)

	t.Run("an image's embedding depends neither on the others nor on its place", func(t *testing.T) {
		for i, p := range images {
			one := encode(t, e, p)[0]
			must.EqualSlices(t, one.Full, all[i].Full, i)
			must.EqualSlices(t, one.ObjectOnly, all[i].ObjectOnly, i)
			must.EqualSlices(t, one.BackgroundOnly, all[i].BackgroundOnly, i)
		}
		near.Check(t, "full without masks", encode(t, e, &Prepared{Pixels: images[0].Pixels})[0].Full, all[0].Full,
			1e-4, 1e-5)
	})

	t.Run("masked pixels do not matter", func(t *testing.T) {
		p := &Prepared{Pixels: slices.Clone(images[0].Pixels), Object: images[0].Object}
		c := m.Config()
		for i := range p.Pixels {
			x, y := i%c.ImageSize[1], i/c.ImageSize[1]%c.ImageSize[0]
			if !p.Object[y/8*4+x/8] {
				p.Pixels[i] = 5
			}
		}
		got := encode(t, e, p)[0]
		must.EqualSlices(t, got.ObjectOnly, all[0].ObjectOnly, "background pixels changed the object's embedding")
		if near.Compare(got.BackgroundOnly, all[0].BackgroundOnly, 1e-2, 1e-2) == nil ||
			near.Compare(got.Full, all[0].Full, 1e-2, 1e-2) == nil {
			t.Error("background pixels did not change the background's and the whole image's embedding")
		}
	})

	t.Run("object and background are not swapped", func(t *testing.T) {
		flipped := &Prepared{Pixels: images[1].Pixels, Object: slices.Clone(images[1].Object)}
		for i := range flipped.Object {
			flipped.Object[i] = !flipped.Object[i]
		}
		got := encode(t, e, flipped)[0]
		near.Check(t, "object", got.ObjectOnly, all[1].BackgroundOnly, 1e-5, 1e-6)
		near.Check(t, "background", got.BackgroundOnly, all[1].ObjectOnly, 1e-5, 1e-6)
		if near.Compare(got.ObjectOnly, all[1].ObjectOnly, 1e-2, 1e-2) == nil {
			t.Error("object and background give the same vector")
		}
	})

	t.Run("a component without patches has no vector", func(t *testing.T) {
		n := m.Config().Patches()
		none := &Prepared{Pixels: images[2].Pixels, Object: make([]bool, n)}
		every := &Prepared{Pixels: images[2].Pixels, Object: slices.Repeat([]bool{true}, n)}
		got := encode(t, e, none, every, &Prepared{Pixels: images[2].Pixels})
		if got[0].ObjectOnly != nil || got[0].ObjectPatches != 0 || got[0].BackgroundPatches != n {
			t.Errorf("no object patch: %d object, %d background patches, vector %v", got[0].ObjectPatches,
				got[0].BackgroundPatches, got[0].ObjectOnly)
		}
		if got[1].BackgroundOnly != nil || got[1].ObjectPatches != n {
			t.Error("no background patch, and yet a background")
		}
		near.Check(t, "all background", got[0].BackgroundOnly, got[2].Full, 1e-4, 1e-5)
		near.Check(t, "all object", got[1].ObjectOnly, got[2].Full, 1e-4, 1e-5)
		if got[2].ObjectOnly != nil || got[2].BackgroundOnly != nil ||
			got[2].ObjectPatches+got[2].BackgroundPatches != 0 {
			t.Error("an image without a mask has components")
		}
	})

	t.Run("filled pixels equal to the image change nothing", func(t *testing.T) {
		p := *images[0]
		p.Pieces = [2][]float32{p.Pixels, p.Pixels}
		got := encode(t, e, &p)[0]
		near.Check(t, "object", got.ObjectOnly, all[0].ObjectOnly, 1e-5, 1e-6)
		p.Pieces[0] = slices.Repeat([]float32{2}, len(p.Pixels))
		got = encode(t, e, &p)[0]
		near.Check(t, "background", got.BackgroundOnly, all[0].BackgroundOnly, 1e-5, 1e-6)
		if near.Compare(got.ObjectOnly, all[0].ObjectOnly, 1e-2, 1e-2) == nil {
			t.Error("the object's own pixels are not used")
		}
	})

	t.Run("nothing to do", func(t *testing.T) {
		must.Equal(t, len(encode(t, e)), 0, "embeddings of nothing")
	})

	t.Run("errors", func(t *testing.T) {
		short := &Prepared{Pixels: images[0].Pixels[1:]}
		nan := &Prepared{Pixels: slices.Clone(images[0].Pixels)}
		nan.Pixels[7] = float32(math.NaN())
		for want, list := range map[string][]*Prepared{
			"image 2: 3071 pixel values":    {images[0], short},
			"image 1: nothing was prepared": {nil},
			"image 1: 3 patches":            {{Pixels: images[0].Pixels, Object: make([]bool, 3)}},
			"image 1: filled pixels": {{Pixels: images[0].Pixels,
				Pieces: [2][]float32{images[0].Pixels, nil}}},
			"NaN": {nan},
		} {
			must.Fail(e.Encode(context.Background(), list))(t, want)
		}
		must.Fail(e.Encode(modeltest.Canceled(), images))(t, "context canceled")
	})
	if e.CompileTime() <= 0 || e.Batch() != 3 || e.Bytes() != 4*m.Parameters() {
		t.Errorf("compile %v, batch %d, bytes %d of %d parameters", e.CompileTime(), e.Batch(),
			e.Bytes(), m.Parameters())
	}
	e.Close()
	e.Close()
	if _, err := e.Encode(context.Background(), images); err == nil || e.Compile(true) == nil || e.Bytes() != 0 {
		t.Error("a closed encoder encodes")
	}
}

// TestPackedEqualsTwoPasses compares the packed sequence with two sequences that mask keys, and with two from which the
// other side's tokens were really removed.
func TestPackedEqualsTwoPasses(t *testing.T) {
	g := openGolden(t, "timm-registers")
	c := g.cfg
	n := c.Patches()
	const objects = 9 // the first 9 patches are object, so that removing is a slice
	got := g.run(testbackend.Any(t), heads{}, func(s *model.Scope, in []*Node) []*Node {
		f := &forward{scope: s, cfg: c, dtype: dtypes.Float32}
		patches := f.patches(in[0])
		b, g := in[0].Shape().Dim(0), in[0].Graph()
		side := slices.Concat(slices.Repeat([]bool{true}, objects), slices.Repeat([]bool{false}, n-objects))
		object := BroadcastToDims(Const(g, [][]bool{side}), b, n)
		po, pb := f.packed(patches, object)
		out := []*Node{po, pb}
		for _, keep := range []*Node{object, LogicalNot(object)} {
			ones := BroadcastToDims(Const(g, [][]bool{{true}}), b, c.Prefix())
			keep = Reshape(Concatenate([]*Node{ones, keep}, 1), b, 1, 1, c.Prefix()+n)
			out = append(out, row(f.masked(f.sequence(patches, 1), nn.AttentionOptions{Keep: keep}, 0), 0))
		}
		for _, kept := range []*Node{Slice(patches, AxisRange(), AxisRange(0, objects)),
			Slice(patches, AxisRange(), AxisRange(objects, n))} {
			out = append(out, row(f.masked(f.sequence(kept, 1), nn.AttentionOptions{}, 1), 0))
		}
		return out
	}, g.Tensor("pixels"))
	for i, name := range []string{"object", "background"} {
		near.Check(t, name+": packed and neginf", got[i], got[2+i], 1e-4, 1e-5)
		near.Check(t, name+": packed and drop", got[i], got[4+i], 1e-4, 1e-5)
	}
	if near.Compare(got[0], got[1], 1e-2, 1e-2) == nil {
		t.Error("object and background give the same vector")
	}
}

// TestBFloat16 runs the same weights in bfloat16, which keeps 8 bits.
func TestBFloat16(t *testing.T) {
	m := randomFolder(t, tiny())
	images := randomImages(m.Config(), 2, true, 5)
	want := encode(t, newEncoder(t, m, Options{Batch: 2}), images...)
	e := newEncoder(t, m, Options{Batch: 2, DType: dtypes.BFloat16})
	got := encode(t, e, images...)
	for i := range want {
		for _, v := range [][2][]float32{{got[i].Full, want[i].Full}, {got[i].ObjectOnly, want[i].ObjectOnly},
			{got[i].BackgroundOnly, want[i].BackgroundOnly}} {
			if d, _ := near.Worst(v[0], v[1]); d > 0.1*near.Scale(v[1]) || d == 0 {
				t.Errorf("image %d: worst difference %v at scale %v", i, d, near.Scale(v[1]))
			}
		}
	}
	must.Equal(t, e.Bytes(), 2*m.Parameters())
}

func TestEncoderRefuses(t *testing.T) {
	m := randomFolder(t, tiny())
	backend := testbackend.Go(t)
	for want, o := range map[string]Options{
		`masking "half"`: {Masking: "half"},
		"batch -1":       {Batch: -1},
		"dtype Int32":    {DType: dtypes.Int32},
	} {
		must.Fail(NewEncoder(backend, m, o))(t, want)
	}
}

// TestPrepare moves an image and its mask through the model's preprocessing.
func TestPrepare(t *testing.T) {
	m := randomFolder(t, tiny())
	img := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	mask := &preprocess.Mask{Width: 64, Height: 64, Object: make([]uint8, 64*64)}
	for y := range 64 {
		for x := range 64 {
			img.SetNRGBA(x, y, color.NRGBA{uint8(4 * x), uint8(4 * y), 100, 255})
			if x < 16 && y >= 48 { // the lower left patch
				mask.Object[y*64+x] = 7
			}
		}
	}
	p := must.Get(m.Prepare(img, mask, PrepareOptions{Fill: preprocess.FillWhite}))(t)
	for i, object := range p.Object {
		must.Equal(t, object, i == 12, "patch", i, "object")
	}
	at := func(v []float32, x, y int) float32 { return v[y*32+x] } // red
	if at(p.Pixels, 20, 4) == 1 || at(p.Pieces[0], 20, 4) != 1 || at(p.Pieces[1], 20, 4) != at(p.Pixels, 20, 4) {
		t.Errorf("a background pixel: %v, filled %v, %v", at(p.Pixels, 20, 4), at(p.Pieces[0], 20, 4),
			at(p.Pieces[1], 20, 4))
	}
	must.Equal(t, at(p.Pieces[0], 3, 28), at(p.Pixels, 3, 28))
	must.Equal(t, at(p.Pieces[1], 3, 28), 1)
	if p = must.Get(m.Prepare(img, nil, PrepareOptions{}))(t); p.Object != nil || p.Pieces[0] != nil {
		t.Errorf("without a mask: object %v", p.Object)
	}
	must.Fail(m.Prepare(img, &preprocess.Mask{Width: 3, Height: 2, Object: make([]uint8, 6)}, PrepareOptions{}))(t,
		"the mask is 3×2 pixels, its image 64×64")
	must.Fail(m.Prepare(img, mask, PrepareOptions{Fill: "pink"}))(t, `fill "pink"`)
	must.Fail(m.Prepare(img, mask, PrepareOptions{Rule: "most"}))(t, `patch rule "most"`)
}

// TestTrains takes steps of gradient descent on the class of noise images: every variable must have a gradient and
// the loss must fall.
func TestTrains(t *testing.T) {
	c := tiny()
	store := model.NewStore()
	defer store.Finalize()
	must.Do(t, store.SetRNGStateFromSeed(3))
	exec := must.Get(model.NewExec(testbackend.Any(t), store, func(s *model.Scope, in []*Node) *Node {
		out := Forward(s, &c, in[0], GraphOptions{Classes: 4})
		loss := Neg(ReduceAllMean(ReduceSum(Mul(LogSoftmax(out.Logits), OneHot(in[1], 4, dtypes.Float32)), -1)))
		var vars []*model.Variable
		for v := range s.IterVariables() {
			if v.Trainable && v.InUseByGraph(loss.Graph()) {
				vars = append(vars, v)
			}
		}
		for i, d := range s.BuildTrainableVariablesGradientsGraph(loss) {
			vars[i].SetNodeValue(Sub(vars[i].NodeValue(loss.Graph()), MulScalar(d, 0.3)))
		}
		return loss
	}))(t)
	defer exec.Finalize()
	var flat []float32
	for _, p := range randomImages(&c, 8, false, 1) {
		flat = append(flat, p.Pixels...)
	}
	var losses []float32
	for range 30 {
		out := must.Get(exec.Call1(tensors.FromFlatDataAndDimensions(flat, 8, 3, 32, 32), []int32{0, 1, 2, 3, 0, 1, 2,
			3}))(t)
		losses = append(losses, tensors.ToScalar[float32](out))
	}
	if math.Abs(float64(losses[0])-math.Log(4)) > 0.3 || losses[29] > losses[0]/2 {
		t.Errorf("loss starts at %v (want about ln 4) and ends at %v", losses[0], losses[29])
	}
	for v := range store.IterVariables() {
		if strings.HasPrefix(v.Name(), "#") {
			continue
		}
		if strings.HasSuffix(v.Path(), "qkv/bias") {
			continue // of which the keys' third has no gradient, by the softmax
		}
		if value := tensors.MustCopyFlatData[float32](v.MustValue()); slices.Min(value) == slices.Max(value) {
			t.Errorf("%s did not move from its start", v.Path())
		}
	}
}
