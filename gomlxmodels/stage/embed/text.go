package embed

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/textenc"
	"antipode/gomlxmodels/tokenizers"
)

// textBatch is the number of texts per call of Compute: enough that texts of similar length fill the device's batches.
const textBatch = 256

// texts is what all text encoders share: a column, and a tokenizer.
type texts struct {
	column   string
	tokenize func(text string) (tokenizers.Encoding, error)
	around   int // special tokens put around each text
}

func newTexts(column string, tokenize func(string) (tokenizers.Encoding, error)) (texts, error) {
	empty, err := tokenize("")
	return texts{column: column, tokenize: tokenize, around: len(empty.IDs) - empty.Tokens}, err
}

func (t *texts) prepare(row stage.Row) (*tokenizers.Encoding, string, error) {
	text := row.Text(t.column)
	if text == "" && stage.Absent(row) {
		return nil, "", nil
	}
	e, err := t.tokenize(text)
	if err != nil {
		return nil, t.column, err
	}
	return &e, "", nil
}

// ids are the token ids of prepared texts.
func ids(prepared []tokenizers.Encoding) [][]int32 {
	out := make([][]int32, len(prepared))
	for i, p := range prepared {
		out[i] = p.IDs
	}
	return out
}

func (t *texts) counted(vector []float32, e *tokenizers.Encoding) []table.Value {
	nan := math.NaN()
	counts := [4]float64{nan, nan, nan, nan}
	if e != nil {
		counts = [4]float64{float64(e.Tokens), float64(e.Words), float64(e.Unknown),
			float64(e.Tokens + t.around - len(e.IDs))}
	}
	out := []table.Value{{Vector: vector}}
	for _, n := range counts {
		out = append(out, table.Value{Number: n})
	}
	return out
}

// startTexts starts a text encoder: encode embeds token ids, vector selects the vector of a result.
func startTexts[M stage.Loaded, E any](o opening, a about, load func(compute.Backend, dtypes.DType, int) (M, error),
	tokenize func(string) (tokenizers.Encoding, error), encode func(M, context.Context, [][]int32) ([]E, error),
	vector func(E) []float32) (*stage.Opened, error) {
	column := o.args.Against
	t, err := newTexts(column, tokenize)
	if err != nil {
		return nil, err
	}
	a.batch, a.parameters = textBatch, append(a.parameters, tokenizers.Version)
	a.needs = []table.ColumnSpec{{Name: "id", Kind: table.KindText}, {Name: column, Kind: table.KindText}}
	a.key = func(row stage.Row, _ bool) string {
		if row.Text(column) == "" && stage.Absent(row) {
			return "\x00absent"
		}
		return row.Text(column)
	}
	return start(o, kind[M, tokenizers.Encoding, E]{about: a, load: load, prepare: t.prepare,
		encode: func(e M, ctx context.Context, list []tokenizers.Encoding) ([]E, error) {
			return encode(e, ctx, ids(list))
		},
		values: func(embedding E, prepared *tokenizers.Encoding, _ bool) []table.Value {
			return t.counted(vector(embedding), prepared)
		}})
}

// openSentences opens a text encoder of package textenc.
func openSentences(opened opening) (*stage.Opened, error) {
	args, dir := opened.args, opened.dir
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
			return nil, fmt.Errorf("pooling %q: a sentence encoder takes auto, mean, cls, pooled", args.Pooling)
		}
	}
	m, err := textenc.Open(dir, o)
	if err != nil {
		return nil, err
	}
	shared := slices.Contains([]string{"altclip", "altclip_text_model", "M-CLIP"}, m.Config().ModelType)
	switch {
	case shared && args.Vector == gomlxmodels.Text:
		return nil, fmt.Errorf("%s: its texts share a space with images: their vector is clip_text, not text", dir)
	case !shared && args.Vector == gomlxmodels.ClipText:
		return nil, fmt.Errorf("%s: a sentence encoder; its vector is text, not clip_text", dir)
	}
	pooled := args.Pooling == "pooled" && args.Vector == gomlxmodels.ClipText
	choices := fmt.Sprint(args.Vector, " ", m.Modules())
	if args.Vector == gomlxmodels.ClipText {
		choices = output(args.Vector, pooled)
	}
	load := func(backend compute.Backend, dtype dtypes.DType, _ int) (*textenc.Encoder, error) {
		return textenc.NewEncoder(backend, m, textenc.Options{DType: dtype})
	}
	tokenize := func(text string) (tokenizers.Encoding, error) {
		p, err := m.Prepare(text)
		if err != nil {
			return tokenizers.Encoding{}, err
		}
		return p.Encoding, nil
	}
	return startTexts(opened, about{files: m.Files(), choices: choices}, load, tokenize, (*textenc.Encoder).EncodeIDs,
		func(e textenc.Embedding) []float32 {
			if pooled {
				return e.Pooled
			}
			return e.Vector
		})
}

// isCLIP reports whether a folder contains a CLIP or SigLIP whose text tower is package clip's.
func isCLIP(dir string) (bool, error) {
	if clip.IsOpenCLIP(dir) {
		return true, nil
	}
	architecture, err := hub.Architecture(dir)
	return architecture == "clip" || architecture == "siglip", err
}
