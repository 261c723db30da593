package tokenizers

import (
	"encoding/json"
	"testing"
	"unicode"

	"antipode/internal/must"
)

// TestClasses compares the classes of each character with those of the library.
func TestClasses(t *testing.T) {
	var want struct {
		Classes map[string][][2]rune
		Lower   map[string]string
	}
	must.Do(t, json.Unmarshal(entries(t, "testdata/classes.zip")["classes.json"], &want))
	is := map[string]func(rune) bool{
		"control": isControl, "space": unicode.IsSpace, "letter": isLetter, "number": isNumber, "digit": isDigit,
		"punct":   isPunct,
		"chinese": isChinese, "accent": isAccent, "mark": isMark, "word": isWord,
	}
	if len(want.Classes) != len(is) || len(want.Lower) < 1400 {
		t.Fatalf("%d classes, %d small letters", len(want.Classes), len(want.Lower))
	}
	for name, list := range want.Classes {
		in, size, wrong := make([]bool, unicode.MaxRune+1), 0, 0
		for _, r := range list {
			for c := r[0]; c <= r[1]; c++ {
				in[c] = true
				size++
			}
		}
		for c := rune(0); c <= unicode.MaxRune; c++ {
			if c >= 0xd800 && c < 0xe000 || is[name](c) == in[c] {
				continue
			}
			if wrong++; wrong <= 5 {
				t.Errorf("%s: %U is %v, want %v", name, c, !in[c], in[c])
			}
		}
		if wrong > 0 || size == 0 {
			t.Errorf("%s: %d characters differ of %d", name, wrong, size)
		}
	}
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if c >= 0xd800 && c < 0xe000 {
			continue
		}
		small, ok := want.Lower[string(c)]
		if !ok {
			small = string(c)
		}
		must.Equal(t, lowercase(string(c)), small, "the small letter", c)
	}
}

// TestCharsMap: clusters of up to five bytes become what their first sequence becomes, marks of Unicode 17 included;
// longer ones are taken character by character.
func TestCharsMap(t *testing.T) {
	_, all := unpack(t, "xlmr")
	var f file
	must.Do(t, json.Unmarshal(all["tokenizer.json"], &f))
	normal := must.Get(f.Normalizer.build())(t)
	for text, want := range map[string]string{
		"ＡＢＣ ①": "ABC 1", "a\r\nb": "a b", "e\u0301": "\u00e9", "\u02b1\u1ae3a": "\u0266a", "\u00af\u1aeb": " \u0304",
		"\u2460\u1aeb": "1\u1aeb", "": "",
	} {
		must.Equal(t, normal(text), want, text)
	}
}
