package diffusion

import (
	"maps"
	"slices"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/tokenizers"
)

// Pipelines lists the classes of pipelines that are read.
func Pipelines() []string { return slices.Sorted(maps.Keys(pipelines)) }

// folders are the folders of the networks that images are made with.
var folders = map[part]string{textPart: "text_encoder", unetPart: "unet", decoderPart: "vae",
	safetyPart: "safety_checker"}

// network returns a network's weights with their table.
func (m *Model) network(p part) hub.Network {
	return hub.Network{Name: folders[p], Weights: m.sets[p], Rules: m.table(p)}
}

// Networks returns the networks that images are made with: text encoder, UNet, the autoencoder's decoder, and the
// safety checker where images pass through it.
func (m *Model) Networks() []hub.Network {
	list := []hub.Network{m.network(textPart), m.network(unetPart), m.network(decoderPart)}
	if m.safety == SafetyOn {
		list = append(list, m.network(safetyPart))
	}
	return list
}

// Tokenizer returns the tokenizer of prompts.
func (m *Model) Tokenizer() (*tokenizers.Tokenizer, error) { return m.tokenizer, nil }

// TextLength is the number of tokens of all texts, special ones included; what is longer is cut.
func (m *Model) TextLength() int { return m.length }
