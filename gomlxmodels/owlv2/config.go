package owlv2

import (
	"cmp"
	"encoding/json"
	"fmt"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/vit"
)

// Config is the configuration of an OWLv2: the keys of Hugging Face's Owlv2Config.
type Config struct {
	clip.Config
}

// ParseConfig reads the config.json of an Owlv2ForObjectDetection and validates it.
func ParseConfig(text []byte) (*Config, error) {
	if _, err := hub.ModelType(text, "an Owlv2ForObjectDetection (owlv2)", "owlv2"); err != nil {
		return nil, err
	}
	var f struct {
		Text          json.RawMessage `json:"text_config"`
		Vision        json.RawMessage `json:"vision_config"`
		ProjectionDim *int            `json:"projection_dim"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	c := &Config{clip.DefaultConfig()}
	c.Text.Context, c.Vision.ImageSize, c.Vision.PatchSize = 16, 768, 16
	if f.ProjectionDim != nil {
		c.ProjectionDim = *f.ProjectionDim
	}
	if err := hub.ReadParts(hub.Part{Name: "text_config", Raw: f.Text, To: &c.Text},
		hub.Part{Name: "vision_config", Raw: f.Vision, To: &c.Vision}); err != nil {
		return nil, err
	}
	c.Text.EndToken = clip.HighestToken // whatever eos_token_id says
	return c, c.Validate()
}

// Validate checks the configuration, naming fields and numbers.
func (c *Config) Validate() error {
	err := cmp.Or(c.Config.Validate(),
		hub.Between("text_config: max_position_embeddings", c.Text.Context, 2, hub.MaxSide))
	if err == nil && c.ProjectionDim != c.Text.HiddenSize {
		err = fmt.Errorf("projection_dim %d is not text_config's hidden_size %d, which the class head's width is",
			c.ProjectionDim, c.Text.HiddenSize)
	}
	return hub.In("owlv2", err)
}

// tower returns the image tower as package vit knows it.
func (c *Config) tower() *vit.Config {
	v := c.Vision.ViT()
	v.PreNorm = true
	return v
}
