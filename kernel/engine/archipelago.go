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
	"antipode/gomlxmodels/stage"
	"antipode/kernel/client"
)

func init() { builtinSources["archipelago"] = (*run).archipelagoSource }

// archipelagoSource lists the world's pictures; drawing them is a row-wise stage, so that each is drawn once.
func (r *run) archipelagoSource(raw json.RawMessage) (*client.Frame, error) {
	var a datasets.ArchipelagoArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	w := archipelago.New(archipelago.Options{Seed: a.Seed, Planted: a.Planted, PerCell: a.PerCell, Size: a.Size})
	var items []archipelago.Item
	switch a.Set {
	case "photos":
		items = w.Photos()
	case "sampled":
		items = w.Sampled()
	case "plants":
		return plants(w), nil
	default:
		return r.archipelagoTable(w, a.Set)
	}
	text := map[string][]string{}
	var seeds, backdrops []float64
	for _, it := range items {
		for name, v := range map[string]string{"id": it.ID, "object": it.Object, "region": it.Region, "scene": it.Scene, "variant": it.Variant, "caption": it.Caption, "source": it.Source} {
			text[name] = append(text[name], v)
		}
		model := ""
		if it.Source == archipelago.Generated {
			model = archipelago.SamplerName
		}
		text["model"] = append(text["model"], model)
		seeds, backdrops = append(seeds, float64(it.Seed)), append(backdrops, float64(it.Backdrop))
	}
	f := &client.Frame{}
	for _, name := range []string{"id", "object", "region", "scene", "variant", "caption", "source", "model"} {
		f.Columns = append(f.Columns, client.TextColumn(name, text[name]))
	}
	f.Columns = append(f.Columns, client.NumberColumn("seed", seeds), client.NumberColumn("backdrop", backdrops))
	pictures := make([]archipelago.Picture, len(items))
	for i, it := range items {
		pictures[i] = archipelago.Picture{Island: it.Region, Scene: it.Scene, Object: it.Object, Variant: it.Variant, Seed: it.Seed, Backdrop: it.Backdrop}
	}
	f, err := r.draw(w, f, pictures)
	if err != nil {
		return nil, err
	}
	order := []string{"id", "image", "mask", "object", "region", "scene", "variant", "caption", "source", "model", "seed", "backdrop"}
	return selectColumns(datasets.ColumnsArgs{Columns: order}, []*client.Frame{f})
}

// archipelagoTable is a table of one of the other audits.
func (r *run) archipelagoTable(w *archipelago.World, name string) (*client.Frame, error) {
	f, pictures, ok := w.Table(name)
	if !ok {
		return nil, fmt.Errorf("the Archipelago has no set %q", name)
	}
	if pictures == nil {
		return f, nil
	}
	drawn, err := r.draw(w, f, pictures)
	if err != nil {
		return nil, err
	}
	f.Columns = slices.Insert(f.Columns, 1, *drawn.Column("image"), *drawn.Column("mask"))
	return f, nil
}

// draw adds the columns image and mask: pictures[i] is row i's. A picture is drawn once.
func (r *run) draw(w *archipelago.World, f *client.Frame, pictures []archipelago.Picture) (*client.Frame, error) {
	draw := stage.Stage{Name: "archipelago", Version: archipelago.Version, Open: func(_ context.Context, env stage.Env, _ json.RawMessage) (stage.Worker, error) {
		return &painter{world: w, env: env, pictures: pictures}, nil
	}}
	return r.rowStage(draw, &client.Plan{Op: "archipelago"}, f)
}

func plants(w *archipelago.World) *client.Frame {
	var region, component, kind, score, description []string
	var size []float64
	for _, p := range w.Plants() {
		region, component, kind = append(region, p.Island), append(component, p.Component), append(kind, p.Kind)
		size, score, description = append(size, p.Size), append(score, p.Score), append(description, p.Description)
	}
	return &client.Frame{Columns: []client.Column{client.TextColumn("region", region), client.TextColumn("component", component), client.TextColumn("kind", kind),
		client.NumberColumn("size", size), client.TextColumn("score", score), client.TextColumn("description", description)}}
}

// painter is the row-wise stage that draws the world's pictures. It needs no device.
type painter struct {
	world    *archipelago.World
	env      stage.Env
	pictures []archipelago.Picture // by row
}

func (p *painter) Label() string  { return "draw the Archipelago" }
func (p *painter) Digest() string { return fmt.Sprintf("archipelago %d", p.world.Options().Size) }
func (p *painter) Batch() int     { return 256 }
func (p *painter) Close()         {}

func (p *painter) Check([]client.ColumnSpec) error { return nil }
func (p *painter) Load(context.Context) error      { return nil }

func (p *painter) Outputs([]client.ColumnSpec) []client.ColumnSpec {
	return datasets.Columns("image:image", "mask:mask")
}

// Key names all that a picture depends on besides its size.
func (p *painter) Key(row stage.Row) string {
	pic, figure := p.pictures[row.Index], archipelago.Figure{}
	if pic.Figure != nil {
		figure = *pic.Figure
	}
	pic.Figure = nil
	return fmt.Sprintf("%d %+v %+v", archipelago.AuditVersion, pic, figure)
}

func (p *painter) Prepare(_ context.Context, row stage.Row) (any, string, error) {
	img, m := p.world.Paint(p.pictures[row.Index])
	if img == nil {
		return nil, "id", errors.New("the world has no such picture")
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
		values[1].Mask = mask.Encode(mask.FromImage(m))
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
