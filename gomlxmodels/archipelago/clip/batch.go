package clip

import (
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/readout"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
)

// each is the number of texts per image: captions in two languages and a short sentence.
const each = 3

// length is the sequence length of texts in training; longer texts are truncated.
const length = 24

// batch is the input of a step. Slices are row-major.
type batch struct {
	images    []archipelago.Image
	sentences []Sentence // those of image i start at each·i
	pixels    []float32  // [B,3,128,128] in [-1,1]
}

// trainingBatch returns the batch of a step: pairs of new images that differ in one property.
func trainingBatch(seed uint64, step, size int) batch {
	var b batch
	for i := range size {
		r := examples.Stream(seed, step, i)
		var p archipelago.Image
		if i%2 == 0 {
			p = examples.Random(r, kind(r))
		} else {
			p = vary(r, b.images[i-1])
		}
		b.add(r, p)
	}
	return b
}

// kind samples a kind of image.
func kind(r *rand.Rand) string {
	switch x := r.Float64(); {
	case x < 0.5:
		return examples.Thing
	case x < 0.92:
		return examples.Figure
	}
	return examples.Scenery
}

// add draws an image and samples its texts.
func (b *batch) add(r *rand.Rand, p archipelago.Image) {
	b.images = append(b.images, p)
	im, _ := examples.World.Paint(p)
	b.pixels = trainer.AppendPlanes(b.pixels, im)
	codes := examples.Codes()
	order := r.Perm(len(codes))
	b.sentences = append(b.sentences, Caption(p, codes[order[0]]), Caption(p, codes[order[1]]), say(r, p))
}

// vary returns an image that differs in one property, and in the seeds.
func vary(r *rand.Rand, p archipelago.Image) archipelago.Image {
	kinds := examples.Thing
	if p.Figure != nil {
		kinds = examples.Figure
	} else if p.Object == "" {
		kinds = examples.Scenery
	}
	for {
		q := examples.Random(r, kinds)
		out := p
		out.Seed, out.Backdrop = q.Seed, q.Backdrop
		change := r.IntN(4)
		if f := p.Figure; f != nil {
			g := *f
			out.Figure = &g
			if r.IntN(5) > 0 {
				varyFigure(r, &g, q.Figure)
				change = -1
			}
		}
		switch change {
		case 0:
			out.Scene = q.Scene
		case 1:
			out.Island = q.Island
		case 2:
			if seen, _ := archipelago.Variants(p.Object); seen != nil {
				out.Variant = examples.Pick(r, seen)
			}
		case 3:
			out.Object, out.Variant = q.Object, q.Variant
		}
		if said(out) != said(p) {
			return out
		}
	}
}

// varyFigure copies one property of another figure, or adds or removes an attribute.
func varyFigure(r *rand.Rand, f, other *archipelago.Figure) {
	switch r.IntN(6) {
	case 0:
		f.People = other.People
	case 1:
		f.Crest = other.Crest
	case 2:
		f.Banner = other.Banner
	case 3:
		f.Occupation, f.Ceremony = other.Occupation, other.Ceremony
	default:
		a := examples.Pick(r, archipelago.AttributeNames())
		var with []string // in the order of captions
		for _, name := range archipelago.AttributeNames() {
			if slices.Contains(f.Attributes, name) != (name == a) {
				with = append(with, name)
			}
		}
		f.Attributes = with
	}
}

// said returns all properties of an image that texts can state, as one string.
func said(p archipelago.Image) string {
	all := p.Island + "|" + p.Scene + "|" + p.Caption()
	if f := p.Figure; f != nil {
		all += "|" + f.Crest + "|" + f.Banner
	}
	return all
}

// tensors returns the inputs of [lossGraph].
func (b batch) tensors(r *rand.Rand) ([]*tensors.Tensor, error) {
	n := len(b.images)
	var texts []string
	for _, s := range b.sentences {
		texts = append(texts, s.Text)
	}
	var truth, worn, present, figure []bool
	var answers []int32
	var read readout.Answers
	for _, p := range b.images {
		read.Add(p)
		for _, s := range b.sentences {
			truth = append(truth, s.True(p))
		}
		for _, c := range classes {
			answers = append(answers, c.Label(p))
		}
		for _, a := range archipelago.AttributeNames() {
			worn = append(worn, p.Figure != nil && slices.Contains(p.Figure.Attributes, a))
		}
		for _, o := range examples.World.Objects() {
			s := Present(o)
			present = append(present, s.True(p))
		}
		figure = append(figure, p.Figure != nil)
	}
	ids, err := tokens.Rows(texts, length)
	if err != nil {
		return nil, err
	}
	asked := askedTexts(r)
	questions, err := tokens.Rows(asked, askedLength)
	if err != nil {
		return nil, err
	}
	return append([]*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(b.pixels, n, 3, examples.Size, examples.Size),
		tensors.FromFlatDataAndDimensions(ids, len(texts), length),
		tensors.FromFlatDataAndDimensions(truth, n, len(texts)),
		tensors.FromFlatDataAndDimensions(questions, len(asked), askedLength),
		tensors.FromFlatDataAndDimensions(answers, n, len(classes)),
		tensors.FromFlatDataAndDimensions(worn, n, len(worn)/n),
		tensors.FromFlatDataAndDimensions(present, n, len(present)/n),
		tensors.FromFlatDataAndDimensions(figure, n, 1),
	}, read.Tensors()...), nil
}
