package clip

import (
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// Model is an opened model folder: its configuration, its preprocessing, the headers of its weights. It holds no weights
// and no device.
type Model struct {
	dir   string
	cfg   *Config
	pre   preprocess.Config
	set   *weights.Set
	files []string
	scale float64
}

// Open reads the folder of a model: config.json, preprocessor_config.json (or the image_processor of processor_config.json,
// else CLIP's own preprocessing at the model's size), model.safetensors or its shards. It checks that every tensor the
// configuration asks for is there in the right shape and no other; values are read by [Encoder]. Errors are one line and name
// the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("clip", &err)
	m = &Model{dir: dir}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("model folder: %w", err)
	}
	if m.cfg, err = ParseConfig(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.files = []string{path}
	if err := m.openPreprocessing(); err != nil {
		return nil, err
	}
	if m.set, err = weights.Open(dir); err != nil {
		return nil, err
	}
	m.files = append(m.files, m.set.Files()...)
	if m.set.Has("vision_model.encoder.layer.0.layer_norm1.weight") { // so transformers 5 saves an AltCLIPModel
		m.cfg.layer = "layer"
	}
	if err := weights.Match(m.set, table(m.cfg, m.set, imageTower, textTower)); err != nil {
		return nil, err
	}
	scale, err := m.set.Float32(logitScale)
	if err != nil {
		return nil, err
	}
	if m.scale = math.Exp(float64(scale[0])); math.IsInf(m.scale, 0) {
		return nil, fmt.Errorf("%s: tensor %q is %v: its exponential is no finite factor", dir, logitScale, scale[0])
	}
	return m, nil
}

// processor is CLIPImageProcessor.
var processor = preprocess.Processor{Class: "CLIPImageProcessor", Side: 224, Crops: true, Keys: map[string]string{
	"resample":   "3",
	"image_mean": "[0.48145466, 0.4578275, 0.40821073]", "image_std": "[0.26862954, 0.26130258, 0.27577711]",
}}

func (m *Model) openPreprocessing() error {
	pre, path, err := processor.OpenFolder(m.dir, m.cfg.Vision.ImageSize)
	if err != nil {
		return err
	}
	if path != "" {
		m.files = append(m.files, path)
	}
	m.pre = *pre
	return nil
}

// Config is the model's shape.
func (m *Model) Config() *Config { return m.cfg }

// Preprocess is how the model's pictures are prepared.
func (m *Model) Preprocess() preprocess.Config { return m.pre }

// Files lists the files that were read: what a digest of the model must cover.
func (m *Model) Files() []string { return m.files }

// LogitScale is the factor of [Model.Logits]: e to the power of the checkpoint's logit_scale.
func (m *Model) LogitScale() float64 { return m.scale }

// Prepare does the host's part for one picture: resize, crop, normalise. It gives the [3·H·W] values
// [Encoder.EncodeImages] takes. It is safe on several goroutines at once.
func (m *Model) Prepare(img image.Image) (pixels []float32, err error) {
	defer runner.Recovered("clip", &err)
	if img == nil {
		return nil, errors.New("clip: no picture")
	}
	side := m.cfg.Vision.ImageSize
	return m.pre.Apply(preprocess.FromImage(img), side, side)
}

// Embedding is what a tower makes of one picture or text. Neither vector is normalised; see [Embedding.Unit].
type Embedding struct {
	Pooled    []float32 // [D] in the tower's own width
	Projected []float32 // [P] in the space pictures and texts share
}

// Unit is the projected vector at length 1; zeros stay zeros.
func (e Embedding) Unit() []float32 {
	square := 0.0
	for _, v := range e.Projected {
		square += float64(v) * float64(v)
	}
	out := make([]float32, len(e.Projected))
	if square > 0 {
		for i, v := range e.Projected {
			out[i] = float32(float64(v) / math.Sqrt(square))
		}
	}
	return out
}

// Logits is CLIP's score of each picture (row) with each text (column): the cosine of their projected vectors times
// [Model.LogitScale]. The softmax of a row is the probability of each text for that picture. An error names vectors of
// another width than projection_dim.
func (m *Model) Logits(images, texts []Embedding) ([][]float64, error) {
	units := func(what string, list []Embedding) ([][]float32, error) {
		out := make([][]float32, len(list))
		for i, e := range list {
			if len(e.Projected) != m.cfg.ProjectionDim {
				return nil, fmt.Errorf("clip: %s %d: a vector of %d numbers, the model's have %d", what, i+1, len(e.Projected), m.cfg.ProjectionDim)
			}
			out[i] = e.Unit()
		}
		return out, nil
	}
	a, err := units("picture", images)
	if err != nil {
		return nil, err
	}
	b, err := units("text", texts)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = make([]float64, len(b))
		for j := range b {
			for k, v := range a[i] {
				out[i][j] += m.scale * float64(v) * float64(b[j][k])
			}
		}
	}
	return out, nil
}
