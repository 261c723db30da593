package groundingdino

import (
	"errors"
	"fmt"
	"image"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
)

// Model is an opened model folder. It holds no weights and no device.
type Model struct {
	hub.Folder
	cfg *Config
}

// Open reads the folder of a model: config.json, preprocessor_config.json (or the image_processor of
// processor_config.json, else GroundingDinoImageProcessor's own preprocessing), its weights ([weights.Open]), and
// the tokenizer's files. It checks that every tensor that the configuration requires exists in the right shape and
// that there is no other; values are read by [Detector]. A tokenizer that gives other numbers to the tokens that
// separate phrases than the network has built in is an error. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("groundingdino", &err)
	m = &Model{}
	if m.Folder, m.cfg, err = hub.OpenFolder("groundingdino", dir, ParseConfig); err != nil {
		return nil, err
	}
	if err := m.OpenPreprocessing(preprocess.GroundingDINO, 0); err != nil {
		return nil, err
	}
	if err := m.OpenWeights(); err != nil {
		return nil, err
	}
	if err := m.Match(table(m.cfg, m.Weights, imagePart, textPart, joinPart)); err != nil {
		return nil, err
	}
	if err := checkCopies(m.cfg, m.Weights); err != nil {
		return nil, err
	}
	if err := m.OpenTokenizer(m.cfg.Text.VocabSize, 0); err != nil {
		return nil, err
	}
	t, err := m.Tokenizer()
	if err != nil {
		return nil, err
	}
	for token, id := range separators {
		if got := t.ID(token); got != id {
			return nil, fmt.Errorf("%s: the tokenizer has %q as number %d, the network requires %d", dir, token, got,
				id)
		}
	}
	return m, nil
}

// Image is a prepared image.
type Image struct {
	Pixels   []float32 // [3,Size.Height,Size.Width], resized and normalized
	Size     Size      // that the network sees
	Original Size      // of the image itself, which boxes refer to
}

// Prepare does the host's part for one image: resize and normalize, as the profile says. An image that is too narrow
// for the number of queries is an error. It may run on several goroutines at once.
func (m *Model) Prepare(img image.Image, p Profile) (out *Image, err error) {
	defer runner.Recovered("groundingdino", &err)
	if img == nil {
		return nil, errors.New("groundingdino: no image")
	}
	s, err := p.settings()
	if err != nil {
		return nil, err
	}
	pre := m.Preprocess()
	pre.Torchvision, pre.OriginalSize = pre.Torchvision && !s.pillow, s.originalSize
	rgb := preprocess.FromImage(img)
	width, height := pre.Resized(rgb.Width, rgb.Height)
	pixels, err := pre.Apply(rgb, height, width)
	if err != nil {
		return nil, err
	}
	out = &Image{Pixels: pixels, Size: Size{height, width}, Original: Size{rgb.Height, rgb.Width}}
	return out, m.cfg.checkImage(out)
}

// checkImage checks an image against the network.
func (c *Config) checkImage(img *Image) error {
	switch {
	case img.Size.Height < 1 || img.Size.Width < 1 || len(img.Pixels) != 3*img.Size.Height*img.Size.Width:
		return fmt.Errorf("image: %d pixel values, not 3 of each of %d×%d pixels", len(img.Pixels), img.Size.Width,
			img.Size.Height)
	case c.positions(img.Size) < c.Queries:
		return fmt.Errorf("the image is too narrow: %d×%d pixels after resizing have %d positions, the model takes %d",
			img.Size.Width, img.Size.Height, c.positions(img.Size), c.Queries)
	}
	return nil
}
