package embed

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/tokenizers"
)

// openCLIP opens a tower of a CLIP or SigLIP.
func openCLIP(o opening) (*stage.Opened, error) {
	args := o.args
	if !slices.Contains([]string{"", "auto", "projected", "pooled"}, args.Pooling) {
		return nil, fmt.Errorf("pooling %q: a CLIP's vectors are projected or pooled", args.Pooling)
	}
	m, err := clip.Open(o.dir)
	if err != nil {
		return nil, err
	}
	if side := m.Config().Vision.ImageSize; args.Preprocess == "cmmd" {
		m.UsePreprocessing(preprocess.CMMD(side), side, side)
	}
	pooled := args.Pooling == "pooled" || args.Vector == gomlxmodels.ClipImagePooled
	vector := func(e clip.Embedding) []float32 {
		if pooled {
			return e.Pooled
		}
		return e.Projected
	}
	load := func(tower func(*clip.Encoder) error) func(compute.Backend, dtypes.DType, int) (*clip.Encoder, error) {
		return func(backend compute.Backend, dtype dtypes.DType, batch int) (*clip.Encoder, error) {
			e, err := clip.NewEncoder(backend, m, clip.Options{Batch: batch, DType: dtype})
			if err != nil {
				return nil, err
			}
			return e, tower(e)
		}
	}
	if args.Vector != gomlxmodels.ClipText {
		return start(o, kind[*clip.Encoder, []float32, clip.Embedding]{
			about: about{
				files:      m.Files(),
				parameters: []any{m.Preprocess()},
				choices:    output(gomlxmodels.ClipImage, pooled),
				needs:      datasets.Columns("id:text", "image:image"),
				batch:      clip.DefaultBatch,
				key:        imageKey,
			},
			load: load((*clip.Encoder).LoadImageTower),
			prepare: prepareImage(func(rgb *preprocess.RGB, _ *preprocess.Mask) ([]float32, error) {
				return m.Prepare(rgb)
			}),
			encode: (*clip.Encoder).EncodeImages,
			values: func(e clip.Embedding, _ *[]float32, _ bool) []table.Value {
				return []table.Value{{Vector: vector(e)}}
			},
		})
	}
	t, err := m.Texts()
	if err != nil {
		return nil, err
	}
	c := m.Config().Text
	return startTexts(o, about{
		files:   append(m.Files(), t.Files()...),
		choices: output(gomlxmodels.ClipText, pooled),
	}, load((*clip.Encoder).LoadTextTower), func(text string) (tokenizers.Encoding, error) {
		return t.Encode(text, c.Context)
	}, (*clip.Encoder).EncodeTokens, vector)
}

// output names the choice of a CLIP's vector.
func output(vector string, pooled bool) string {
	if pooled {
		return vector + " pooled"
	}
	return vector + " projected"
}
