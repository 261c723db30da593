package clip

import (
	"fmt"
	"math"
	"strings"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/vit"
)

// Model is an opened model folder. It holds no weights and no device.
type Model struct {
	hub.Folder
	cfg         *Config
	scale, bias float64 // of logits
}

// Open reads the folder of a model: config.json, preprocessor_config.json (or the image_processor of
// processor_config.json, else CLIP's or SigLIP's own preprocessing at the model's size), its weights ([weights.Open]).
// It checks that every tensor that the configuration requires exists in the right shape and that there is no other;
// values are read by [Encoder]. A folder without such a config.json may be one of open_clip, with open_clip_config.json
// and its weights. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("clip", &err)
	m = &Model{}
	if IsOpenCLIP(dir) {
		err = m.openCLIP(dir)
	} else {
		err = m.openTransformers(dir)
	}
	if err != nil {
		return nil, err
	}
	if m.Weights.Has("vision_model.encoder.layer.0.layer_norm1.weight") { // so transformers 5 saves an AltCLIPModel
		m.cfg.layer = "layer"
	}
	if err := m.Match(table(m.cfg, m.Weights, imageTower, textTower)); err != nil {
		return nil, err
	}
	scale, err := m.Weights.Float32(logitScale)
	if err != nil {
		return nil, err
	}
	if m.cfg.SigLIP {
		bias, err := m.Weights.Float32(logitBias)
		if err != nil {
			return nil, err
		}
		m.bias = float64(bias[0])
	}
	if m.scale = math.Exp(float64(scale[0])); math.IsInf(m.scale, 0) {
		return nil, fmt.Errorf("%s: tensor %q is %v: its exponential is no finite factor", dir, logitScale, scale[0])
	}
	return m, nil
}

// openTransformers opens a folder of transformers: its configuration, preprocessing and weights.
func (m *Model) openTransformers(dir string) (err error) {
	if m.Folder, m.cfg, err = hub.OpenFolder("clip", dir, ParseConfig); err != nil {
		return err
	}
	processor := preprocess.CLIP
	if m.cfg.SigLIP {
		processor = preprocess.SigLIP
	}
	if err := m.OpenPreprocessing(processor, m.cfg.Vision.ImageSize); err != nil {
		return err
	}
	return m.OpenWeights()
}

// Vision returns the image tower with its projection as a ViT, which embeds parts of images, too.
func (m *Model) Vision() *vit.Model {
	c, rules := m.cfg.tower(), table(m.cfg, m.Weights, imageTower)
	for i := range rules {
		rules[i].Variable = strings.TrimPrefix(rules[i].Variable, "vision/")
	}
	if !m.cfg.SigLIP {
		c.Projection = m.cfg.ProjectionDim
	}
	return vit.Tower(m.Folder, c, rules)
}

// Config returns the configuration.
func (m *Model) Config() *Config { return m.cfg }

// LogitScale is the factor of [Model.Logits]: e to the power of the checkpoint's logit_scale.
func (m *Model) LogitScale() float64 { return m.scale }

// Embedding holds the vectors of one image or text. Neither vector is normalized; see [Embedding.Unit].
type Embedding struct {
	Pooled    []float32 // [D] in the tower's own width
	Projected []float32 // [P] in the space images and texts share
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

// Logits is CLIP's score of each image (row) with each text (column): the cosine of their projected vectors times
// [Model.LogitScale]. The softmax of a row is the probability of each text for that image. A SigLIP adds its bias, and
// the logistic function of a logit is the probability that the text is of the image. An error names vectors of
// another width than projection_dim.
func (m *Model) Logits(images, texts []Embedding) ([][]float64, error) {
	units := func(what string, list []Embedding) ([][]float32, error) {
		out := make([][]float32, len(list))
		for i, e := range list {
			if len(e.Projected) != m.cfg.ProjectionDim {
				return nil, fmt.Errorf("clip: %s %d: a vector of %d numbers, the model's have %d", what, i+1,
					len(e.Projected), m.cfg.ProjectionDim)
			}
			out[i] = e.Unit()
		}
		return out, nil
	}
	a, err := units("image", images)
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
			out[i][j] = m.bias
			for k, v := range a[i] {
				out[i][j] += m.scale * float64(v) * float64(b[j][k])
			}
		}
	}
	return out, nil
}
