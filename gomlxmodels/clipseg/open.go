package clipseg

import (
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// Model is an opened model folder: its configuration, its preprocessing, the headers of its weights. It holds no weights
// and no device.
type Model struct {
	cfg   *Config
	pre   preprocess.Config
	set   *weights.Set
	files []string
}

// Open reads the folder of a model: config.json, preprocessor_config.json (or the image_processor of processor_config.json,
// else ViTImageProcessor's own preprocessing at the model's image_size), model.safetensors or its shards. It checks that every
// tensor the configuration asks for is there in the right shape and no other; values are read by [Encoder]. The preprocessing
// decides the pictures' size; it must stretch the whole picture to a square. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("clipseg", &err)
	m = &Model{}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("model folder: %w", err)
	}
	if m.cfg, err = ParseConfig(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.files = []string{path}
	if err := m.openPreprocessing(dir); err != nil {
		return nil, err
	}
	if m.set, err = weights.Open(dir); err != nil {
		return nil, err
	}
	m.files = append(m.files, m.set.Files()...)
	rules := table(m.cfg)
	for i := range rules {
		if rules[i].Shape != nil {
			rules[i].Variable = rules[i].Tensor // it must be there, even where nothing loads it
		}
	}
	return m, weights.Match(m.set, rules)
}

// openPreprocessing reads how pictures are prepared, and with it their size.
func (m *Model) openPreprocessing(dir string) error {
	m.pre = preprocess.Default(m.cfg.Side, m.cfg.Side)
	text, path, err := preprocess.ReadFolder(dir)
	if err != nil || text == nil {
		return err
	}
	pre, err := preprocess.ParseHuggingFace(text)
	if err == nil {
		err = m.size(pre)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m.pre, m.pre.Source = *pre, filepath.Base(path)
	m.files = append(m.files, path)
	return nil
}

// size takes the pictures' size from the preprocessing.
func (m *Model) size(pre *preprocess.Config) error {
	switch {
	case pre.CropHeight != 0 || pre.Resize != preprocess.Stretch && pre.Resize != preprocess.NoResize:
		return fmt.Errorf("preprocessing that crops would leave a part of the picture without a mask; it must stretch the whole picture (size with height and width)")
	case pre.Resize == preprocess.Stretch && pre.Height != pre.Width:
		return fmt.Errorf("preprocessing gives %d×%d pixels (width×height); the decoder takes squares", pre.Width, pre.Height)
	case pre.Resize == preprocess.Stretch:
		m.cfg.Side = pre.Width
	}
	if err := pre.Validate(m.cfg.Side, m.cfg.Side); err != nil {
		return err
	}
	return m.cfg.Validate()
}

// Config is the model's shape.
func (m *Model) Config() *Config { return m.cfg }

// Preprocess is how the model's pictures are prepared.
func (m *Model) Preprocess() preprocess.Config { return m.pre }

// Files lists the files that were read: what a digest of the model must cover.
func (m *Model) Files() []string { return m.files }

// Prepare does the host's part for one picture: resize and normalise. It gives the [3·Side·Side] values [Picture] holds.
// It is safe on several goroutines at once.
func (m *Model) Prepare(img image.Image) (pixels []float32, err error) {
	defer runner.Recovered("clipseg", &err)
	if img == nil {
		return nil, errors.New("clipseg: no picture")
	}
	return m.pre.Apply(preprocess.FromImage(img), m.cfg.Side, m.cfg.Side)
}
