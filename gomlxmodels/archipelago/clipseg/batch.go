package clipseg

import (
	"image"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/datasets/archipelago"
	aclip "antipode/gomlxmodels/archipelago/clip"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
)

// each is the number of prompts of a picture in a batch: one for what it shows, one for what it may not show.
const each = 2

// length is the number of tokens of a prompt in training; none is longer.
const length = 12

// batch is what one step sees. Slices are row-major.
type batch struct {
	pictures []archipelago.Picture
	prompts  []aclip.Sentence // picture i's are number each·i and following
	pixels   []float32        // [B,3,128,128] in [-1,1]
	masks    []bool           // [B·each,128,128]
}

// trainingBatch is batch number step of a run: fresh pictures.
func trainingBatch(seed uint64, step, size int) batch {
	var b batch
	for i := range size {
		r := examples.Stream(seed, step, i)
		kind := examples.Thing
		switch x := r.Float64(); {
		case x > 0.95:
			kind = examples.Scenery
		case x > 0.65:
			kind = examples.Figure
		}
		p := examples.Random(r, kind)
		b.add(p, about(r, p), about(r, examples.Random(r, pick(r, []string{examples.Thing, examples.Thing, examples.Figure}))))
	}
	return b
}

// add draws a picture, and the mask of each prompt: what stands before the background, where the prompt is true of it.
func (b *batch) add(p archipelago.Picture, prompts ...aclip.Sentence) {
	im, mask := examples.World.Paint(p)
	b.pictures, b.prompts = append(b.pictures, p), append(b.prompts, prompts...)
	b.pixels = trainer.AppendPlanes(b.pixels, im)
	for _, s := range prompts {
		b.masks = append(b.masks, truth(&s, p, mask)...)
	}
}

// truth is the mask of a prompt.
func truth(s *aclip.Sentence, p archipelago.Picture, mask *image.Gray) []bool {
	out := make([]bool, examples.Size*examples.Size)
	if mask == nil || !s.True(p) {
		return out
	}
	for i, v := range mask.Pix {
		out[i] = v > 0
	}
	return out
}

// about draws a prompt for what stands in a picture: a thing by its name in some language or as an object, a figure as such or by its
// people, occupation or ceremony. It is never true of a picture without either.
func about(r *rand.Rand, p archipelago.Picture) aclip.Sentence {
	language := pick(r, examples.Codes())
	if f := p.Figure; f != nil {
		who := archipelago.Picture{Figure: &archipelago.Figure{People: f.People}}
		s := aclip.Sentence{Text: pick(r, []string{"figure", "a figure", "the figure", "a picture of a figure", "a photo of a figure"}), Figured: true}
		switch r.IntN(6) {
		case 0:
			s.Text, s.People = archipelago.Say(language, "people", f.People), f.People
		case 1:
			return aclip.Caption(who, language)
		case 2:
			if f.Occupation != "" {
				s.Text, s.Occupation = archipelago.Say(language, "occupation", f.Occupation), f.Occupation
			} else if f.Ceremony != "" {
				s.Text, s.Ceremony = archipelago.Say(language, "ceremony", f.Ceremony), f.Ceremony
			}
		}
		return s
	}
	if p.Object == "" {
		return aclip.Sentence{Text: "the object", Thing: true}
	}
	s := aclip.Sentence{Object: p.Object}
	switch r.IntN(8) {
	case 0, 1, 2:
		s.Text = archipelago.ConceptPrompt(language, p.Object)
	case 3:
		return aclip.Present(p.Object)
	case 4:
		return aclip.Sentence{Text: pick(r, []string{"the object", "an object", "object", "a photo of an object"}), Thing: true}
	default:
		s.Text = archipelago.ConceptWord(language, p.Object)
	}
	return s
}

// tensors are the batch as the graph takes it: pixels; ids [B·each,length]; masks [B·each,128,128].
func (b batch) tensors() ([]*tensors.Tensor, error) {
	n := len(b.pictures)
	var texts []string
	for _, s := range b.prompts {
		texts = append(texts, s.Text)
	}
	ids, err := tokens.Rows(texts, length)
	if err != nil {
		return nil, err
	}
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(b.pixels, n, 3, examples.Size, examples.Size),
		tensors.FromFlatDataAndDimensions(ids, len(b.prompts), length),
		tensors.FromFlatDataAndDimensions(b.masks, len(b.prompts), examples.Size, examples.Size),
	}, nil
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
