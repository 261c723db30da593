package embed

import (
	"math"

	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/tokenizers"
	"antipode/kernel/client"
)

// texts is what all encoders of texts share: a column, a tokenizer, the longest text in tokens.
type texts struct {
	column    string
	tokenizer *tokenizers.Tokenizer
	limit     int
	around    int // special tokens put around each text
}

func newTexts(column string, t *tokenizers.Tokenizer, limit int) texts {
	empty, _ := t.Encode("", -1) // −1: no limit that could fail
	return texts{column: column, tokenizer: t, limit: limit, around: len(empty.IDs)}
}

func (t *texts) needs() []client.ColumnSpec {
	return []client.ColumnSpec{{Name: "id", Kind: client.Text}, {Name: t.column, Kind: client.Text}}
}

func (t *texts) key(row stage.Row) string {
	if row.Text(t.column) == "" && absent(row) {
		return "\x00absent"
	}
	return row.Text(t.column)
}

func (t *texts) prepare(row stage.Row) (any, string, error) {
	text := row.Text(t.column)
	if text == "" && absent(row) {
		return nil, "", nil
	}
	e, err := t.tokenizer.Encode(text, t.limit)
	if err != nil {
		return nil, t.column, err
	}
	return &e, "", nil
}

// ids are the token ids of prepared texts.
func ids(prepared []any) [][]int32 {
	out := make([][]int32, len(prepared))
	for i, p := range prepared {
		out[i] = p.(*tokenizers.Encoding).IDs
	}
	return out
}

// counted is a text's vector and the counts beside it.
func (t *texts) counted(vector []float32, prepared any) []stage.Value {
	nan := math.NaN()
	counts := [4]float64{nan, nan, nan, nan}
	if e, ok := prepared.(*tokenizers.Encoding); ok {
		counts = [4]float64{float64(e.Tokens), float64(e.Words), float64(e.Unknown), float64(e.Tokens + t.around - len(e.IDs))}
	}
	out := []stage.Value{{Vector: vector}}
	for _, n := range counts {
		out = append(out, stage.Value{Number: n})
	}
	return out
}
