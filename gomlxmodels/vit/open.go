package vit

import (
	"encoding/json"
	"fmt"
	"image"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

// Model is an opened model folder. It holds no weights and no device.
type Model struct {
	hub.Folder
	cfg    *Config
	layout Layout
	prefix string
	rules  []weights.Rule // of a tower; nil = those of the layout
}

// Tower is the image tower of a larger model, whose other tensors rules leave alone, as a model of its own.
func Tower(folder hub.Folder, cfg *Config, rules []weights.Rule) *Model {
	return &Model{Folder: folder, cfg: cfg, rules: rules}
}

// Open reads the folder of a model: config.json, preprocessor_config.json (or the image_processor of
// processor_config.json, or timm's pretrained_cfg inside config.json), its weights ([weights.Open]). Images of a DINOv2
// are as large as its preprocessing makes them; the position embeddings are interpolated. It checks that every tensor
// that the configuration requires exists in the right shape and that there is no other; values are read by
// [NewEncoder]. Errors are one line and name the file.
func Open(dir string) (*Model, error) {
	m := &Model{}
	var config []byte
	var err error
	if m.Folder, m.cfg, err = hub.OpenFolder("vit", dir, func(text []byte) (*Config, error) {
		config = text
		return ParseConfig(text)
	}); err != nil {
		return nil, err
	}
	path := m.Files()[0]
	if err := m.openPreprocessing(path, config); err != nil {
		return nil, err
	}
	if err := m.OpenWeights(); err != nil {
		return nil, err
	}
	if m.layout, m.prefix, err = detect(m.Weights); err != nil {
		return nil, err
	}
	if !m.cfg.fits(m.layout) {
		return nil, fmt.Errorf("%s: the configuration is not of %s, as the names of the tensors of %s", path, m.layout,
			m.Weights.Files()[0])
	}
	if err := m.Match(m.table()); err != nil {
		return nil, err
	}
	return m, nil
}

// table is the correspondence between the checkpoint and the variables of [Forward].
func (m *Model) table() []weights.Rule {
	if m.rules != nil {
		return m.rules
	}
	if m.layout == SigLIP {
		return siglipTable(m.cfg, m.Weights)
	}
	return table(m.cfg, m.layout, m.prefix, heads{})
}

// openPreprocessing reads preprocessor_config.json or processor_config.json, else timm's pretrained_cfg, else takes the
// default.
func (m *Model) openPreprocessing(configPath string, config []byte) error {
	h, w := m.cfg.ImageSize[0], m.cfg.ImageSize[1]
	if m.cfg.AttentionPool {
		return m.OpenPreprocessing(preprocess.SigLIP, h)
	}
	d := preprocess.Default(h, w)
	if m.cfg.Stored != (Pair{}) {
		d = dinov2Preprocess
	}
	var timm struct {
		Cfg json.RawMessage `json:"pretrained_cfg"`
	}
	text, path, err := preprocess.ReadFolder(m.Dir)
	if err != nil {
		return err
	}
	pre := &d
	switch {
	case text != nil:
		m.Read(path)
		pre, err = preprocess.ParseHuggingFace(text)
	case json.Unmarshal(config, &timm) == nil && len(timm.Cfg) > 0:
		path = configPath
		pre, err = preprocess.ParseTimm(config, h, w)
	default:
		path = configPath
	}
	if err == nil {
		err = m.cfg.fit(pre)
	}
	if err == nil {
		err = m.SetPreprocess(*pre)
	}
	return hub.In(path, err)
}

// Load puts the weights into the variables of [Forward] below scope, which must not exist yet: to run, or to train on.
func (m *Model) Load(scope *model.Scope, dtype dtypes.DType) error {
	return load(scope, m.Weights, m.cfg, m.table(), dtype)
}

// Config returns the configuration.
func (m *Model) Config() *Config { return m.cfg }

// SetPreprocess replaces how the model's images are prepared, for example by [preprocess.PublicCode]. A digest of the
// model must then cover [Model.Preprocess] besides [Model.Files].
func (m *Model) SetPreprocess(c preprocess.Config) error {
	h, w := m.cfg.ImageSize[0], m.cfg.ImageSize[1]
	if err := c.Validate(h, w); err != nil {
		return err
	}
	m.UsePreprocessing(c, h, w)
	return nil
}

// Parameters is the number of values of the checkpoint's encoder, for estimates of memory (4 bytes each in float32).
func (m *Model) Parameters() int64 {
	var n int64
	for _, r := range m.table() {
		if r.Variable == "" {
			continue
		}
		k := int64(1)
		for _, d := range r.Shape {
			k *= int64(d)
		}
		n += k
	}
	return n
}

// Prepared is one image ready for the device.
type Prepared struct {
	Pixels []float32    // [C·H·W], normalized
	Object []bool       // [N], true = object patch; nil = no mask
	Pieces [2][]float32 // with a fill: what Obj-only and BG-only see, as Pixels; else nil
}

// PrepareOptions says how an image is prepared; the zero value is the default.
type PrepareOptions struct {
	Fill preprocess.Fill // "" = none
	Rule preprocess.Rule // "" = any
}

// Prepare does the host's part for one image: resize, crop, normalize, mask to patches. mask may be nil. It is safe
// on several goroutines at once.
func (m *Model) Prepare(img image.Image, mask *preprocess.Mask, o PrepareOptions) (*Prepared, error) {
	h, w, pre := m.cfg.ImageSize[0], m.cfg.ImageSize[1], m.Preprocess()
	rgb := preprocess.FromImage(img)
	pixels, err := pre.Apply(rgb, h, w)
	if err != nil {
		return nil, err
	}
	p := &Prepared{Pixels: pixels}
	if mask == nil {
		return p, nil
	}
	if p.Object, err = pre.Patches(rgb, mask, o.Rule, h, w, m.cfg.PatchSize[0], m.cfg.PatchSize[1]); err != nil {
		return nil, err
	}
	level := uint8(0)
	switch o.Fill {
	case preprocess.FillNone, "":
		return p, nil
	case preprocess.FillWhite:
		level = 255
	case preprocess.FillBlack:
	default:
		return nil, fmt.Errorf("fill %q is not one of none, white, black", o.Fill)
	}
	for i, keepObject := range []bool{true, false} {
		if p.Pieces[i], err = pre.Apply(mask.Paint(rgb, keepObject, level), h, w); err != nil {
			return nil, err
		}
	}
	return p, nil
}
