package embed

import (
	"fmt"
	"math"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/vit"
)

func openViT(o opening) (*stage.Opened, error) {
	args := o.args
	if args.Pooling != "" && args.Pooling != "auto" {
		return nil, fmt.Errorf("pooling %q: the vector of a ViT is its class token", args.Pooling)
	}
	m, err := visionTower(o.dir)
	if err != nil {
		return nil, err
	}
	if args.Preprocess != "" {
		if err := m.SetPreprocess(preprocess.PublicCode(m.Config().ImageSize[0])); err != nil {
			return nil, err
		}
	}
	return start(o, kind[*vit.Encoder, *vit.Prepared, vit.Embedding]{
		about: about{
			files:      m.Files(),
			parameters: []any{m.Preprocess()},
			choices:    fmt.Sprintf("%s %s %s", args.Masking, args.Fill, args.PatchRule),
			needs:      datasets.Columns("id:text", "image:image"),
			batch:      vitBatch(m),
			key: func(row stage.Row, masked bool) string {
				m := row.Mask("mask")
				return fmt.Sprintf("%s\x00%v\x00%d %d\x00%s", stage.ImageKey(row.Image("image")), masked, m.Size[0],
					m.Size[1], m.Counts)
			},
		},
		load: func(backend compute.Backend, dtype dtypes.DType, batch int) (*vit.Encoder, error) {
			return vit.NewEncoder(backend, m, vit.Options{Masking: vit.Masking(args.Masking),
				Batch: callBatch(backend, batch), DType: dtype})
		},
		prepare: prepareImage(func(rgb *preprocess.RGB, mask *preprocess.Mask) (*vit.Prepared, error) {
			return m.Prepare(rgb, mask, vit.PrepareOptions{Fill: preprocess.Fill(args.Fill),
				Rule: preprocess.Rule(args.PatchRule)})
		}),
		encode: (*vit.Encoder).Encode,
		values: vitValues,
	})
}

// visionTower opens a ViT, or the image tower of a CLIP.
func visionTower(dir string) (*vit.Model, error) {
	architecture, err := hub.Architecture(dir)
	switch {
	case architecture == "clip" || architecture == "altclip" || clip.IsOpenCLIP(dir):
		m, err := clip.Open(dir)
		if err != nil {
			return nil, err
		}
		return m.Vision(), nil
	case err != nil:
		return nil, err
	case architecture == "blip-2":
		return nil, fmt.Errorf("%s: a BLIP-2 makes the vectors blip2_image and blip2_text (--vector), not full", dir)
	}
	return vit.Open(dir)
}

// vitBatch is the number of images per call of the device: more for small models, whose calls cost little.
func vitBatch(m *vit.Model) int {
	const work = 8 * 86e6 * 197 // a ViT-B/16 at 224 pixels, eight images
	perImage := float64(m.Parameters()) * float64(m.Config().Patches()+m.Config().Prefix())
	n := int(work / perImage)
	return max(vit.DefaultBatch, min(64, n-n%8))
}

// callBatch is the number of images per call of a device for batches of n: the pure Go backend is not faster for more
// than a few, and a batch that is not full takes as long as a full one.
func callBatch(backend compute.Backend, n int) int {
	if backend.String() == device.Go {
		return min(n, vit.DefaultBatch)
	}
	return n
}

func vitValues(e vit.Embedding, prepared **vit.Prepared, masked bool) []table.Value {
	patches := [2]float64{math.NaN(), math.NaN()}
	if prepared != nil && (*prepared).Object != nil {
		patches = [2]float64{float64(e.ObjectPatches), float64(e.BackgroundPatches)}
	}
	out := []table.Value{{Vector: e.Full}}
	if masked {
		out = append(out, table.Value{Vector: e.ObjectOnly}, table.Value{Vector: e.BackgroundOnly},
			table.Value{Number: patches[0]}, table.Value{Number: patches[1]})
	}
	return out
}
