package embed

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/blip2"
	"antipode/gomlxmodels/stage"
	"antipode/kernel/client"
)

// blip2Pictures is the tower of a BLIP-2, and what its Q-Former makes of it.
type blip2Pictures struct {
	model   *blip2.Model
	pooling string // as asked for, never auto
	against *texts // the texts that projected_max compares with; nil = another pooling
}

// blip2Texts is the Q-Former of a BLIP-2 as it reads texts.
type blip2Texts struct {
	texts
	model *blip2.Model
}

// projectedMax is the one pooling that depends on a text.
const projectedMax = "projected_max"

func openBLIP2(dir string, args gomlxmodels.EmbedArgs) (kind, error) {
	m, err := blip2.Open(dir)
	if err != nil {
		return nil, err
	}
	projects, reads := m.Shares()
	pooling := args.Pooling
	if pooling == "" || pooling == "auto" {
		if pooling = "pooled"; projects {
			pooling = "projected"
		}
	}
	open := func() (texts, error) {
		if !reads {
			return texts{}, fmt.Errorf("%s: texts have vectors in a Blip2ForImageTextRetrieval (blip2-itm-vit-g), which the folder is not", dir)
		}
		return newTexts(args.Text, m.PrepareText)
	}
	if args.Vector == gomlxmodels.Blip2Text {
		if args.Pooling != "" && args.Pooling != "auto" && args.Pooling != "projected" {
			return nil, fmt.Errorf("pooling %q: a text's vector of a BLIP-2 is projected", args.Pooling)
		}
		t, err := open()
		return &blip2Texts{texts: t, model: m}, err
	}
	if choices := []string{"pooled", "patches", "queries", "projected", "projected_first", projectedMax}; !slices.Contains(choices, pooling) {
		return nil, fmt.Errorf("pooling %q: a picture's vector of a BLIP-2 is one of %s", pooling, strings.Join(choices, ", "))
	}
	p := &blip2Pictures{model: m, pooling: pooling}
	if err := m.Gives(p.kind()); err != nil {
		return nil, err
	}
	if pooling == projectedMax {
		t, err := open()
		if err != nil {
			return nil, err
		}
		p.against = &t
	}
	return p, nil
}

// kind is the pooling as package blip2 knows it.
func (b *blip2Pictures) kind() blip2.Pooling {
	if b.pooling == projectedMax {
		return blip2.All
	}
	return blip2.Pooling(b.pooling)
}

func (b *blip2Pictures) files() []string { return b.model.Files() }
func (b *blip2Pictures) settings() []any { return []any{b.model.Preprocess()} }
func (b *blip2Pictures) choices() string { return gomlxmodels.Blip2Image + " " + b.pooling }
func (b *blip2Pictures) batch() int      { return blip2.DefaultBatch }

func (b *blip2Pictures) needs() []client.ColumnSpec {
	list := datasets.Columns("id:text", "image:image")
	if b.against != nil {
		list = append(list, b.against.needs()[1:]...)
	}
	return list
}

func (b *blip2Pictures) key(row stage.Row) string {
	key := row.Image("image").SHA256
	if b.against != nil {
		key += "\x00" + row.Text(b.against.column)
	}
	return key
}

func (b *blip2Pictures) load(backend compute.Backend, dtype dtypes.DType) (encoder, error) {
	e, err := blip2.NewEncoder(backend, b.model, b.kind(), blip2.Options{DType: dtype})
	if err != nil {
		return nil, err
	}
	if err := e.LoadImages(); err != nil || b.against == nil {
		return e, err
	}
	return e, e.LoadTexts()
}

// compared is a picture, and the text it is compared with.
type compared struct {
	pixels []float32
	text   any // *tokenizers.Encoding; nil = none
}

func (b *blip2Pictures) prepare(row stage.Row) (any, string, error) {
	rgb, _, column, err := picture(row)
	if err != nil || rgb == nil {
		return nil, column, err
	}
	var c compared
	if c.pixels, err = b.model.Prepare(rgb); err != nil {
		return nil, "image", fmt.Errorf("%s: %w", filepath.Base(row.Image("image").Path), err)
	}
	if b.against != nil {
		e, err := b.against.tokenize(row.Text(b.against.column))
		if err != nil {
			return nil, b.against.column, err
		}
		c.text = &e
	}
	return &c, "", nil
}

func (b *blip2Pictures) encode(ctx context.Context, e encoder, prepared []any) ([]any, error) {
	var pictures [][]float32
	var read []any
	for _, p := range prepared {
		pictures, read = append(pictures, p.(*compared).pixels), append(read, p.(*compared).text)
	}
	vectors, err := e.(*blip2.Encoder).EncodeImages(ctx, pictures)
	if err != nil || b.against == nil {
		return list(vectors), err
	}
	words, err := e.(*blip2.Encoder).EncodeTexts(ctx, ids(read))
	for i, text := range words {
		vectors[i] = blip2.Closest(vectors[i], text)
	}
	return list(vectors), err
}

func (b *blip2Pictures) values(embedding, _ any, _ bool) []stage.Value {
	v, _ := embedding.([]float32)
	return []stage.Value{{Vector: v}}
}

func (b *blip2Texts) files() []string { return b.model.Files() }
func (b *blip2Texts) settings() []any { return nil }
func (b *blip2Texts) choices() string { return gomlxmodels.Blip2Text }

func (b *blip2Texts) load(backend compute.Backend, dtype dtypes.DType) (encoder, error) {
	e, err := blip2.NewEncoder(backend, b.model, "", blip2.Options{DType: dtype})
	if err != nil {
		return nil, err
	}
	return e, e.LoadTexts()
}

func (b *blip2Texts) encode(ctx context.Context, e encoder, prepared []any) ([]any, error) {
	vectors, err := e.(*blip2.Encoder).EncodeTexts(ctx, ids(prepared))
	return list(vectors), err
}

func (b *blip2Texts) values(embedding, prepared any, _ bool) []stage.Value {
	v, _ := embedding.([]float32)
	return b.counted(v, prepared)
}
