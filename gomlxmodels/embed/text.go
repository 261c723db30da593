package embed

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/checkpoint"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/textenc"
	"antipode/gomlxmodels/tokenizers"
	"antipode/kernel/client"
)

// textBatch is how many texts one Compute takes: enough that texts of like length fill the device's batches.
const textBatch = 256

// texts is what all encoders of texts share: a column, and what turns a text into tokens.
type texts struct {
	column   string
	tokenize func(text string) (tokenizers.Encoding, error)
	around   int // special tokens put around each text
}

func newTexts(column string, tokenize func(string) (tokenizers.Encoding, error)) (texts, error) {
	empty, err := tokenize("")
	return texts{column: column, tokenize: tokenize, around: len(empty.IDs) - empty.Tokens}, err
}

func (t *texts) batch() int { return textBatch }

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
	e, err := t.tokenize(text)
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

// sentences is an encoder of texts, package textenc's.
type sentences struct {
	texts
	model  *textenc.Model
	vector string
	pooled bool
}

func openSentences(dir string, args gomlxmodels.EmbedArgs) (kind, error) {
	s := &sentences{vector: args.Vector, pooled: args.Pooling == "pooled"}
	var o textenc.OpenOptions
	switch args.Pooling {
	case "", "auto":
	case "mean":
		o.Pooling = textenc.ModeMean
	case "cls":
		o.Pooling = textenc.ModeCLS
	case "pooled":
		if args.Vector == gomlxmodels.Text {
			o.Pooling = textenc.ModePooler
		}
	default:
		if args.Vector == gomlxmodels.Text || args.Pooling != "projected" {
			return nil, fmt.Errorf("pooling %q: an encoder of sentences takes auto, mean, cls, pooled", args.Pooling)
		}
	}
	var err error
	if s.model, err = textenc.Open(dir, o); err != nil {
		return nil, err
	}
	shared := slices.Contains([]string{"altclip", "altclip_text_model", "M-CLIP"}, s.model.Config().ModelType)
	switch {
	case shared && args.Vector == gomlxmodels.Text:
		return nil, fmt.Errorf("%s: its texts share a space with pictures: their vector is clip_text, not text", dir)
	case !shared && args.Vector == gomlxmodels.ClipText:
		return nil, fmt.Errorf("%s: an encoder of sentences; its vector is text, not clip_text", dir)
	}
	s.texts, err = newTexts(args.Text, func(text string) (tokenizers.Encoding, error) {
		p, err := s.model.Prepare(text)
		if err != nil {
			return tokenizers.Encoding{}, err
		}
		return p.Encoding, nil
	})
	return s, err
}

// isCLIP says that a folder holds a CLIP whose text tower is package clip's.
func isCLIP(dir string) (bool, error) {
	architecture, err := checkpoint.Architecture(dir)
	return architecture == "clip", err
}

func (s *sentences) files() []string { return s.model.Files() }
func (s *sentences) settings() []any { return nil }

func (s *sentences) choices() string {
	if s.vector == gomlxmodels.ClipText {
		return output(s.vector, s.pooled)
	}
	return fmt.Sprint(s.vector, " ", s.model.Modules())
}

func (s *sentences) load(backend compute.Backend, dtype dtypes.DType) (encoder, error) {
	return textenc.NewEncoder(backend, s.model, textenc.Options{DType: dtype})
}

func (s *sentences) encode(ctx context.Context, e encoder, prepared []any) ([]any, error) {
	embeddings, err := e.(*textenc.Encoder).EncodeIDs(ctx, ids(prepared))
	return list(embeddings), err
}

func (s *sentences) values(embedding, prepared any, _ bool) []stage.Value {
	e, _ := embedding.(textenc.Embedding)
	if s.pooled && s.vector == gomlxmodels.ClipText {
		return s.counted(e.Pooled, prepared)
	}
	return s.counted(e.Vector, prepared)
}
