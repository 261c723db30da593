package embed

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/inception"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
)

// openInception opens an Inception v3.
func openInception(o opening) (*stage.Opened, error) {
	args := o.args
	if args.Pooling != "" && args.Pooling != "auto" {
		return nil, fmt.Errorf("pooling %q: the vector of an Inception v3 is its last map, averaged", args.Pooling)
	}
	if args.Preprocess != "" {
		return nil, fmt.Errorf("preprocess %q is for a ViT, not for an Inception v3", args.Preprocess)
	}
	m, err := inception.Open(o.dir)
	if err != nil {
		return nil, err
	}
	logits := args.Vector == gomlxmodels.Logits
	choices := gomlxmodels.Full
	if logits {
		choices = gomlxmodels.Logits
	}
	return start(o, kind[*inception.Encoder, []float32, inception.Embedding]{
		about: about{
			files:      m.Files(),
			parameters: []any{m.Preprocess()},
			choices:    choices,
			whole:      !logits,
			needs:      datasets.Columns("id:text", "image:image"),
			batch:      inception.DefaultBatch,
			key:        imageKey,
		},
		load: func(backend compute.Backend, dtype dtypes.DType, batch int) (*inception.Encoder, error) {
			return inception.NewEncoder(backend, m, inception.Options{Batch: batch, DType: dtype})
		},
		prepare: prepareImage(func(rgb *preprocess.RGB, _ *preprocess.Mask) ([]float32, error) {
			return m.Prepare(rgb)
		}),
		encode: (*inception.Encoder).Encode,
		values: func(e inception.Embedding, _ *[]float32, _ bool) []table.Value {
			if logits {
				return []table.Value{{Vector: e.Logits}}
			}
			return []table.Value{{Vector: e.Pooled}}
		},
	})
}
