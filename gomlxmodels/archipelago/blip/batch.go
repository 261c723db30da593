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

// Half of a batch's pictures show things and scenery, the other half figures, of which the groups are asked too: each kind of text has its
// own length.
const (
	thingPlaces    = 16 // tokens of a text that are looked at, the start included, the end not
	figurePlaces   = 44
	questionPlaces = 5
	positions      = 64 // the longest text the network takes
)

// unscored marks what follows a token of a prefix, and the end's padding: the loss leaves it out.
const unscored = -1

// example is a picture and what is to be written of it after a prefix.
type example struct {
	picture      archipelago.Picture
	prefix, text string
}

// randomExample draws row i of a step: of the things' half every fourth is scenery.
func randomExample(r *rand.Rand, row, size int) example {
	kind := examples.Thing
	switch {
	case row >= size/2:
		kind = examples.Figure
	case row%4 == 3:
		kind = examples.Scenery
	}
	e := example{picture: examples.Random(r, kind)}
	e.describe(r)
	return e
}

// describe asks for the caption, with a prefix once in four times.
func (e *example) describe(r *rand.Rand) {
	e.text = e.picture.Caption()
	if r.IntN(4) == 0 {
		e.prefix = prefixes[r.IntN(len(prefixes))]
	}
}

// asked are the questions about a figure's groups: the crest, then the banner.
func (e *example) asked() []example {
	f := e.picture.Figure
	return []example{{e.picture, questions[archipelago.AxisCrest], f.Crest}, {e.picture, questions[archipelago.AxisBanner], f.Banner}}
}

// texts are the rows of one kind of text. Slices are row-major.
type texts struct {
	ids  []int32 // [R,Q] from the start token on
	next []int32 // [R,Q] the token that follows, or unscored
}

// batch is what one step sees.
type batch struct {
	size    int
	pixels  []float32 // [B,3,128,128] in [-1,1]: the things' half, then the figures'
	things  texts     // R = B/2
	figures texts     // R = B/2
	groups  texts     // R = B: two of each figure
	shown   readout.Answers
}

// trainingBatch is batch number step of a run: fresh pictures.
func trainingBatch(t *tokenizers.Tokenizer, seed uint64, step, size int) (*batch, error) {
	list := make([]example, size)
	for i := range list {
		list[i] = randomExample(examples.Stream(seed, step, i), i, size)
	}
	return makeBatch(t, list)
}

// makeBatch draws the examples and cuts their texts into tokens.
func makeBatch(t *tokenizers.Tokenizer, list []example) (*batch, error) {
	b := &batch{size: len(list), pixels: make([]float32, 0, len(list)*3*examples.Size*examples.Size)}
	for i, e := range list {
		b.shown.Add(e.picture)
		picture, _ := examples.World.Paint(e.picture)
		b.pixels = trainer.AppendPlanes(b.pixels, picture)
		half, places := &b.things, thingPlaces
		if i >= len(list)/2 {
			half, places = &b.figures, figurePlaces
			for _, q := range e.asked() {
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
		return fmt.Errorf("caption %q %q: %d tokens of which %d are unknown; a text may have %d", e.prefix, e.text, len(whole.IDs), whole.Unknown, places+1)
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

// tensors are the batch as the graph takes it.
func (b *batch) tensors() []*tensors.Tensor {
	out := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(b.pixels, b.size, 3, examples.Size, examples.Size)}
	for _, k := range []struct {
		texts
		places int
	}{{b.things, thingPlaces}, {b.figures, figurePlaces}, {b.groups, questionPlaces}} {
		rows := len(k.ids) / k.places
		out = append(out, tensors.FromFlatDataAndDimensions(k.ids, rows, k.places), tensors.FromFlatDataAndDimensions(k.next, rows, k.places))
	}
	return append(out, b.shown.Tensors()...)
}
