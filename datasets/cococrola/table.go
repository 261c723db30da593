package cococrola

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/kernel/client"
)

// Options of [Prompts] and [Collisions]. The zero value is the released list, one picture a prompt.
type Options struct {
	Dir       string   `json:"dir,omitempty"`       // folder of the data set; "" = found, see [manifest.Find]
	Languages []string `json:"languages,omitempty"` // kept, in this order; none = all
	Pictures  int      `json:"pictures,omitempty"`  // asked for with each prompt: rows of it; 0 = 1 (the paper does not say; 10 is advised)
	Seed      int64    `json:"seed,omitempty"`      // of each prompt's first picture; the others count up
	Model     string   `json:"model,omitempty"`     // who is asked: a column model, and MODEL/ before each id, so that tables of several models can be joined
	Corrected bool     `json:"corrected,omitempty"` // take the authors' later corrections of Spanish, Chinese and Japanese words
	Wordings  bool     `json:"wordings,omitempty"`  // the templates of the wording test ([Wordings]) in place of the main ones
	Only      []string `json:"only,omitempty"`      // concepts kept; none = all
	Concepts  string   `json:"concepts,omitempty"`  // a concept file of one's own, with any languages
	Templates string   `json:"templates,omitempty"` // a template file of one's own
}

// absolute makes folder and files mean the same to a backend with another working directory.
func (o Options) absolute() Options {
	o.Dir = manifest.Here(Name, o.Dir)
	for _, path := range []*string{&o.Concepts, &o.Templates} {
		if *path != "" {
			if abs, err := filepath.Abs(*path); err == nil {
				*path = abs
			}
		}
	}
	return o
}

var (
	promptColumns    = datasets.Columns("id:text", "concept:text", "language:text", "word:text", "template:text", "prompt_id:text", "prompt:text", "class:text", "subclass:text", "number:number", "seed:number")
	collisionColumns = datasets.Columns("kind:text", "word:text", "languages:text", "concepts:text", "n_concepts:number", "n_languages:number")
	creativeColumns  = datasets.Columns("id:text", "prompt_id:text", "language:text", "prompt:text", "concepts:text")
)

// Prompts is the table of what a model is asked for, by language, concept and picture: id (see the package), concept (the English word), language,
// word, template, prompt_id (main, or the number of a wording), prompt, class and subclass, number (of the picture, from 0), seed, and model
// where it is given.
func Prompts(o Options) datasets.Table {
	return datasets.New("cococrola-prompts", o.absolute(), o.columns()).Named("CoCo-CroLa prompts")
}

// columns are those of [Prompts].
func (o Options) columns() []client.ColumnSpec {
	if o.Model == "" {
		return promptColumns
	}
	return append(slices.Clone(promptColumns), client.ColumnSpec{Name: "model", Kind: client.Text})
}

// Collisions is the table of [FindCollisions]: kind, word, languages and concepts (A, B, …) and their numbers.
func Collisions(o Options) datasets.Table {
	return datasets.New("cococrola-collisions", o.absolute(), collisionColumns).Named("CoCo-CroLa collisions")
}

// Creative is the table of [CreativePrompts]: id, prompt_id (a, b), language, prompt and the concepts inside (A, B, …).
func Creative() datasets.Table {
	return datasets.New("cococrola-creative", nil, creativeColumns).Named("CoCo-CroLa creative prompts")
}

func init() {
	source("cococrola-prompts", PromptFrame)
	source("cococrola-collisions", func(d Data, o Options) (*datasets.Frame, error) {
		languages, err := o.languages(d)
		if err != nil {
			return nil, err
		}
		return collisionFrame(FindCollisions(d.Concepts, languages)), nil
	})
	datasets.RegisterSource("cococrola-creative", func(context.Context, json.RawMessage, datasets.SourceEnv) (*datasets.Frame, error) {
		f := empty(creativeColumns)
		for _, p := range CreativePrompts() {
			texts(f, p.ID+"-"+p.Language, p.ID, p.Language, p.Text, strings.Join(p.Concepts, ", "))
		}
		return f, nil
	})
}

func source(op string, frame func(Data, Options) (*datasets.Frame, error)) {
	datasets.RegisterSource(op, func(_ context.Context, raw json.RawMessage, env datasets.SourceEnv) (*datasets.Frame, error) {
		var o Options
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &o); err != nil {
				return nil, fmt.Errorf("cococrola: %w", err)
			}
		}
		dir := ""
		if o.Concepts == "" || o.Templates == "" || o.Corrected {
			var err error
			if dir, err = manifest.Dir(Name, o.Dir, env.Home); err != nil {
				return nil, err
			}
		}
		d, err := Load(os.DirFS(dir), o)
		if err != nil {
			return nil, err
		}
		return frame(d, o)
	})
}

// languages are those kept.
func (o Options) languages(d Data) ([]string, error) {
	if len(o.Languages) == 0 {
		return d.Languages, nil
	}
	for _, l := range o.Languages {
		if !slices.Contains(d.Languages, l) {
			return nil, fmt.Errorf("the concept list has no language %q; it has %s", l, strings.Join(d.Languages, ", "))
		}
	}
	return o.Languages, nil
}

// PromptFrame builds the rows of [Prompts] from data in memory: languages in their order, concepts in the list's.
func PromptFrame(d Data, o Options) (*datasets.Frame, error) {
	languages, err := o.languages(d)
	if err != nil {
		return nil, err
	}
	for _, name := range o.Only {
		if !slices.ContainsFunc(d.Concepts, func(c Concept) bool { return c.Name == name }) {
			return nil, fmt.Errorf("no concept %q in the list; concepts go by their English word", name)
		}
	}
	if o.Pictures < 0 {
		return nil, fmt.Errorf("%d pictures asked for with each prompt: give 1 or more", o.Pictures)
	}
	f := empty(o.columns())
	prefix := ""
	if o.Model != "" {
		prefix = o.Model + "/"
	}
	for _, language := range languages {
		for _, t := range d.Templates {
			if t.Language != language {
				continue
			}
			for _, c := range d.Concepts {
				if len(o.Only) > 0 && !slices.Contains(o.Only, c.Name) {
					continue
				}
				for i := range max(o.Pictures, 1) {
					texts(f, prefix+c.id(t, i), c.Name, language, c.Words[language], t.Text, t.ID, t.Fill(c.Words[language]), c.Class, c.Subclass, o.Model)
					numbers(f, float64(i), float64(o.Seed+int64(i)))
				}
			}
		}
	}
	return f, nil
}

func collisionFrame(all []Collision) *datasets.Frame {
	f := empty(collisionColumns)
	for _, c := range all {
		texts(f, c.Kind, c.Word, strings.Join(c.Languages, ", "), strings.Join(c.Concepts, ", "))
		numbers(f, float64(len(c.Concepts)), float64(len(c.Languages)))
	}
	return f
}

func empty(specs []client.ColumnSpec) *datasets.Frame {
	f := &datasets.Frame{}
	for _, s := range specs {
		f.Columns = append(f.Columns, client.Column{ColumnSpec: s})
	}
	return f
}

// texts and numbers put a row's values into the columns of their kind, in order; values beyond the columns are left out.
func texts(f *datasets.Frame, values ...string) {
	for i, at := 0, 0; i < len(f.Columns); i++ {
		if c := &f.Columns[i]; c.Kind == client.Text {
			c.Texts, at = append(c.Texts, values[at]), at+1
		}
	}
}

func numbers(f *datasets.Frame, values ...float64) {
	for i, at := 0, 0; i < len(f.Columns); i++ {
		if c := &f.Columns[i]; c.Kind == client.Number {
			c.Numbers, at = append(c.Numbers, values[at]), at+1
		}
	}
}
