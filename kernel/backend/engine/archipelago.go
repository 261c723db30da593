package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"slices"

	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
)

// archipelagoSource evaluates a table of the built-in world. Its images are rendered by a row-wise stage, so that each
// is rendered once and stored.
func (r *run) archipelagoSource(p *table.Plan, a datasets.ArchipelagoArgs) (*table.Frame, error) {
	w := archipelago.New(archipelago.Options{Seed: a.Seed, Injected: a.Injected, PerCell: a.PerCell, Size: a.Size})
	f, images, ok := w.Table(a.Set)
	if !ok {
		return nil, fmt.Errorf("archipelago: unknown table %q", a.Set)
	}
	if images == nil {
		return f, nil
	}
	n := f.Len()
	f.Columns = slices.Insert(f.Columns, 1,
		table.ImageColumn("image", slices.Repeat([]table.Image{{Path: "not drawn yet"}}, n)),
		table.MaskColumn("mask", slices.Repeat([]table.Mask{{Counts: "not drawn yet"}}, n)))
	s := &source{origin: origin{name: "archipelago", bad: make([]*table.BadRow, n)}, plan: p}
	s.read = func(rows []int) error {
		part := make([]archipelago.Image, len(rows))
		for i, row := range rows {
			part[i] = images[row]
		}
		drawn, err := r.draw(w, s.f.Pick(rows), part)
		if err != nil {
			return err
		}
		if drawn.Len() != len(rows) {
			return fmt.Errorf("%s: %d of %d images are drawn", s.name, drawn.Len(), len(rows))
		}
		for i, row := range rows {
			s.f.Columns[1].Images[row], s.f.Columns[2].Masks[row] = drawn.Images("image")[i], drawn.Masks("mask")[i]
		}
		return nil
	}
	return r.add(f, s), nil
}

// draw adds the columns image and mask; images[i] is the image of row i.
func (r *run) draw(w *archipelago.World, f *table.Frame, images []archipelago.Image) (*table.Frame, error) {
	draw := stage.Stage{Name: "archipelago", Version: archipelago.Version,
		Open: func(_ context.Context, env stage.Env, _ json.RawMessage) (*stage.Opened, error) {
			return stage.Of(&painter{world: w, env: env, images: images}), nil
		}}
	f = f.SameRows(slices.DeleteFunc(slices.Clone(f.Columns),
		func(c table.Column) bool { return c.Name == "image" || c.Name == "mask" }))
	return r.rowStage(draw, &table.Plan{Op: "archipelago"}, f)
}

// painter is the row-wise stage that renders the images of the built-in world. It needs no device.
type painter struct {
	world  *archipelago.World
	env    stage.Env
	images []archipelago.Image // by row
}

func (p *painter) Label() string  { return "draw the Archipelago" }
func (p *painter) Digest() string { return fmt.Sprintf("archipelago %d", p.world.Options().Size) }
func (p *painter) Batch() int     { return 256 }
func (p *painter) Close()         {}

func (p *painter) Check([]table.ColumnSpec) error { return nil }
func (p *painter) Load(context.Context) error     { return nil }

func (p *painter) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns("image:image", "mask:mask")
}

// Key contains everything that an image depends on except its size.
func (p *painter) Key(row stage.Row) string {
	pic, figure := p.images[row.Index], archipelago.Figure{}
	if pic.Figure != nil {
		figure = *pic.Figure
	}
	pic.Figure = nil
	return fmt.Sprintf("%d %+v %+v", archipelago.AuditVersion, pic, figure)
}

func (p *painter) Prepare(_ context.Context, row stage.Row) ([]table.Value, string, error) {
	img, m := p.world.Paint(p.images[row.Index])
	if img == nil {
		return nil, "id", errors.New("the world has no such image")
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return nil, "image", err
	}
	blob, err := p.env.PutBlob(b.Bytes(), ".png")
	if err != nil {
		return nil, "image", err
	}
	values := []table.Value{{Image: blob}, {}}
	if m != nil {
		b, err := mask.FromImage(m)
		if err != nil {
			return nil, "mask", err
		}
		values[1].Mask = mask.Encode(b)
	}
	return values, "", nil
}

func (p *painter) Compute(_ context.Context, prepared [][]table.Value) ([][]table.Value, error) {
	return prepared, nil
}
