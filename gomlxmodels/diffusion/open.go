package diffusion

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/weights"
)

// Model is an opened pipeline folder: its configurations, its tokenizer, the headers of its weights. It holds no weights and no
// device.
type Model struct {
	dir       string
	text      *clip.Config
	unet      *UNetConfig
	vae       *VAEConfig
	tokenizer *tokenizers.Tokenizer
	scheduler []byte // its scheduler_config.json
	safety    bool
	prefix    string // of the text tower's tensors
	sets      [parts]*weights.Set
	files     []string
}

// part is one network of a pipeline.
type part int

const (
	textPart part = iota
	unetPart
	decoderPart
	encoderPart
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

// Open reads the folder of a StableDiffusionPipeline: model_index.json, the configurations in text_encoder, unet, vae and scheduler,
// the tokenizer, and the headers of the weights (model.safetensors of the text tower; diffusion_pytorch_model.safetensors of the others,
// or either's fp16 variant where that alone is there). It checks that every tensor the configurations ask for is there in the right
// shape and no other; values are read by [Sampler]. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer recovered(&err)
	m = &Model{dir: dir}
	var index map[string]json.RawMessage
	if err := m.read("model_index.json", func(text []byte) error { return json.Unmarshal(text, &index) }); err != nil {
		return nil, err
	}
	if name := string(index["_class_name"]); name != `"StableDiffusionPipeline"` {
		return nil, fmt.Errorf("%s: _class_name %s is not StableDiffusionPipeline", m.files[0], name)
	}
	classes := map[string]string{}
	for _, name := range []string{"text_encoder", "unet", "vae", "tokenizer", "scheduler", "safety_checker"} {
		var c component
		if raw, given := index[name]; given {
			if err := json.Unmarshal(raw, &c); err != nil {
				return nil, fmt.Errorf("%s: %s is not a library and a class: %s", m.files[0], name, raw)
			}
		}
		classes[name] = c.class()
	}
	m.safety = classes["safety_checker"] != ""
	for name, want := range map[string]string{"text_encoder": "CLIPTextModel", "unet": "UNet2DConditionModel", "vae": "AutoencoderKL"} {
		if classes[name] != want {
			return nil, fmt.Errorf("%s: %s is %q, not %s", m.files[0], name, classes[name], want)
		}
	}
	if err := m.configurations(); err != nil {
		return nil, err
	}
	if m.tokenizer, err = tokenizers.Open(filepath.Join(dir, "tokenizer")); err != nil {
		return nil, err
	}
	m.files = append(m.files, m.tokenizer.Files()...)
	if size := m.tokenizer.Size(); size > m.text.Text.VocabSize {
		return nil, fmt.Errorf("%s: the tokenizer has %d tokens, text_encoder's vocab_size is %d", filepath.Join(dir, "tokenizer"), size, m.text.Text.VocabSize)
	}
	return m, m.weights()
}

// read reads a file of the folder, notes it and hands it on; errors name it.
func (m *Model) read(name string, use func([]byte) error) error {
	path := filepath.Join(m.dir, filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("pipeline folder: %w", err)
	}
	m.files = append(m.files, path)
	if err := use(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (m *Model) configurations() (err error) {
	read := func(name string, use func([]byte) error) {
		if err == nil {
			err = m.read(name, use)
		}
	}
	read("text_encoder/config.json", func(text []byte) (err error) { m.text, err = ParseTextConfig(text); return err })
	read("unet/config.json", func(text []byte) (err error) { m.unet, err = ParseUNetConfig(text); return err })
	read("vae/config.json", func(text []byte) (err error) { m.vae, err = ParseVAEConfig(text); return err })
	read("scheduler/scheduler_config.json", func(text []byte) error { m.scheduler = text; return nil })
	if err != nil {
		return err
	}
	switch {
	case m.unet.ContextDim != m.text.Text.HiddenSize:
		return fmt.Errorf("%s: the UNet's cross_attention_dim is %d, the text tower's hidden_size %d", m.dir, m.unet.ContextDim, m.text.Text.HiddenSize)
	case m.unet.InChannels != m.vae.LatentChannels:
		return fmt.Errorf("%s: the UNet's in_channels is %d, the autoencoder's latent_channels %d: only models of text to picture are supported", m.dir, m.unet.InChannels, m.vae.LatentChannels)
	case m.unet.OutChannels != m.unet.InChannels:
		return fmt.Errorf("%s: the UNet's out_channels is %d, its in_channels %d: they must be equal", m.dir, m.unet.OutChannels, m.unet.InChannels)
	}
	return nil
}

// weights reads the headers of all weights and holds them to the configurations.
func (m *Model) weights() (err error) {
	for _, p := range []struct {
		folder, name string
		parts        []part
	}{{"text_encoder", "model", []part{textPart}}, {"unet", "diffusion_pytorch_model", []part{unetPart}}, {"vae", "diffusion_pytorch_model", []part{decoderPart, encoderPart}}} {
		set, err := openWeights(filepath.Join(m.dir, p.folder), p.name)
		if err != nil {
			return err
		}
		m.files = append(m.files, set.Files()...)
		for _, part := range p.parts {
			m.sets[part] = set
		}
	}
	if m.sets[textPart].Has("text_model.final_layer_norm.weight") {
		m.prefix = "text_model."
	}
	m.vae.oldNames = m.sets[decoderPart].Has("decoder.mid_block.attentions.0.query.weight")
	for p, table := range map[part][]weights.Rule{textPart: textTable(m.text, m.prefix), unetPart: unetTable(m.unet), decoderPart: vaeTable(m.vae, true, true)} {
		if err := weights.Match(m.sets[p], table); err != nil {
			return err
		}
	}
	return nil
}

// openWeights finds the weights in a folder of the pipeline.
func openWeights(dir, name string) (*weights.Set, error) {
	for _, file := range []string{name + ".safetensors", name + ".fp16.safetensors"} {
		path := filepath.Join(dir, file)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return weights.OpenFiles(path)
		}
	}
	return nil, fmt.Errorf("%s: holds no %s.safetensors: save the pipeline with safe_serialization=True, in one file a network", dir, name)
}

// load fills a store with the weights of one network.
func (m *Model) load(backend compute.Backend, store *model.Store, p part, dtype dtypes.DType) error {
	switch p {
	case textPart:
		if err := loadText(store, m.text, dtype); err != nil {
			return err
		}
		return load(backend, store, m.sets[p], textTable(m.text, m.prefix), dtype)
	case unetPart:
		return load(backend, store, m.sets[p], unetTable(m.unet), dtype)
	default:
		return load(backend, store, m.sets[p], vaeTable(m.vae, p == encoderPart, p == decoderPart), dtype)
	}
}

// recovered turns a panic of the graph library into an error, so that none crosses a door of this package.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("diffusion: %w", r)
	default:
		*err = fmt.Errorf("diffusion: %v", r)
	}
}

// Text is the shape of the text tower; only its Text field means something.
func (m *Model) Text() *clip.Config { return m.text }

// UNet is the shape of the UNet.
func (m *Model) UNet() *UNetConfig { return m.unet }

// VAE is the shape of the autoencoder.
func (m *Model) VAE() *VAEConfig { return m.vae }

// Files lists the files that were read: what a digest of the model must cover.
func (m *Model) Files() []string { return m.files }

// HasSafetyChecker says that the folder's pipeline names a safety checker. [Sampler] does not run it.
func (m *Model) HasSafetyChecker() bool { return m.safety }

// Size is the size of pictures the model was made for, in pixels: 512 for 1.x, 768 for most of 2.x.
func (m *Model) Size() (width, height int) {
	s := m.unet.SampleSize
	if len(s) == 0 {
		s = Ints{64}
	}
	return s[len(s)-1] * m.vae.Factor(), s[0] * m.vae.Factor()
}
