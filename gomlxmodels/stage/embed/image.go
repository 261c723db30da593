package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
)

// readImage reads a row's image and mask. Both are nil if there is no image and the outcome says why; the mask is nil
// if there is none. column is the column of the offending value.
func readImage(row stage.Row) (rgb *preprocess.RGB, m *preprocess.Mask, column string, err error) {
	img := row.Image("image")
	if img.Path == "" {
		if stage.Absent(row) {
			return nil, nil, "", nil
		}
		return nil, nil, "image", stage.ErrNoImage
	}
	if rgb, err = stage.ReadImage(img); err != nil {
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

// prepareImage returns a prepare function of images, to which prepare adds what the model does.
func prepareImage[P any](prepare func(*preprocess.RGB, *preprocess.Mask) (P, error)) func(stage.Row) (*P, string,
	error) {
	return func(row stage.Row) (*P, string, error) {
		rgb, m, column, err := readImage(row)
		if err != nil || rgb == nil {
			return nil, column, err
		}
		p, err := prepare(rgb, m)
		if err != nil {
			return nil, "image", fmt.Errorf("%s: %w", filepath.Base(row.Image("image").Path), err)
		}
		return &p, "", nil
	}
}

func imageKey(row stage.Row, _ bool) string { return stage.ImageKey(row.Image("image")) }

// decodable is the stage that only decodes; see stage.Decodable.
type decodable struct{}

func init() {
	stage.Register(stage.Stage{Name: stage.Decodable, Version: 1,
		Open: func(context.Context, stage.Env, json.RawMessage) (*stage.Opened, error) {
			return stage.Of(decodable{}), nil
		}})
}

func (decodable) Label() string                  { return "inspect the images" }
func (decodable) Digest() string                 { return "" }
func (decodable) Check([]table.ColumnSpec) error { return nil }
func (decodable) Batch() int                     { return 16 }
func (decodable) Load(context.Context) error     { return nil }
func (decodable) Close()                         {}

func (decodable) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns(stage.Pixels + ":number")
}

func (decodable) Key(row stage.Row) string {
	m := row.Mask("mask")
	return fmt.Sprintf("%s\x00%d %d\x00%s", row.Image("image").SHA256, m.Size[0], m.Size[1], m.Counts)
}

func (decodable) Prepare(_ context.Context, row stage.Row) (int, string, error) {
	rgb, _, column, err := readImage(row)
	if err != nil || rgb == nil {
		return 0, column, err
	}
	return rgb.Width * rgb.Height, "", nil
}

func (decodable) Compute(_ context.Context, pixels []int) ([][]table.Value, error) {
	out := make([][]table.Value, len(pixels))
	for i, n := range pixels {
		out[i] = []table.Value{{Number: float64(n)}}
	}
	return out, nil
}
