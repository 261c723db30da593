package vit

import (
	"context"
	"fmt"
	"image"
	"path/filepath"
	"strings"

	"github.com/gomlx/compute"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

// scores are the held-out scores of a model folder.
type scores struct {
	Seed     uint64         `json:"seed"`
	Images   int            `json:"pictures"`
	Classes  map[string]int `json:"classes"` // number of classes by head
	Accuracy accuracy       `json:"accuracy"`
}

// accuracy is the accuracy by view and head, including heads whose property the view hides.
type accuracy map[string]map[string]float64

func (s *scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "accuracy on %d held-out images\n%-17s", s.Images, "")
	for _, h := range heads {
		fmt.Fprintf(&b, "%9s", h.Name)
	}
	for _, v := range viewNames {
		fmt.Fprintf(&b, "\n%-17s", v)
		for _, h := range heads {
			fmt.Fprintf(&b, "%9.3f", s.Accuracy[v][h.Name])
		}
	}
	return b.String()
}

// score classifies held-out reference images, perCell of each island and object.
func score(ctx context.Context, backend compute.Backend, dir string, perCell int) (fmt.Stringer, error) {
	items := archipelago.New(archipelago.Options{Seed: examples.HeldOut, PerCell: perCell}).Reference()
	classifiers, rows, err := encode(ctx, backend, dir, len(items), func(i int) (image.Image, *preprocess.Mask) {
		img, gray := examples.World.Draw(items[i])
		return img, &preprocess.Mask{Width: examples.Size, Height: examples.Size, Object: gray.Pix}
	})
	if err != nil {
		return nil, err
	}
	s := &scores{Seed: examples.HeldOut, Images: len(items), Classes: map[string]int{}, Accuracy: accuracy{}}
	for v := range views {
		s.Accuracy[viewNames[v]] = map[string]float64{}
	}
	for h, head := range heads {
		s.Classes[head.Name] = len(head.Values)
		var right [views]int
		for i, e := range rows {
			for v, vector := range [views][]float32{e.Full, e.ObjectOnly, e.BackgroundOnly} {
				if classifiers[h].class(vector) == int(head.Label(items[i].Image())) {
					right[v]++
				}
			}
		}
		for v := range views {
			s.Accuracy[viewNames[v]][head.Name] = float64(right[v]) / float64(len(items))
		}
	}
	return s, nil
}

// Seen is what archipelago-vit predicts for an image. It was not trained on figures and on backgrounds without object.
type Seen struct {
	Object, Scene, Island string
	Form                  string // form and object: "round lantern"
}

// Classify returns the predictions of a model folder, such as Model.Out, for whole images.
func Classify(ctx context.Context, backend compute.Backend, dir string, images []image.Image) ([]Seen, error) {
	classifiers, rows, err := encode(ctx, backend, dir, len(images), func(i int) (image.Image, *preprocess.Mask) {
		return images[i], nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]Seen, len(rows))
	for i, e := range rows {
		name := func(h int) string { return heads[h].Values[classifiers[h].class(e.Full)] }
		out[i] = Seen{Object: name(headObject), Scene: name(headScene), Island: name(headIsland), Form: name(headForm)}
	}
	return out, nil
}

// encode opens a model folder and returns its heads and the embeddings of n images, each with an optional mask.
func encode(ctx context.Context, backend compute.Backend, dir string, n int,
	at func(i int) (image.Image, *preprocess.Mask)) ([]linear, []vit.Embedding, error) {
	m, err := vit.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	classifiers, err := openHeads(dir)
	if err != nil {
		return nil, nil, err
	}
	const size = 32
	encoder, err := vit.NewEncoder(backend, m, vit.Options{Batch: size})
	if err != nil {
		return nil, nil, err
	}
	defer encoder.Close()
	var rows []vit.Embedding
	for from := 0; from < n; from += size {
		var batch []*vit.Prepared
		for i := from; i < min(from+size, n); i++ {
			img, mask := at(i)
			p, err := m.Prepare(img, mask, vit.PrepareOptions{})
			if err != nil {
				return nil, nil, err
			}
			batch = append(batch, p)
		}
		out, err := encoder.Encode(ctx, batch)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, out...)
	}
	return classifiers, rows, nil
}

// linear is a classification head: weights [classes,D] and bias [classes].
type linear struct{ weights, bias []float32 }

// class returns the index of the largest logit, the first of equal ones.
func (l linear) class(x []float32) int {
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
func openHeads(dir string) ([]linear, error) {
	model, err := weights.Open(dir)
	if err != nil {
		return nil, err
	}
	others, err := weights.OpenFiles(filepath.Join(dir, headsFile))
	if err != nil {
		return nil, err
	}
	out := make([]linear, len(heads))
	for h := range out {
		set, name := others, heads[h].Name
		if h == headObject {
			set, name = model, "classifier"
		}
		if out[h].weights, err = set.Float32(name + ".weight"); err != nil {
			return nil, err
		}
		if out[h].bias, err = set.Float32(name + ".bias"); err != nil {
			return nil, err
		}
	}
	return out, nil
}
