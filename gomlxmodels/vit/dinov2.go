package vit

import (
	"cmp"
	"encoding/json"
	"fmt"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
)

// The model_types of DINOv2 (Oquab et al. 2023, arXiv 2304.07193) and of the same with registers (arXiv 2309.16588).
const (
	dinov2          = "dinov2"
	dinov2Registers = "dinov2_with_registers"
)

// parseDINOv2 reads the keys of Dinov2Config or Dinov2WithRegistersConfig. ImageSize becomes that of the position
// embeddings; see [Config.fit].
func parseDINOv2(kind string, text []byte) (*Config, error) {
	c := DefaultConfig()
	c.LayerNormEps, c.LayerScale, c.PoolerAct = 1e-6, true, ""
	if kind == dinov2 {
		c.PatchSize = Pair{14, 14}
	}
	own := struct {
		Ratio     float64 `json:"mlp_ratio"`
		Gated     bool    `json:"use_swiglu_ffn"`
		Registers int     `json:"num_register_tokens"`
	}{Ratio: 4, Registers: 4}
	if err := cmp.Or(json.Unmarshal(text, &c), json.Unmarshal(text, &own)); err != nil {
		return nil, err
	}
	switch kind {
	case dinov2:
	case dinov2Registers:
		c.Registers, c.BareRegisters, c.Antialias = own.Registers, true, true
	default:
		return nil, hub.WrongType(kind, "a DINOv2 (dinov2, dinov2_with_registers)")
	}
	hidden := float64(c.HiddenSize) * own.Ratio
	if !(hidden >= 1 && hidden <= hub.MaxDim) {
		return nil, fmt.Errorf("mlp_ratio %v of hidden_size %d is not between 1 and %d", own.Ratio, c.HiddenSize,
			hub.MaxDim)
	}
	if c.IntermediateSize = int(hidden); own.Gated {
		c.Gated, c.HiddenAct = true, "silu"
		c.IntermediateSize = (int(float64(c.IntermediateSize)*2/3) + 7) / 8 * 8
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	rows, columns := c.Grid()
	if rows != columns {
		return nil, fmt.Errorf("image_size %v: position embeddings of a square image are required", c.ImageSize)
	}
	c.Stored = Pair{rows, columns}
	return &c, nil
}

// dinov2Preprocess is how the published models' images are prepared.
var dinov2Preprocess = preprocess.Config{Resize: preprocess.ShortestEdge, Edge: 256, Filter: preprocess.Bicubic,
	Torchvision: true, CropHeight: 224, CropWidth: 224, Scale: 1.0 / 255, Mean: preprocess.ImageNetMean,
	Std: preprocess.ImageNetStd, Source: "default of DINOv2"}

// fit makes images of a model whose position embeddings are interpolated as large as the preprocessing makes them.
func (c *Config) fit(pre *preprocess.Config) error {
	size := Pair{pre.CropHeight, pre.CropWidth}
	if size[0] == 0 {
		size = Pair{pre.Height, pre.Width}
	}
	if c.Stored == (Pair{}) || size[0] < 1 || size[1] < 1 { // which Validate reports
		return nil
	}
	c.ImageSize = size
	return c.Validate()
}
