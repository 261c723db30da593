package indictti

import (
	_ "embed"
	"math"
	"strings"

	"antipode/datasets/manifest"
)

//go:embed languages.csv
var languageFile []byte

// English is the code of English, the language that all captions are translated from.
const English = "en"

// The caption sources in the default table.
const (
	Original    = "original"    // English
	NLLB        = "NLLB"        // the caption data set
	IndicTrans2 = "IndicTrans2" // translated from the English caption
)

// Language is a row of the table of languages (Tables 1 and 5 of the paper).
type Language struct {
	Code        string // xxx_Ssss, or en
	Name        string
	Script      string // ISO 15924; languages are grouped by it
	ScriptLabel string // as printed in Table 5; the three languages in Arabic script have three labels
	Family      string
	Subfamily   string
	Speakers    float64 // native speakers in millions over all scripts of the language; NaN = unknown
	Scheduled   string  // yes or no: in the Eighth Schedule of the Constitution of India; "" for English
	Source      string  // of the captions: [Original], [NLLB], [IndicTrans2] or any other name
	Note        string
}

// Languages returns the 31 languages of the paper, in the order of its result tables.
func Languages() []Language {
	list, err := ReadLanguages("languages.csv", languageFile)
	if err != nil {
		panic(err) // the file is embedded, and tests read it
	}
	return list
}

// ReadLanguages parses a table of languages: CSV with the columns code and caption_source, and optionally name,
// script, script_label, family, subfamily, speakers (millions), scheduled and note. The default of script is the part
// of the code after the underscore. A code that is empty or occurs twice, a language without a caption source and
// speakers that are not a number are errors with line and column.
func ReadLanguages(name string, data []byte) ([]Language, error) {
	s, err := manifest.ReadSheet(name, data, "code", "caption_source")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	out := make([]Language, s.Len())
	for row := range out {
		cell := func(column string) string {
			if at := s.Column(column); at >= 0 {
				return strings.TrimSpace(s.Rows[row][at])
			}
			return ""
		}
		l := Language{Code: cell("code"), Name: cell("name"), Script: cell("script"), ScriptLabel: cell("script_label"),
			Family: cell("family"), Subfamily: cell("subfamily"),
			Scheduled: cell("scheduled"), Source: cell("caption_source"), Speakers: math.NaN(), Note: cell("note")}
		switch {
		case l.Code == "":
			return nil, s.Errorf(row, s.Column("code"), "the code is missing; use xxx_Ssss, for example hin_Deva")
		case seen[l.Code]:
			return nil, s.Errorf(row, s.Column("code"), "the language %q occurs twice", l.Code)
		case l.Source == "":
			return nil, s.Errorf(row, s.Column("caption_source"),
				"the language %q has no caption source, for example %s or %s", l.Code, NLLB, IndicTrans2)
		}
		seen[l.Code] = true
		if at := s.Column("speakers"); at >= 0 {
			if l.Speakers, err = s.Number(row, at); err != nil {
				return nil, err
			}
		}
		if l.Script == "" {
			_, l.Script, _ = strings.Cut(l.Code, "_")
		}
		out[row] = l
	}
	return out, nil
}
