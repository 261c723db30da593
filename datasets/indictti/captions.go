package indictti

import (
	"encoding/json"
	"errors"
	"fmt"

	"antipode/datasets"
)

// The columns of the released LAION-COCO-NLLB files.
const (
	idColumn       = "id"
	URLColumn      = "url"         // of the image
	EnglishColumn  = "eng_caption" // in English
	CaptionsColumn = "captions"    // pairs of code and caption
	scoreColumn    = "score"       // similarity of image and English caption, from the data set
)

// Released is the concatenation of released files (data/train-….parquet, data/test-….parquet): id, url, eng_caption,
// captions (JSON), score and any other columns. A row has captions in about 200 languages, about 18 kB of text, so read
// one or two files at a time.
func Released(files ...string) datasets.Table {
	if len(files) == 0 {
		return datasets.Failed(errors.New("no file given; name the Parquet files of LAION-COCO-NLLB, " +
			"for example data/test-00000-of-00001.parquet"))
	}
	var others []datasets.Table
	for _, f := range files[1:] {
		others = append(others, datasets.Parquet(f))
	}
	return datasets.Extend(datasets.Parquet(files[0]).Concat(others...)).Named("LAION-COCO-NLLB").Table
}

// Captions parses the captions of one image, a JSON list of pairs [["asm_Beng", "…"], …] as in the column captions of
// the data set, into a map by code. Empty captions are skipped; an empty text means no captions. Text that is not
// such a list and a code that occurs twice are errors.
func Captions(text string) (map[string]string, error) {
	var pairs [][]string
	if text == "" {
		return map[string]string{}, nil
	}
	if err := json.Unmarshal([]byte(text), &pairs); err != nil {
		return nil, fmt.Errorf("captions are not a list of pairs of code and caption: %w", err)
	}
	out := map[string]string{}
	for i, p := range pairs {
		if len(p) != 2 {
			return nil, fmt.Errorf("caption %d is a list of %d strings, not a pair of code and caption", i+1, len(p))
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
