package inspect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"antipode/gomlxmodels/tokenizers"
)

// Tokenizer is what a tokenizer makes of some lines.
type Tokenizer struct {
	Class string `json:"class,omitempty"` // as tokenizer_config.json states it
	Size  int    `json:"size"`            // of the vocabulary
	Limit int    `json:"limit,omitempty"` // of a text, in tokens; 0 = not stated
	Lines []Line `json:"lines"`
}

// Line is a line that was turned into tokens and back.
type Line struct {
	Text    string `json:"text"`
	Back    string `json:"back"`
	Tokens  int    `json:"tokens"`
	Unknown int    `json:"unknown"` // tokens that stand for something the vocabulary lacks
	Outcome string `json:"outcome"` // Same, Folded or Changed
}

// The values of Line.Outcome.
const (
	Same    = "same"
	Folded  = "case and spaces" // the same but for case and spaces
	Changed = "changed"
)

// lines are in the scripts of the published audits' prompts.
var lines = []string{
	"A photo of a house in São Paulo.",
	"Ein Mädchen fährt 12 km nach Köln",
	"गाँव में एक पुराना घर",
	"ঢাকার একটি রাস্তা",
	"بيت قديم في القاهرة",
	"בית ישן בירושלים",
	"海边的一座小房子",
	"海辺の小さな家",
}

// inspectTokenizer turns the lines into tokens and back.
func inspectTokenizer(t *tokenizers.Tokenizer) (*Tokenizer, error) {
	out := &Tokenizer{Class: classOfTokenizer(t), Size: t.Size(), Limit: t.Limit()}
	for _, text := range lines {
		e, err := t.Encode(text, -1)
		if err != nil {
			return nil, err
		}
		back := strings.TrimSpace(t.Decode(e.IDs, true))
		line := Line{Text: text, Back: back, Tokens: e.Tokens, Unknown: e.Unknown, Outcome: Changed}
		switch {
		case back == text:
			line.Outcome = Same
		case folded(back) == folded(text):
			line.Outcome = Folded
		}
		out.Lines = append(out.Lines, line)
	}
	return out, nil
}

// classOfTokenizer returns the class that a tokenizer's configuration states, or "".
func classOfTokenizer(t *tokenizers.Tokenizer) string {
	var config struct {
		Class string `json:"tokenizer_class"`
	}
	for _, path := range t.Files() {
		if filepath.Base(path) != "tokenizer_config.json" {
			continue
		}
		if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &config) != nil {
			return ""
		}
	}
	return config.Class
}

// folded is a text in lower case without spaces.
func folded(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, text)
}
