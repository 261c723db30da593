package indictti

import (
	"antipode/internal/must"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestCheckTranslations(t *testing.T) {
	prompts := []Prompt{{"p1", "A red bus."}, {"p2", "two dogs"}}
	languages := []Language{{Code: "en", Script: "Latn", Source: Original},
		{Code: "hin_Deva", Script: "Deva", Source: NLLB},
		{Code: "brx_Deva", Script: "Deva", Source: IndicTrans2}, {Code: "urd_Arab", Script: "Arab", Source: NLLB},
		{Code: "sat_Olck", Script: "Olck", Source: IndicTrans2}, {Code: "xyz_Zzzz", Script: "Zzzz", Source: NLLB}}
	rows := []Translation{
		{ID: "p1", Language: "brx_Deva", Text: "एक लाल बस"},
		{ID: "p2", Language: "brx_Deva", Text: "bus दो"},      // one letter of four
		{ID: "p1", Language: "sat_Olck", Text: " a red  BUS"}, // up to case and signs
		{ID: "p2", Language: "sat_Olck", Text: " … "},
		{ID: "p1", Language: "hin_Deva", Text: "दो iPhone कुत्ते हैं अच्छे"}, // a name in Latin is fine
		{ID: "p1", Language: "xyz_Zzzz", Text: "whatever"},                   // a script without a table
		{ID: "p2", Language: "xyz_Zzzz", Text: "two"},
		{ID: "p9", Language: "hin_Deva", Text: "बस"},
		{ID: "p1", Language: "hindi", Text: "बस"},
		{ID: "p1", Language: "urd_Arab", Text: "سرخ بس"},
		{ID: "p2", Language: "urd_Arab", Text: "दो कुत्ते"},
		{ID: "p1", Language: "urd_Arab", Text: "لال بس"},
	}
	want := []Problem{
		{"p2", "brx_Deva", WrongScript, "1 of 4 letters are Devanagari", "bus दो"},
		{"p1", "sat_Olck", Untranslated, "the English caption", " a red  BUS"},
		{"p2", "sat_Olck", Empty, "no letter", " … "},
		{"p9", "hin_Deva", UnknownPrompt, "the id is not that of a prompt", "बस"},
		{"p1", "hindi", UnknownLanguage, "the language is not one of the study; write it as in hin_Deva", "बस"},
		{"p1", "urd_Arab", Duplicate, "2 translations", "سرخ بس"},
		{"p2", "urd_Arab", WrongScript, "0 of 4 letters are Arabic", "दो कुत्ते"},
		{"p2", "hin_Deva", Missing, "no translation", ""},
	}
	must.Equal(t, cmp.Diff(want, CheckTranslations(rows, prompts, languages)), "")
	got := CheckTranslations(nil, prompts, languages)
	if len(got) != 4 || got[0].Language != "brx_Deva" || got[3].Language != "sat_Olck" {
		t.Errorf("no translation at all: %+v", got)
	}
	must.Equal(t, len(CheckTranslations(rows[:2], prompts, Languages())), 1+5*2, "the paper's languages")
}

// TestScriptsAreKnown: every script of the paper's languages is checked, and every name is one of package unicode.
func TestScriptsAreKnown(t *testing.T) {
	for _, l := range Languages() {
		if unicodeScripts[l.Script] == nil {
			t.Errorf("%s: the script %q is not checked", l.Code, l.Script)
		}
	}
	for code, names := range unicodeScripts {
		for _, name := range names {
			if unicode.Scripts[name] == nil {
				t.Errorf("%s: package unicode has no script %q", code, name)
			}
		}
	}
}
