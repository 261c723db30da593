package sam2

import (
	"context"
	"fmt"
	"image"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/sam"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// segmenter is what the encoders of SAM and SAM 2 are; this file tests what they have in common.
type segmenter interface {
	Segment(ctx context.Context, p *Image, boxes []Box) ([]Map, error)
	Load() error
	Bytes() int64
	Close()
}

// opened is a golden of either network.
type opened struct {
	modeltest.Golden
	prepare func(image.Image) (*Image, error)
	encoder func(compute.Backend, dtypes.DType) (segmenter, error)
	picture func(i int) *preprocess.RGB
}

// both runs a test with one golden of each network.
func both(t *testing.T, samFolder, sam2Folder string, test func(t *testing.T, g opened)) {
	t.Run("sam", func(t *testing.T) {
		dir := filepath.Join("..", "sam", "testdata", samFolder)
		m, g := must.Get(sam.Open(dir))(t), modeltest.Open(t, dir)
		test(t, opened{g, m.Prepare, func(b compute.Backend, d dtypes.DType) (segmenter, error) {
			return sam.NewEncoder(b, m, sam.Options{DType: d})
		}, func(i int) *preprocess.RGB { return g.Image(fmt.Sprintf("%d.picture", i)) }})
	})
	t.Run("sam2", func(t *testing.T) {
		g := openGolden(t, sam2Folder)
		test(t, opened{g.Golden, g.Prepare, func(b compute.Backend, d dtypes.DType) (segmenter, error) {
			return NewEncoder(b, g.Model, Options{DType: d})
		}, g.image})
	})
}

// open returns an encoder, and how it segments.
func (g opened) open(t *testing.T, dtype dtypes.DType) (segmenter, func(p *Image, boxes ...Box) []Map) {
	t.Helper()
	backend := testbackend.Any(t)
	if dtype == dtypes.BFloat16 { // which the pure Go backend lacks
		backend = testbackend.QuickXLA(t)
	}
	e := must.Get(g.encoder(backend, dtype))(t)
	t.Cleanup(e.Close)
	return e, func(p *Image, boxes ...Box) []Map {
		t.Helper()
		return must.Get(e.Segment(context.Background(), p, boxes))(t)
	}
}

// prepared is an image of the golden after the processor.
func (g opened) prepared(i int) *Image {
	g.T.Helper()
	return must.Get(g.prepare(g.picture(i)))(g.T)
}

// TestBoxesAreIndependent: boxes of several groups give what each gives alone, in any order, and with one box more; so
// do images.
func TestBoxesAreIndependent(t *testing.T) {
	both(t, "other-shape", "windows", func(t *testing.T, g opened) {
		_, segment := g.open(t, dtypes.InvalidDType)
		p, r := g.prepared(0), near.Rand(t, 1)
		var boxes []Box
		for range 2*sam.Boxes + 3 {
			x, y := float64(p.Width+10)*r.Float64()-10, float64(p.Height+10)*r.Float64()-10
			boxes = append(boxes, Box{x, y, x + 1 + 20*r.Float64(), y + 1 + 20*r.Float64()})
		}
		maps := segment(p, boxes...)
		if len(maps) != len(boxes) {
			t.Fatalf("%d maps", len(maps))
		}
		segment(g.prepared(1), boxes[0])
		check := func(what string, got, want Map) {
			t.Helper()
			near.Check(t, what, append(got.Logits, got.IoU), append(want.Logits, want.IoU), 1e-5, 1e-5)
		}
		for i, b := range boxes {
			check("alone", segment(p, b)[0], maps[i])
		}
		order := r.Perm(len(boxes))
		shuffled := make([]Box, len(boxes))
		for i, k := range order {
			shuffled[i] = boxes[k]
		}
		for i, m := range segment(p, shuffled...) {
			check("in another order", m, maps[order[i]])
		}
		for i, m := range segment(p, append([]Box{{1, 2, 30, 20}}, boxes...)...)[1:] {
			check("after one more", m, maps[i])
		}
		if near.Compare(maps[0].Logits, maps[1].Logits, 1e-2, 1e-2) == nil {
			t.Error("two boxes have the same map")
		}
	})
}

// boxesOf are the boxes of an image of a golden, in its own pixels.
func boxesOf(g modeltest.Golden, image int) (list []Box) {
	for _, b := range g.Rows(fmt.Sprintf("%d.boxes", image)) {
		list = append(list, Box{float64(b[0]), float64(b[1]), float64(b[2]), float64(b[3])})
	}
	return list
}

// TestBFloat16: half precision gives nearly the same masks.
func TestBFloat16(t *testing.T) {
	both(t, "windows", "video", func(t *testing.T, g opened) {
		_, segment := g.open(t, dtypes.BFloat16)
		got := segment(g.prepared(0), boxesOf(g.Golden, 0)...)
		for i, want := range g.Rows("0.logits") {
			equal := 0
			for k, v := range want {
				if (v > 0) == (got[i].Logits[k] > 0) {
					equal++
				}
			}
			if share := float64(equal) / float64(len(want)); share < 0.9 {
				t.Errorf("box %d: %.3f of the mask's pixels are the same", i, share)
			}
			if near.Compare(got[i].Logits, want, 0, 1e-4) == nil {
				t.Errorf("box %d: as exact as float32", i)
			}
		}
	})
}

func TestEncoderRefuses(t *testing.T) {
	both(t, "bf16-shards", "other-shape", func(t *testing.T, g opened) {
		network, p, ctx := filepath.Base(t.Name()), g.prepared(0), context.Background()
		_, err := g.encoder(testbackend.Any(t), dtypes.Int32)
		must.Fail(err)(t, "dtype Int32")
		_, err = g.encoder(nil, dtypes.Float32)
		must.Fail(err)(t, network+": an encoder needs a backend and a model")
		e, segment := g.open(t, dtypes.Float32)
		for want, p := range map[string]*Image{"was not prepared": nil,
			"not prepared by this model": {Pixels: p.Pixels},
			"prepared by this":           {Width: 3, Height: 3, Pixels: p.Pixels[1:]}} {
			must.Fail(e.Segment(ctx, p, []Box{{1, 1, 2, 2}}))(t, want)
		}
		inf := math.Inf(1)
		for _, bad := range []Box{{3, 3, 3, 4}, {3, 3, 4, 3}, {5, 5, 4, 4}, {0, 0, math.NaN(), 1}, {0, 0, 1, inf},
			{-inf, 0, 1, 1}, {0, 0, 1e30, 1}} {
			must.Fail(e.Segment(ctx, p, []Box{{1, 1, 2, 2}, bad}))(t, network+": box 2, ")
		}
		for _, far := range []Box{{-1e6, -1e6, 1e6, 1e6}, {0.25, 0.25, 0.5, 0.5}} {
			segment(p, far)
		}
		must.Equal(t, len(segment(p)), 0, "no boxes")
		must.Fail(e.Segment(modeltest.Canceled(), p, boxesOf(g.Golden, 0)))(t, "context canceled")
		must.Fail(g.prepare(nil))(t) // no image
		if narrow, err := g.prepare(preprocess.NewRGB(1, 9000)); network == "sam" {
			must.Fail(err)(t, "too narrow")
		} else if err != nil || narrow.Width != 1 || narrow.Height != 9000 {
			t.Errorf("a narrow image: %v", err)
		}
		if err := e.Load(); err != nil || e.Bytes() == 0 {
			t.Errorf("%d bytes, %v", e.Bytes(), err)
		}
		e.Close()
		e.Close()
		must.Fail(e.Segment(ctx, p, boxesOf(g.Golden, 0)))(t, network+": the encoder is closed")
	})
}

// TestFrequencies: a checkpoint of SAM has them under one of two names, of either network under both, and then they are
// equal.
func TestFrequencies(t *testing.T) {
	const first, second = "shared_image_embedding.positional_embedding",
		"prompt_encoder.shared_embedding.positional_embedding"
	for _, c := range []struct {
		sam2   bool
		change float32
		keep   bool
		want   string // "" = opens
	}{{false, 0, true, ""}, {false, 0, false, ""}, {false, 1, true, "differ, and should be one"},
		{true, 0, true, ""}, {true, 1, true, "differ, and should be one"}} {
		dir := modeltest.CopyOf(t, "../../sam/testdata/windows")
		if c.sam2 {
			dir = computed(t, "windows")
		}
		list := modeltest.Tensors(t, dir)
		i := slices.IndexFunc(list, func(t weights.Tensor) bool { return t.Name == first })
		other := weights.Tensor{Name: second, Shape: list[i].Shape, Data: slices.Clone(list[i].Data)}
		if other.Data[5] += c.change; c.keep {
			list = append(list, other)
		} else {
			list[i] = other
		}
		modeltest.Save(t, dir, list)
		_, err := sam.Open(dir)
		if c.sam2 {
			_, err = Open(dir)
		}
		if c.want != "" {
			must.Fail(err)(t, c.want)
		} else if err != nil {
			t.Error(err)
		}
	}
}
