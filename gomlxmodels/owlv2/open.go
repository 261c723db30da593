package owlv2

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
// processor_config.json, else Owlv2ImageProcessor's own preprocessing at the model's size), its weights
// ([weights.Open]), and the tokenizer's files. It checks that every tensor that the configuration requires exists in
// the right shape and that there is no other; values are read by [Detector]. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("owlv2", &err)
	m = &Model{}
	if m.Folder, m.cfg, err = hub.OpenFolder("owlv2", dir, ParseConfig); err != nil {
		return nil, err
	}
	if err := m.OpenPreprocessing(preprocess.Owlv2, m.cfg.Vision.ImageSize); err != nil {
		return nil, err
	}
	if err := m.OpenWeights(); err != nil {
		return nil, err
	}
	if err := m.Match(table(m.cfg, imagePart, textPart)); err != nil {
		return nil, err
	}
	if err := m.OpenTokenizer(m.cfg.Text.VocabSize, 0); err != nil {
		return nil, err
	}
	t, err := m.Tokenizer()
	if err != nil {
		return nil, err
	}
	if start, end := t.StartID(), t.EndID(); start < 1 || end <= start || end < t.PadID() {
		return nil, fmt.Errorf("%s: the tokenizer's start token is number %d, its end token %d, its padding %d: "+
			"the network requires a start token above 0 and an end token above both others", dir, start, end, t.PadID())
	}
	return m, nil
}

// Image is a prepared image.
type Image struct {
	Pixels        []float32 // [3,side,side] of the model: padded to a square, resized and normalized
	Width, Height int       // of the image itself in pixels, which boxes refer to
}

// Prepare does the host's part for one image: pad, resize and normalize. It may run on several goroutines at once.
func (m *Model) Prepare(img image.Image) (out *Image, err error) {
	defer runner.Recovered("owlv2", &err)
	if img == nil {
		return nil, errors.New("owlv2: no image")
	}
	rgb := preprocess.FromImage(img)
	pre, side := m.Preprocess(), m.cfg.Vision.ImageSize
	pixels, err := pre.Apply(rgb, side, side)
	if err != nil {
		return nil, err
	}
	return &Image{Pixels: pixels, Width: rgb.Width, Height: rgb.Height}, nil
}

// Caption is one or several texts to look for.
type Caption struct {
	Texts []string
	IDs   [][]int32 // tokens of each, start and end included, padding not
}

// Caption turns texts into tokens, as they are. A text of more tokens than max_position_embeddings, start and end
// included, is an error: transformers does not shorten it either. An empty text is one of no words, not an error.
func (m *Model) Caption(texts ...string) (Caption, error) {
	t, err := m.Tokenizer()
	if err != nil {
		return Caption{}, err
	}
	c := Caption{Texts: texts}
	for _, text := range texts {
		e, err := t.Encode(text, -1)
		if err != nil {
			return Caption{}, err
		}
		if len(e.IDs) > m.cfg.Text.Context {
			return Caption{}, fmt.Errorf("text %q has %d tokens, the model takes %d (max_position_embeddings)", text,
				len(e.IDs), m.cfg.Text.Context)
		}
		c.IDs = append(c.IDs, e.IDs)
	}
	return c, nil
}
