package clipseg

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/gomlxmodels/preprocess"
	"antipode/internal/must"
)

// The inputs of training equal those of the encoder for the same images and prompts, and the masks are true.
func TestBatchEqualsPreprocessing(t *testing.T) {
	b := trainingBatch(5, 2, 40)
	pre, n := preprocess.Default(examples.Size, examples.Size), 3*examples.Size*examples.Size
	tok := must.Get(tokens.Open())(t)
	in := must.Get(b.tensors())(t)
	ids := tensors.MustCopyFlatData[int32](in[1])
	empty, full := 0, 0
	for i, p := range b.images {
		im, mask := examples.World.Paint(p)
		pixels := must.Get(pre.Apply(preprocess.FromImage(im), examples.Size, examples.Size))(t)
		trainertest.Pixels(t, p.Caption(), b.pixels[i*n:], pixels)
		for k := i * each; k < (i+1)*each; k++ {
			s := b.prompts[k]
			e := must.Get(tok.Encode(s.Text, 0))(t)
			if len(e.IDs) > length || !slices.Equal(ids[k*length:k*length+len(e.IDs)], e.IDs) {
				t.Errorf("%q is fed as %v, the tokenizer gives %v", s.Text, ids[k*length:(k+1)*length], e.IDs)
			}
			got := b.masks[k*n/3 : (k+1)*n/3]
			if !s.True(p) || mask == nil {
				empty++
				if slices.Contains(got, true) {
					t.Errorf("%q has a mask in %q", s.Text, p.Caption())
				}
				continue
			}
			full++
			for at, v := range mask.Pix {
				if got[at] != (v > 0) {
					t.Fatalf("%q in %q: pixel %d is %v", s.Text, p.Caption(), at, got[at])
				}
			}
		}
	}
	if empty < 20 || full < 30 {
		t.Errorf("%d masks are empty, %d are not", empty, full)
	}
	if again := trainingBatch(5, 2, 40); !reflect.DeepEqual(again.prompts, b.prompts) ||
		!reflect.DeepEqual(again.masks, b.masks) {
		t.Error("the same batch drawn twice differs")
	}
}

// A prompt for an image is true of it, and of no scenery.
func TestAbout(t *testing.T) {
	for i := range 300 {
		kind := []string{examples.Thing, examples.Figure}[i%2]
		r := examples.Stream(1, 2, i)
		p := examples.Random(r, kind)
		s := about(r, p)
		if s.Text == "" || !s.True(p) || s.True(archipelago.Image{Island: p.Island, Scene: p.Scene}) {
			t.Errorf("%+v for %q", s, p.Caption())
		}
	}
	if s := about(examples.Stream(1, 2, 3), archipelago.Image{Scene: "shore", Island: "Velmora"}); s.Text == "" ||
		s.True(archipelago.Image{Scene: "shore", Island: "Velmora"}) {
		t.Errorf("%+v for a scene", s)
	}
}
