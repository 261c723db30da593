package groundingdino

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/textenc"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// view is how a batch is given to the network: what it is compiled for, and what is outside of images and captions.
type view struct {
	bucket  Size
	length  int
	outside float32
}

// results of the whole network: scores [B,V], references [B,K,4], logits [B,K,T], boxes [B,K,4].
type results struct{ scores, references, logits, boxes []float32 }

// network runs the three graphs on a batch; injected, unless nil, replaces the references of the selection.
func (g golden) network(backend compute.Backend, v view, o Sigmoids, images []*Image, captions []Caption,
	injected *tensors.Tensor) results {
	g.T.Helper()
	c, b := g.cfg, len(images)
	var pixels []float32
	var sizes []Size
	var ids, phrases, positions []int32
	for i, img := range images {
		flat := make([]float32, 3*v.bucket.Height*v.bucket.Width)
		inside := place(&Image{Pixels: ones(len(img.Pixels)), Size: img.Size}, v.bucket)
		for k, x := range place(img, v.bucket) {
			if flat[k] = x; inside[k] == 0 {
				flat[k] = v.outside
			}
		}
		pixels, sizes = append(pixels, flat...), append(sizes, img.Size)
		pad := make([]int32, v.length-len(captions[i].IDs))
		ids = append(append(ids, captions[i].IDs...), pad...)
		phrases = append(append(phrases, captions[i].Phrases...), pad...)
		positions = append(append(positions, captions[i].Positions...), pad...)
	}
	args := []any{tensors.FromFlatDataAndDimensions(pixels, b, 3, v.bucket.Height, v.bucket.Width),
		c.sizesTensor(sizes...)}
	for _, x := range [][]int32{ids, phrases, positions} {
		args = append(args, tensors.FromFlatDataAndDimensions(x, b, v.length))
	}
	if injected != nil {
		args = append(args, injected)
	}
	prefixes := []string{"backbone/", "levels/", "text/", "text_projection/", "levels", "encoder/", "selection/",
		"decoder/"}
	out := g.run(backend, prefixes, func(s *model.Scope, in []*Node) []*Node {
		i := Inputs{Vision: ForwardImage(s, c, in[0], in[1]), Sizes: in[1], Phrases: in[3], Positions: in[4],
			Text: ForwardText(s, c, textenc.Inputs{IDs: in[2], Positions: in[4], Segments: in[3]})}
		e := ForwardEncoder(s, c, v.bucket, i)
		last, references := e.Layers[len(e.Layers)-1], e.References
		if injected != nil {
			references = in[5]
		}
		i.Vision, i.Text = last.Vision, last.Text
		f := ForwardDecoder(s, c, v.bucket, i, references, o)
		return []*Node{e.Scores, e.References, f.Logits, f.Boxes}
	}, args...)
	return results{out[0], out[1], out[2], out[3]}
}

func ones(n int) []float32 { return slices.Repeat([]float32{1}, n) }

// tokens are the logits of a caption's own tokens.
func tokens(logits []float32, length, n int) (own []float32) {
	for row := range slices.Chunk(logits, length) {
		own = append(own, row[:n]...)
	}
	return own
}

// larger are buckets that hold an image and more: by little, by much, and by whole windows in one direction.
func (g golden) larger(s Size) []Size {
	p, ws := g.cfg.Swin.PatchSize, g.cfg.Swin.Window
	w := g.whole(s)
	return []Size{{w.Height + p, w.Width + 3*p}, {w.Height + 9*p, w.Width}, {w.Height + p*ws, w.Width + 2*p*ws}}
}

// TestWholeEqualsReference compares the whole network with transformers: each case at its own size, and the first
// inside larger buckets too, with the caption padded and not. XLA, which compiles each size for seconds, computes the
// first case of every golden and everything of the first.
func TestWholeEqualsReference(t *testing.T) {
	testbackend.Each(t, goldens, func(t *testing.T, backend compute.Backend, name string) {
		g := openGolden(t, name)
		if name == goldens[0] || backend == testbackend.Go(t) {
			checkWhole(g, backend, len(g.cases), true)
		} else {
			checkWhole(g, backend, 1, false)
		}
	})
}

func checkWhole(g golden, backend compute.Backend, cases int, buckets bool) {
	o := Sigmoids{Epsilon: 1e-5}
	for i := range cases {
		img, c := g.prepared(i)
		n := len(c.IDs)
		views := []view{{g.whole(img.Size), n, 0}}
		for k, b := range g.larger(img.Size) {
			if buckets && i == 0 {
				views = append(views, view{b, n + 7*k, 7.5})
			}
		}
		for _, v := range views {
			got := g.network(backend, v, o, []*Image{img}, []Caption{c}, nil)
			at, what := "", fmt.Sprintf("case %d in %+v: ", i, v)
			if i > 0 {
				at = fmt.Sprintf("%d.", i)
			}
			near.Check(g.T, what+"references", got.references, g.Values(at+"references"), 0, 5e-5)
			near.Check(g.T, what+"logits", tokens(got.logits, v.length, n), g.Values(at+"logits"), 0, 5e-4)
			near.Check(g.T, what+"boxes", got.boxes, g.Values(at+"boxes"), 0, 5e-5)
		}
	}
}

// TestManyQueries compares a network of 900 queries in an image of 948 positions: positions at the edge, whose boxes
// are (1,1,1,1), are selected too. Of 900 scores some are too near to each other for their order to be sure, therefore
// the decoder is given the reference's own boxes. They show what the bounds of the inverse logistic function do.
func TestManyQueries(t *testing.T) {
	g := openGolden(t, "many")
	img, c := g.prepared(0)
	v := view{g.whole(img.Size), len(c.IDs), 0}
	edge := 0
	for box := range slices.Chunk(g.Values("references"), 4) {
		if slices.Equal(box, ones(4)) {
			edge++
		}
	}
	if edge < 10 {
		t.Errorf("%d queries at the edge", edge)
	}
	for _, x := range []struct {
		at string
		o  Sigmoids
	}{{"", Sigmoids{Epsilon: 1e-5}}, {"langsam.", Sigmoids{Epsilon: 1e-3, Apart: true}}} {
		got := g.network(testbackend.Any(t), v, x.o, []*Image{img}, []Caption{c}, g.batched("references"))
		near.Check(t, "scores", got.scores, g.Values("scores"), 1e-4, 1e-4)
		sorted := func(v []float32) []float32 { return slices.Sorted(slices.Values(v)) }
		near.Check(t, "references", sorted(got.references), sorted(g.Values("references")), 0, 5e-5)
		near.Check(t, x.at+"logits", got.logits, g.Values(x.at+"logits"), 0, 5e-4)
		near.Check(t, x.at+"boxes", got.boxes, g.Values(x.at+"boxes"), 0, 5e-5)
	}
	if near.Compare(g.Values("logits"), g.Values("langsam.logits"), 0, 1e-2) == nil {
		t.Error("the bounds of the inverse logistic function change nothing")
	}
}

// TestProposes compares which positions have a box with the reference's own arithmetic, in levels of 50 rows and of 50
// columns, on both backends: XLA may divide by multiplying with a reciprocal.
func TestProposes(t *testing.T) {
	c := *openGolden(t, "shared").cfg
	c.Levels = 7
	for _, size := range []Size{{400, 536}, {792, 400}} {
		var want []float32
		edge := 0
		for l, s := range c.Sizes(size)[first:] {
			for i := range s.Height * s.Width {
				box := []float32{(float32(i%s.Width) + 0.5) / float32(s.Width), (float32(i/s.Width) + 0.5) /
					float32(s.Height), 0.05 * float32(int(1)<<l)}
				if slices.Min(box) > 0.01 && slices.Max(box) < 0.99 {
					want = append(want, 1)
				} else {
					want = append(want, 0)
				}
				if slices.Max(box) == 0.99 {
					edge++
				}
			}
		}
		if edge < 20 {
			t.Errorf("%+v: %d positions at the limit", size, edge)
		}
		for _, backend := range []compute.Backend{testbackend.Go(t), testbackend.QuickXLA(t)} {
			got := modeltest.Run(t, backend, func(*model.Store) error { return nil },
				func(_ *model.Scope, in []*Node) []*Node {
					return []*Node{nn.Float32(newFrame(&c, size, in[0]).proposes())}
				}, c.sizesTensor(size))
			near.Check(t, fmt.Sprint(backend.Name(), size), got[0], want, 0, 0)
		}
	}
}

// TestBatch: images and captions that share a call, each of its own size and length, give what they give alone.
func TestBatch(t *testing.T) {
	g, backend, o := openGolden(t, "shared"), testbackend.Any(t), Sigmoids{Epsilon: 1e-5}
	var images []*Image
	var captions []Caption
	v := view{bucket: Size{72, 72}, outside: -3}
	for i := range g.cases {
		img, c := g.prepared(i)
		images, captions = append(images, img), append(captions, c)
		v.length = max(v.length, len(c.IDs))
	}
	all := g.network(backend, v, o, images, captions, nil)
	for i, img := range images {
		alone := g.network(backend, v, o, []*Image{img}, captions[i:i+1], nil)
		near.Check(t, "boxes", all.boxes[i*len(alone.boxes):][:len(alone.boxes)], alone.boxes, 0, 2e-5)
		near.Check(t, "logits", tokens(all.logits[i*len(alone.logits):][:len(alone.logits)], v.length,
			len(captions[i].IDs)), tokens(alone.logits, v.length, len(captions[i].IDs)), 0, 2e-4)
	}
}

// TestPhrases compares tokens, phrases and positions of captions with transformers.
func TestPhrases(t *testing.T) {
	g := openGolden(t, "shared")
	var list []struct {
		Text           string
		IDs, Positions []int32
		Mask           [][]int
	}
	readJSON(t, filepath.Join("testdata", "shared", "texts.json"), &list)
	if len(list) < 12 {
		t.Fatalf("%d captions", len(list))
	}
	for _, want := range list {
		c, err := g.Caption(want.Text, Transformers)
		if err != nil || !slices.Equal(c.IDs, want.IDs) || !slices.Equal(c.Positions, want.Positions) {
			t.Errorf("%q: tokens %v at %v, %v, want %v at %v", want.Text, c.IDs, c.Positions, err, want.IDs,
				want.Positions)
			continue
		}
		for i, row := range want.Mask {
			for k, attends := range row {
				if (c.Phrases[i] == c.Phrases[k]) != (attends == 1) || c.Phrases[i] < 1 {
					t.Errorf("%q: phrases %v, but tokens %d and %d attend to each other: %d", want.Text, c.Phrases,
						i, k, attends)
				}
			}
		}
	}
}

// TestSizes compares the sizes of resized images with both implementations.
func TestSizes(t *testing.T) {
	var list [][6]int // width, height; height and width of the authors, of transformers
	readJSON(t, filepath.Join("testdata", "sizes.json"), &list)
	pre := openGolden(t, "shared").Preprocess()
	pre.Edge, pre.Longest = 800, 1333
	different := 0
	for _, s := range list {
		for _, original := range []bool{true, false} {
			pre.OriginalSize = original
			want := Size{s[4], s[5]}
			if original {
				want = Size{s[2], s[3]}
			}
			if w, h := pre.Resized(s[0], s[1]); (Size{h, w}) != want {
				t.Errorf("%d×%d pixels, original %v: %d×%d, want %+v", s[0], s[1], original, w, h, want)
			}
		}
		if s[2] != s[4] || s[3] != s[5] {
			different++
		}
	}
	if different < 10 {
		t.Errorf("the rules differ for %d sizes of %d", different, len(list))
	}
}

// TestBuckets: every usual size has a bucket that holds it and is not much larger.
func TestBuckets(t *testing.T) {
	c := openGolden(t, "shared").cfg
	for _, s := range []Size{{800, 800}, {800, 1066}, {750, 1333}, {1333, 750}, {800, 1199}, {67, 1340}, {50, 38}} {
		b := c.bucket(s)
		if b.Height < s.Height || b.Width < s.Width || b.Height*b.Width > 2*s.Height*s.Width {
			t.Errorf("%+v is put in %+v", s, b)
		}
	}
	must.Equal(t, c.bucket(Size{800, 1066}), (Size{800, 1072}), "800×1066 is put in")
}

// detector opens a detector that the test closes.
func (g golden) detector(backend compute.Backend, o Options) *Detector {
	g.T.Helper()
	d := must.Get(NewDetector(backend, g.Model, o))(g.T)
	g.T.Cleanup(d.Close)
	return d
}

// TestDetectorEqualsReference compares boxes, scores and labels at two thresholds with transformers; on XLA the cases
// that [TestWholeEqualsReference] has there.
func TestDetectorEqualsReference(t *testing.T) {
	testbackend.Each(t, goldens, func(t *testing.T, backend compute.Backend, name string) {
		g := openGolden(t, name)
		if name != goldens[0] && backend != testbackend.Go(t) {
			g.cases = g.cases[:1]
		}
		checkDetector(g, backend)
	})
}

func checkDetector(g golden, backend compute.Backend) {
	t, d := g.T, g.detector(backend, Options{})
	for i, c := range g.cases {
		img, caption := g.prepared(i)
		for _, want := range c.Found {
			got := must.Get(d.Detect(context.Background(), img, caption, DetectOptions{want.Box, want.Token}))(t)
			order := make([]int, len(want.Scores))
			for k := range order {
				order[k] = k
			}
			slices.SortStableFunc(order, func(a, b int) int {
				if want.Scores[a] > want.Scores[b] {
					return -1
				}
				return 1
			})
			if len(got) != len(order) || len(order) == 0 {
				t.Fatalf("case %d above %v: %d boxes, want %d", i, want.Box, len(got), len(order))
			}
			for k, at := range order {
				b := got[k]
				near.Check(t, "score", []float64{b.Score}, want.Scores[at:at+1], 0, 1e-4)
				near.Check(t, "box", []float64{b.X0, b.Y0, b.X1, b.Y1}, want.Boxes[at][:], 0, 1e-4*float64(c.Width))
				must.Equal(t, b.Label, want.Labels[at], "case", i, "box", k, "label")
			}
		}
	}
}
