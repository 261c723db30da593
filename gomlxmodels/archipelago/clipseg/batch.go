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

// each is the number of prompts per image: one that describes it and one that may not.
const each = 2

// length is the sequence length of prompts in training; none is longer.
const length = 12

// batch is the input of a step. Slices are row-major.
type batch struct {
	images  []archipelago.Image
	prompts []aclip.Sentence // those of image i start at each·i
	pixels  []float32        // [B,3,128,128] in [-1,1]
	masks   []bool           // [B·each,128,128]
}

// trainingBatch returns the batch of a step: new images.
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
		b.add(p, about(r, p), about(r,
			examples.Random(r, examples.Pick(r, []string{examples.Thing, examples.Thing, examples.Figure}))))
	}
	return b
}

// add renders an image and the mask of each prompt: the foreground if the prompt describes it, empty otherwise.
func (b *batch) add(p archipelago.Image, prompts ...aclip.Sentence) {
	im, mask := examples.World.Paint(p)
	b.images, b.prompts = append(b.images, p), append(b.prompts, prompts...)
	b.pixels = trainer.AppendPlanes(b.pixels, im)
	for _, s := range prompts {
		b.masks = append(b.masks, truth(&s, p, mask)...)
	}
}

// truth returns the mask of a prompt.
func truth(s *aclip.Sentence, p archipelago.Image, mask *image.Gray) []bool {
	out := make([]bool, examples.Size*examples.Size)
	if mask == nil || !s.True(p) {
		return out
	}
	for i, v := range mask.Pix {
		out[i] = v > 0
	}
	return out
}

// about samples a prompt for the foreground of an image: the object's name in a random language or "an object"; the
// word "figure" or the figure's people, occupation or ceremony. It is not true of an image without foreground.
func about(r *rand.Rand, p archipelago.Image) aclip.Sentence {
	language := examples.Pick(r, examples.Codes())
	if f := p.Figure; f != nil {
		who := archipelago.Image{Figure: &archipelago.Figure{People: f.People}}
		s := aclip.Sentence{Text: examples.Pick(r, []string{"figure", "a figure", "the figure", "a picture of a figure",
			"a photo of a figure"}), Figured: true}
		switch r.IntN(6) {
		case 0:
			s.Text, s.People = archipelago.Translate(language, "people", f.People), f.People
		case 1:
			return aclip.Caption(who, language)
		case 2:
			if f.Occupation != "" {
				s.Text, s.Occupation = archipelago.Translate(language, "occupation", f.Occupation), f.Occupation
			} else if f.Ceremony != "" {
				s.Text, s.Ceremony = archipelago.Translate(language, "ceremony", f.Ceremony), f.Ceremony
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
		return aclip.Sentence{Thing: true, Text: examples.Pick(r, []string{"the object", "an object", "object",
			"a photo of an object"})}
	default:
		s.Text = archipelago.ConceptWord(language, p.Object)
	}
	return s
}

// tensors returns the inputs of [lossGraph].
func (b batch) tensors() ([]*tensors.Tensor, error) {
	n := len(b.images)
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
