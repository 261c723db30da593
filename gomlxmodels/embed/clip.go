package embed

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/tokenizers"
	"antipode/kernel/client"
)

// clipPictures is the image tower of a CLIP.
type clipPictures struct {
	model  *clip.Model
	pooled bool
}

// clipTexts is the text tower of a CLIP.
type clipTexts struct {
	texts
	model     *clip.Model
	tokenizer *tokenizers.Tokenizer
	pooled    bool
}

func openCLIP(dir string, args gomlxmodels.EmbedArgs) (kind, error) {
	if !slices.Contains([]string{"", "auto", "projected", "pooled"}, args.Pooling) {
		return nil, fmt.Errorf("pooling %q: a CLIP's vectors are projected or pooled", args.Pooling)
	}
	m, err := clip.Open(dir)
	if err != nil {
		return nil, err
	}
	if args.Vector == gomlxmodels.ClipImage {
		return &clipPictures{model: m, pooled: args.Pooling == "pooled"}, nil
	}
	t, err := tokenizers.Open(dir)
	if err != nil {
		return nil, err
	}
	c := m.Config().Text
	if t.Size() > c.VocabSize {
		return nil, fmt.Errorf("%s: the tokenizer has %d tokens, config.json's vocab_size is %d: they are of two models", dir, t.Size(), c.VocabSize)
	}
	k := &clipTexts{model: m, pooled: args.Pooling == "pooled", tokenizer: t}
	k.texts, err = newTexts(args.Text, func(text string) (tokenizers.Encoding, error) { return t.Encode(text, c.Context) })
	return k, err
}

func (c *clipPictures) files() []string            { return c.model.Files() }
func (c *clipPictures) settings() []any            { return []any{c.model.Preprocess()} }
func (c *clipPictures) choices() string            { return output(gomlxmodels.ClipImage, c.pooled) }
func (c *clipPictures) needs() []client.ColumnSpec { return datasets.Columns("id:text", "image:image") }
func (c *clipPictures) key(row stage.Row) string   { return row.Image("image").SHA256 }
func (c *clipPictures) batch() int                 { return clip.DefaultBatch }

func output(vector string, pooled bool) string {
	if pooled {
		return vector + " pooled"
	}
	return vector + " projected"
}

func (c *clipPictures) load(backend compute.Backend, dtype dtypes.DType) (encoder, error) {
	e, err := clip.NewEncoder(backend, c.model, clip.Options{DType: dtype})
	if err != nil {
		return nil, err
	}
	return e, e.LoadImageTower()
}

func (c *clipPictures) prepare(row stage.Row) (any, string, error) {
	rgb, _, column, err := picture(row)
	if err != nil || rgb == nil {
		return nil, column, err
	}
	pixels, err := c.model.Prepare(rgb)
	if err != nil {
		return nil, "image", fmt.Errorf("%s: %w", filepath.Base(row.Image("image").Path), err)
	}
	return pixels, "", nil
}

func (c *clipPictures) encode(ctx context.Context, e encoder, prepared []any) ([]any, error) {
	pictures := make([][]float32, len(prepared))
	for i, p := range prepared {
		pictures[i] = p.([]float32)
	}
	embeddings, err := e.(*clip.Encoder).EncodeImages(ctx, pictures)
	return list(embeddings), err
}

func (c *clipPictures) values(embedding, _ any, _ bool) []stage.Value {
	return []stage.Value{{Vector: clipVector(embedding, c.pooled)}}
}

func clipVector(embedding any, pooled bool) []float32 {
	e, _ := embedding.(clip.Embedding)
	if pooled {
		return e.Pooled
	}
	return e.Projected
}

func (c *clipTexts) files() []string { return append(c.model.Files(), c.tokenizer.Files()...) }
func (c *clipTexts) settings() []any { return nil }
func (c *clipTexts) choices() string { return output(gomlxmodels.ClipText, c.pooled) }

func (c *clipTexts) load(backend compute.Backend, dtype dtypes.DType) (encoder, error) {
	e, err := clip.NewEncoder(backend, c.model, clip.Options{DType: dtype})
	if err != nil {
		return nil, err
	}
	return e, e.LoadTextTower()
}

func (c *clipTexts) encode(ctx context.Context, e encoder, prepared []any) ([]any, error) {
	embeddings, err := e.(*clip.Encoder).EncodeTokens(ctx, ids(prepared))
	return list(embeddings), err
}

func (c *clipTexts) values(embedding, prepared any, _ bool) []stage.Value {
	return c.counted(clipVector(embedding, c.pooled), prepared)
}
