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

// scores are the held-out scores of a folder, at the stage's threshold of 0.5.
type scores struct {
	Seed     uint64 `json:"seed"`
	Pictures int    `json:"pictures"` // photos; and half as many figures
	// Overlap is the mean of intersection over union of masks by the thing's bare name, by language, and of figures by the word "figure".
	Overlap map[string]float64 `json:"iou"`
	Objects map[string]float64 `json:"iou_by_object"`  // by the English name
	Good    float64            `json:"iou_above_half"` // share of photos, by the English name
	// Found is the share of photos in which anything is found by the name of the thing that is there; Empty that in which nothing is found by the name
	// of another thing.
	Found float64 `json:"found"`
	Empty float64 `json:"empty"`
}

func (s *scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d held-out photos: mean intersection over union", s.Pictures)
	for _, code := range append(examples.Codes(), "figure") {
		fmt.Fprintf(&b, "  %s %.3f", code, s.Overlap[code])
	}
	fmt.Fprintf(&b, "\nby object")
	for _, o := range examples.World.Objects() {
		fmt.Fprintf(&b, "  %s %.3f", o, s.Objects[o])
	}
	fmt.Fprintf(&b, "\nabove a half %.3f  something found where the thing is %.3f  nothing where it is not %.3f", s.Good, s.Found, s.Empty)
	return b.String()
}

// asker asks a model folder for masks, through the doors that every user of the model takes.
type asker struct {
	ctx     context.Context
	model   *clipseg.Model
	encoder *clipseg.Encoder
	tokens  *tokenizers.Tokenizer
}

// masks gives the mask of each prompt in each picture, where the probability reaches a half.
func (a *asker) masks(pictures []image.Image, prompts [][]string) ([][][]bool, error) {
	var asked []clipseg.Picture
	for i, im := range pictures {
		pixels, err := a.model.Prepare(im)
		if err != nil {
			return nil, err
		}
		p := clipseg.Picture{Pixels: pixels}
		for _, text := range prompts[i] {
			e, err := a.tokens.Encode(text, a.model.Config().Text.Context)
			if err != nil {
				return nil, err
			}
			p.Prompts = append(p.Prompts, e.IDs)
		}
		asked = append(asked, p)
	}
	maps, err := a.encoder.Segment(a.ctx, asked)
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

// overlap is intersection over union with a true mask, and whether anything was found.
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

// score measures a model folder on held-out photos, perCell of each island and object, and on figures.
func score(ctx context.Context, backend compute.Backend, dir string, perCell int) (fmt.Stringer, error) {
	a := &asker{ctx: ctx}
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

// photos asks each photo for its thing in every language, and for another thing in English.
func (s *scores) photos(a *asker, world *archipelago.World) error {
	photos, objects, codes := world.Photos(), world.Objects(), examples.Codes()
	var pictures []image.Image
	var truths []*image.Gray
	var prompts [][]string
	for i, it := range photos {
		im, mask := world.Draw(it)
		pictures, truths = append(pictures, im), append(truths, mask)
		var asked []string
		for _, code := range codes {
			asked = append(asked, archipelago.ConceptWord(code, it.Object))
		}
		other := objects[i%len(objects)]
		if other == it.Object {
			other = objects[(i+1)%len(objects)]
		}
		prompts = append(prompts, append(asked, other))
	}
	masks, err := a.masks(pictures, prompts)
	if err != nil {
		return err
	}
	s.Pictures = len(photos)
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

// figures asks pictures of figures for the figure.
func (s *scores) figures(a *asker) error {
	n := max(s.Pictures/2, 1)
	var pictures []image.Image
	var truths []*image.Gray
	var prompts [][]string
	for i := range n {
		im, mask := examples.World.Paint(examples.Random(examples.Stream(examples.HeldOut, 0, i), examples.Figure))
		pictures, truths, prompts = append(pictures, im), append(truths, mask), append(prompts, []string{"figure"})
	}
	masks, err := a.masks(pictures, prompts)
	if err != nil {
		return err
	}
	for i := range masks {
		iou, _ := overlap(masks[i][0], truths[i])
		s.Overlap["figure"] += iou / float64(n)
	}
	return nil
}
