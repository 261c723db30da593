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
func openBLIP2(o opening) (*stage.Opened, error) {
	args, dir := o.args, o.dir
	m, err := blip2.Open(dir)
	if err != nil {
		return nil, err
	}
	projects, _ := m.Shares()
	pooling := args.Pooling
	if pooling == "auto" {
		pooling = ""
	}
	if args.Vector == gomlxmodels.Blip2Text {
		return openBLIP2Texts(o, m, pooling)
	}
	if pooling == "" {
		if pooling = "pooled"; projects {
			pooling = "projected"
		}
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
	k := kind[*blip2.Encoder, compared, []float32]{
		about: about{
			files:      m.Files(),
			parameters: []any{m.Preprocess()},
			choices:    gomlxmodels.Blip2Image + " " + pooling,
			needs:      datasets.Columns("id:text", "image:image"),
			batch:      blip2.DefaultBatch,
			key:        imageKey,
		},
		load: func(backend compute.Backend, dtype dtypes.DType, batch int) (*blip2.Encoder, error) {
			e, err := blip2.NewEncoder(backend, m, of, blip2.Options{Batch: batch, DType: dtype})
			if err != nil {
				return nil, err
			}
			if err := e.LoadImages(); err != nil || !compares {
				return e, err
			}
			return e, e.LoadTexts()
		},
		prepare: prepareImage(func(rgb *preprocess.RGB, _ *preprocess.Mask) (c compared, err error) {
			c.pixels, err = m.Prepare(rgb)
			return c, err
		}),
		encode: func(e *blip2.Encoder, ctx context.Context, list []compared) ([][]float32, error) {
			images := make([][]float32, len(list))
			for i, c := range list {
				images[i] = c.pixels
			}
			return e.EncodeImages(ctx, images)
		},
		values: func(v []float32, _ *compared, _ bool) []table.Value { return []table.Value{{Vector: v}} },
	}
	if !compares {
		return start(o, k)
	}
	if err := noTexts(o, m); err != nil {
		return nil, err
	}
	against, err := newTexts(args.Against, m.PrepareText)
	if err != nil {
		return nil, err
	}
	compare(&k, against)
	return start(o, k)
}

// openBLIP2Texts opens its Q-Former as a text encoder.
func openBLIP2Texts(o opening, m *blip2.Model, pooling string) (*stage.Opened, error) {
	if pooling != "" && pooling != "projected" {
		return nil, fmt.Errorf("pooling %q: a text's vector of a BLIP-2 is projected", pooling)
	}
	if err := noTexts(o, m); err != nil {
		return nil, err
	}
	load := func(backend compute.Backend, dtype dtypes.DType, _ int) (*blip2.Encoder, error) {
		e, err := blip2.NewEncoder(backend, m, "", blip2.Options{DType: dtype})
		if err != nil {
			return nil, err
		}
		return e, e.LoadTexts()
	}
	return startTexts(o, about{files: m.Files(), choices: gomlxmodels.Blip2Text}, load, m.PrepareText,
		(*blip2.Encoder).EncodeTexts, func(v []float32) []float32 { return v })
}

// noTexts reports a model that has no vectors of texts.
func noTexts(o opening, m *blip2.Model) error {
	if _, reads := m.Shares(); reads {
		return nil
	}
	return fmt.Errorf("%s: texts have vectors in a Blip2ForImageTextRetrieval (blip2-itm-vit-g), which the folder is "+
		"not", o.dir)
}

// compared is a prepared image, and the text that it is compared with, if it is.
type compared struct {
	pixels []float32
	text   tokenizers.Encoding
}

// compare makes the kind compare each image with a text: its vector is that of the query closest to the text's.
func compare(k *kind[*blip2.Encoder, compared, []float32], against texts) {
	k.needs = append(k.needs, table.ColumnSpec{Name: against.column, Kind: table.KindText})
	k.key = func(row stage.Row, _ bool) string {
		return stage.ImageKey(row.Image("image")) + "\x00" + row.Text(against.column)
	}
	prepare, encode := k.prepare, k.encode
	k.prepare = func(row stage.Row) (*compared, string, error) {
		c, column, err := prepare(row)
		if err == nil && c != nil {
			c.text, err = against.tokenize(row.Text(against.column))
			column = against.column
		}
		return c, column, err
	}
	k.encode = func(e *blip2.Encoder, ctx context.Context, list []compared) ([][]float32, error) {
		vectors, err := encode(e, ctx, list)
		if err != nil {
			return nil, err
		}
		texts := make([]tokenizers.Encoding, len(list))
		for i, c := range list {
			texts[i] = c.text
		}
		words, err := e.EncodeTexts(ctx, ids(texts))
		for i, text := range words {
			vectors[i] = blip2.Closest(vectors[i], text)
		}
		return vectors, err
	}
}
