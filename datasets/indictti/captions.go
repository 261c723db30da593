package indictti

import (
	"encoding/json"
	"errors"
	"fmt"

	"antipode/datasets"
)

// The columns of LAION-COCO-NLLB as it is released.
const (
	IDColumn       = "id"
	URLColumn      = "url"         // of the picture
	EnglishColumn  = "eng_caption" // the English caption
	CaptionsColumn = "captions"    // pairs of code and caption
	ScoreColumn    = "score"       // of picture and English caption, as the data set gives it
)

// Released is the table of released files (data/train-….parquet, data/test-….parquet), one under the other: id, url, eng_caption, captions (as JSON text) and score, and what else they hold. A row holds
// captions in about 200 languages, some 18 kB of text, so take a file or two at a time.
func Released(files ...string) datasets.Table {
	if len(files) == 0 {
		return datasets.Table{}.Fail(errors.New("name the Parquet files of LAION-COCO-NLLB, for example data/test-00000-of-00001.parquet"))
	}
	var others []datasets.Table
	for _, f := range files[1:] {
		others = append(others, datasets.Parquet(f))
	}
	return datasets.Parquet(files[0]).Concat(others...).Named("LAION-COCO-NLLB")
}

// Captions reads the captions of one picture by code from JSON text: a list of pairs, [["asm_Beng", "…"], …], as the column captions of the data set holds them.
// Empty captions are left out; an empty text is a picture without captions. Errors: text that is no such list, a code that occurs twice.
func Captions(text string) (map[string]string, error) {
	var pairs [][]string
	if text == "" {
		return map[string]string{}, nil
	}
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
