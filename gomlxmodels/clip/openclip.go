package clip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
	"antipode/internal/ftfy"
)

// IsOpenCLIP reports whether a folder contains a CLIP as open_clip saves it and none as transformers does.
func IsOpenCLIP(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, hub.OpenCLIPConfig)); err != nil {
		return false
	}
	kind, err := hub.Architecture(dir)
	return err != nil || kind == ""
}

// openCLIP opens a folder of open_clip: its configuration, preprocessing and weights.
func (m *Model) openCLIP(dir string) error {
	path := filepath.Join(dir, hub.OpenCLIPConfig)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	m.Folder = hub.Bare("clip", dir)
	m.Read(path)
	var pre *preprocess.Config
	if m.cfg, pre, err = parseOpenCLIP(text, taggedOpenAI(dir)); err == nil {
		err = pre.Validate(m.cfg.Vision.ImageSize, m.cfg.Vision.ImageSize)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m.UsePreprocessing(*pre, m.cfg.Vision.ImageSize, m.cfg.Vision.ImageSize)
	for _, name := range hub.OpenCLIPWeights {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			m.Weights, err = weights.OpenFiles(file)
			m.Read(file)
			return err
		}
	}
	return fmt.Errorf("%s: holds no weights of open_clip (%s). Fix: download the folder again", dir,
		strings.Join(hub.OpenCLIPWeights, ", "))
}

// taggedOpenAI reports whether a part of a folder's path ends in open_clip's tag openai: OpenAI's weights, which are of
// networks with QuickGELU whatever their configuration says.
func taggedOpenAI(dir string) bool {
	abs, err := filepath.Abs(dir)
	return err == nil && slices.ContainsFunc(strings.Split(filepath.ToSlash(abs), "/"), func(part string) bool {
		return strings.HasSuffix(part, ".openai") || strings.HasSuffix(part, "-openai")
	})
}

// openCLIPTower is the configuration of a tower of open_clip, of an image's and a text's the keys of both.
type openCLIPTower struct {
	Layers    int     `json:"layers"`
	Width     int     `json:"width"`
	Ratio     float64 `json:"mlp_ratio"`
	ImageSize int     `json:"image_size"`
	PatchSize int     `json:"patch_size"`
	HeadWidth int     `json:"head_width"`
	Context   int     `json:"context_length"`
	Tokenizer string  `json:"hf_tokenizer_name"`
	Vocab     int     `json:"vocab_size"`
	Heads     int     `json:"heads"`

	Dropout   any            `json:"patch_dropout"` // without effect on embeddings
	Arguments map[string]any `json:"tokenizer_kwargs"`
}

// clean is a text as open_clip cleans it before its own tokenizer, or before one that hf_tokenizer_name names. Garbled
// text is an error, where open_clip repairs it.
func (c *Config) clean(text string) (string, error) {
	text, err := ftfy.FixText(text)
	text = strings.Join(strings.Fields(html.UnescapeString(html.UnescapeString(text))), " ")
	if !c.named {
		text = tokenizers.PythonLower(text)
	}
	return text, err
}

// parseOpenCLIP reads an open_clip_config.json and validates it; quick makes its activation QuickGELU whatever it says.
// A key that is not known is an error: most of them change the network.
func parseOpenCLIP(text []byte, quick bool) (*Config, *preprocess.Config, error) {
	var f struct {
		Model struct {
			Dim    int           `json:"embed_dim"`
			Quick  bool          `json:"quick_gelu"`
			Vision openCLIPTower `json:"vision_cfg"`
			Text   openCLIPTower `json:"text_cfg"`
		} `json:"model_cfg"`
		Preprocess struct {
			Mean, Std           []float64
			Interpolation, Mode *string
			Size, Fill          any
			ResizeMode          *string `json:"resize_mode"`
		} `json:"preprocess_cfg"`
	}
	v, t := &f.Model.Vision, &f.Model.Text
	*v = openCLIPTower{Layers: 12, Width: 768, Ratio: 4, ImageSize: 224, PatchSize: 16, HeadWidth: 64}
	*t = openCLIPTower{Layers: 12, Width: 512, Ratio: 4, Context: 77, Vocab: 49408, Heads: 8}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, nil, fmt.Errorf("not readable: %w", err)
	}
	if err := hub.Between("head_width", v.HeadWidth, 1, hub.MaxDim); err != nil {
		return nil, nil, err
	}
	if len(t.Arguments)+len(v.Arguments) > 0 {
		return nil, nil, fmt.Errorf("tokenizer_kwargs %v is not supported", t.Arguments)
	}
	act := "gelu"
	if quick || f.Model.Quick {
		act = "quick_gelu"
	}
	tower := func(o *openCLIPTower, heads int) hub.Transformer {
		return hub.Transformer{HiddenSize: o.Width, IntermediateSize: int(float64(o.Width) * o.Ratio), Layers: o.Layers,
			Heads: heads, HiddenAct: act, LayerNormEps: 1e-5}
	}
	c := &Config{openCLIP: true, named: t.Tokenizer != "", ProjectionDim: f.Model.Dim,
		Text: TextConfig{Transformer: tower(t, t.Heads), VocabSize: t.Vocab, Context: t.Context,
			EndToken: HighestToken},
		Vision: vit.SquareConfig{Transformer: tower(v, v.Width/v.HeadWidth), NumChannels: 3,
			ImageSize: v.ImageSize, PatchSize: v.PatchSize}}
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	for _, fixed := range []struct {
		name, only string
		value      *string
	}{{"interpolation", "bicubic", f.Preprocess.Interpolation}, {"resize_mode", "shortest", f.Preprocess.ResizeMode},
		{"mode", "RGB", f.Preprocess.Mode}} {
		if fixed.value != nil && *fixed.value != fixed.only {
			return nil, nil, fmt.Errorf("preprocess_cfg: %s %q is not supported: only %q is", fixed.name, *fixed.value,
				fixed.only)
		}
	}
	pre := preprocess.CMMD(v.ImageSize) // whose mean and deviation are CLIP's
	pre = preprocess.Config{Resize: preprocess.ShortestEdge, Edge: v.ImageSize, Filter: preprocess.Bicubic,
		CropHeight: v.ImageSize, CropWidth: v.ImageSize, RoundCropEven: true, Scale: pre.Scale, Mean: pre.Mean,
		Std: pre.Std, Source: hub.OpenCLIPConfig}
	for _, three := range []struct {
		from []float64
		to   *[3]float64
	}{{f.Preprocess.Mean, &pre.Mean}, {f.Preprocess.Std, &pre.Std}} {
		if n := copy(three.to[:], three.from); len(three.from) != n || n != 0 && n != 3 {
			return nil, nil, fmt.Errorf("preprocess_cfg: mean or std has %d values, not 3", len(three.from))
		}
	}
	return c, &pre, nil
}

// openCLIPRules is the correspondence between the tensors of a tower as open_clip names them and its variables.
func openCLIPRules(cfg *Config, half tower) []weights.Rule {
	c, from, to := &cfg.Text.Transformer, "", "text/"
	var t weights.Table
	norms := map[string]string{"ln_final": "norm"}
	projection := "text_projection"
	if half == imageTower {
		c, from, to, projection = &cfg.Vision.Transformer, "visual.", "vision/", "proj"
		norms = map[string]string{"ln_pre": "prenorm", "ln_post": "norm"}
		d, p, n := c.HiddenSize, cfg.Vision.PatchSize, 1+cfg.tower().Patches()
		t.As(from+"class_embedding", to+"tokens/class", []int{1, 1, d}, d)
		t.As(from+"positional_embedding", to+"tokens/positions", []int{1, n, d}, n, d)
		t.As(from+"conv1.weight", to+"patch/weights", []int{d, 3 * p * p}, d, 3, p, p)
	} else {
		t.As("token_embedding.weight", to+"tokens/words", nil, cfg.Text.VocabSize, c.HiddenSize)
		t.As("positional_embedding", to+"tokens/positions", nil, cfg.Text.Context, c.HiddenSize)
		t.Skip("attn_mask")
	}
	d, f := c.HiddenSize, c.IntermediateSize
	for i := range c.Layers {
		from, to := fmt.Sprintf("%stransformer.resblocks.%d.", from, i), fmt.Sprintf("%sblock_%d/", to, i)
		t.Norm(from+"ln_1", to+"norm1", d)
		t.As(from+"attn.in_proj_weight", to+"attention/qkv/weights", nil, 3*d, d)
		t.As(from+"attn.in_proj_bias", to+"attention/qkv/bias", nil, 3*d)
		t.Dense(from+"attn.out_proj", to+"attention/out", d, d)
		t.Norm(from+"ln_2", to+"norm2", d)
		t.Dense(from+"mlp.c_fc", to+"mlp/fc1", f, d)
		t.Dense(from+"mlp.c_proj", to+"mlp/fc2", d, f)
	}
	for name, norm := range norms {
		t.Norm(from+name, to+norm, d)
	}
	return append(t, weights.Rule{Tensor: from + projection, Variable: to + "projection/weights",
		Shape: []int{d, cfg.ProjectionDim}, Layout: weights.Transposed})
}
