package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"

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
		return nil, fmt.Errorf("the Archipelago has no set %q", a.Set)
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
	draw := stage.Stage{Name: "archipelago", Version: archipelago.Version, Open: func(_ context.Context, env stage.Env, _ json.RawMessage) (stage.Worker, error) {
		return &painter{world: w, env: env}, nil
	}}
	f, err := r.rowStage(draw, &client.Plan{Op: "archipelago"}, f)
	if err != nil {
		return nil, err
	}
	order := []string{"id", "image", "mask", "object", "region", "scene", "variant", "caption", "source", "model", "seed", "backdrop"}
	return selectColumns(datasets.ColumnsArgs{Columns: order}, []*client.Frame{f})
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
	world *archipelago.World
	env   stage.Env
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

func (p *painter) item(row stage.Row) archipelago.Item {
	number := func(name string) uint64 { return uint64(row.Frame.Numbers(name)[row.Index]) }
	return archipelago.Item{Object: row.Text("object"), Region: row.Text("region"), Scene: row.Text("scene"), Variant: row.Text("variant"),
		Seed: number("seed"), Backdrop: number("backdrop")}
}

func (p *painter) Key(row stage.Row) string { return fmt.Sprintf("%+v", p.item(row)) }

func (p *painter) Prepare(_ context.Context, row stage.Row) (any, string, error) {
	img, m := p.world.Draw(p.item(row))
	if img == nil {
		return nil, "object", errors.New("the world has no such picture")
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return nil, "image", err
	}
	blob, err := p.env.PutBlob(b.Bytes(), ".png")
	if err != nil {
		return nil, "image", err
	}
	return []stage.Value{{Image: blob}, {Mask: mask.Encode(mask.FromImage(m))}}, "", nil
}

func (p *painter) Compute(_ context.Context, prepared []any) ([][]stage.Value, error) {
	out := make([][]stage.Value, len(prepared))
	for i, v := range prepared {
		out[i] = v.([]stage.Value)
	}
	return out, nil
}
