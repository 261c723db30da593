package tokenizers

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// chunk is a part of a normalized text; first says that it begins the text, of which the normalizer took nothing off
// there.
type chunk struct {
	text  string
	first bool
}

// preTokenizer cuts a chunk and appends its parts. What it leaves out is lost.
type preTokenizer func(out []chunk, c chunk) []chunk

// preSpec is a pre_tokenizer of tokenizer.json.
type preSpec struct {
	Type           string    `json:"type"`
	PreTokenizers  []preSpec `json:"pretokenizers"`
	AddPrefixSpace *bool     `json:"add_prefix_space"`
	UseRegex       *bool     `json:"use_regex"`
	Replacement    string    `json:"replacement"`
	PrependScheme  string    `json:"prepend_scheme"`
	Split          *bool     `json:"split"`
	Pattern        pattern   `json:"pattern"`
	Behavior       string    `json:"behavior"`
	Invert         bool      `json:"invert"`
	Individual     bool      `json:"individual_digits"`
}

func (s *preSpec) build() ([]preTokenizer, error) {
	switch s.Type {
	case "BertPreTokenizer":
		return []preTokenizer{cutter(func(r rune) kind {
			switch {
			case unicode.IsSpace(r):
				return dropped
			case isPunct(r):
				return alone
			}
			return joined
		})}, nil
	case "WhitespaceSplit":
		return []preTokenizer{cutter(func(r rune) kind {
			if unicode.IsSpace(r) {
				return dropped
			}
			return joined
		})}, nil
	case "Punctuation":
		if s.Behavior == "" || s.Behavior == "Isolated" {
			return []preTokenizer{cutter(func(r rune) kind {
				if isPunct(r) {
					return alone
				}
				return joined
			})}, nil
		}
	case "Digits":
		if s.Individual {
			return []preTokenizer{cutter(func(r rune) kind {
				if isDigit(r) {
					return alone
				}
				return joined
			})}, nil
		}
	case "Metaspace":
		return s.metaspace()
	case "ByteLevel":
		return []preTokenizer{byteLevel(s.AddPrefixSpace != nil && *s.AddPrefixSpace, on(s.UseRegex))}, nil
	case "Split":
		return s.split()
	case "Sequence":
		var all []preTokenizer
		for i := range s.PreTokenizers {
			p, err := s.PreTokenizers[i].build()
			if err != nil {
				return nil, err
			}
			all = append(all, p...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("the pre_tokenizer %q is not supported, or not with its options", s.Type)
}

// kind is what a cutter does with a character.
type kind int

const (
	joined  kind = iota // part of a word
	alone               // a word of its own
	dropped             // between words
)

func cutter(of func(rune) kind) preTokenizer {
	return func(out []chunk, c chunk) []chunk {
		from := 0
		give := func(to int) {
			if from < to {
				out = append(out, chunk{c.text[from:to], c.first && from == 0})
			}
		}
		for i, r := range c.text {
			k := of(r)
			if k == joined {
				continue
			}
			give(i)
			from = i
			to := i + utf8.RuneLen(r)
			if k == alone {
				give(to)
			}
			from = to
		}
		give(len(c.text))
		return out
	}
}

// metaspace marks where words begin by another character than a space (▁), and cuts before it.
func (s *preSpec) metaspace() ([]preTokenizer, error) {
	mark, scheme := s.Replacement, s.PrependScheme
	if mark == "" {
		return nil, fmt.Errorf("the pre_tokenizer Metaspace has no replacement")
	}
	if scheme == "" { // older files
		scheme = "always"
	}
	if !on(s.AddPrefixSpace) && scheme != "never" {
		return nil, fmt.Errorf("the pre_tokenizer Metaspace with add_prefix_space false and prepend_scheme %q is not "+
			"supported", scheme)
	}
	if scheme != "always" && scheme != "first" && scheme != "never" {
		return nil, fmt.Errorf("the pre_tokenizer Metaspace with prepend_scheme %q is not supported", scheme)
	}
	return []preTokenizer{func(out []chunk, c chunk) []chunk {
		text := strings.ReplaceAll(c.text, " ", mark)
		if !strings.HasPrefix(text, mark) && (scheme == "always" || scheme == "first" && c.first) {
			text = mark + text
		}
		if !on(s.Split) {
			return append(out, chunk{text, c.first})
		}
		for from := 0; from < len(text); {
			to := len(text)
			start := from
			if strings.HasPrefix(text[from:], mark) {
				start += len(mark)
			}
			if i := strings.Index(text[start:], mark); i >= 0 {
				to = start + i
			}
			out = append(out, chunk{text[from:to], c.first && from == 0})
			from = to
		}
		return out
	}}, nil
}

// clipWords is the regular expression by which CLIP cuts texts, after that for its special tokens.
const clipWords = `'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+`

// clipSpecial are the special tokens that the expression may begin with: written in capitals they become small ones,
// words.
var clipSpecial = []string{"<|startoftext|>", "<|endoftext|>"}

func (s *preSpec) split() ([]preTokenizer, error) {
	if s.Pattern.Regex != nil && (s.Invert && s.Behavior == "Removed") {
		switch *s.Pattern.Regex {
		case clipWords:
			return []preTokenizer{clipSplit(nil)}, nil
		case `<\|startoftext\|>|<\|endoftext\|>|` + clipWords:
			return []preTokenizer{clipSplit(clipSpecial)}, nil
		}
	}
	if p := s.Pattern.String; p != nil && *p != "" && !s.Invert && s.Behavior == "MergedWithPrevious" {
		return []preTokenizer{func(out []chunk, c chunk) []chunk {
			for i, word := range strings.SplitAfter(c.text, *p) {
				out = append(out, chunk{word, c.first && i == 0})
			}
			return out
		}}, nil
	}
	name := "no pattern"
	if p := s.Pattern.Regex; p != nil {
		name = fmt.Sprintf("%q", *p)
	} else if p := s.Pattern.String; p != nil {
		name = fmt.Sprintf("%q", *p)
	}
	return nil, fmt.Errorf("the pre_tokenizer Split by %s (behavior %s) is not supported", name, s.Behavior)
}

func clipSplit(special []string) preTokenizer {
	return func(out []chunk, c chunk) []chunk {
		for at := 0; at < len(c.text); {
			n := 0
			for _, s := range special {
				if strings.HasPrefix(c.text[at:], s) {
					n = len(s)
					break
				}
			}
			if n == 0 {
				n = contraction(c.text[at:])
			}
			r, one := utf8.DecodeRuneInString(c.text[at:])
			switch {
			case n > 0:
			case unicode.IsSpace(r):
				at += one
				continue
			case isNumber(r):
				n = one
			default:
				n = run(c.text[at:], class(r))
			}
			out = append(out, chunk{c.text[at : at+n], c.first && at == 0})
			at += n
		}
		return out
	}
}

// contraction is the length of 's, 't, 're, 've, 'm, 'll or 'd that a text begins with; 0 = none.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) > 2 {
		switch text[1:3] {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

// class is one of \p{L}, \p{N}, \s and the rest.
func class(r rune) int {
	switch {
	case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
		return 'L'
	case r == ' ' || unicode.IsSpace(r):
		return 's'
	case isLetter(r):
		return 'L'
	case isNumber(r):
		return 'N'
	}
	return 0
}

// run is the length of the characters of one class that a text begins with.
func run(text string, of int) int {
	for i, r := range text {
		if class(r) != of {
			return i
		}
	}
	return len(text)
}

// byteLevel cuts as GPT-2 does ('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+). The
// bytes stay as they are: the vocabulary is read as bytes.
func byteLevel(prefix, cut bool) preTokenizer {
	return func(out []chunk, c chunk) []chunk {
		if prefix && c.text != "" && c.text[0] != ' ' {
			c.text = " " + c.text
		}
		if !cut {
			return append(out, c)
		}
		for at := 0; at < len(c.text); {
			n := gptWord(c.text[at:])
			out = append(out, chunk{c.text[at : at+n], c.first && at == 0})
			at += n
		}
		return out
	}
}

// gptWord is the length of the first word of a text.
func gptWord(text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	skip := 0
	if text[0] == ' ' && len(text) > 1 {
		skip = 1
	}
	r, _ := utf8.DecodeRuneInString(text[skip:])
	if k := class(r); k != 's' {
		return skip + run(text[skip:], k)
	}
	n := run(text, 's') // white space, but the last of it goes with the word that follows
	if n < len(text) {
		if _, last := utf8.DecodeLastRuneInString(text[:n]); last < n {
			n -= last
		}
	}
	return n
}
