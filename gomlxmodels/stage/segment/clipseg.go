package segment

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gomlx/compute"

	"antipode/datasets/mask"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/tokenizers"
)

// clipSeg finds objects with a CLIPSeg: an image's result is one map for each prompt.
type clipSeg struct {
	settings
	model     *clipseg.Model
	tokenizer *tokenizers.Tokenizer
	digest    string
	encoder   *clipseg.Encoder
}

func openCLIPSeg(s settings) (*clipSeg, error) {
	dir, err := hub.Resolve(s.env, s.args.Model)
	if err != nil {
		return nil, err
	}
	switch architecture, err := hub.Architecture(dir); {
	case err != nil:
		return nil, err
	case slices.Contains([]string{"sam", "sam2", "sam2_video"}, architecture):
		return nil, fmt.Errorf("%s: a SAM turns boxes into masks: name the model that finds the boxes (detector, for "+
			"example grounding-dino-base)", dir)
	}
	c := &clipSeg{settings: s}
	if c.model, err = clipseg.Open(dir); err != nil {
		return nil, err
	}
	if c.tokenizer, err = openTokenizer(dir, &c.model.Config().Text); err != nil {
		return nil, err
	}
	c.digest, err = hub.Digest(s.env, s.args.Model, slices.Concat(c.model.Files(), c.tokenizer.Files()),
		c.model.Preprocess())
	return c, err
}

func (c *clipSeg) contents() string { return c.digest }

func (c *clipSeg) load(ctx context.Context) (release stage.Release, err error) {
	key := fmt.Sprintf("segment %s (%.12s, %s, %s)", hub.Name(c.args.Model), c.digest, c.kind, c.dtype)
	c.encoder, release, err = stage.Load(ctx, c.env, key, func(backend compute.Backend) (*clipseg.Encoder, error) {
		e, err := clipseg.NewEncoder(backend, c.model, clipseg.Options{Batch: c.batch(), DType: c.dtype})
		if err == nil {
			err = e.Load()
		}
		return e, err
	})
	return release, err
}

func (c *clipSeg) prepare(rgb *preprocess.RGB, it *item) (err error) {
	if it.clipseg.Pixels, err = c.model.Prepare(rgb); err != nil {
		return err
	}
	for _, prompt := range it.prompts {
		text, err := c.tokenizer.Encode(prompt, c.model.Config().Text.Context)
		if err != nil {
			return textError{err}
		}
		it.clipseg.Prompts = append(it.clipseg.Prompts, text.IDs)
	}
	return nil
}

func (c *clipSeg) segment(ctx context.Context, items []*item) (masks []func() (found, error), err error) {
	images := make([]clipseg.Image, len(items))
	for i, it := range items {
		images[i] = it.clipseg
	}
	maps, err := c.encoder.Segment(ctx, images)
	for i, m := range maps {
		masks = append(masks, func() (found, error) { return c.find(items[i], m) })
	}
	return masks, err
}

// find computes the mask of an image from the maps of its prompts: each map is resized to the image, a pixel has the
// highest logit of all maps, and then the threshold is applied. Rows are resized twice rather than stored: images may
// be large.
func (c *clipSeg) find(it *item, maps []clipseg.Map) (found, error) {
	b := mask.New(it.width, it.height)
	threshold := float32(math.Log(c.args.Threshold / (1 - c.args.Threshold)))
	top := float32(math.Inf(-1))
	f := found{score: math.NaN()}
	err := highest(maps, it.width, it.height, func(y int, row []float32) {
		for x, v := range row {
			b.Set(x, y, v >= threshold)
			top = max(top, v)
		}
	})
	if err == nil {
		err = f.cut(it, &c.args, b)
	}
	if err != nil {
		return found{}, err
	}
	n, sum := 0, 0.0
	if err := highest(maps, it.width, it.height, func(y int, row []float32) {
		for x, v := range row {
			if b.At(x, y) {
				n++
				sum += logistic(float64(v))
			}
		}
	}); err != nil {
		return found{}, err
	}
	switch {
	case n > 0:
		f.score = sum / float64(n)
	case f.components == 0:
		f.reason = fmt.Sprintf("%q is not found: the highest probability is %.3g, the threshold %g", short(it.objects),
			logistic(float64(top)), c.args.Threshold)
	}
	return f, nil
}

// highest calls each with the rows of the elementwise maximum of the maps at the image's size.
func highest(maps []clipseg.Map, width, height int, each func(y int, row []float32)) error {
	row := make([]float32, width)
	var others []func() (int, []float32, bool)
	for _, m := range maps[1:] {
		rows, err := m.Resize(width, height)
		if err != nil {
			return err
		}
		next, stop := iter.Pull2(rows)
		defer stop()
		others = append(others, next)
	}
	rows, err := maps[0].Resize(width, height)
	if err != nil {
		return err
	}
	for y, first := range rows {
		copy(row, first)
		for _, next := range others {
			_, other, _ := next()
			for x, v := range other {
				row[x] = max(row[x], v)
			}
		}
		each(y, row)
	}
	return nil
}
