package textenc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/tokenizers"
)

// Prepared is a text as token ids, with what the tokenizer counted: tokens, unknown tokens, words, truncation.
type Prepared struct{ tokenizers.Encoding }

// openTokenizer reads the tokenizer and its limit. Ids can be embedded without a tokenizer.
func (m *Model) openTokenizer() error {
	if err := m.OpenTokenizer(math.MaxInt, 0); err != nil {
		return err
	}
	t, err := m.Tokenizer()
	if err != nil {
		return nil
	}
	if m.lower {
		t.Lower()
	}
	if limit := t.Limit(); limit > 0 && limit < m.maxTokens && !m.limited {
		m.maxTokens = limit
	}
	return nil
}

// Prepare turns a text into token ids, start and end tokens included, cut at [Model.MaxTokens]; the folder's default
// prompt comes first, where it has one. It is safe on several goroutines at once.
func (m *Model) Prepare(text string) (p *Prepared, err error) {
	defer runner.Recovered("textenc", &err)
	t, err := m.Tokenizer()
	if err != nil {
		return nil, err
	}
	e, err := t.Encode(m.prompt+text, m.maxTokens)
	if err != nil {
		return nil, err
	}
	return &Prepared{e}, nil
}

// Encode is [Encoder.EncodeIDs] for prepared texts.
func (e *Encoder) Encode(ctx context.Context, list []*Prepared) ([]Embedding, error) {
	if e == nil {
		return nil, errors.New("textenc: no encoder")
	}
	texts := make([][]int32, len(list))
	for i, p := range list {
		if p == nil {
			return nil, fmt.Errorf("text %d: not prepared", i+1)
		}
		texts[i] = p.IDs
	}
	return e.EncodeIDs(ctx, texts)
}
