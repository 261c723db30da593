package vit

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gomlx/compute"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

// heldOutSeed is the world of the held-out pictures: its photos, with scenes and forms as frequent as on each island.
// Training draws its pictures from seeds of its own.
const heldOutSeed = 1 << 40

// headsFile is the file, beside the model's own, with the heads that have no place in a Hugging Face folder.
const headsFile = "heads.safetensors"

// scores are the held-out scores of a folder.
type scores struct {
	Seed     uint64         `json:"seed"`
	Pictures int            `json:"pictures"`
	Classes  map[string]int `json:"classes"` // of each head
	Accuracy accuracy       `json:"accuracy"`
}

// accuracy is the share of right answers by view and head. Where a head's subject is hidden, it says how much shows all the same.
type accuracy map[string]map[string]float64

func (s *scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "accuracy on %d held-out pictures\n%-17s", s.Pictures, "")
	for _, h := range headNames {
		fmt.Fprintf(&b, "%9s", h)
	}
	for _, v := range viewNames {
		fmt.Fprintf(&b, "\n%-17s", v)
		for _, h := range headNames {
			fmt.Fprintf(&b, "%9.3f", s.Accuracy[v][h])
		}
	}
	return b.String()
}

// score embeds held-out photos with a model folder, perCell of each island and object, through the doors that every user of the
// model takes, and lets the heads answer.
func score(ctx context.Context, backend compute.Backend, dir string, perCell int) (fmt.Stringer, error) {
	items := archipelago.New(archipelago.Options{Seed: heldOutSeed, PerCell: perCell}).Photos()
	rows, err := embedItems(ctx, backend, dir, items)
	if err != nil {
		return nil, err
	}
	hs, err := openHeads(dir)
	if err != nil {
		return nil, err
	}
	result := scores{Seed: heldOutSeed, Pictures: len(items), Classes: map[string]int{}, Accuracy: accuracy{}}
	for h := range heads {
		result.Classes[headNames[h]] = len(labels[h])
	}
	for v := range views {
		result.Accuracy[viewNames[v]] = map[string]float64{}
		for h := range hs {
			right := 0
			for i, e := range rows {
				if hs[h].answer(pick(e, v)) == truth(items[i], h) {
					right++
				}
			}
			result.Accuracy[viewNames[v]][headNames[h]] = float64(right) / float64(len(items))
		}
	}
	return &result, nil
}

// embedItems draws pictures and embeds them in the three set-ups.
func embedItems(ctx context.Context, backend compute.Backend, dir string, items []archipelago.Item) ([]vit.Embedding, error) {
	m, err := vit.Open(dir)
	if err != nil {
		return nil, err
	}
	const size = 32
	encoder, err := vit.NewEncoder(backend, m, vit.Options{Batch: size})
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	var rows []vit.Embedding
	for at := 0; at < len(items); at += size {
		var batch []*vit.Prepared
		for _, it := range items[at:min(at+size, len(items))] {
			picture, gray := world.Draw(it)
			mask := preprocess.Mask{Width: imageSize, Height: imageSize, Object: gray.Pix}
			p, err := m.Prepare(picture, &mask, vit.PrepareOptions{})
			if err != nil {
				return nil, err
			}
			batch = append(batch, p)
		}
		out, err := encoder.Encode(ctx, batch)
		if err != nil {
			return nil, err
		}
		rows = append(rows, out...)
	}
	return rows, nil
}

func pick(e vit.Embedding, v view) []float32 {
	return [views][]float32{e.Full, e.ObjectOnly, e.BackgroundOnly}[v]
}

// linear is one head outside the graph: weights [classes,D] and bias [classes].
type linear struct{ weights, bias []float32 }

func (l linear) answer(x []float32) int {
	best, at := float32(0), 0
	for c, y := range l.bias {
		for i, v := range x {
			y += v * l.weights[c*len(x)+i]
		}
		if c == 0 || y > best {
			best, at = y, c
		}
	}
	return at
}

// openHeads reads the heads of a model folder: the classifier and those of headsFile.
func openHeads(dir string) ([heads]linear, error) {
	var hs [heads]linear
	model, err := weights.Open(dir)
	if err != nil {
		return hs, err
	}
	others, err := weights.OpenFiles(filepath.Join(dir, headsFile))
	if err != nil {
		return hs, err
	}
	for h := range hs {
		set, name := others, headNames[h]
		if h == headObject {
			set, name = model, "classifier"
		}
		if hs[h].weights, err = set.Float32(name + ".weight"); err != nil {
			return hs, err
		}
		if hs[h].bias, err = set.Float32(name + ".bias"); err != nil {
			return hs, err
		}
	}
	return hs, nil
}
