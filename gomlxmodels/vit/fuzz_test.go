package vit

import (
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
)

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}

func FuzzParseTimm(f *testing.F) {
	modeltest.FuzzConfig(f, func(text []byte) (*Config, error) { return parseTimm("", text) }, (*Config).Validate,
		"*/config.json")
}
