package cococrola

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
	"antipode/datasets/table"
)

// Options are the options of [Prompts] and [Collisions]. The zero value selects the released list and one image per
// prompt.
type Options struct {
	Dir              string   `json:"dir,omitempty" help:"folder of the data set; empty = found in ANTIPODE_DATA or the store"`
	Languages        []string `json:"languages,omitempty" help:"to include, in this order; none = all"`
	N                int      `json:"n,omitempty" help:"images, and so rows, of each prompt; 0 = 1; the paper does not state it, 10 is recommended"`
	Seed             int64    `json:"seed,omitempty" help:"of the first image of each prompt; image k uses Seed + k"`
	Model            string   `json:"model,omitempty" help:"the column model, and MODEL/ before each id, so that tables of several models can be concatenated"`
	Corrected        bool     `json:"corrected,omitempty" help:"apply the authors' later corrections"`
	TemplateVariants bool     `json:"template_variants,omitempty" help:"several templates of each language instead of the main ones"`
	Only             []string `json:"only,omitempty" help:"concepts to include; none = all"`
	Concepts         string   `json:"concepts,omitempty" help:"another concept file, with any languages"`
	Templates        string   `json:"templates,omitempty" help:"another template file"`
}

// absolute makes paths independent of the working directory: the backend has another one.
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

var promptColumns = datasets.Columns("id:text", "concept:text", "language:text", "word:text", "template:text",
	"prompt_id:text", "prompt:text", "class:text", "subclass:text", "number:number", "seed:number")

var (
	collisions = source.Define(source.Definition[Options]{
		Name: "cococrola-collisions", Title: "CoCo-CroLa collisions", Listed: true, Complete: Options.absolute,
		Columns: "kind:text word:text languages:text concepts:text n_concepts:number n_languages:number",
		Read: func(o Options, call *datasets.Call, f *datasets.Frame) error {
			d, err := o.load(call)
			if err != nil {
				return err
			}
			languages, err := o.languages(d)
			for _, c := range FindCollisions(d.Concepts, languages) {
				f.Add([]string{c.Kind, c.Word, strings.Join(c.Languages, ", "), strings.Join(c.Concepts, ", ")},
					float64(len(c.Concepts)), float64(len(c.Languages)))
			}
			return err
		}})
	creative = source.Define(source.Definition[struct{}]{
		Name: "cococrola-creative-prompts", Title: "CoCo-CroLa creative prompts",
		Columns: "id:text prompt_id:text language:text prompt:text concepts:text",
		Read: func(_ struct{}, _ *datasets.Call, f *datasets.Frame) error {
			for _, p := range CreativePrompts() {
				f.Add([]string{p.ID + "-" + p.Language, p.ID, p.Language, p.Text, strings.Join(p.Concepts, ", ")})
			}
			return nil
		}})
)

// load reads the data set, from its folder if the options need it.
func (o Options) load(call *datasets.Call) (Data, error) {
	dir := ""
	if o.Concepts == "" || o.Templates == "" || o.Corrected {
		var err error
		if dir, err = manifest.Dir(Name, o.Dir, call.Home); err != nil {
			return Data{}, err
		}
	}
	return Load(os.DirFS(dir), o)
}

// Prompts is the table of prompts by language, concept and image: id (see the package comment), concept (the English
// word), language, word, template, prompt_id (main, or the number of a template variant), prompt, class, subclass,
// number (of the image, from 0), seed, and model if [Options.Model] is set.
func Prompts(options ...Options) datasets.Table {
	o, err := table.One(options)
	if err != nil {
		return datasets.Failed(err)
	}
	return datasets.Extend(datasets.New("cococrola-prompts", o.absolute(), o.columns())).Named("CoCo-CroLa prompts").
		Table
}

// columns returns the columns of [Prompts].
func (o Options) columns() []table.ColumnSpec {
	if o.Model == "" {
		return promptColumns
	}
	return append(slices.Clone(promptColumns), table.ColumnSpec{Name: "model", Kind: table.KindText})
}

// Collisions is the table of [FindCollisions]: kind, word, languages, concepts (A, B, …), n_concepts, n_languages.
func Collisions(options ...Options) datasets.Table { return collisions.Table(options...) }

// Creative is the table of [CreativePrompts]: id, prompt_id (a, b), language, prompt and concepts (A, B, …).
func Creative() datasets.Table { return creative.Table() }

func init() {
	manifest.RegisterTable("cococrola-prompts", func() datasets.Table { return Prompts() })
	source.Register("cococrola-prompts", func(_ context.Context, o Options,
		call *datasets.Call) (*datasets.Frame, error) {
		d, err := o.load(call)
		if err != nil {
			return nil, err
		}
		return promptFrame(d, o)
	})
}

// languages returns the languages to include.
func (o Options) languages(d Data) ([]string, error) {
	if len(o.Languages) == 0 {
		return d.Languages, nil
	}
	for _, l := range o.Languages {
		if !slices.Contains(d.Languages, l) {
			return nil, fmt.Errorf("the concept list has no language %q; languages: %s", l,
				strings.Join(d.Languages, ", "))
		}
	}
	return o.Languages, nil
}

// promptFrame returns the rows of [Prompts], in the order of languages and concepts.
func promptFrame(d Data, o Options) (*datasets.Frame, error) {
	languages, err := o.languages(d)
	if err != nil {
		return nil, err
	}
	for _, name := range o.Only {
		if !slices.ContainsFunc(d.Concepts, func(c Concept) bool { return c.Name == name }) {
			return nil, fmt.Errorf("no concept %q in the list; name concepts by their English word", name)
		}
	}
	if o.N < 0 {
		return nil, fmt.Errorf("n is %d; it must be at least 1", o.N)
	}
	f := table.NewFrame(o.columns())
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
				for i := range max(o.N, 1) {
					f.Add([]string{prefix + c.id(t, i), c.Name, language, c.Words[language], t.Text, t.ID,
						t.Fill(c.Words[language]), c.Class, c.Subclass, o.Model}, float64(i), float64(o.Seed+int64(i)))
				}
			}
		}
	}
	return f, nil
}
