package inception

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
	"antipode/internal/glob"
)

// Config is what two checkpoints of the network differ in.
type Config struct {
	FID     bool // the variant of the scores: its pools, its preprocessing, and logits without a bias
	Classes int  // K
}

// fidClasses is the number of classes of the scores' network, by which it is known.
const fidClasses = 1008

// architecture is what a timm config.json calls the network.
const architecture = "inception_v3"

// Model is an opened checkpoint. It holds no weights and no device.
type Model struct {
	hub.Folder
	cfg Config
}

// files are the checkpoints in a folder, as their publishers name them.
func files(dir string) (list []string) {
	for _, pattern := range gomlxmodels.InceptionFiles {
		list = append(list, glob.In(dir, pattern)...)
	}
	return list
}

// Is reports whether a folder contains an Inception v3: a file named as its publishers do, or timm's config.json.
func Is(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		return len(files(dir)) > 0
	}
	_, err = parse(text)
	return err == nil
}

// parse checks that a config.json is timm's of the network, and returns it.
func parse(text []byte) ([]byte, error) {
	var f struct {
		Architecture string `json:"architecture"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	if f.Architecture != architecture {
		return nil, fmt.Errorf("architecture %q is not %s", f.Architecture, architecture)
	}
	return text, nil
}

// torchvision is how images of torchvision's checkpoint are prepared: the network's transform_input makes the usual
// mean and deviation of ImageNet to 0.5.
var torchvision = preprocess.Config{Resize: preprocess.ShortestEdge, Edge: 342, Filter: preprocess.Bilinear,
	CropHeight: Side, CropWidth: Side, RoundCropEven: true, Scale: 1.0 / 255, Mean: preprocess.Half,
	Std: preprocess.Half, Source: "torchvision's ImageClassification"}

// fidelity is how images of the scores' network are prepared.
var fidelity = preprocess.Config{Resize: preprocess.TensorFlow, Height: Side, Width: Side,
	Filter: preprocess.Bilinear, Scale: 1, Mean: [3]float64{128, 128, 128}, Std: [3]float64{128, 128, 128},
	Source: "TensorFlow 1"}

// Open reads a folder: a file named as its publishers do ([gomlxmodels.InceptionFiles]), or a config.json of timm with
// its weights. It checks that every tensor that the network requires exists in the right shape and that there is no
// other; values are read by [Encoder]. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("inception", &err)
	m = &Model{}
	pre := torchvision
	if _, missing := os.Stat(filepath.Join(dir, "config.json")); missing == nil {
		var config []byte
		if m.Folder, config, err = hub.OpenFolder("inception", dir, parse); err != nil {
			return nil, err
		}
		timm, err := preprocess.ParseTimm(config, Side, Side)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Files()[0], err)
		}
		pre, err = *timm, m.OpenWeights()
		if err != nil {
			return nil, err
		}
	} else {
		list := files(dir)
		if len(list) != 1 {
			return nil, fmt.Errorf("%s: %d files of an Inception v3 (%s), not one, and no config.json", dir, len(list),
				strings.Join(gomlxmodels.InceptionFiles, ", "))
		}
		m.Folder = hub.Bare("inception", dir)
		if m.Weights, err = weights.OpenFiles(list...); err != nil {
			return nil, err
		}
		m.Read(list...)
	}
	t, ok := m.Weights.Info("fc.weight")
	if !ok || len(t.Shape) != 2 || t.Shape[0] < 1 || t.Shape[0] > hub.MaxDim {
		return nil, fmt.Errorf("%s: no tensor fc.weight of 1 to %d classes: not an Inception v3",
			m.Weights.Files()[0], hub.MaxDim)
	}
	if m.cfg = (Config{t.Shape[0] == fidClasses, t.Shape[0]}); m.cfg.FID {
		pre = fidelity
	}
	m.UsePreprocessing(pre, Side, Side)
	return m, m.Match(table(&m.cfg, m.Weights))
}
