package cococrola

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
)

// demoName is the name of the authors' demo repository as a data set.
const demoName = "cococrola-demo"

type demoModel struct {
	folder, model, source string
	images                int // of each concept and language
}

// demoModels are the eight models of the demo, in the order of Table 2; AltDiffusion m9 is not among them.
var demoModels = []demoModel{{"demega", "DALL-E Mega", "en", 12}, {"demini", "DALL-E Mini", "en", 12},
	{"sd1-1", "SD 1.1", "en", 12}, {"sd1-2", "SD 1.2", "en", 12}, {"sd1-4", "SD 1.4", "en", 12},
	{"sd2", "SD 2", "en", 12}, {"cv2", "CogView 2", "zh", 12}, {"dalle2", "DALL-E 2", "en", 10}}

func init() {
	const page = "https://github.com/michaelsaxon/coco-crola"
	m := manifest.Manifest{
		Name: demoName, Title: "CoCo-CroLa: images and scores of eight models", Origin: page,
		Version:  "the repository's main branch",
		License:  "no license file: see the authors before sharing images or scores",
		Citation: Citation,
		Warning: "not downloaded (about 2.6 GB): run `git clone " + page + " " + demoName + "`, then set " +
			"ANTIPODE_DATA to the folder that holds " + demoName,
	}
	for _, d := range demoModels {
		for _, file := range []string{"results_" + d.source + ".csv", "results_self.csv", "results_specific.csv"} {
			m.Files = append(m.Files, manifest.File{Path: path.Join("demo", d.folder, file), Columns: Languages,
				Optional: "comes with the images from " + page})
		}
	}
	manifest.Register(m)
	manifest.RegisterTable(demoName, func() datasets.Table { return DemoImages() })
}

// The values of [DemoOptions].Failures.
const (
	FailuresMinusOne = "minus-one" // a failed cell scores −1, as in the paper's Table 2
	FailuresBlank    = "blank"     // it has no score
)

// DemoOptions are the options of [DemoScores] and [DemoImages].
type DemoOptions struct {
	Dir      string `json:"dir,omitempty" help:"the unpacked repository; empty = found in ANTIPODE_DATA or the store"`
	Failures string `json:"failures,omitempty" help:"of a failed cell: minus-one (default) or blank"`
	Concepts string `json:"concepts,omitempty" help:"another concept file than the released one, as in Options"`
}

func (o DemoOptions) here() DemoOptions {
	o.Dir = manifest.Here(demoName, o.Dir)
	o.Concepts = Options{Concepts: o.Concepts}.absolute().Concepts
	return o
}

var (
	demoScores = source.Define(source.Definition[DemoOptions]{
		Name: "cococrola-demo-scores", Title: "CoCo-CroLa scores of the demo", Listed: true, Complete: DemoOptions.here,
		Columns: "model:text language:text concept:text outcome:text source:text possessed:text " +
			"inverse_distinctiveness:number self_consistency:number cross_consistency:number text_match:number " +
			"n_used:number",
		Read: addDemoScores})
	demoImages = source.Define(source.Definition[DemoOptions]{
		Name: "cococrola-demo-images", Title: "CoCo-CroLa images of the demo", Complete: DemoOptions.here,
		Columns: "id:text path:text model:text language:text concept:text number:number", Read: addDemoImages})
)

// DemoScores is the table of the scores in the authors' demo repository (michaelsaxon/coco-crola) of each concept in
// each language by eight models: model (as in Table 2), language, concept, outcome (ok or failed), source (language of
// Xc), inverse_distinctiveness, self_consistency, cross_consistency (cosines), n_used (images, as published) and
// possessed and text_match, which are blank: Wc was not released. [antipode/metrics/concepts.LanguageMeans] reads it.
//
// Two things differ from the files. A comparison of n images with themselves, which is each self_consistency, and
// cross_consistency in the source language, was divided by n² after the n self-matches were subtracted; it is
// multiplied by n/(n − 1). A failed cell, "---" in the files, has the outcome failed and scores −1, as in the authors'
// plots, or is blank ([DemoOptions].Failures).
func DemoScores(options ...DemoOptions) datasets.Table { return demoScores.Table(options...) }

// DemoImages is the table of the images in the authors' demo repository, as an import of their folders: id
// (FOLDER/FILE), image, model (as in Table 2), language, concept and number (from 0). The concept is the English word
// in the file's name.
func DemoImages(options ...DemoOptions) datasets.Table {
	index := demoImages.Table(options...)
	o := DemoOptions{}
	if len(options) > 0 {
		o = options[0]
	}
	dir, err := filepath.EvalSymlinks(o.here().Dir)
	if err != nil {
		return index // which reports where to get the repository
	}
	return datasets.Extend(index.Join(datasets.Folder(dir).Rename("id", "path"), "path").
		Select("id", "image", "model", "language", "concept", "number")).Named(demoName).Table
}

// open returns the repository's folder.
func (o DemoOptions) open(call *datasets.Call) (fs.FS, error) {
	dir, err := manifest.Dir(demoName, o.Dir, call.Home)
	if err != nil {
		return nil, err
	}
	return os.DirFS(dir), nil
}

func addDemoScores(o DemoOptions, call *datasets.Call, f *datasets.Frame) error {
	failed := -1.0
	switch o.Failures {
	case "", FailuresMinusOne:
	case FailuresBlank:
		failed = math.NaN()
	default:
		return fmt.Errorf("cococrola: failures is %q; use %s or %s", o.Failures, FailuresMinusOne, FailuresBlank)
	}
	fsys, err := o.open(call)
	if err != nil {
		return err
	}
	concepts, err := o.concepts(call)
	if err != nil {
		return err
	}
	found := 0
	for _, d := range demoModels {
		folder := path.Join("demo", d.folder)
		if _, err := fs.Stat(fsys, folder); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		found++
		var scores [3]demoSheet // Dt, Sc, Xc
		for i, name := range []string{"results_specific.csv", "results_self.csv", "results_" + d.source + ".csv"} {
			if scores[i], err = readDemo(fsys, path.Join(folder, name), concepts); err != nil {
				return err
			}
		}
		unbiased := float64(d.images) / float64(d.images-1)
		for row, concept := range concepts {
			for _, language := range scores[2].languages {
				var values [3]float64
				outcome := "ok"
				for i, s := range scores {
					v, known := s.values[language]
					if !known {
						return fmt.Errorf("cococrola: %s has no column %q, which other files of %s have", s.name,
							language, folder)
					}
					switch values[i] = v[row]; {
					case math.IsNaN(v[row]):
						values[i], outcome = failed, "failed"
					case i == 1 || i == 2 && language == d.source:
						values[i] *= unbiased
					}
				}
				f.Add([]string{d.model, language, concept, outcome, d.source, ""}, values[0], values[1], values[2],
					math.NaN(), float64(d.images))
			}
		}
	}
	if found == 0 {
		return fmt.Errorf("cococrola: no folder of a model, such as demo/%s, in %s; clone the demo repository there",
			demoModels[0].folder, o.Dir)
	}
	return nil
}

// concepts returns the English words in the order of the rows of the scores.
func (o DemoOptions) concepts(call *datasets.Call) ([]string, error) {
	var list []Concept
	if o.Concepts != "" {
		data, err := os.ReadFile(o.Concepts)
		if err != nil {
			return nil, err
		}
		if list, _, err = readConcepts(o.Concepts, data); err != nil {
			return nil, err
		}
	} else {
		dir, err := manifest.Dir(Name, "", call.Home)
		if err != nil {
			return nil, err
		}
		d, err := Load(os.DirFS(dir), Options{})
		if err != nil {
			return nil, err
		}
		list = d.Concepts
	}
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Name
	}
	return names, nil
}

// demoSheet is a file of scores: by language, one value for each concept, NaN where it failed.
type demoSheet struct {
	name      string
	languages []string
	values    map[string][]float64
}

// readDemo reads a file of scores. Its first line has the languages; the others have a score for each, after the
// concept in files of later versions of the authors' program.
func readDemo(fsys fs.FS, name string, concepts []string) (demoSheet, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return demoSheet{}, fmt.Errorf("cococrola: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(data), "\r", "")), "\n")
	s := demoSheet{name, strings.Split(lines[0], ","), map[string][]float64{}}
	if len(lines)-1 != len(concepts) {
		return s, fmt.Errorf("cococrola: %s has %d rows of scores, the concept file %d concepts; they are of "+
			"different lists", name, len(lines)-1, len(concepts))
	}
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		if len(cells) == len(s.languages)+1 {
			if cells[0] != concepts[i] {
				return s, fmt.Errorf("cococrola: %s, line %d: the concept is %q, that of the concept file %q", name,
					i+2, cells[0], concepts[i])
			}
			cells = cells[1:]
		}
		if len(cells) != len(s.languages) {
			return s, fmt.Errorf("cococrola: %s, line %d: %d scores for %d languages", name, i+2, len(cells),
				len(s.languages))
		}
		for j, cell := range cells {
			v := math.NaN()
			if cell != "---" {
				if v, err = strconv.ParseFloat(cell, 64); err != nil || !(v >= -1.001 && v <= 1.001) {
					return s, fmt.Errorf("cococrola: %s, line %d, column %s: %q is neither a cosine nor ---", name, i+2,
						s.languages[j], cell)
				}
			}
			s.values[s.languages[j]] = append(s.values[s.languages[j]], v)
		}
	}
	return s, nil
}

// demoFile matches ROW-LANGUAGE-CONCEPT-NUMBER.
var demoFile = regexp.MustCompile(`^\d+-([a-z]+)-(.+)-(\d+)\.(png|jpe?g)$`)

func addDemoImages(o DemoOptions, call *datasets.Call, f *datasets.Frame) error {
	fsys, err := o.open(call)
	if err != nil {
		return err
	}
	for _, d := range demoModels {
		folder := path.Join("demo", d.folder)
		entries, err := fs.ReadDir(fsys, folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cococrola: %w", err)
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, e := range entries {
			parts := demoFile.FindStringSubmatch(e.Name())
			if parts == nil {
				continue
			}
			number, err := strconv.Atoi(parts[3])
			if err != nil {
				return err
			}
			file := path.Join(folder, e.Name())
			f.Add([]string{strings.TrimPrefix(file, "demo/"), file, d.model, parts[1], parts[2]}, float64(number))
		}
	}
	if f.Len() == 0 {
		return fmt.Errorf("cococrola: no images such as demo/sd2/0-en-eye-0.jpg in %s; clone the demo repository there",
			o.Dir)
	}
	return nil
}
