// Package hfconfig is what reading the config.json of Hugging Face's models has in common, whatever the architecture.
package hfconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Bounds of the sizes of a configuration, so that a damaged file cannot ask for all memory.
const (
	MaxDim   = 1 << 16
	MaxVocab = 1 << 21
)

// Given says whether a JSON value is there and not null.
func Given(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// Part is an object of a configuration and what it is read into.
type Part struct {
	Name string // for errors: text_config
	Raw  json.RawMessage
	To   any // a pointer that holds the defaults
}

// Read reads the parts that are given; keys that one lacks keep their defaults.
func Read(parts ...Part) error {
	for _, p := range parts {
		if !Given(p.Raw) {
			continue
		}
		if err := json.Unmarshal(p.Raw, p.To); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// Size is a number of a configuration and its bound.
type Size struct {
	Name        string
	Value, Most int
}

// Check names the first size that is not between 1 and its bound.
func Check(sizes []Size) error {
	for _, s := range sizes {
		if s.Value < 1 || s.Value > s.Most {
			return fmt.Errorf("%s %d is not between 1 and %d", s.Name, s.Value, s.Most)
		}
	}
	return nil
}
