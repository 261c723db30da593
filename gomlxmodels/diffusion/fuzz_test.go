package diffusion

import (
	"testing"

	"antipode/test/modeltest"
)

func FuzzUNetConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseUNetConfig, (*UNetConfig).Validate, "*/unet/config.json")
}

func FuzzVAEConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseVAEConfig, (*VAEConfig).Validate, "*/vae/config.json")
}

func FuzzTextConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseTextConfig, nil, "*/text_encoder/config.json")
}

func FuzzAltTextConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseAltTextConfig, nil, "*/text_encoder/config.json")
}
