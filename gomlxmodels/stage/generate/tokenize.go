package generate

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"unicode"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/tokenizers"
)

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.TokenizeOp, Version: tokenizers.Version, Open: openTokenizer})
}

// tokenizeWorker counts what becomes of prompts before a generator sees them. It needs no device.
type tokenizeWorker struct {
	args      gomlxmodels.TokenizeArgs
	tokenizer *tokenizers.Tokenizer
	limit     int // tokens that the model sees, special ones included; 0 = all
	normalize func(prompt string) (text string, lost []string, err error)
	digest    string
}

func openTokenizer(_ context.Context, env stage.Env, raw json.RawMessage) (*stage.Opened, error) {
	w := &tokenizeWorker{}
	if err := json.Unmarshal(raw, &w.args); err != nil {
		return nil, err
	}
	dir, err := hub.Resolve(env, w.args.Model)
	if err != nil {
		return nil, err
	}
	read := "as given"
	if _, open := opener(dir); open != nil {
		var m tokenModel
		if m, err = open(dir, &gomlxmodels.TokenOptions{}); err == nil {
			w.tokenizer, w.limit, w.normalize, read = m.tokenizer, m.limit, m.normalize, m.text
		}
	} else if m, failed := diffusion.Open(dir, diffusion.OpenOptions{NoSafetyChecker: true}); failed == nil {
		w.limit = m.TextLength()
		w.tokenizer, err = m.Tokenizer()
	} else if w.tokenizer, err = tokenizers.Open(dir); err == nil {
		w.limit = w.tokenizer.Limit()
	}
	if err != nil {
		return nil, err
	}
	w.digest, err = hub.Digest(env, w.args.Model+" (tokenizer)", w.tokenizer.Files(), w.limit, read)
	return stage.Of(w), err
}

func (w *tokenizeWorker) Label() string              { return "tokenize " + hub.Name(w.args.Model) }
func (w *tokenizeWorker) Digest() string             { return w.digest }
func (w *tokenizeWorker) Key(row stage.Row) string   { return row.Text(w.args.Text) }
func (w *tokenizeWorker) Batch() int                 { return 4096 }
func (w *tokenizeWorker) Load(context.Context) error { return nil }
func (w *tokenizeWorker) Close()                     {}

func (w *tokenizeWorker) Check(columns []table.ColumnSpec) error {
	return stage.Needs("tokenize", columns, table.ColumnSpec{Name: w.args.Text, Kind: table.KindText})
}

func (w *tokenizeWorker) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.TokenizeColumns(w.args.Text)
}

func (w *tokenizeWorker) Prepare(_ context.Context, row stage.Row) ([]table.Value, string, error) {
	text, lost, beyond := row.Text(w.args.Text), []string(nil), 0
	if w.normalize != nil {
		for _, word := range strings.Fields(text) {
			if strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) }) {
				beyond++
			}
		}
		var err error
		if text, lost, err = w.normalize(text); err != nil {
			return nil, w.args.Text, err
		}
	}
	e, err := w.tokenizer.Encode(text, -1)
	if err != nil {
		return nil, w.args.Text, err
	}
	partial, special := 0, e.Tokens-len(e.IDs) // without those around the text
	for _, id := range e.IDs {
		text := w.tokenizer.Decode([]int32{id}, true)
		if strings.ContainsRune(text, unicode.ReplacementChar) {
			partial++
		} else if text == "" && w.tokenizer.Decode([]int32{id}, false) != "" {
			special++
		}
	}
	cut := max(0, len(e.IDs)-cmp.Or(w.limit, len(e.IDs)))
	var out []table.Value
	for _, n := range []int{e.Tokens, e.Words, e.Unknown, partial, cut, min(special, e.Special),
		max(0, beyond-len(lost)), len(lost)} {
		out = append(out, table.Value{Number: float64(n)})
	}
	return out, "", nil
}

func (w *tokenizeWorker) Compute(_ context.Context, prepared [][]table.Value) ([][]table.Value, error) {
	return prepared, nil
}
