package indictti

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets/manifest"
)

//go:embed languages.csv
var languageFile []byte

// English is the code of English, whose captions all others are translations of.
const English = "en"

// The sources of captions in the default table.
const (
	Original    = "original"    // English
	NLLB        = "NLLB"        // the caption data set
	IndicTrans2 = "IndicTrans2" // translated from the English caption
)

// Language is a row of the table of languages (Tables 1 and 5 of the paper).
type Language struct {
	Code        string // xxx_Ssss, or en
	Name        string
	Script      string // ISO 15924: what languages are grouped by
	ScriptLabel string // as Table 5 prints it; the three in Arabic script carry three labels
	Family      string
	Subfamily   string
	Speakers    float64 // native speakers in millions, both scripts of a language together; NaN = no figure
	Scheduled   string  // yes or no: in the Constitution's Eighth Schedule; "" = English
	Source      string  // of the captions: [Original], [NLLB], [IndicTrans2] or another name
	Note        string
}

// Languages are the paper's 31, in the order of its result tables.
func Languages() []Language {
	list, err := ReadLanguages("languages.csv", languageFile)
	if err != nil {
		panic(err) // the embedded file is part of the program; a test reads it
	}
	return list
}

// ReadLanguages parses a table of languages: CSV with the columns code and caption_source, and where there are any name, script, script_label, family,
// subfamily, speakers (millions), scheduled and note. Without script the part of the code after the underscore is taken. Errors name line and column: a code that
// is empty or occurs twice, a language without a source of captions, speakers that are no number.
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
		l := Language{Code: cell("code"), Name: cell("name"), Script: cell("script"), ScriptLabel: cell("script_label"), Family: cell("family"), Subfamily: cell("subfamily"),
			Scheduled: cell("scheduled"), Source: cell("caption_source"), Speakers: math.NaN(), Note: cell("note")}
		switch {
		case l.Code == "":
			return nil, s.Errorf(row, s.Column("code"), "the code is missing; it is xxx_Ssss, for example hin_Deva")
		case seen[l.Code]:
			return nil, s.Errorf(row, s.Column("code"), "the language %q occurs twice", l.Code)
		case l.Source == "":
			return nil, s.Errorf(row, s.Column("caption_source"), "the language %q has no source of captions, for example %s or %s", l.Code, NLLB, IndicTrans2)
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

// FindLanguage returns the language of a code, or an error that names it.
func FindLanguage(list []Language, code string) (Language, error) {
	i := slices.IndexFunc(list, func(l Language) bool { return l.Code == code })
	if i < 0 {
		return Language{}, fmt.Errorf("no language %q in the table of languages; add a row for it", code)
	}
	return list[i], nil
}
