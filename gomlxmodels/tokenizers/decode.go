package tokenizers

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// decoder changes tokens on their way to text, in place; it may return fewer.
type decoder func(tokens []string) []string

// decoderSpec is a decoder of tokenizer.json.
type decoderSpec struct {
	Type        string        `json:"type"`
	Prefix      string        `json:"prefix"`
	CleanUp     bool          `json:"cleanup"`
	Suffix      string        `json:"suffix"`
	Replacement string        `json:"replacement"`
	Scheme      string        `json:"prepend_scheme"`
	AddPrefix   *bool         `json:"add_prefix_space"`
	Pattern     pattern       `json:"pattern"`
	Content     string        `json:"content"`
	Decoders    []decoderSpec `json:"decoders"`
}

func (s *decoderSpec) build() ([]decoder, error) {
	switch s.Type {
	case "WordPiece":
		return []decoder{s.wordPiece}, nil
	case "ByteLevel":
		return []decoder{fromBytes}, nil
	case "BPEDecoder":
		return []decoder{func(tokens []string) []string {
			for i := range tokens {
				with := " "
				if i == len(tokens)-1 {
					with = ""
				}
				tokens[i] = strings.ReplaceAll(tokens[i], s.Suffix, with)
			}
			return tokens
		}}, nil
	case "Metaspace":
		begins := s.Scheme != "never" && (s.Scheme != "" || on(s.AddPrefix))
		return []decoder{func(tokens []string) []string {
			for i := range tokens {
				with := " "
				if i == 0 && begins {
					with = ""
				}
				tokens[i] = strings.ReplaceAll(tokens[i], s.Replacement, with)
			}
			return tokens
		}}, nil
	case "Replace":
		if s.Pattern.String == nil || *s.Pattern.String == "" {
			return nil, fmt.Errorf("the decoder Replace without a text to replace is not supported")
		}
		return []decoder{func(tokens []string) []string {
			for i := range tokens {
				tokens[i] = strings.ReplaceAll(tokens[i], *s.Pattern.String, s.Content)
			}
			return tokens
		}}, nil
	case "ByteFallback":
		return []decoder{fromFallback}, nil
	case "Fuse":
		return []decoder{func(tokens []string) []string { return []string{strings.Join(tokens, "")} }}, nil
	case "Sequence":
		var all []decoder
		for i := range s.Decoders {
			d, err := s.Decoders[i].build()
			if err != nil {
				return nil, err
			}
			all = append(all, d...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("the decoder %q is not supported", s.Type)
}

// fromFallback makes characters of the tokens of bytes (byte_fallback). Neighbors that are not UTF-8 together become
// U+FFFD each.
func fromFallback(tokens []string) []string {
	var out []string
	for i := 0; i < len(tokens); i++ {
		var bytes []byte
		for ; i < len(tokens); i++ {
			var b int
			if n, _ := fmt.Sscanf(tokens[i], "<0x%02X>", &b); n != 1 || tokens[i] != byteToken(b) {
				break
			}
			bytes = append(bytes, byte(b))
		}
		if utf8.Valid(bytes) {
			out = append(out, string(bytes))
		} else {
			out = append(out, strings.Repeat("\uFFFD", len(bytes)))
		}
		if i < len(tokens) {
			out = append(out, tokens[i])
		}
	}
	return out
}

func (s *decoderSpec) wordPiece(tokens []string) []string {
	for i, token := range tokens {
		if i > 0 {
			if rest, ok := strings.CutPrefix(token, s.Prefix); ok {
				token = rest
			} else {
				token = " " + token
			}
		}
		if s.CleanUp {
			token = wordClean.Replace(token)
		}
		tokens[i] = token
	}
	return tokens
}

// cleaner replaces one pair after the other, each in the whole text.
type cleaner []string

// Replace is named as [strings.Replacer]'s, which takes all pairs at once.
func (c cleaner) Replace(text string) string {
	for i := 0; i < len(c); i += 2 {
		text = strings.ReplaceAll(text, c[i], c[i+1])
	}
	return text
}

// wordClean is what the WordPiece decoder tidies in each token, textClean what transformers tidies in the text.
var (
	wordClean = cleaner{" .", ".", " ?", "?", " !", "!", " ,", ",", " ' ", "'", " n't", "n't", " 'm", "'m", " do not",
		" don't", " 's", "'s", " 've", "'ve", " 're", "'re"}
	textClean = cleaner{" .", ".", " ?", "?", " !", "!", " ,", ",", " ' ", "'", " n't", "n't", " 'm", "'m", " 's", "'s",
		" 've", "'ve", " 're", "'re"}
)

// byteOf reads what shown writes.
var byteOf = func() map[rune]byte {
	out := map[rune]byte{}
	for b, name := range shown {
		out[[]rune(name)[0]] = byte(b)
	}
	return out
}()

// fromBytes puts the bytes together that tokens stand for. A token with another character stands for itself.
func fromBytes(tokens []string) []string {
	var all []byte
	for _, token := range tokens {
		mark := len(all)
		for _, r := range token {
			b, ok := byteOf[r]
			if !ok {
				all = append(all[:mark], token...)
				break
			}
			all = append(all, b)
		}
	}
	return []string{valid(string(all))}
}

// Decode turns ids back into text as transformers' decode does; ids without a token are left out, and special tokens
// if skip is true. Bytes that are not valid UTF-8 become U+FFFD.
func (t *Tokenizer) Decode(ids []int32, skip bool) string {
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if id < 0 || int(id) >= len(t.tokens) || t.tokens[id] == "" || skip && t.special[id] {
			continue
		}
		tokens = append(tokens, t.tokens[id])
	}
	between := " "
	for _, d := range t.decode {
		tokens, between = d(tokens), ""
	}
	text := strings.Join(tokens, between)
	if m, ok := t.model.(*bytePair); ok && m.bytes && m.end != "" {
		text = strings.TrimSpace(strings.ReplaceAll(text, m.end, " "))
	}
	if t.cleanUp {
		text = textClean.Replace(text)
	}
	return text
}
