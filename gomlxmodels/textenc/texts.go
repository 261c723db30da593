package textenc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/tokenizers"
)

// Prepared is a text as token ids, with what the tokenizer counted: tokens, unknown tokens, words, truncation.
type Prepared struct{ tokenizers.Encoding }

// Tokenizer is the tokenizer of the model's folder; the error of a folder without one names the files that are looked for.
func (m *Model) Tokenizer() (*tokenizers.Tokenizer, error) { return m.tokenizer, m.noTokenizer }

// openTokenizer reads the tokenizer and its limit. It keeps the error: ids can be embedded without a tokenizer.
func (m *Model) openTokenizer() {
	if m.tokenizer, m.noTokenizer = tokenizers.Open(m.dir); m.noTokenizer != nil {
		return
	}
	if limit := m.tokenizer.Limit(); limit > 0 && limit < m.maxTokens && !m.limited {
		m.maxTokens = limit
	}
	for _, f := range m.tokenizer.Files() {
		if !slices.Contains(m.files, f) {
			m.files = append(m.files, f)
		}
	}
}

// dotted is the one letter whose small form is two characters to the tokenizers library, and one to package strings.
var dotted = strings.NewReplacer("İ", "i\u0307")

// Prepare turns a text into token ids, start and end tokens included, cut at [Model.MaxTokens]; the folder's default prompt
// comes first, where it has one. It is safe on several goroutines at once.
func (m *Model) Prepare(text string) (p *Prepared, err error) {
	defer runner.Recovered("textenc", &err)
	if m.noTokenizer != nil {
		return nil, m.noTokenizer
	}
	text = m.prompt + text
	if m.lower {
		text = strings.ToLower(dotted.Replace(text))
	}
	e, err := m.tokenizer.Encode(text, m.maxTokens)
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
