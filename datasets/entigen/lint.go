package entigen

import (
	"regexp"
	"slices"
	"strings"
)

// Cue is a word that names a visible trait, which a sentence that argues for fairness must not contain (design rule of
// the paper).
type Cue struct {
	Word  string // as in the text
	Class string // "group", "color" or "clothes"
	At    int    // byte offset in the text
}

// cues are the words by class, in lower case, singular and plural. Words that name an axis but no group of it (gender,
// skin color, culture) are not cues.
var cues = map[string]string{
	"group": "man men woman women male males female females boy boys girl girls lady ladies gentleman gentlemen guy " +
		"guys masculine feminine nonbinary non-binary transgender " +
		"father mother husband wife he she his her him hers light-skinned dark-skinned fair-skinned pale tanned " +
		"caucasian asian african european american western non-western eastern " +
		"indian chinese arab latino latina hispanic young old elderly",
	"color": "black white brown red blue green yellow orange purple pink grey gray golden silver beige dark light",
	"clothes": "suit suits tie ties scarf scarves apron aprons makeup make-up earring earrings piercing glasses " +
		"dress dresses skirt skirts trousers shirt shirts hat hats jacket jackets coat coats uniform uniforms sari " +
		"saris hijab hijabs turban turbans kimono kimonos veil veils shoe shoes beard beards moustache hair",
}

var word = regexp.MustCompile(`[\pL\pM\pN]+(?:-[\pL\pM\pN]+)*`)

// Lint finds visual cues in the text of an intervention, in order: names of groups (also those of axes), colors,
// clothes. The words of attribute, which fill the slot of the text, are not cues; "" = the slot is not filled.
func Lint(text, attribute string, axes ...Axis) []Cue {
	classes := map[string]string{}
	for class, words := range cues {
		for _, w := range strings.Fields(words) {
			classes[w] = class
		}
	}
	exempt := strings.Fields(strings.ToLower(attribute))
	var out []Cue
	for _, at := range word.FindAllStringIndex(text, -1) {
		w := strings.ToLower(text[at[0]:at[1]])
		if class := classes[w]; class != "" && !slices.Contains(exempt, w) {
			out = append(out, Cue{text[at[0]:at[1]], class, at[0]})
		}
	}
	for _, a := range axes {
		for _, g := range a.Groups {
			whole := regexp.MustCompile(`(?i)(^|[^\pL\pN])(` + regexp.QuoteMeta(g) + `)($|[^\pL\pN])`)
			for _, at := range whole.FindAllStringSubmatchIndex(text, -1) {
				if !slices.ContainsFunc(out, func(c Cue) bool { return c.At == at[4] }) {
					out = append(out, Cue{text[at[4]:at[5]], "group", at[4]})
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Cue) int { return a.At - b.At })
	return out
}
