package blip

import (
	"fmt"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/readout"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/tokenizers"
)

// Sequence lengths by kind of text, in tokens, with the start token and without the end token. Half of a batch's images
// show objects and scenery, half figures; each figure also has two questions about its groups.
const (
	thingPlaces    = 16
	figurePlaces   = 44
	questionPlaces = 5
	positions      = 64 // maximum length of the network
)

// unscored is the label of positions that the loss ignores: those in a prefix and in the padding.
const unscored = -1

// example is an image with the text to predict after a prefix.
type example struct {
	img          archipelago.Image
	prefix, text string
}

// randomExample samples a row of a batch. In the first half of the batch, every fourth image is scenery.
func randomExample(r *rand.Rand, row, size int) example {
	kind := examples.Thing
	switch {
	case row >= size/2:
		kind = examples.Figure
	case row%4 == 3:
		kind = examples.Scenery
	}
	e := example{img: examples.Random(r, kind)}
	e.describe(r)
	return e
}

// describe sets the text to the caption, in one of four cases with a prefix.
func (e *example) describe(r *rand.Rand) {
	e.text = e.img.Caption()
	if r.IntN(4) == 0 {
		e.prefix = examples.Pick(r, prefixes)
	}
}

// questions returns the questions about a figure's groups: the crest, then the banner.
func (e *example) questions() []example {
	f := e.img.Figure
	return []example{{e.img, questions[archipelago.AxisCrest], f.Crest},
		{e.img, questions[archipelago.AxisBanner], f.Banner}}
}

// texts are the token rows of one kind of text. Slices are row-major.
type texts struct {
	ids  []int32 // [R,Q] input tokens, the start token first
	next []int32 // [R,Q] the next token, or unscored
}

// batch is the input of a step.
type batch struct {
	size    int
	pixels  []float32 // [B,3,128,128] in [-1,1]: objects and scenery, then figures
	things  texts     // R = B/2
	figures texts     // R = B/2
	groups  texts     // R = B: two for each figure
	shown   readout.Answers
}

// trainingBatch returns the batch of a step: new images.
func trainingBatch(t *tokenizers.Tokenizer, seed uint64, step, size int) (*batch, error) {
	list := make([]example, size)
	for i := range list {
		list[i] = randomExample(examples.Stream(seed, step, i), i, size)
	}
	return makeBatch(t, list)
}

// makeBatch draws the images and tokenizes the texts.
func makeBatch(t *tokenizers.Tokenizer, list []example) (*batch, error) {
	b := &batch{size: len(list), pixels: make([]float32, 0, len(list)*3*examples.Size*examples.Size)}
	for i, e := range list {
		b.shown.Add(e.img)
		img, _ := examples.World.Paint(e.img)
		b.pixels = trainer.AppendPlanes(b.pixels, img)
		half, places := &b.things, thingPlaces
		if i >= len(list)/2 {
			half, places = &b.figures, figurePlaces
			for _, q := range e.questions() {
				if err := b.groups.append(t, q, questionPlaces); err != nil {
					return nil, err
				}
			}
		}
		if err := half.append(t, e, places); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// append adds a row: [DEC] prefix text [SEP].
func (h *texts) append(t *tokenizers.Tokenizer, e example, places int) error {
	prefix, err := t.Encode(e.prefix, -1)
	if err != nil {
		return err
	}
	whole, err := t.Encode(e.prefix+" "+e.text, -1)
	if err != nil {
		return err
	}
	if whole.Unknown > 0 || len(whole.IDs) > places+1 {
		return fmt.Errorf("caption %q %q: %d tokens, %d of them unknown; at most %d known tokens are allowed", e.prefix,
			e.text, len(whole.IDs), whole.Unknown, places+1)
	}
	ids := whole.IDs
	ids[0] = int32(tokenID(tokenStart))
	for i := range places {
		id, next := int32(0), int32(unscored)
		if i+1 < len(ids) {
			id = ids[i]
			if i >= prefix.Tokens {
				next = ids[i+1]
			}
		}
		h.ids, h.next = append(h.ids, id), append(h.next, next)
	}
	return nil
}

// tensors returns the inputs of [lossGraph].
func (b *batch) tensors() []*tensors.Tensor {
	out := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(b.pixels, b.size, 3, examples.Size, examples.Size)}
	for _, k := range []struct {
		texts
		places int
	}{{b.things, thingPlaces}, {b.figures, figurePlaces}, {b.groups, questionPlaces}} {
		rows := len(k.ids) / k.places
		out = append(out, tensors.FromFlatDataAndDimensions(k.ids, rows, k.places),
			tensors.FromFlatDataAndDimensions(k.next, rows, k.places))
	}
	return append(out, b.shown.Tensors()...)
}
