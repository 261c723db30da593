package textenc

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"antipode/gomlxmodels/hub"
)

// Family is a kind of transformer: which tensors it has, and how positions enter.
type Family string

// The families. XLM-R and CamemBERT are RoBERTa with other vocabularies.
const (
	BERT       Family = "bert"       // positions count from 0
	RoBERTa    Family = "roberta"    // positions count from pad_token_id + 1, padding tokens excepted
	MPNet      Family = "mpnet"      // as RoBERTa with padding 1, plus a bias of attention by distance; no token types
	DistilBERT Family = "distilbert" // as BERT, no token types
)

// families by the model_type of a configuration.
var families = map[string]Family{"bert": BERT, "roberta": RoBERTa, "xlm-roberta": RoBERTa, "camembert": RoBERTa,
	"mpnet":      MPNet,
	"distilbert": DistilBERT, "altclip": RoBERTa, "altclip_text_model": RoBERTa, "M-CLIP": RoBERTa}

// Config is the transformer's shape: the keys of Hugging Face's BertConfig, which RoBERTa and MPNet share.
type Config struct {
	hub.Transformer
	ModelType string `json:"model_type"` // as in the file
	VocabSize int    `json:"vocab_size"`
	Positions int    `json:"max_position_embeddings"` // rows of the table, including those before the first position
	TypeVocab int    `json:"type_vocab_size"`         // rows of the token types; 0 = none
	PadToken  int    `json:"pad_token_id"`
	Buckets   int    `json:"relative_attention_num_buckets"` // of MPNet's distances

	ProjectDim int `json:"project_dim"` // AltCLIP: width of the transformation
	// AltCLIP: width of the space shared with images; 0 = a text tower alone
	ProjectionDim int `json:"projection_dim"`
	NumDims       int `json:"numDims"` // M-CLIP: width of LinearTransformation
}

// Family is the kind of transformer.
func (c *Config) Family() Family { return families[c.ModelType] }

// defaults are what transformers takes for keys a file leaves out.
func defaults(modelType string) Config {
	c := Config{ModelType: modelType, Transformer: hub.Transformer{HiddenSize: 768, IntermediateSize: 3072, Layers: 12,
		Heads: 12, HiddenAct: "gelu", LayerNormEps: 1e-12}, VocabSize: 30522, Positions: 512, TypeVocab: 2}
	switch modelType {
	case "roberta", "xlm-roberta", "camembert":
		c.PadToken = 1
	case "mpnet":
		c.VocabSize, c.TypeVocab, c.PadToken, c.Buckets = 30527, 0, 1, distanceBuckets
	case "distilbert":
		c.TypeVocab = 0
	case "altclip", "altclip_text_model":
		c = xlmRobertaLarge
		c.ModelType, c.ProjectDim = modelType, 768
		if modelType == "altclip" {
			c.ProjectionDim = 768
		}
	}
	return c
}

// The transformers that M-CLIP checkpoints are built on, by modelBase.
var (
	xlmRobertaLarge = xlmRoberta(1024, 4096, 24, 16)
	xlmRobertaBase  = xlmRoberta(768, 3072, 12, 12)
	mclipBases      = map[string]Config{"xlm-roberta-large": xlmRobertaLarge, "xlm-roberta-base": xlmRobertaBase}
)

func xlmRoberta(width, hidden, layers, heads int) Config {
	return Config{ModelType: "xlm-roberta", Transformer: hub.Transformer{HiddenSize: width, IntermediateSize: hidden,
		Layers: layers, Heads: heads, HiddenAct: "gelu", LayerNormEps: 1e-5}, VocabSize: 250002, Positions: 514,
		TypeVocab: 1, PadToken: 1}
}

// ParseConfig reads the config.json of a text encoder and validates it: BertModel, RobertaModel, XLMRobertaModel,
// CamembertModel, MPNetModel, DistilBertModel, AltCLIPModel (its text tower), AltCLIPTextModel. An M-CLIP file names
// its transformer by modelBase: one of the known ones, or a folder next to the file, read with read.
func ParseConfig(text []byte, read func(file string) ([]byte, error)) (*Config, error) {
	var f struct {
		ModelType     *string         `json:"model_type"`
		Text          json.RawMessage `json:"text_config"`
		TextDict      json.RawMessage `json:"text_config_dict"`
		ProjectionDim *int            `json:"projection_dim"`
		Base          string          `json:"modelBase"`
		NumDims       int             `json:"numDims"`
		Width         *int            `json:"transformerDimensions"`
		Decoder       bool            `json:"is_decoder"`
		PositionType  string          `json:"position_embedding_type"`

		Dim    *int    `json:"dim"` // DistilBERT's own names
		Hidden *int    `json:"hidden_dim"`
		Layers *int    `json:"n_layers"`
		Heads  *int    `json:"n_heads"`
		Act    *string `json:"activation"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	switch {
	case f.ModelType == nil:
		return nil, errors.New(`has no "model_type"`)
	case families[*f.ModelType] == "":
		return nil, hub.WrongType(*f.ModelType,
			"a text encoder (bert, roberta, xlm-roberta, camembert, mpnet, distilbert, altclip, M-CLIP)")
	case f.Decoder:
		return nil, errors.New("is_decoder is true: only encoders, which attend both ways, are supported")
	case f.PositionType != "" && f.PositionType != "absolute":
		return nil, fmt.Errorf("position_embedding_type %q is not supported (absolute)", f.PositionType)
	}
	c := defaults(*f.ModelType)
	switch c.ModelType {
	case "M-CLIP":
		base, err := mclipBase(f.Base, read)
		if err != nil {
			return nil, err
		}
		c = *base
		if f.Width != nil && *f.Width != c.HiddenSize {
			return nil, fmt.Errorf("transformerDimensions %d, but %s is %d wide", *f.Width, f.Base, c.HiddenSize)
		}
		c.ModelType, c.NumDims = "M-CLIP", f.NumDims
	case "altclip":
		if f.ProjectionDim != nil {
			c.ProjectionDim = *f.ProjectionDim
		}
		raw := f.Text
		if len(f.TextDict) > 0 && string(f.TextDict) != "null" {
			raw = f.TextDict
		}
		if len(raw) > 0 {
			projection := c.ProjectionDim
			if err := json.Unmarshal(raw, &c); err != nil {
				return nil, fmt.Errorf("text_config: %w", err)
			}
			c.ModelType, c.ProjectionDim = "altclip", projection
		}
	default:
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, err
		}
		c.NumDims = 0
	}
	switch c.Family() {
	case DistilBERT:
		for _, n := range []struct{ from, to *int }{{f.Dim, &c.HiddenSize}, {f.Hidden, &c.IntermediateSize},
			{f.Layers, &c.Layers}, {f.Heads, &c.Heads}} {
			if n.from != nil {
				*n.to = *n.from
			}
		}
		if f.Act != nil {
			c.HiddenAct = *f.Act
		}
		c.TypeVocab, c.LayerNormEps = 0, 1e-12
	case MPNet:
		c.TypeVocab, c.PadToken = 0, 1 // whatever the file says, as in transformers
	}
	return &c, c.Validate()
}

// mclipBase is the transformer an M-CLIP model is built on.
func mclipBase(name string, read func(string) ([]byte, error)) (*Config, error) {
	if base, ok := mclipBases[filepath.Base(name)]; ok && name != "" {
		return &base, nil
	}
	if name == "" || !filepath.IsLocal(name) {
		return nil, fmt.Errorf("modelBase %q is neither xlm-roberta-base nor xlm-roberta-large nor a folder "+
			"next to the file", name)
	}
	text, err := read(filepath.Join(name, "config.json"))
	if err != nil {
		return nil, fmt.Errorf("modelBase %q is neither xlm-roberta-base nor xlm-roberta-large nor a folder with a "+
			"config.json: %w", name, err)
	}
	base, err := ParseConfig(text, func(string) ([]byte, error) { return nil, errors.New("a base has no base") })
	if err == nil && base.ModelType != "roberta" && base.ModelType != "xlm-roberta" {
		err = fmt.Errorf("model_type %q is not roberta or xlm-roberta", base.ModelType)
	}
	if err != nil {
		return nil, fmt.Errorf("modelBase %s: %w", name, err)
	}
	return base, nil
}

// Validate checks the configuration, naming fields and numbers.
func (c *Config) Validate() error { return hub.In("textenc", c.check()) }

func (c *Config) check() error {
	if c.Family() == "" {
		return fmt.Errorf("model_type %q is not a text encoder", c.ModelType)
	}
	if err := cmp.Or(c.CheckTransformer(), hub.Between("vocab_size", c.VocabSize, 1, hub.MaxVocab),
		hub.Between("max_position_embeddings", c.Positions, 1, hub.MaxSide),
		hub.Between("pad_token_id", c.PadToken, 0, c.VocabSize-1),
		hub.Between("type_vocab_size", c.TypeVocab, 0, hub.MaxDim),
		hub.Between("project_dim", c.ProjectDim, 0, hub.MaxDim),
		hub.Between("projection_dim", c.ProjectionDim, 0, hub.MaxDim),
		hub.Between("numDims", c.NumDims, 0, hub.MaxDim)); err != nil {
		return err
	}
	switch {
	case c.MaxTokens() < 1:
		return fmt.Errorf("max_position_embeddings %d leaves no place for a token: positions start at %d",
			c.Positions, c.first())
	case c.Family() == MPNet && (c.Buckets < distanceBuckets || c.Buckets > hub.MaxDim):
		return fmt.Errorf("relative_attention_num_buckets %d is not between %d and %d", c.Buckets,
			distanceBuckets, hub.MaxDim)
	case (c.Family() == BERT || c.Family() == RoBERTa) && c.TypeVocab < 1:
		return fmt.Errorf("type_vocab_size %d is not at least 1", c.TypeVocab)
	case c.ModelType == "M-CLIP" && c.NumDims < 1:
		return fmt.Errorf("numDims %d is not at least 1", c.NumDims)
	case (c.ModelType == "altclip" || c.ModelType == "altclip_text_model") && c.ProjectDim < 1:
		return fmt.Errorf("project_dim %d is not at least 1", c.ProjectDim)
	case c.ModelType == "altclip" && c.ProjectionDim < 1:
		return fmt.Errorf("projection_dim %d is not at least 1", c.ProjectionDim)
	}
	return nil
}

// first is the position of a text's first token.
func (c *Config) first() int {
	if f := c.Family(); f == RoBERTa || f == MPNet {
		return c.PadToken + 1
	}
	return 0
}

// MaxTokens is the longest text the position embeddings allow, in tokens.
func (c *Config) MaxTokens() int { return c.Positions - c.first() }

// positions are the rows of the position embeddings for a text without padding around it.
func (c *Config) positions(ids []int32, to []int32) {
	next := int32(c.first())
	for i, id := range ids {
		if c.first() > 0 && id == int32(c.PadToken) { // inside a text it keeps padding's row and is not counted
			to[i] = id
			continue
		}
		to[i] = next
		next++
	}
}
