package rules

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
)

// replaced are words that the project does not use, each with what the field says instead. A word is looked for in
// comments, strings and identifiers of Go files, in Markdown and in notebooks (text, code and text output). Help output
// consists of Go strings.
var replaced = []struct{ pattern, instead string }{ //nolint:misspell
	{`pictures?`, "image"},
	{`plant(s|ed|ing)?`, "injected disparity, injected"},
	{`mend(s|ed|ing)?`, "fix"},
	{`beside`, "next to, alongside, compared with"},
	{`culprits?`, "the offending value"},
	{`(at|to) hand`, "available"},
	{`held (to|against)`, "compared with, required to meet"},
	{`(taken|cut|takes|cuts) apart`, "segmented, split"},
	{`gives? back`, "returns"},
	{`wordings?`, "prompt templates"},
	{`set-ups?`, "configuration, component"},
	{`honest(ly)?`, "limitations"},
	{`falls? short`, "not done, below"},
	{`could not be had`, "could not be downloaded"},
	{`(is|are|was|were) not there`, "is missing"},
	{`lies? (beside|to each other|in|at|under|below|next)`, "is in, is located in"},
	{`stands? (in (the|a|its|this|that|one|column|row|every|each)|beside|there|at|under|above|below|before|behind)`, "is in, is stored in"},
	{`asks? for|asked for`, "requests, requested"},
	{`look(s|ed|ing)? at`, "inspects, reads, attends to"},
	{`one row is one`, "each row is one"},
	{`neighbour(s|ing|hood)?`, "neighbor"},
	{`colour(s|ed|ing|ful)?`, "color"},
	{`licence[sd]?`, "license"},
	{`behaviours?`, "behavior"},
	{`centre[sd]?`, "center"},
	{`grey`, "gray"},
	{`(normal|recogn|general|summar|initial|serial|optim|organ|token|minim|maxim|standard|random|visual)is(e|es|ed|er|ing|ation)`,
		"American spelling: -ize"},
}

// keptWords are deliberate uses of replaced words.
var keptWords = []struct{ file, text, why string }{
	{"test/rules/words_test.go", ``, "the list itself"},
	{"notebooks/cococrola.ipynb", "picture", "a prompt of the built-in world"},
	{"audits/entigen/labels.go", "picture", "texts that archipelago-clip was trained on"},
	{"notebooks/entigen.ipynb", "picture", "prompts of the built-in world, and texts of its judge"},
	{"datasets/cococrola/*.go", "picture", "released prompt templates"},
	{"gomlxmodels/archipelago/*/score.go", "pictures", "a key of training.json"},
	{"gomlxmodels/archipelago/weights/*_test.go", "pictures", "a key of training.json and the scripts"},
	{"gomlxmodels/archipelago/clip/*", "picture", "training texts, a loss, a key of training.json"},
	{"gomlxmodels/archipelago/weights/clip_test.go", "picture", "a key of training.json"},
	{"gomlxmodels/archipelago/weights/blip_checks_test.go", "picture", "a prompt of the model"},
	{"gomlxmodels/archipelago/weights/archipelago-blip/README.md", "picture", "prompts of the model"},
	{"gomlxmodels/archipelago/blip/*", "picture", "prompts of the model"},
	{"gomlxmodels/archipelago/clipseg/batch.go", "picture", "training texts"},
	{"gomlxmodels/archipelago/tokens/texts.go", "picture", "training texts"},
	{"gomlxmodels/caption*.go", "picture", "a prompt of the models"},
	{"gomlxmodels/stage/caption/*_test.go", "picture", "a prompt and output of the model, a golden tensor"},
	{"gomlxmodels/stage/embed/*_test.go", "picture", "a golden tensor"},
	{"gomlxmodels/*/*_test.go", "picture", "golden tensors"},
	{"test/captiontest/captiontest.go", "picture", "a key of captions.json"},
	{"gomlxmodels/preprocess/reference_test.go", "pictures", "a test folder that the reference script writes"},
	{"gomlxmodels/stage/segment/segment_test.go", "grey", "a test file that the reference script writes"},
	{"metrics/representation/*.go", "colour", "the column perceived_skin_colour, whose name seeds the bootstrap; " +
		"captions of users"},
	{"datasets/entigen/*.go", "colour", "the axis \"perceived skin colour\" seeds the bootstrap"},
	{"datasets/entigen/lint.go", "grey", "a word that Lint finds in prompts"},
	{"datasets/archipelago.go", "planted", "a JSON key of stored plans"},
	{"datasets/archipelago.go", "plants", "the name of a set in stored plans"},
	{"datasets/archipelago_audits.go", "plants", "the name of a set in stored plans"},
	{"datasets/archipelago/table.go", "plants", "the name of a set in stored plans"},
	{"datasets/archipelago/*.go", "plant", "seeds random streams; a plant in a scene"},
	{"datasets/archipelago/*.go", "picture", "prompt templates and the seed of a translated word"},
	{"docs/archipelago.md", "plant", "a plant"},
}

// anyReplaced matches every replaced word as a word of its own; submatch i+1 is the word of replaced[i].
var anyReplaced = func() *regexp.Regexp {
	var list []string
	for _, r := range replaced {
		list = append(list, "("+strings.ReplaceAll(r.pattern, "(", "(?:")+")")
	}
	return regexp.MustCompile(`(?i)(?:^|[^\pL\pN])(?:` + strings.Join(list, "|") + `)(?:$|[^\pL\pN])`)
}()

// camel separates the words of an identifier: pictureCount becomes picture Count, HTMLPicture HTML Picture.
var camel = regexp.MustCompile(`([\p{Ll}\pN])(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})`)

// found is a replaced word in a text.
type found struct {
	line          int
	word, instead string
}

// fine are lines and identifiers without replaced words.
var fine = map[string]bool{}

// findWords lists the replaced words in a text whose first line has the given number.
func findWords(text string, line int) (out []found) {
	for i, l := range strings.Split(text, "\n") {
		if fine[l] {
			continue
		}
		spaced := camel.ReplaceAllString(l, "$1$3 $2$4")
		if fine[l] = !anyReplaced.MatchString(spaced); fine[l] {
			continue // without submatches the search takes half the time
		}
		for _, m := range anyReplaced.FindAllStringSubmatch(spaced, -1) {
			j := slices.IndexFunc(m[1:], func(word string) bool { return word != "" })
			out = append(out, found{line + i, m[j+1], replaced[j].instead})
		}
	}
	return out
}

func TestWords(t *testing.T) {
	used := make([]bool, len(keptWords))
	checked := 0
	for _, name := range files() {
		if strings.Contains(name, "testdata/") {
			continue
		}
		var list []found
		switch path.Ext(name) {
		case ".go":
			list = goWords(t, name, read(t, name))
		case ".md":
			list = findWords(string(read(t, name)), 1)
		case ".ipynb":
			list = notebookWords(t, name, read(t, name))
		default:
			continue
		}
		checked++
	next:
		for _, f := range list {
			for i, k := range keptWords {
				if ok, _ := path.Match(k.file, name); ok && (k.text == "" || strings.EqualFold(k.text, f.word)) {
					used[i] = true
					continue next
				}
			}
			t.Errorf("%s:%d: %q: write %s (vocabulary: CONTRIBUTING.md); a deliberate use goes into "+
				"keptWords with its "+
				"reason", name, f.line, f.word, f.instead)
		}
	}
	must.True(t, checked >= 100, "only %d files checked", checked)
	for i, k := range keptWords {
		must.True(t, used[i], "keptWords: %s does not contain %q any more: remove the entry", k.file, k.text)
	}
}

// goWords lists the replaced words in the comments, strings and identifiers of a Go file.
func goWords(t *testing.T, name string, data []byte) (list []found) {
	t.Helper()
	fset := token.NewFileSet()
	file := fset.AddFile(name, fset.Base(), len(data))
	var s scanner.Scanner
	s.Init(file, data, func(pos token.Position, msg string) { t.Fatalf("%s: %s", pos, msg) }, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return list
		case token.IDENT, token.COMMENT, token.STRING:
			list = append(list, findWords(text, fset.Position(pos).Line)...)
		}
	}
}

// notebookWords lists the replaced words in a notebook's cells and in their text output; the line is the cell's number.
func notebookWords(t *testing.T, name string, data []byte) (list []found) {
	t.Helper()
	var n notebook
	if err := json.Unmarshal(data, &n); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i, c := range n.Cells {
		texts := []string{string(c.Source)}
		for _, o := range c.Outputs {
			texts = append(texts, string(o.Text))
			var plain text
			if json.Unmarshal(o.Data["text/plain"], &plain) == nil {
				texts = append(texts, string(plain))
			}
		}
		for _, f := range findWords(strings.Join(texts, "\n"), 0) {
			f.line = i + 1
			list = append(list, f)
		}
	}
	return list
}

func TestWordsAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"a picture of a cat": "picture", "Pictures": "Pictures", "storedPictures": "Pictures", "n_pictures": "pictures",
		"HTMLPicture": "Picture", "depicture": "", "is planted in": "planted", "transplant": "", "colours": "colours",
		"next to it": "", "it is not there": "is not there", "normalised": "normalised", "an image": "",
	} {
		got := ""
		if list := findWords(text, 1); len(list) > 0 {
			got = list[0].word
		}
		must.Equal(t, got, want, text, "found")
	}
	source := "package x\n\n// A picture.\nvar colour = `\ngrey` // fine\n"
	must.Equal(t, fmt.Sprint(goWords(t, "x.go", []byte(source))),
		"[{3 picture image} {4 colour color} {5 grey gray}]", "found")
}

func TestLongLinesAreFound(t *testing.T) {
	long := strings.Repeat("x ", 70)
	for source, want := range map[string]int{
		"package x\n\n// " + long + "\n":                              1,
		"package x\n\nvar s = `" + long + "`\n":                       0,
		"package x\n\nvar s = \"" + long + "\"\n":                     1,
		"package x\n\nfunc f() {\n\t// Output:\n\t// " + long + "\n}": 0,
		"package x\n\nvar s = " + strings.Repeat("\t", 30) + "1\n":    1,
	} {
		fset := token.NewFileSet()
		file := must.Get(parser.ParseFile(fset, "x.go", source, parser.ParseComments))(t)
		must.Equal(t, len(longLines(fset, file, []byte(source))), want, source, "found")
	}
}
