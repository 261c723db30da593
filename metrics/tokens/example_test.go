package tokens_test

import (
	"fmt"

	"antipode/datasets"
	"antipode/metrics/internal/tabulartest"
	"antipode/metrics/tokens"
)

// The encoder splits the Hindi prompts into more tokens, one of which it does not know. gomlxmodels.EmbedText adds the
// columns with the counts.
func ExampleScores() {
	texts := datasets.FromRows([]map[string]any{
		{"language": "en", "text_tokens": 4.0, "text_words": 4.0, "text_unknown": 0.0, "text_cut": 0.0},
		{"language": "en", "text_tokens": 6.0, "text_words": 5.0, "text_unknown": 0.0, "text_cut": 0.0},
		{"language": "hi", "text_tokens": 20.0, "text_words": 5.0, "text_unknown": 1.0, "text_cut": 0.0},
		{"language": "hi", "text_tokens": 90.0, "text_words": 20.0, "text_unknown": 0.0, "text_cut": 13.0},
	})
	tabulartest.Show(tokens.Scores(texts, tokens.Options{By: []string{"language"}}),
		"language", "tokens_per_word", "unknown_share", "cut_share", "n_texts", "n_texts_cut")
	// Output:
	// language  tokens_per_word  unknown_share  cut_share  n_texts  n_texts_cut
	// en                1.11111              0          0        2            0
	// hi                    4.4     0.00909091   0.118182        2            1
}

func ExampleSummarize() {
	s := tokens.Summarize([]tokens.Text{{Tokens: 4, Words: 2, Characters: 10},
		{Tokens: 5, Words: 1, Unknown: 1, Characters: 8}})
	fmt.Printf("%.1f tokens per word, %.1f per character, %.2f unknown\n", s.PerWord, s.PerCharacter, s.UnknownShare)
	// Output: 3.0 tokens per word, 0.5 per character, 0.11 unknown
}
