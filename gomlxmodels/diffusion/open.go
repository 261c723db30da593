package diffusion

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/weights"
)

// Model is an opened pipeline folder: its configurations, its tokenizer, the headers of its weights. It holds no
// weights and no device.
type Model struct {
	dir       string
	variant   string // of the weights
	text      textTower
	unet      *UNetConfig
	vae       *VAEConfig
	tokenizer *tokenizers.Tokenizer
	length    int    // of all texts, in tokens
	scheduler []byte // its scheduler_config.json
	safety    Safety
	checker   *checker // nil where safety is not [SafetyOn]
	sets      [parts]*weights.Set
	files     []string

	ldm     *ldm              // of a single file, see [OpenFile]; nil = a folder
	padding int32             // the id that fills texts up
	notes   []string          // what was decided about a single file
	configs map[string][]byte // config.json of its networks
}

// OpenOptions determine how a folder is read; the zero value is the default.
type OpenOptions struct {
	NoSafetyChecker bool   // the folder's safety checker is neither read nor run
	Variant         string // of all weights, such as fp16; "" = as [weights.Open] prefers
}

// part is one network of a pipeline.
type part int

const (
	textPart part = iota
	unetPart
	decoderPart
	safetyPart
	encoderPart // which a Sampler does not use
	parts
)

// component is what model_index.json says of a part: library and class, null where the pipeline has none.
type component [2]*string

func (c component) class() string {
	if c[1] == nil {
		return ""
	}
	return *c[1]
}

// pipelines are the pipelines that are read, with the class of their text towers.
var pipelines = map[string]string{"StableDiffusionPipeline": "CLIPTextModel",
	"AltDiffusionPipeline": "RobertaSeriesModelWithTransformation"}

// Open reads the folder of a StableDiffusionPipeline or an AltDiffusionPipeline: model_index.json, the configurations
// in text_encoder, unet, vae and scheduler, the tokenizer, the safety checker with its feature_extractor where the
// pipeline has one, and the headers of the weights (see [openWeights] for their names). It checks that every tensor
// the configurations require exists with the right shape and that there are no others; values are read by [Sampler].
// Errors are one line and name the file.
func Open(dir string, o OpenOptions) (m *Model, err error) {
	defer runner.Recovered("diffusion", &err)
	m = &Model{dir: dir, variant: o.Variant, safety: SafetyAbsent}
	var index map[string]json.RawMessage
	if err := m.read("model_index.json",
		func(text []byte) error { return json.Unmarshal(text, &index) }); err != nil {
		return nil, err
	}
	var pipeline string
	_ = json.Unmarshal(index["_class_name"], &pipeline) // another kind of value is no pipeline either
	if pipelines[pipeline] == "" {
		return nil, fmt.Errorf("%s: _class_name %s is not StableDiffusionPipeline or AltDiffusionPipeline",
			m.files[0],
			index["_class_name"])
	}
	classes := map[string]string{}
	for _, name := range []string{"text_encoder", "unet", "vae", "tokenizer", "scheduler", "safety_checker",
		"feature_extractor"} {
		var c component
		if raw, given := index[name]; given {
			if err := json.Unmarshal(raw, &c); err != nil {
				return nil, fmt.Errorf("%s: %s is not a library and a class: %s", m.files[0], name, raw)
			}
		}
		classes[name] = c.class()
	}
	for name, want := range map[string]string{"text_encoder": pipelines[pipeline], "unet": "UNet2DConditionModel",
		"vae": "AutoencoderKL"} {
		if classes[name] != want {
			return nil, fmt.Errorf("%s: %s is %q, not %s", m.files[0], name, classes[name], want)
		}
	}
	if err := m.configurations(pipeline); err != nil {
		return nil, err
	}
	if err := m.openTokenizer(); err != nil {
		return nil, err
	}
	if err := m.weights(); err != nil {
		return nil, err
	}
	switch {
	case classes["safety_checker"] == "":
	case o.NoSafetyChecker:
		m.safety = SafetyOff
	default:
		m.safety = SafetyOn
		if err := m.openChecker(classes); err != nil {
			return nil, fmt.Errorf("safety checker: %w; generating with the safety checker off does without it", err)
		}
	}
	return m, nil
}

// openTokenizer reads the tokenizer, and from it how long texts are.
func (m *Model) openTokenizer() error {
	return m.useTokenizer(filepath.Join(m.dir, "tokenizer"))
}

// useTokenizer reads the tokenizer in a folder.
func (m *Model) useTokenizer(dir string) (err error) {
	if m.tokenizer, err = tokenizers.Open(dir); err != nil {
		return err
	}
	m.files = append(m.files, m.tokenizer.Files()...)
	m.length, m.padding = m.text.longest(), m.tokenizer.PadID()
	_, clip := m.text.(clipText)
	switch limit := m.tokenizer.Limit(); {
	case m.tokenizer.Size() > m.text.vocabulary():
		return fmt.Errorf("%s: the tokenizer has %d tokens, text_encoder's vocab_size is %d", dir, m.tokenizer.Size(),
			m.text.vocabulary())
	case m.padding < 0:
		return fmt.Errorf("%s: the tokenizer has no padding token", dir)
	case limit > m.length && !clip:
		return fmt.Errorf("%s: model_max_length is %d tokens, text_encoder has positions for %d", dir, limit,
			m.length)
	case limit > 0:
		m.length = min(limit, m.length)
	case !clip: // whose texts would be filled up to 512 tokens, which no UNet was trained with
		return fmt.Errorf("%s: tokenizer_config.json states no model_max_length (AltDiffusion's is 77)", dir)
	}
	return nil
}

// read reads a file of the folder, notes it and hands it on; errors name it.
func (m *Model) read(name string, use func([]byte) error) error {
	path := filepath.Join(m.dir, filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s is not a pipeline folder (`antipode models` lists the models that add "+
			"images): %w", m.dir, err)
	}
	m.files = append(m.files, path)
	if err := use(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (m *Model) configurations(pipeline string) (err error) {
	read := func(name string, use func([]byte) error) {
		if err == nil {
			err = m.read(name, use)
		}
	}
	read("text_encoder/config.json", func(text []byte) error {
		if pipeline == "AltDiffusionPipeline" {
			c, err := ParseAltTextConfig(text)
			m.text = c
			return err
		}
		c, err := ParseTextConfig(text)
		m.text = clipText{c}
		return err
	})
	read("unet/config.json", func(text []byte) (err error) { m.unet, err = ParseUNetConfig(text); return err })
	read("vae/config.json", func(text []byte) (err error) { m.vae, err = ParseVAEConfig(text); return err })
	read("scheduler/scheduler_config.json", func(text []byte) error { m.scheduler = text; return nil })
	if err != nil {
		return err
	}
	return m.fit()
}

// fit reports configurations that do not fit each other.
func (m *Model) fit() error {
	switch {
	case m.unet.ContextDim != m.text.width():
		return fmt.Errorf("%s: the UNet's cross_attention_dim is %d, the text tower returns %d numbers per token",
			m.dir,
			m.unet.ContextDim, m.text.width())
	case m.unet.InChannels != m.vae.LatentChannels:
		return fmt.Errorf("%s: the UNet's in_channels is %d, the autoencoder's latent_channels %d: only models of "+
			"text to image are supported", m.dir, m.unet.InChannels, m.vae.LatentChannels)
	case m.unet.OutChannels != m.unet.InChannels:
		return fmt.Errorf("%s: the UNet's out_channels is %d, its in_channels %d: they must be equal", m.dir,
			m.unet.OutChannels, m.unet.InChannels)
	}
	return nil
}

// weights reads the headers of all weights and holds them to the configurations.
func (m *Model) weights() (err error) {
	for _, p := range []struct {
		folder string
		parts  []part
	}{{"text_encoder", []part{textPart}}, {"unet", []part{unetPart}}, {"vae", []part{decoderPart, encoderPart}}} {
		set, err := weights.OpenVariant(filepath.Join(m.dir, p.folder), m.variant)
		if err != nil {
			return err
		}
		m.files = append(m.files, set.Files()...)
		for _, part := range p.parts {
			m.sets[part] = set
		}
	}
	m.vae.oldNames = m.sets[decoderPart].Has("decoder.mid_block.attentions.0.query.weight")
	for _, p := range []part{textPart, unetPart, decoderPart} {
		if err := m.network(p).Match(); err != nil {
			return err
		}
	}
	return nil
}

// table is the correspondence between a network's checkpoint and its variables.
func (m *Model) table(p part) []weights.Rule {
	if m.ldm == nil {
		return m.rules(p)
	}
	t := weights.Table(m.ldm.rules(p, m.rules(p)))
	t.SkipOthers(m.ldm.set) // which ldm.match holds to the other tables
	return t
}

// rules is the table in the names of a folder.
func (m *Model) rules(p part) []weights.Rule {
	switch p {
	case textPart:
		if c, ok := m.text.(clipText); ok && m.ldm != nil {
			return c.rules()
		}
		return m.text.table(m.sets[p])
	case unetPart:
		return unetTable(m.unet)
	case safetyPart:
		return m.checker.table(m.sets[p])
	default:
		return vaeTable(m.vae, p == encoderPart, p == decoderPart)
	}
}

// load fills a store with the weights of one network.
func (m *Model) load(backend compute.Backend, store *model.Store, p part, dtype dtypes.DType) error {
	if err := load(backend, store, m.sets[p], m.table(p), dtype); err != nil || p != textPart {
		return err
	}
	return m.text.complete(store, dtype)
}

// UNet is the shape of the UNet.
func (m *Model) UNet() *UNetConfig { return m.unet }

// Files lists the files that were read: what a digest of the model must cover.
func (m *Model) Files() []string { return m.files }

// Safety reports whether images go through the folder's safety checker.
func (m *Model) Safety() Safety { return m.safety }
