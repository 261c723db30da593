package cococrola

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"antipode/datasets/manifest"
)

// Languages are the languages of the paper, in the order of its tables.
var Languages = []string{"en", "es", "de", "zh", "ja", "he", "id"}

// Slot marks the place of the word in a template.
const Slot = "$$$"

// Concept is one row of the concept list.
type Concept struct {
	Row             int               // in the concept file, from 0
	Name            string            // the English word
	Words           map[string]string // by language
	Class, Subclass string            // released classes; "" = none
}

// Template is a prompt with a [Slot].
type Template struct {
	Language, ID, Text string // ID is "main", or the number of a variant in Appendix B, from "1"
}

// Fill replaces the slot by a word.
func (t Template) Fill(word string) string { return strings.Replace(t.Text, Slot, word, 1) }

// Data is the concept list and its templates.
type Data struct {
	Concepts  []Concept
	Languages []string // in the order of the columns of the concept file
	Templates []Template
	Corrected int // number of words replaced by the authors' later corrections
}

// Load reads the released data from a folder and verifies it against the manifest. [Options.Corrected] applies the
// authors' later corrections (experiments/correction: 9 Spanish, 40 Chinese and Japanese concepts).
func Load(fsys fs.FS, o Options) (Data, error) {
	m, err := manifest.Get(Name)
	if err != nil {
		return Data{}, err
	}
	read := func(path, own string) (string, []byte, error) {
		if own != "" {
			data, err := os.ReadFile(own)
			return own, data, err
		}
		data, used, err := m.Read(fsys, path)
		return used.Path, data, err
	}
	name, data, err := read(conceptFile, o.Concepts)
	if err != nil {
		return Data{}, err
	}
	d := Data{}
	if d.Concepts, d.Languages, err = readConcepts(name, data); err != nil {
		return Data{}, err
	}
	if name, data, err = read(templateFile, o.Templates); err != nil {
		return Data{}, err
	}
	if d.Templates, err = readTemplates(name, data, d.Languages); err != nil {
		return Data{}, err
	}
	if o.TemplateVariants {
		d.Templates = TemplateVariants()
	}
	if o.Concepts == "" {
		if name, data, err = read(classFile, ""); err != nil {
			return Data{}, err
		}
		if err = readClasses(name, data, d.Concepts); err != nil {
			return Data{}, err
		}
	}
	if o.Corrected {
		for _, path := range []string{spanishFile, chineseFile} {
			if name, data, err = read(path, ""); err != nil {
				return Data{}, err
			}
			n, err := Correct(d.Concepts, name, data)
			if err != nil {
				return Data{}, err
			}
			d.Corrected += n
		}
	}
	return d, nil
}

// readConcepts parses a concept file: one column per language, named by its code, en included, and one row per concept.
// Empty cells and repeated English words are errors with line and column; name is the file name in messages. It returns
// the concepts and the languages.
func readConcepts(name string, data []byte) ([]Concept, []string, error) {
	s, err := manifest.ReadSheet(name, data, "en")
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	concepts := make([]Concept, s.Len())
	for row := range concepts {
		c := Concept{Row: row, Words: map[string]string{}}
		for i, language := range s.Header {
			word := strings.TrimSpace(s.Rows[row][i])
			if word == "" {
				return nil, nil, s.Errorf(row, i, "the word is missing; a concept needs a word in every language")
			}
			c.Words[language] = word
		}
		c.Name = c.Words["en"]
		if seen[c.Name] {
			return nil, nil, s.Errorf(row, s.Column("en"), "the concept %q occurs twice", c.Name)
		}
		seen[c.Name] = true
		concepts[row] = c
	}
	return concepts, s.Header, nil
}

// readTemplates parses a template file, a JSON object from language to a text with one [Slot], and returns the
// templates in the order of languages.
func readTemplates(name string, data []byte, languages []string) ([]Template, error) {
	var texts map[string]string
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, fmt.Errorf("%s: %w; the file must be an object from language to template", name, err)
	}
	var out []Template
	for _, language := range languages {
		text, known := texts[language]
		if !known {
			return nil, fmt.Errorf("%s: no template for the language %q of the concepts", name, language)
		}
		if strings.Count(text, Slot) != 1 {
			return nil, fmt.Errorf("%s: the template for %q, %q, must contain the slot %s once", name, language, text,
				Slot)
		}
		out = append(out, Template{language, "main", text})
	}
	return out, nil
}

func readClasses(name string, data []byte, concepts []Concept) error {
	s, err := manifest.ReadSheet(name, data, "en", "class", "subclass")
	if err != nil {
		return err
	}
	for row, cells := range s.Rows {
		at := slices.IndexFunc(concepts, func(c Concept) bool { return c.Name == cells[s.Column("en")] })
		if at < 0 {
			return s.Errorf(row, s.Column("en"), "%q is not in the concept list", cells[s.Column("en")])
		}
		concepts[at].Class, concepts[at].Subclass = cells[s.Column("class")], cells[s.Column("subclass")]
	}
	return nil
}

// Correct applies a file of corrections (the column en and the corrected languages) and returns the number of words
// that changed.
func Correct(concepts []Concept, name string, data []byte) (changed int, err error) {
	s, err := manifest.ReadSheet(name, data, "en")
	if err != nil {
		return 0, err
	}
	for row, cells := range s.Rows {
		at := slices.IndexFunc(concepts, func(c Concept) bool { return c.Name == cells[s.Column("en")] })
		if at < 0 {
			return 0, s.Errorf(row, s.Column("en"), "%q is not in the concept list", cells[s.Column("en")])
		}
		for i, language := range s.Header {
			if word := strings.TrimSpace(cells[i]); word != "" && concepts[at].Words[language] != word {
				concepts[at].Words[language] = word
				changed++
			}
		}
	}
	return changed, nil
}

// Collision is a word shared by several concepts of a language, or by several languages for one concept.
type Collision struct {
	Kind      string // "one word, several concepts" or "one word, several languages"
	Word      string
	Languages []string
	Concepts  []string
}

// FindCollisions returns the words that several concepts share within a language (they raise Xc between these concepts,
// and Dt), then the words that are the same in several languages for one concept, in the order of languages and
// concepts. Words are compared exactly.
func FindCollisions(concepts []Concept, languages []string) (out []Collision) {
	for _, language := range languages {
		by := map[string][]string{}
		var order []string
		for _, c := range concepts {
			w := c.Words[language]
			if by[w] == nil {
				order = append(order, w)
			}
			by[w] = append(by[w], c.Name)
		}
		for _, w := range order {
			if len(by[w]) > 1 {
				out = append(out, Collision{"one word, several concepts", w, []string{language}, by[w]})
			}
		}
	}
	for _, c := range concepts {
		by := map[string][]string{}
		for _, language := range languages {
			by[c.Words[language]] = append(by[c.Words[language]], language)
		}
		for _, language := range languages {
			if w := c.Words[language]; len(by[w]) > 1 && by[w][0] == language {
				out = append(out, Collision{"one word, several languages", w, by[w], []string{c.Name}})
			}
		}
	}
	return out
}
