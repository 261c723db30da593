package tokenizers

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Encoding is a text as tokens.
type Encoding struct {
	IDs       []int32 // the tokenizer's special tokens included, padding not
	Tokens    int     // tokens of the whole text before it was cut, without the special tokens the tokenizer adds
	Unknown   int     // how many of Tokens stand for something that has no token
	Special   int     // how many of Tokens are special or added tokens written out in the text
	Words     int     // runs of characters that are not white space: a sentence of Han or Thai is one
	Truncated bool    // IDs hold less than the whole text
}

// Tokenizer turns texts into token ids, and back. It is safe on several goroutines at once.
type Tokenizer struct {
	raw, normal   []addedToken // looked for in the text as it is, and in the normalized text
	clean         func(string) (string, error)
	begin         func(string) string // of a SigLIP: changes the whole text; nil = nothing does
	normalize     normalizer
	pre           []preTokenizer
	model         model
	before, after []int32 // what is put around each text
	decode        []decoder
	cleanUp       bool
	tokens        []string // by id; "" = none
	special       map[int32]bool
	ids           map[string]int32 // of added tokens
	set           settings
	files         []string
}

// model turns one word of normalized text into ids, appended, and counts those that stand for something unknown.
type model interface {
	tokenize(ids []int32, word string) ([]int32, int)
	id(token string) (int32, bool)
}

// Encode turns a text into token ids. Where they are more than limit, special tokens included, the text's last tokens
// are left out (its first, where the files state truncation_side left). Limit 0 is the limit that the files state, if
// they do; a negative one is none. Invalid UTF-8 counts as U+FFFD, one for each maximal part of a character, as in
// Python's decode(errors="replace"). Errors are a limit that has no room for the special tokens, and those of
// [Tokenizer.Clean].
func (t *Tokenizer) Encode(text string, limit int) (Encoding, error) {
	around := len(t.before) + len(t.after)
	limit = cmp.Or(limit, t.set.limit)
	if limit > 0 && limit < around {
		return Encoding{}, fmt.Errorf("tokenizer: a limit of %d tokens is below the number of special tokens (%d); "+
			"raise it", limit, around)
	}
	text = valid(text)
	e := Encoding{Words: len(strings.Fields(text)), IDs: append(make([]int32, 0, around+len(text)/3+8), t.before...)}
	if t.clean != nil {
		var err error
		if text, err = t.clean(text); err != nil {
			return Encoding{}, err
		}
	}
	if t.begin != nil {
		text = t.begin(text)
	}
	t.text(&e, text)
	if n := len(e.IDs); t.begin != nil && n > 0 && e.IDs[n-1] == t.after[0] { // </s> is written out at the end
		e.IDs = e.IDs[:n-1]
		e.Special--
	}
	e.Tokens = len(e.IDs) - len(t.before)
	if room := limit - around; limit > 0 && e.Tokens > room {
		e.Truncated = true
		from := len(t.before)
		if t.set.cutSide == "left" {
			copy(e.IDs[from:], e.IDs[len(e.IDs)-room:])
		}
		e.IDs = e.IDs[:from+room]
	}
	e.IDs = append(e.IDs, t.after...)
	return e, nil
}

// text appends the tokens of a text.
func (t *Tokenizer) text(e *Encoding, text string) {
	var words, more []chunk
	split(t.raw, text, func(part string, id int32, at int) {
		if id >= 0 {
			e.add(id)
			return
		}
		first := at == 0 && !t.loses(part)
		if t.normalize != nil {
			part = t.normalize(part)
		}
		split(t.normal, part, func(part string, id int32, inside int) {
			if id >= 0 {
				e.add(id)
				return
			}
			words = append(words[:0], chunk{part, first && inside == 0})
			for _, p := range t.pre {
				more = more[:0]
				for _, w := range words {
					more = p(more, w)
				}
				words, more = more, words
			}
			for _, w := range words {
				if w.text == "" {
					continue
				}
				var unknown int
				e.IDs, unknown = t.model.tokenize(e.IDs, w.text)
				e.Unknown += unknown
			}
		})
	})
}

// Lower makes texts small before they are normalized, special tokens in them not: the do_lower_case of
// sentence-transformers. The tokenizer must not be in use.
func (t *Tokenizer) Lower() {
	normalize := t.normalize
	t.normalize = func(text string) string {
		if text = lowercase(text); normalize != nil {
			text = normalize(text)
		}
		return text
	}
	for i, token := range t.normal {
		t.normal[i].content = t.normalize(token.content)
		t.tokens[token.id] = t.normal[i].content
	}
}

// Clean changes texts before all else. The tokenizer must not be in use.
func (t *Tokenizer) Clean(clean func(text string) (string, error)) { t.clean = clean }

// loses says that the normalizer takes away the first character of a text.
func (t *Tokenizer) loses(text string) bool {
	_, n := utf8.DecodeRuneInString(text)
	return t.normalize != nil && (text[0] <= ' ' || text[0] >= 0x7f) && t.normalize(text[:n]) == ""
}

func (e *Encoding) add(id int32) {
	e.IDs = append(e.IDs, id)
	e.Special++
}

// Files lists the files that were read: those that a digest of the model must cover.
func (t *Tokenizer) Files() []string { return t.files }

// Size is one more than the highest id: what a model's vocab_size must reach.
func (t *Tokenizer) Size() int { return len(t.tokens) }

// Limit is the most tokens of a text, special ones included, that the files state (model_max_length); 0 = they state
// none.
func (t *Tokenizer) Limit() int { return t.set.limit }

// PadLeft says that the model wants its padding before the text.
func (t *Tokenizer) PadLeft() bool { return t.set.padSide == "left" }

// PadID is the id that fills up short texts; −1 = none.
func (t *Tokenizer) PadID() int32 { return t.named("pad_token") }

// UnknownID is the id of what has no token; −1 = none.
func (t *Tokenizer) UnknownID() int32 { return t.named("unk_token") }

// StartID is the id of the beginning of a text (bos_token, else cls_token); −1 = none.
func (t *Tokenizer) StartID() int32 { return t.named("bos_token", "cls_token") }

// EndID is the id of the end of a text (eos_token, else sep_token); −1 = none.
func (t *Tokenizer) EndID() int32 { return t.named("eos_token", "sep_token") }

// ID is the id of a token as the vocabulary writes it; −1 = there is none.
func (t *Tokenizer) ID(token string) int32 {
	if id, ok := t.ids[token]; ok {
		return id
	}
	if id, ok := t.model.id(token); ok {
		return id
	}
	return -1
}

// named is the id of the first of these roles that has a token.
func (t *Tokenizer) named(roles ...string) int32 {
	for _, role := range roles {
		if token := t.set.roles[role]; token != "" {
			if id := t.ID(token); id >= 0 {
				return id
			}
		}
	}
	return -1
}
