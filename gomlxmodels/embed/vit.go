package embed

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/checkpoint"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/vit"
	"antipode/kernel/client"
)

// vitKind is an encoder of pictures, package vit's.
type vitKind struct {
	args   gomlxmodels.EmbedArgs
	model  *vit.Model
	masked bool
}

func openViT(dir string, args gomlxmodels.EmbedArgs) (*vitKind, error) {
	switch architecture, err := checkpoint.Architecture(dir); {
	case err != nil:
		return nil, err
	case architecture == "clip" || architecture == "altclip":
		return nil, fmt.Errorf("%s: a %s gives the vectors clip_image and clip_text (--vector), not full", dir, architecture)
	case architecture == "blip-2":
		return nil, fmt.Errorf("%s: a BLIP-2 gives the vectors blip2_image and blip2_text (--vector), not full", dir)
	}
	if args.Pooling != "" && args.Pooling != "auto" {
		return nil, fmt.Errorf("pooling %q: the vector of a ViT is its class token", args.Pooling)
	}
	m, err := vit.Open(dir)
	if err != nil {
		return nil, err
	}
	return &vitKind{args: args, model: m}, nil
}

func (v *vitKind) files() []string { return v.model.Files() }
func (v *vitKind) settings() []any { return []any{v.model.Preprocess()} }

func (v *vitKind) choices() string {
	return fmt.Sprintf("%s %s %s", v.args.Masking, v.args.Fill, v.args.PatchRule)
}

func (v *vitKind) needs() []client.ColumnSpec { return datasets.Columns("id:text", "image:image") }

func (v *vitKind) key(row stage.Row) string {
	m := row.Mask("mask")
	return fmt.Sprintf("%s\x00%v\x00%d %d\x00%s", row.Image("image").SHA256, v.masked, m.Size[0], m.Size[1], m.Counts)
}

// batch is how many pictures one call of the device takes: more for small models, whose calls cost little.
func (v *vitKind) batch() int {
	const work = 8 * 86e6 * 197 // a ViT-B/16 at 224 pixels, eight pictures
	perImage := float64(v.model.Parameters()) * float64(v.model.Config().Patches()+v.model.Config().Prefix())
	n := int(work / perImage)
	return max(vit.DefaultBatch, min(64, n-n%8))
}

func (v *vitKind) load(backend compute.Backend, dtype dtypes.DType) (encoder, error) {
	return vit.NewEncoder(backend, v.model, vit.Options{Masking: vit.Masking(v.args.Masking), Batch: v.batch(), DType: dtype})
}

func (v *vitKind) prepare(row stage.Row) (any, string, error) {
	rgb, m, column, err := picture(row)
	if err != nil || rgb == nil {
		return nil, column, err
	}
	p, err := v.model.Prepare(rgb, m, vit.PrepareOptions{Fill: preprocess.Fill(v.args.Fill), Rule: preprocess.Rule(v.args.PatchRule)})
	if err != nil {
		return nil, "image", fmt.Errorf("%s: %w", filepath.Base(row.Image("image").Path), err)
	}
	return p, "", nil
}

func (v *vitKind) encode(ctx context.Context, e encoder, prepared []any) ([]any, error) {
	pictures := make([]*vit.Prepared, len(prepared))
	for i, p := range prepared {
		pictures[i] = p.(*vit.Prepared)
	}
	embeddings, err := e.(*vit.Encoder).Encode(ctx, pictures)
	return list(embeddings), err
}

func (v *vitKind) values(embedding, prepared any, masked bool) []stage.Value {
	e, _ := embedding.(vit.Embedding)
	patches := [2]float64{math.NaN(), math.NaN()}
	if p, ok := prepared.(*vit.Prepared); ok && p.Object != nil {
		patches = [2]float64{float64(e.ObjectPatches), float64(e.BackgroundPatches)}
	}
	out := []stage.Value{{Vector: e.Full}}
	if masked {
		out = append(out, stage.Value{Vector: e.ObjectOnly}, stage.Value{Vector: e.BackgroundOnly}, stage.Value{Number: patches[0]}, stage.Value{Number: patches[1]})
	}
	return out
}

// list is a slice with its elements' type forgotten.
func list[T any](s []T) []any {
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}
