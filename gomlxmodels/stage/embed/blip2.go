package embed

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/blip2"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/tokenizers"
)

// projectedMax is the one pooling that depends on a text.
const projectedMax = "projected_max"

// openBLIP2 opens a BLIP-2: its vision tower and Q-Former, or its Q-Former as a text encoder.
func openBLIP2(dir string, args gomlxmodels.EmbedArgs) (*kind, error) {
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
	noTexts := func() error {
		if reads {
			return nil
		}
		return fmt.Errorf("%s: texts have vectors in a Blip2ForImageTextRetrieval (blip2-itm-vit-g), which the folder "+
			"is not", dir)
	}
	if args.Vector == gomlxmodels.Blip2Text {
		if args.Pooling != "" && args.Pooling != "auto" && args.Pooling != "projected" {
			return nil, fmt.Errorf("pooling %q: a text's vector of a BLIP-2 is projected", args.Pooling)
		}
		if err := noTexts(); err != nil {
			return nil, err
		}
		return textKind(args.Against, kind{
			files:   m.Files(),
			choices: gomlxmodels.Blip2Text,
			load: func(backend compute.Backend, dtype dtypes.DType, _ int) (encoder, error) {
				e, err := blip2.NewEncoder(backend, m, "", blip2.Options{DType: dtype})
				if err != nil {
					return nil, err
				}
				return e, e.LoadTexts()
			},
		}, m.PrepareText, (*blip2.Encoder).EncodeTexts, func(v []float32) []float32 { return v })
	}
	if choices := []string{"pooled", "patches", "queries", "projected", "projected_first",
		projectedMax}; !slices.Contains(choices, pooling) {
		return nil, fmt.Errorf("pooling %q: an image's vector of a BLIP-2 is one of %s", pooling,
			strings.Join(choices, ", "))
	}
	compares, of := pooling == projectedMax, blip2.Pooling(pooling)
	if compares {
		of = blip2.All
	}
	if err := m.Gives(of); err != nil {
		return nil, err
	}
	k := &kind{
		files:      m.Files(),
		parameters: []any{m.Preprocess()},
		choices:    gomlxmodels.Blip2Image + " " + pooling,
		needs:      datasets.Columns("id:text", "image:image"),
		batch:      blip2.DefaultBatch,
		key:        imageKey,
		load: func(backend compute.Backend, dtype dtypes.DType, batch int) (encoder, error) {
			e, err := blip2.NewEncoder(backend, m, of, blip2.Options{Batch: batch, DType: dtype})
			if err != nil {
				return nil, err
			}
			if err := e.LoadImages(); err != nil || !compares {
				return e, err
			}
			return e, e.LoadTexts()
		},
		prepare: prepareImage(func(_ stage.Row, rgb *preprocess.RGB, _ *preprocess.Mask) ([]float32, error) {
			return m.Prepare(rgb)
		}),
		encode: each((*blip2.Encoder).EncodeImages),
		values: func(embedding, _ any, _ bool) []table.Value {
			v, _ := embedding.([]float32)
			return []table.Value{{Vector: v}}
		},
	}
	if !compares {
		return k, nil
	}
	if err := noTexts(); err != nil {
		return nil, err
	}
	against, err := newTexts(args.Against, m.PrepareText)
	if err != nil {
		return nil, err
	}
	k.compare(against)
	return k, nil
}

type compared struct {
	pixels []float32
	text   *tokenizers.Encoding
}

// compare makes the kind compare each image with a text: its vector is that of the query closest to the text's.
func (k *kind) compare(against texts) {
	k.needs = append(k.needs, table.ColumnSpec{Name: against.column, Kind: table.KindText})
	k.key = func(row stage.Row, _ bool) string {
		return stage.ImageKey(row.Image("image")) + "\x00" + row.Text(against.column)
	}
	prepare := k.prepare
	k.prepare = func(row stage.Row) (any, string, error) {
		pixels, column, err := prepare(row)
		if err != nil || pixels == nil {
			return nil, column, err
		}
		e, err := against.tokenize(row.Text(against.column))
		if err != nil {
			return nil, against.column, err
		}
		return &compared{pixels.([]float32), &e}, "", nil
	}
	k.encode = each(func(e *blip2.Encoder, ctx context.Context, list []*compared) ([][]float32, error) {
		images, texts := make([][]float32, len(list)), make([]*tokenizers.Encoding, len(list))
		for i, c := range list {
			images[i], texts[i] = c.pixels, c.text
		}
		vectors, err := e.EncodeImages(ctx, images)
		if err != nil {
			return nil, err
		}
		words, err := e.EncodeTexts(ctx, ids(texts))
		for i, text := range words {
			vectors[i] = blip2.Closest(vectors[i], text)
		}
		return vectors, err
	})
}
