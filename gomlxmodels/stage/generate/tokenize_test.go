package generate_test

import (
	"fmt"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/internal/must"
)

// TestTokenize counts what each kind of tokenizer does to a prompt: tokens, words, unknown, partial, cut, special,
// transliterated and lost.
func TestTokenize(t *testing.T) {
	evaluator(t)
	for model, texts := range map[string]map[string]string{
		tokenFolder(t): {"a ᱥᱮᱛᱟ 海": "? 2 0 0 0 0 1 1", "hai": "? 1 0 0 0 0 0 0"},
		gptFolder(t):   {"ᱥ": "1 1 1 0 0 0 0 0"},
		folder("sd1"):  {"x <|endoftext|> ᱥ": "? 3 0 3 0 1 0 0", strings.Repeat("x ", 80): "80 80 0 0 5 0 0 0"},
	} {
		for text, want := range texts {
			f := rows(t, gomlxmodels.Tokenize(model, datasets.FromRows([]map[string]any{{"id": "a", "prompt": text}})))
			var got []string
			for i, c := range gomlxmodels.TokenizeColumns("prompt") {
				n := fmt.Sprint(f.Numbers(c.Name)[0])
				if i == 0 && want[0] == '?' {
					n = "?"
				}
				got = append(got, n)
			}
			must.Equal(t, strings.Join(got, " "), want, model, text)
		}
	}
	must.Fail(gomlxmodels.Tokenize(folder("sd1"), datasets.FromRows([]map[string]any{{"id": "a"}})).
		Rows(t.Context()))(t, `"prompt"`) // without prompts
}
