package sam

import (
	"errors"
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

// Open reads the folder of a model: config.json, preprocessor_config.json (else SamImageProcessor's own preprocessing
// at the model's size), its weights ([weights.Open]). It checks that every tensor that the configuration requires
// exists in the right shape and that there is no other; values are read by [Encoder]. Errors are one line and name the
// file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("sam", &err)
	m = &Model{}
	if m.Folder, m.cfg, err = hub.OpenFolder("sam", dir, ParseConfig); err != nil {
		return nil, err
	}
	if err := m.OpenPreprocessing(preprocess.SAM, m.cfg.Vision.ImageSize); err != nil {
		return nil, err
	}
	if m.Preprocess().Resize != preprocess.LongestEdge {
		return nil, errors.New(dir + ": preprocessing must keep an image's shape and pad it (size with longest_edge, " +
			"pad_size)")
	}
	if err := m.OpenWeights(); err != nil {
		return nil, err
	}
	rules := table(m.cfg)
	for i := range rules {
		rules[i].Variable = rules[i].Tensor // it must exist, even where nothing loads it
	}
	if err := m.Match(append(rules, optional(m.cfg)...)); err != nil {
		return nil, err
	}
	_, err = ReadFrequencies(m.Weights)
	return m, err
}

// UsePillow makes [Model.Prepare] resize as Pillow does, whatever the folder says: segment-anything's way, and
// LangSAM's.
func (m *Model) UsePillow() {
	pre, side := m.Preprocess(), m.cfg.Vision.ImageSize
	pre.Torchvision = false
	m.UsePreprocessing(pre, side, side)
}

// Image is a prepared image.
type Image struct {
	Pixels        []float32 // [3·side·side]
	Width, Height int       // of the image itself, in pixels
}

// Prepare does the host's part for one image, whose longer side becomes the model's: resize, normalize, pad. It may
// run on several goroutines at once.
func (m *Model) Prepare(img image.Image) (*Image, error) {
	pixels, err := m.Folder.Prepare(img)
	if err != nil {
		return nil, err
	}
	return &Image{pixels, img.Bounds().Dx(), img.Bounds().Dy()}, nil
}
