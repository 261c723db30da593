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

func init() { registerSource("archipelago", (*run).archipelagoSource) }

// archipelagoSource evaluates a table of the built-in world. Its images are rendered by a row-wise stage, so that each
// is rendered once and stored.
func (r *run) archipelagoSource(a datasets.ArchipelagoArgs) (*table.Frame, error) {
	w := archipelago.New(archipelago.Options{Seed: a.Seed, Injected: a.Injected, PerCell: a.PerCell, Size: a.Size})
	f, images, ok := w.Table(a.Set)
	if !ok {
		return nil, fmt.Errorf("archipelago: unknown table %q", a.Set)
	}
	if images == nil {
		return f, nil
	}
	if r.later != nil {
		drawn := slices.Repeat([]table.Image{{Path: "drawn", Unread: table.UnreadDrawn}}, f.Len())
		masks := slices.Repeat([]table.Mask{{Counts: "drawn", Unread: table.UnreadDrawn}}, f.Len())
		f.Columns = slices.Insert(f.Columns, 1, table.ImageColumn("image", drawn), table.MaskColumn("mask", masks))
		return r.postpone(f, &source{origin: origin{name: "archipelago"}, world: w, images: images}), nil
	}
	drawn, err := r.draw(w, f, images)
	if err != nil {
		return nil, err
	}
	f.Columns = slices.Insert(f.Columns, 1, *drawn.Column("image"), *drawn.Column("mask"))
	return f, nil
}

// draw adds the columns image and mask; images[i] is the image of row i.
func (r *run) draw(w *archipelago.World, f *table.Frame, images []archipelago.Image) (*table.Frame, error) {
	draw := stage.Stage{Name: "archipelago", Version: archipelago.Version,
		Open: func(_ context.Context, env stage.Env, _ json.RawMessage) (stage.Worker, error) {
			return &painter{world: w, env: env, images: images}, nil
		}}
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

func (p *painter) Prepare(_ context.Context, row stage.Row) (any, string, error) {
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
	values := []stage.Value{{Image: blob}, {}}
	if m != nil {
		b, err := mask.FromImage(m)
		if err != nil {
			return nil, "mask", err
		}
		values[1].Mask = mask.Encode(b)
	}
	return values, "", nil
}

func (p *painter) Compute(_ context.Context, prepared []any) ([][]stage.Value, error) {
	out := make([][]stage.Value, len(prepared))
	for i, v := range prepared {
		out[i] = v.([]stage.Value)
	}
	return out, nil
}
