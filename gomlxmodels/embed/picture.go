package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stagekit"
	"antipode/kernel/client"
)

// picture reads a row's picture and mask. Both are nil where the row says in its outcome why it has no picture; the mask is
// nil where it has none. column holds the culprit of an error.
func picture(row stage.Row) (rgb *preprocess.RGB, m *preprocess.Mask, column string, err error) {
	img := row.Image("image")
	if img.Path == "" {
		if absent(row) {
			return nil, nil, "", nil
		}
		return nil, nil, "image", stagekit.ErrNoImage
	}
	if rgb, err = stagekit.Picture(img.Path); err != nil {
		return nil, nil, "image", err
	}
	if rle := row.Mask("mask"); rle.Counts != "" {
		bitmap, err := mask.Decode(rle)
		if err != nil {
			return nil, nil, "mask", err
		}
		m = &preprocess.Mask{Width: bitmap.Width, Height: bitmap.Height, Object: make([]uint8, len(bitmap.Pix))}
		for i, object := range bitmap.Pix {
			if object {
				m.Object[i] = 1
			}
		}
		if err := m.Check(rgb); err != nil {
			return nil, nil, "mask", fmt.Errorf("%s: %w", filepath.Base(img.Path), err)
		}
	}
	return rgb, m, "", nil
}

// decodable is the stage that only decodes; see stage.Decodable.
type decodable struct{}

func init() {
	stage.Register(stage.Stage{Name: stage.Decodable, Version: 1, Open: func(context.Context, stage.Env, json.RawMessage) (stage.Worker, error) {
		return decodable{}, nil
	}})
}

func (decodable) Label() string                   { return "look at the pictures" }
func (decodable) Digest() string                  { return "" }
func (decodable) Check([]client.ColumnSpec) error { return nil }
func (decodable) Batch() int                      { return 16 }
func (decodable) Load(context.Context) error      { return nil }
func (decodable) Close()                          {}

func (decodable) Outputs([]client.ColumnSpec) []client.ColumnSpec {
	return datasets.Columns(stage.Pixels + ":number")
}

func (decodable) Key(row stage.Row) string {
	m := row.Mask("mask")
	return fmt.Sprintf("%s\x00%d %d\x00%s", row.Image("image").SHA256, m.Size[0], m.Size[1], m.Counts)
}

func (decodable) Prepare(_ context.Context, row stage.Row) (any, string, error) {
	rgb, _, column, err := picture(row)
	if err != nil || rgb == nil {
		return 0, column, err
	}
	return rgb.Width * rgb.Height, "", nil
}

func (decodable) Compute(_ context.Context, prepared []any) ([][]stage.Value, error) {
	out := make([][]stage.Value, len(prepared))
	for i, pixels := range prepared {
		out[i] = []stage.Value{{Number: float64(pixels.(int))}}
	}
	return out, nil
}
