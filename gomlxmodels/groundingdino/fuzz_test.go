package groundingdino

import (
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
)

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}
