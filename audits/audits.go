// Package audits holds what the audits share: how a part of an audit is named. Each audit is a package below this one.
//
// # Parts
//
// An audit is a struct whose fields name its parts, each by one string, so that a notebook takes them as parameters:
//
//	""                      the part of the built-in world
//	geode, geode:DIR        a data set that the audit knows, in ANTIPODE_DATA or in a folder
//	images.csv, g.parquet   a table; of images that exist already, so that nothing is generated
//	DIR                     a folder of images, or of a model as Hugging Face lays it out
//	vit-base-patch16-224    a model, see package gomlxmodels; api:NAME and exec:PATH too
//	ask:blip-vqa-base       a judge that answers questions, see models.Ask; ask:chat:NAME and ask:exec:PATH too
//
// # Methods
//
// The five audits have the same methods for what they share; those of a table with several prompt templates or sets of
// prompts take its name:
//
//	Prompts, Images     what is requested and what was generated
//	Scores              the paper's main scores
//	Values, Printed     our values of what the paper prints, and the printed ones
//	PaperTable(number)  a table of the paper in its layout
//	Claims              the paper's claims, and whether they hold
//	Ledger              Printed next to Values, with verdicts
package audits

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"antipode/datasets"
	"antipode/datasets/table"
	models "antipode/gomlxmodels"
	"antipode/internal/objecturl"
)

// Set is a data set of reference images that an audit knows by name.
type Set struct {
	Name   string
	Images func(dir string) datasets.Table // dir is the unpacked archive; "" = found in ANTIPODE_DATA or the store
}

// Images returns the images that a part names: those of the built-in world, of a data set, or of a table or folder.
func Images(part string, builtIn datasets.Table, sets ...Set) datasets.Table {
	name, dir, _ := strings.Cut(part, ":")
	if at := slices.IndexFunc(sets, func(s Set) bool { return s.Name == name }); at >= 0 {
		return sets[at].Images(dir)
	}
	return Existing(part, datasets.ImagesOptions{Default: builtIn})
}

// settled are the columns of files by their plan and state: the methods of an audit need them again and again.
var settled sync.Map

// Existing returns the table of a file or folder that a part names, with all columns that it has: an audit adds those
// that are missing.
func Existing(part string, options ...datasets.ImagesOptions) datasets.Table {
	t := datasets.Extend(datasets.Images(part, options...))
	plan, err := t.Plan()
	info, statErr := os.Stat(part)
	if err != nil || statErr != nil || !t.IsOpen() { // an object, whose state is not known, is asked each time
		return t.Settled().Table
	}
	key := fmt.Sprint(plan.Digest(), " ", info.Size(), info.ModTime())
	if columns, known := settled.Load(key); known {
		return t.Settled(columns.([]table.ColumnSpec)...).Table
	}
	if t = t.Settled(); t.Err() == nil {
		settled.Store(key, t.Columns())
	}
	return t.Table
}

// Asked returns the model that answers questions in a judge's name, ask:MODEL.
func Asked(judge string) (model string, asked bool) { return strings.CutPrefix(judge, "ask:") }

// CheckJudge returns the error of a judge that answers no questions, or of options that are the audit's.
func CheckJudge(audit, judge string, o models.AskOptions) error {
	if _, asked := Asked(judge); judge != "" && !asked {
		return fmt.Errorf("%s: judge %q: name a model that answers questions, ask:MODEL", audit, judge)
	}
	if o.Question != "" || len(o.Choices) > 0 || o.Column != "" {
		return fmt.Errorf("%s: the question, the choices and their column are the audit's; leave them out of Asking",
			audit)
	}
	return nil
}

// CannotTell is the choice of a judge who chooses no other.
const CannotTell = "cannot tell"

// IsTable reports whether a part names images that exist already, in a .csv or .parquet file or in a folder, and not a
// model. A folder with a config.json or a model_index.json is a model.
func IsTable(part string) bool {
	switch objecturl.Ext(part) {
	case ".csv", ".parquet":
		return true
	}
	if info, err := os.Stat(part); err != nil || !info.IsDir() {
		return false
	}
	return !slices.ContainsFunc([]string{"config.json", "model_index.json"}, func(name string) bool {
		_, err := os.Stat(filepath.Join(part, name))
		return err == nil
	})
}

// Generators returns the generators of a list with commas between them; without one the trained generator of the
// built-in world, or the one of other images.
func Generators(list string, builtIn bool, other string) []string {
	if names := datasets.SplitColumns(list); len(names) > 0 {
		return names
	}
	if builtIn {
		return []string{Diffusion}
	}
	return []string{other}
}

// Each returns a table of every item of a list, one below the other. The list is not empty.
func Each[T any](list []T, of func(T) datasets.Table) datasets.Table {
	out := of(list[0])
	for _, item := range list[1:] {
		out = out.Concat(of(item))
	}
	return out
}

// ByModel returns a table of every generator, one below the other, with the column model, which names the generator
// where the table does not. Images of one prompt by several generators get different ids: ID, ID#1, ID#1#1.
func ByModel(generators []string, of func(generator string) datasets.Table) datasets.Table {
	var all []datasets.Table
	for i, g := range generators {
		t := of(g)
		if !Has(t, "model") && !datasets.Extend(t).IsOpen() {
			t = t.With("model", ModelName(g))
		}
		for k := range i {
			if Has(t, "id") {
				t = t.Repeat(1, fmt.Sprintf("id_%d", k), 0)
			}
		}
		all = append(all, t)
	}
	return Each(all, func(t datasets.Table) datasets.Table { return t })
}

// ModelName returns the name of a generator in the column model: that of a file without its extension, of a folder its
// last part.
func ModelName(generator string) string {
	if IsTable(generator) {
		return strings.TrimSuffix(filepath.Base(generator), filepath.Ext(generator))
	}
	return filepath.Base(generator)
}

// Models returns the audit of each generator, for figures that show one. of makes it, and is told whether there are
// several.
func Models[A any](generators []string, of func(generator string, several bool) A) (each []A) {
	for _, g := range generators {
		each = append(each, of(g, len(generators) > 1))
	}
	return each
}

// Title returns the title of a figure of one of several generators, which names it; that of the only one is unchanged.
func Title(title, generator string, several bool) string {
	if several {
		return title + ": " + ModelName(generator)
	}
	return title
}

// Seeded adds a seed of its own to each prompt, derived from the columns by and from the seed of the study.
func Seeded(prompts datasets.Table, study int64, by ...string) datasets.Table {
	if study != 0 {
		prompts, by = prompts.With("study", fmt.Sprint(study)), append(by, "study")
	}
	return prompts.SeedBy(by...)
}

// CheckProfile returns an error if a profile is neither of an audit's two, of which the first is the default.
func CheckProfile(audit, profile, standard, other string) error {
	if profile == "" || profile == standard || profile == other {
		return nil
	}
	return fmt.Errorf("%s: profile %q: use %s or %s", audit, profile, standard, other)
}

// Has reports whether a table has a column. It does not run the table; of a file it is asked of [Existing].
func Has(t datasets.Table, column string) bool { return table.Position(t.Columns(), column) >= 0 }

// Succeeded adds the column outcome, "ok" in every row, to images that come without one.
func Succeeded(images datasets.Table) datasets.Table {
	if Has(images, "outcome") {
		return images
	}
	return images.With("outcome", "ok")
}
