package indictti

import (
	"encoding/json"
	"fmt"
)

// The columns of LAION-COCO-NLLB as it is released.
const (
	IDColumn       = "id"
	URLColumn      = "url"         // of the picture
	EnglishColumn  = "eng_caption" // the English caption
	CaptionsColumn = "captions"    // pairs of code and caption
	ScoreColumn    = "score"       // of picture and English caption, as the data set gives it
)

// Captions reads the captions of one picture by code from JSON text: a list of pairs, [["asm_Beng", "…"], …], as the column captions of the data set holds them.
// Empty captions are left out. Errors: text that is no such list, a code that occurs twice.
func Captions(text string) (map[string]string, error) {
	var pairs [][]string
	if err := json.Unmarshal([]byte(text), &pairs); err != nil {
		return nil, fmt.Errorf("the captions are no list of pairs of code and caption: %w", err)
	}
	out := map[string]string{}
	for i, p := range pairs {
		if len(p) != 2 {
			return nil, fmt.Errorf("caption %d is a list of %d texts, not a pair of code and caption", i+1, len(p))
		}
		if _, twice := out[p[0]]; twice {
			return nil, fmt.Errorf("the code %q has two captions", p[0])
		}
		if p[1] != "" {
			out[p[0]] = p[1]
		}
	}
	return out, nil
}
