package clip

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/vit"
)

// sigLIP is the model_type of SigLIP and, at a fixed size of images, of SigLIP 2.
const sigLIP = "siglip"

// parseSigLIP reads the config.json of a SiglipModel and validates it.
func parseSigLIP(text []byte) (*Config, error) {
	vision := vit.DefaultSigLIPVision()
	c := &Config{SigLIP: true, Text: TextConfig{Transformer: vision.Transformer, VocabSize: 32000, Context: 64}}
	var f struct{ Text, Vision json.RawMessage }
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	f.Text, f.Vision = all["text_config"], all["vision_config"]
	projection := struct {
		Size int `json:"projection_size"`
	}{}
	if err := hub.ReadParts(hub.Part{Name: "text_config", Raw: f.Text, To: &c.Text},
		hub.Part{Name: "text_config", Raw: f.Text, To: &projection},
		hub.Part{Name: "vision_config", Raw: f.Vision, To: &vision}); err != nil {
		return nil, err
	}
	c.Text.Full, c.Text.EndToken = true, 0
	c.Vision, c.ProjectionDim = vision.SquareConfig, cmp.Or(projection.Size, c.Text.HiddenSize)
	if err := cmp.Or(hub.In("vision_config", vision.Validate()), c.Validate()); err != nil {
		return nil, err
	}
	if c.ProjectionDim != c.Vision.HiddenSize {
		return nil, fmt.Errorf("projection_size %d of texts is not the hidden_size %d of images", c.ProjectionDim,
			c.Vision.HiddenSize)
	}
	return c, nil
}

// Texts opens the tokenizer of the model's texts. Those of a SigLIP are padded as its files say.
func (m *Model) Texts() (*tokenizers.Tokenizer, error) {
	t, err := tokenizers.Open(m.Dir)
	if err != nil {
		return nil, err
	}
	if m.cfg.openCLIP {
		t.Clean(m.cfg.clean)
	}
	c := &m.cfg.Text
	if t.Size() > c.VocabSize {
		return nil, fmt.Errorf("%s: the tokenizer has %d tokens, config.json's vocab_size is %d: they are "+
			"of two models", m.Dir, t.Size(), c.VocabSize)
	}
	if c.Full {
		if c.Pad, c.PadLeft = t.PadID(), t.PadLeft(); c.Pad < 0 {
			return nil, errors.New(m.Dir + ": the tokenizer has no padding token, which SigLIP's texts need")
		}
	}
	return t, nil
}

// own is the tokens of a text that the tower computes: up to the end token, or padded.
func (t *TextConfig) own(ids []int32) []int32 {
	if !t.Full {
		return ids[:t.End(ids)+1]
	}
	pad := slices.Repeat([]int32{t.Pad}, t.Context-len(ids))
	if t.PadLeft {
		return slices.Concat(pad, ids)
	}
	return slices.Concat(ids, pad)
}
