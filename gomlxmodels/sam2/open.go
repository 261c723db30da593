package sam2

import (
	"errors"
	"image"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/sam"
)

// The types of package sam that this package takes and returns. A [Map] is over the stretched image, and its IoU is
// between 0 and 1.
type (
	Box   = sam.Box
	Image = sam.Image
	Map   = sam.Map
	Mask  = sam.Mask
)

// Model is an opened model folder. It holds no weights and no device.
type Model struct {
	hub.Folder
	cfg *Config
}

// Open reads the folder of a model: config.json, preprocessor_config.json (else Sam2ImageProcessor's own preprocessing
// at the model's size), its weights ([weights.Open]). It checks that every tensor that the configuration requires
// exists in the right shape and that there is no other but those of videos; values are read by [Encoder]. Errors are
// one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("sam2", &err)
	m = &Model{}
	if m.Folder, m.cfg, err = hub.OpenFolder("sam2", dir, ParseConfig); err != nil {
		return nil, err
	}
	if err := m.OpenPreprocessing(preprocess.SAM2, int(m.cfg.ImageSize)); err != nil {
		return nil, err
	}
	if m.Preprocess().Resize != preprocess.Stretch {
		return nil, errors.New(dir + ": preprocessing must stretch an image to the model's size (size with height " +
			"and width)")
	}
	if err := m.OpenWeights(); err != nil {
		return nil, err
	}
	rules := table(m.cfg, false)
	for i := range rules {
		rules[i].Variable = rules[i].Tensor // it must exist, even where nothing loads it
	}
	if err := m.Match(append(rules, optional(m.cfg, m.Weights)...)); err != nil {
		return nil, err
	}
	_, err = sam.ReadFrequencies(m.Weights)
	return m, err
}

// Prepare does the host's part for one image: stretch to the model's size, normalize. It may run on several goroutines
// at once.
func (m *Model) Prepare(img image.Image) (*Image, error) {
	pixels, err := m.Folder.Prepare(img)
	if err != nil {
		return nil, err
	}
	return &Image{Pixels: pixels, Width: img.Bounds().Dx(), Height: img.Bounds().Dy()}, nil
}
