package groundingdino

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/textenc"
)

// The tokens that end a phrase: [CLS], [SEP], the period and the question mark of BERT's uncased vocabulary. The
// network has them built in.
const (
	start    int32 = 101
	end      int32 = 102
	period   int32 = 1012
	question int32 = 1029
)

// separators are the tokens that end a phrase, as the vocabulary writes them.
var separators = map[string]int32{"[CLS]": start, "[SEP]": end, ".": period, "?": question}

func separates(id int32) bool { return id == start || id == end || id == period || id == question }

// Caption is a text as the network reads it.
type Caption struct {
	Text string
	IDs  []int32 // tokens, [CLS] and [SEP] included
	// Phrases number the phrases of the tokens from 1; a token attends to its own phrase alone. Tokens that a separator
	// does not follow before the end are each one of their own, and so are the first and the last.
	Phrases   []int32
	Positions []int32 // of the tokens in their phrases, from 0
	Unknown   int     // how many of the tokens stand for something the vocabulary lacks
}

// newCaption finds the phrases of a text. The rule sees the text without padding: padded, a text that ends without a
// period would give other numbers.
func newCaption(ids []int32) Caption {
	c := Caption{IDs: ids, Phrases: make([]int32, len(ids)), Positions: make([]int32, len(ids))}
	first, phrase := 0, int32(0)
	for i, id := range ids {
		if !separates(id) {
			continue
		}
		if i > 0 && i < len(ids)-1 {
			phrase++
			for k := first; k <= i; k++ {
				c.Phrases[k], c.Positions[k] = phrase, int32(k-first)
			}
		}
		first = i + 1
	}
	for i, p := range c.Phrases {
		if p == 0 {
			phrase++
			c.Phrases[i] = phrase
		}
	}
	return c
}

// Caption turns a text into tokens, as the profile says. A text of more tokens than max_text_len, and one whose
// tokens the vocabulary lacks altogether, is an error.
func (m *Model) Caption(text string, p Profile) (Caption, error) {
	t, err := m.Tokenizer()
	if err != nil {
		return Caption{}, err
	}
	settings, err := p.settings()
	if err != nil {
		return Caption{}, err
	}
	if settings.caption != nil {
		text = settings.caption(text)
	}
	e, err := t.Encode(text, -1)
	if err != nil {
		return Caption{}, err
	}
	if len(e.IDs) > m.cfg.MaxText {
		return Caption{}, fmt.Errorf("caption of %d tokens, the model takes %d (max_text_len)", len(e.IDs),
			m.cfg.MaxText)
	}
	if e.Unknown > 0 && !slices.ContainsFunc(e.IDs, func(id int32) bool {
		return !separates(id) && id != t.UnknownID()
	}) {
		return Caption{}, fmt.Errorf("caption %q: no word of it is in the model's vocabulary, which is English", text)
	}
	c := newCaption(e.IDs)
	c.Text, c.Unknown = text, e.Unknown
	return c, nil
}

// lengths are what captions are padded to, in tokens, so that few graphs are compiled.
var lengths = []int{16, 64, 256}

// length is the length that a caption of n tokens is padded to.
func (c *Config) length(n int) int {
	i := slices.IndexFunc(lengths, func(l int) bool { return l >= n })
	if i < 0 {
		return c.MaxText
	}
	return min(lengths[i], max(n, c.MaxText))
}

// ForwardText is the text backbone, a BERT that attends within phrases, and the projection to the network's width.
//
// Shapes: in [B,T] int32 each, Segments the numbers of phrases → [B,T,D].
func ForwardText(scope *model.Scope, cfg *Config, in textenc.Inputs) *Node {
	blocks := textenc.Forward(scope.At("text"), cfg.Text, nil, in, textenc.GraphOptions{}).Blocks
	return nn.Dense(scope.At("text_projection"), blocks[len(blocks)-1], cfg.Width, true)
}

// words is what all layers need to know of a text.
type words struct {
	keep      *Node // [B,1,1,T] bool, where a token is
	own       *Node // [B,1,T,T] bool, where two tokens are of one phrase
	positions *Node // [B,T,D]
}

func newWords(cfg *Config, phrases, positions *Node) words {
	is := NotEqual(phrases, ZerosLike(phrases))
	own := Equal(InsertAxes(phrases, 2), InsertAxes(phrases, 1))
	own = LogicalAnd(own, BroadcastToShape(InsertAxes(is, 1), own.Shape()))
	return words{InsertAxes(is, 1, 1), InsertAxes(own, 1), sine(nn.Float32(positions), cfg.Width, 10000)}
}
