package vit

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

// Model is a model folder that was read and checked: configuration, preprocessing, the headers of its weights. It holds
// no weights and no device.
type Model struct {
	dir    string
	cfg    *Config
	pre    preprocess.Config
	set    *weights.Set
	layout Layout
	prefix string
	files  []string
	heads  []string
}

// Open reads the folder of a model: config.json, preprocessor_config.json (or timm's pretrained_cfg inside config.json),
// model.safetensors or its shards. It checks that every tensor the configuration asks for is there in the right shape and no
// other; values are read by [NewEncoder]. Errors are one line and name the file.
func Open(dir string) (*Model, error) {
	m := &Model{dir: dir}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("model folder: %w", err)
	}
	if m.cfg, err = ParseConfig(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.files = []string{path}
	if err := m.openPreprocessing(path, text); err != nil {
		return nil, err
	}
	if m.set, err = weights.Open(dir); err != nil {
		return nil, err
	}
	m.files = append(m.files, m.set.Files()...)
	if m.layout, m.prefix, err = detect(m.set); err != nil {
		return nil, err
	}
	if m.layout != Timm && (m.cfg.Registers > 0 || m.cfg.PreNorm || m.cfg.LayerScale || m.cfg.PatchPositions) {
		return nil, fmt.Errorf("%s: the configuration is timm's, the tensors of %s are named as transformers does", path, m.set.Files()[0])
	}
	if err := weights.Match(m.set, table(m.cfg, m.layout, m.prefix, heads{})); err != nil {
		return nil, err
	}
	for _, head := range []struct{ name, tensor string }{
		{"pooler", m.base() + "pooler.dense.weight"}, {"classifier", "classifier.weight"}, {"classifier", "head.weight"},
	} {
		if m.set.Has(head.tensor) {
			m.heads = append(m.heads, head.name)
		}
	}
	return m, nil
}

// openPreprocessing reads preprocessor_config.json, else timm's pretrained_cfg, else takes the default.
func (m *Model) openPreprocessing(configPath string, config []byte) error {
	h, w := m.cfg.ImageSize[0], m.cfg.ImageSize[1]
	path := filepath.Join(m.dir, "preprocessor_config.json")
	text, err := os.ReadFile(path)
	var pre *preprocess.Config
	switch {
	case err == nil:
		m.files = append(m.files, path)
		pre, err = preprocess.ParseHuggingFace(text)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		var timm struct {
			Cfg json.RawMessage `json:"pretrained_cfg"`
		}
		if json.Unmarshal(config, &timm) == nil && len(timm.Cfg) > 0 {
			path = configPath
			pre, err = preprocess.ParseTimm(config, h, w)
		} else {
			d := preprocess.Default(h, w)
			pre, err = &d, nil
		}
	}
	if err == nil {
		err = pre.Validate(h, w)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m.pre = *pre
	return nil
}

// base is the prefix of transformers' tensors outside the encoder.
func (m *Model) base() string {
	if m.layout == HuggingFace5 && m.prefix != "" && m.prefix != "vit." {
		return m.prefix[:len(m.prefix)-len("encoder.")]
	}
	return m.prefix
}

// Load puts the weights into the variables of [Forward] below scope, which must not exist yet: to run, or to train on.
func (m *Model) Load(scope *model.Scope, dtype dtypes.DType) error {
	return weights.Load(scope, m.set, table(m.cfg, m.layout, m.prefix, heads{}), dtype)
}

// Config is the model's shape.
func (m *Model) Config() *Config { return m.cfg }

// Preprocess is how the model's pictures are prepared.
func (m *Model) Preprocess() preprocess.Config { return m.pre }

// SetPreprocess replaces it, for example by [preprocess.PublicCode].
func (m *Model) SetPreprocess(c preprocess.Config) error {
	if err := c.Validate(m.cfg.ImageSize[0], m.cfg.ImageSize[1]); err != nil {
		return err
	}
	m.pre = c
	return nil
}

// Files lists the files that were read: what a digest of the model must cover (besides [Model.Preprocess], where it was replaced).
func (m *Model) Files() []string { return m.files }

// Layout says how the checkpoint names its tensors.
func (m *Model) Layout() Layout { return m.layout }

// Heads lists parts of the checkpoint beyond the encoder, "pooler" and "classifier", which an embedding leaves unread.
func (m *Model) Heads() []string { return m.heads }

// classes is the number of classes of the checkpoint's classification head, 0 where it has none.
func (m *Model) classes() int {
	for _, name := range []string{"classifier.weight", "head.weight"} {
		if t, ok := m.set.Info(name); ok && len(t.Shape) == 2 {
			return t.Shape[0]
		}
	}
	return 0
}

// Parameters is the number of values of the checkpoint's encoder, for estimates of memory (4 bytes each in float32).
func (m *Model) Parameters() int64 {
	var n int64
	for _, r := range table(m.cfg, m.layout, m.prefix, heads{}) {
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

// Prepared is one picture ready for the device.
type Prepared struct {
	Pixels []float32    // [C·H·W], normalised
	Object []bool       // [N], true = object patch; nil = no mask
	Pieces [2][]float32 // with a fill: what Obj-only and BG-only see, as Pixels; else nil
}

// PrepareOptions says how a picture is prepared; the zero value is the default.
type PrepareOptions struct {
	Fill preprocess.Fill // "" = none
	Rule preprocess.Rule // "" = any
}

// Prepare does the host's part for one picture: resize, crop, normalise, mask to patches. mask may be nil. It is safe on
// several goroutines at once.
func (m *Model) Prepare(img image.Image, mask *preprocess.Mask, o PrepareOptions) (*Prepared, error) {
	h, w := m.cfg.ImageSize[0], m.cfg.ImageSize[1]
	rgb := preprocess.FromImage(img)
	pixels, err := m.pre.Apply(rgb, h, w)
	if err != nil {
		return nil, err
	}
	p := &Prepared{Pixels: pixels}
	if mask == nil {
		return p, nil
	}
	if p.Object, err = m.pre.Patches(rgb, mask, o.Rule, h, w, m.cfg.PatchSize[0], m.cfg.PatchSize[1]); err != nil {
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
		if p.Pieces[i], err = m.pre.Apply(mask.Paint(rgb, keepObject, level), h, w); err != nil {
			return nil, err
		}
	}
	return p, nil
}
