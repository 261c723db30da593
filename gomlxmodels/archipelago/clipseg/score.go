package clipseg

import (
	"context"
	"fmt"
	"image"
	"strings"

	"github.com/gomlx/compute"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/tokenizers"
)

// scores are the held-out scores of a model folder at a threshold of 0.5, that of the stage segment.
type scores struct {
	Seed   uint64 `json:"seed"`
	Images int    `json:"pictures"` // reference images, and half as many figures
	// Overlap is the mean intersection over union for the object's name, by language, and for the prompt "figure".
	Overlap map[string]float64 `json:"iou"`
	Objects map[string]float64 `json:"iou_by_object"`  // for the English name
	Good    float64            `json:"iou_above_half"` // share of images, for the English name
	// Found is the share of images with a mask for the shown object, Empty the share without one for another object.
	Found float64 `json:"found"`
	Empty float64 `json:"empty"`
}

func (s *scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d held-out images: mean intersection over union", s.Images)
	for _, code := range append(examples.Codes(), "figure") {
		fmt.Fprintf(&b, "  %s %.3f", code, s.Overlap[code])
	}
	fmt.Fprintf(&b, "\nby object")
	for _, o := range examples.World.Objects() {
		fmt.Fprintf(&b, "  %s %.3f", o, s.Objects[o])
	}
	fmt.Fprintf(&b, "\nabove 0.5 %.3f  mask for the shown object %.3f  no mask for another object %.3f",
		s.Good, s.Found, s.Empty)
	return b.String()
}

// segmenter returns the masks of a model folder.
type segmenter struct {
	ctx     context.Context
	model   *clipseg.Model
	encoder *clipseg.Encoder
	tokens  *tokenizers.Tokenizer
}

// masks returns the mask of each prompt in each image: the pixels with a probability of at least 0.5.
func (a *segmenter) masks(images []image.Image, prompts [][]string) ([][][]bool, error) {
	var inputs []clipseg.Image
	for i, im := range images {
		pixels, err := a.model.Prepare(im)
		if err != nil {
			return nil, err
		}
		p := clipseg.Image{Pixels: pixels}
		for _, text := range prompts[i] {
			e, err := a.tokens.Encode(text, a.model.Config().Text.Context)
			if err != nil {
				return nil, err
			}
			p.Prompts = append(p.Prompts, e.IDs)
		}
		inputs = append(inputs, p)
	}
	maps, err := a.encoder.Segment(a.ctx, inputs)
	if err != nil {
		return nil, err
	}
	out := make([][][]bool, len(maps))
	for i, list := range maps {
		for _, m := range list {
			mask := make([]bool, len(m.Logits))
			for k, l := range m.Logits {
				mask[k] = l >= 0
			}
			out[i] = append(out[i], mask)
		}
	}
	return out, nil
}

// overlap returns the intersection over union with the true mask, and whether the mask is not empty.
func overlap(found []bool, truth *image.Gray) (iou float64, some bool) {
	both, either := 0, 0
	for i, f := range found {
		t := truth.Pix[i] > 0
		if f && t {
			both++
		}
		if f || t {
			either++
		}
		some = some || f
	}
	return float64(both) / float64(max(either, 1)), some
}

// score evaluates a model folder on held-out reference images, perCell of each island and object, and on figures.
func score(ctx context.Context, backend compute.Backend, dir string, perCell int) (fmt.Stringer, error) {
	a := &segmenter{ctx: ctx}
	var err error
	if a.model, err = clipseg.Open(dir); err != nil {
		return nil, err
	}
	if a.tokens, err = tokenizers.Open(dir); err != nil {
		return nil, err
	}
	if a.encoder, err = clipseg.NewEncoder(backend, a.model, clipseg.Options{Batch: 16}); err != nil {
		return nil, err
	}
	defer a.encoder.Close()
	world := archipelago.New(archipelago.Options{Seed: examples.HeldOut, PerCell: perCell})
	s := &scores{Seed: examples.HeldOut, Overlap: map[string]float64{}, Objects: map[string]float64{}}
	if err := s.photos(a, world); err != nil {
		return nil, err
	}
	return s, s.figures(a)
}

// photos segments the object of each image in every language, and another object in English.
func (s *scores) photos(a *segmenter, world *archipelago.World) error {
	photos, objects, codes := world.Reference(), world.Objects(), examples.Codes()
	var images []image.Image
	var truths []*image.Gray
	var prompts [][]string
	for i, it := range photos {
		im, mask := world.Draw(it)
		images, truths = append(images, im), append(truths, mask)
		var names []string
		for _, code := range codes {
			names = append(names, archipelago.ConceptWord(code, it.Object))
		}
		other := objects[i%len(objects)]
		if other == it.Object {
			other = objects[(i+1)%len(objects)]
		}
		prompts = append(prompts, append(names, other))
	}
	masks, err := a.masks(images, prompts)
	if err != nil {
		return err
	}
	s.Images = len(photos)
	n, of := float64(len(photos)), float64(len(photos)/len(objects))
	for i, it := range photos {
		for k, code := range codes {
			iou, some := overlap(masks[i][k], truths[i])
			s.Overlap[code] += iou / n
			if code != archipelago.English {
				continue
			}
			s.Objects[it.Object] += iou / of
			if iou > 0.5 {
				s.Good += 1 / n
			}
			if some {
				s.Found += 1 / n
			}
		}
		if _, some := overlap(masks[i][len(codes)], truths[i]); !some {
			s.Empty += 1 / n
		}
	}
	return nil
}

// figures segments images of figures with the prompt "figure".
func (s *scores) figures(a *segmenter) error {
	n := max(s.Images/2, 1)
	var images []image.Image
	var truths []*image.Gray
	var prompts [][]string
	for i := range n {
		im, mask := examples.World.Paint(examples.Random(examples.Stream(examples.HeldOut, 0, i), examples.Figure))
		images, truths, prompts = append(images, im), append(truths, mask), append(prompts, []string{"figure"})
	}
	masks, err := a.masks(images, prompts)
	if err != nil {
		return err
	}
	for i := range masks {
		iou, _ := overlap(masks[i][0], truths[i])
		s.Overlap["figure"] += iou / float64(n)
	}
	return nil
}
