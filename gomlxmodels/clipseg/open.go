package clipseg

import (
	"errors"
	"fmt"
	"path/filepath"

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
// processor_config.json, else ViTImageProcessor's own preprocessing at the model's image_size), its weights
// ([weights.Open]). It checks that every tensor that the configuration requires exists in the right shape and that
// there is no other; values are read by [Encoder]. The preprocessing decides the images' size; it must stretch the
// whole image to a square. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("clipseg", &err)
	m = &Model{}
	if m.Folder, m.cfg, err = hub.OpenFolder("clipseg", dir, ParseConfig); err != nil {
		return nil, err
	}
	if err := m.openPreprocessing(); err != nil {
		return nil, err
	}
	if err := m.OpenWeights(); err != nil {
		return nil, err
	}
	rules := table(m.cfg)
	for i := range rules {
		if rules[i].Shape != nil {
			rules[i].Variable = rules[i].Tensor // it must exist, even where nothing loads it
		}
	}
	return m, m.Match(rules)
}

// openPreprocessing reads how images are prepared, and with it their size.
func (m *Model) openPreprocessing() error {
	pre := preprocess.Default(m.cfg.Side, m.cfg.Side)
	text, path, err := preprocess.ReadFolder(m.Dir)
	if err != nil {
		return err
	}
	if text != nil {
		given, err := preprocess.ParseHuggingFace(text)
		if err == nil {
			err = m.size(given)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		pre, pre.Source = *given, filepath.Base(path)
		m.Read(path)
	}
	m.UsePreprocessing(pre, m.cfg.Side, m.cfg.Side)
	return nil
}

// size takes the images' size from the preprocessing.
func (m *Model) size(pre *preprocess.Config) error {
	switch {
	case pre.CropHeight != 0 || pre.Resize != preprocess.Stretch && pre.Resize != preprocess.NoResize:
		return errors.New("preprocessing that crops would leave a part of the image without a mask; it must " +
			"stretch the whole image (size with height and width)")
	case pre.Resize == preprocess.Stretch && pre.Height != pre.Width:
		return fmt.Errorf("preprocessing gives %d×%d pixels (width×height); the decoder takes squares", pre.Width,
			pre.Height)
	case pre.Resize == preprocess.Stretch:
		m.cfg.Side = pre.Width
	}
	if err := pre.Validate(m.cfg.Side, m.cfg.Side); err != nil {
		return err
	}
	return m.cfg.Validate()
}

// Config returns the configuration.
func (m *Model) Config() *Config { return m.cfg }
