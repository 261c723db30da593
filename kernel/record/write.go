package record

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/manifest"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/store"
)

// Names of files in a record.
const (
	metadataFile    = "ro-crate-metadata.json"
	manifestFile    = "manifest-sha256.txt"
	conclusionsFile = "conclusions.csv"
	filesFile       = "files.csv"
	licensesFile    = "licenses.csv"
)

var fileColumns = datasets.Columns("file:text", "sha256:text", "from:text")

// Run is a notebook's run, of which [Write] makes a record.
type Run struct {
	Notebook       string   // the notebook's path
	Params         []string // NAME=VALUE
	Journal        []client.Entry
	Started, Ended time.Time
	Author         string // of the record; "" = not stated
	License        string // of the record, a text or URL; "" = not stated
	Version        string // of the command
	// Environment is the machine, NAME=VALUE: compiler, processor, plugin, precision and so on.
	Environment []string
	Images      bool // copy the images of the results

	Store *store.Store
	Rows  func(context.Context, client.Request) (*client.Result, error) // evaluates a plan with that store
}

// ReadJournal returns the runs of a journal in their order.
func ReadJournal(path string) (entries []client.Entry, err error) {
	data, err := os.ReadFile(path)
	for in := json.NewDecoder(bytes.NewReader(data)); err == nil && in.More(); {
		var e client.Entry
		if err = in.Decode(&e); err == nil {
			entries = append(entries, e)
		}
	}
	return entries, err
}

// writer writes one record.
type writer struct {
	Run
	dir     string
	files   map[string]listing // that were written
	places  places
	plans   string // the journal, in JSON, with places
	results []*Result
	scores  map[string]bool // ids of those that have been added
	saved   []string        // paths of the files that the run saved
	used    []entity        // data sets and models
}

// Write writes the record of a run into dir, a folder with the executed notebook and its page. It returns the number of
// results, and the digest of the record: that of its manifest.
func Write(ctx context.Context, dir string, run Run) (results int, digest string, err error) {
	w := &writer{Run: run, dir: dir, files: map[string]listing{}, scores: map[string]bool{}}
	journal, err := json.Marshal(run.Journal)
	if err == nil {
		w.places, err = placesOf(run.Notebook, run.Store.Dir(), journal)
	}
	w.plans = w.places.hide(string(journal))
	collect := func() error { return w.collect(ctx) }
	for _, step := range []func() error{collect, w.hideOutputs, w.writeResults, w.writeFiles, w.writeLicenses,
		w.writeMetadata, w.writeManifest} {
		if err == nil {
			err = step()
		}
	}
	return len(w.results), w.files[manifestFile].sha256, err
}

// collect adds the results of the journal: the scores of each run, inputs first, and the tables that were saved last
// under their names. A table of cell.Keep is no result: a later run finds it in the store.
func (w *writer) collect(ctx context.Context) error {
	last := map[string]int{}
	for i, e := range w.Journal {
		last[e.Request.Save] = i
	}
	for i, e := range w.Journal {
		saved := e.Request.Save != "" && !w.isKept(e.Request.Save)
		if err := w.addScores(e.Request.Plan, e.Result.Trace.Results, saved); err != nil {
			return err
		}
		if !saved || last[e.Request.Save] != i {
			continue
		}
		rec, err := w.Store.Record(e.Result.Record)
		if err != nil {
			return err
		}
		res, err := w.Rows(ctx, client.Request{Plan: e.Request.Plan, SkipBad: len(rec.Bad) > 0})
		if err != nil {
			return err
		}
		if err := w.add(objecturl.Base(e.Request.Save), e.Request.Plan, rec, res.Frame); err != nil {
			return err
		}
		w.saved = append(w.saved, e.Request.Save)
	}
	if len(w.results) == 0 {
		return errors.New("the notebook computes no score and saves no table: there is nothing to record")
	}
	return nil
}

func (w *writer) isKept(file string) bool {
	return filepath.Dir(file) == filepath.Join(w.Store.Dir(), "kept")
}

// addScores adds the scores of a plan's inputs and, unless its rows are saved, of the plan itself.
func (w *writer) addScores(plan *table.Plan, ids map[string]string, saved bool) error {
	for p := range plan.All() {
		id := ids[p.Digest()]
		if id == "" || saved && p == plan || w.scores[id] {
			continue
		}
		w.scores[id] = true
		f, rec, err := w.Store.Result(id)
		if err == nil {
			err = w.add(p.Op, p, rec, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var unusual = regexp.MustCompile(`[^\w.-]+`)

func (w *writer) add(name string, plan *table.Plan, rec *store.Record, f *table.Frame) error {
	name = unusual.ReplaceAllString(strings.TrimSuffix(name, path.Ext(name)), "_")
	r, err := newResult(fmt.Sprintf("%03d-%s", len(w.results)+1, name), plan, *rec, f, w.places.hide)
	if err != nil {
		return err
	}
	w.results = append(w.results, r)
	for _, c := range f.Columns {
		for _, img := range c.Images {
			if !w.Images || img.SHA256 == "" {
				continue
			}
			if sum, err := store.HashFile(img.Path); err == nil && sum != img.SHA256 {
				return fmt.Errorf("--images: %s has changed since the run", filepath.Base(img.Path))
			}
			if err := w.copy(img.Path, "images/"+img.SHA256+filepath.Ext(img.Path)); err != nil {
				return fmt.Errorf("--images: %w", err)
			}
		}
	}
	return nil
}

func (w *writer) writeResults() error {
	for _, r := range w.results {
		if err := errors.Join(w.putJSON(r.file(".json"), r), w.putTable(r.file(".csv"), r.table)); err != nil {
			return err
		}
	}
	return w.putTable(conclusionsFile, conclusionsOf(w.results))
}

// putJSON writes a value as indented JSON, with < and & as they are.
func (w *writer) putJSON(name string, v any) error {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	to.SetIndent("", " ")
	return errors.Join(to.Encode(v), w.put(name, b.Bytes()))
}

func (w *writer) put(name string, data []byte) error {
	w.files[name] = listing{fmt.Sprintf("%x", sha256.Sum256(data)), fmt.Sprint(len(data))}
	to := filepath.Join(w.dir, filepath.FromSlash(name))
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o644))
}

func (w *writer) putTable(name string, f *table.Frame) error {
	data, err := encode(f)
	return errors.Join(err, w.put(name, data))
}

func (w *writer) copy(from, name string) error {
	data, err := os.ReadFile(from)
	return errors.Join(err, w.put(name, data))
}

// writeFiles lists the files that were read, and copies tables of cell.Keep.
func (w *writer) writeFiles() error {
	digests := map[string]string{}
	for _, e := range w.Journal {
		maps.Copy(digests, e.Result.Trace.Files)
	}
	for _, m := range w.dataSets() {
		dir, _ := manifest.Find(m.Name, manifest.FindOptions{Home: w.Store.Dir(), From: filepath.Dir(w.Notebook)})
		for _, f := range m.Files { // where none is here, its printed values alone were read
			file := filepath.Join(dir, filepath.FromSlash(f.Path))
			if digest, err := store.HashFile(file); err == nil {
				digests[file] = digest
			}
		}
	}
	list := table.NewFrame(fileColumns)
	for _, file := range slices.Sorted(maps.Keys(digests)) {
		from, name := "read", w.places.hide(file)
		switch {
		case w.isKept(file):
			if err := w.copy(file, "kept/"+filepath.Base(file)); err != nil {
				return err
			}
			from = "a function of the notebook; in kept/"
		case strings.HasPrefix(name, "store:") && !strings.HasPrefix(name, "store:/data/"):
			continue // an image that the store holds
		case slices.ContainsFunc(w.saved, func(saved string) bool {
			return file == saved || strings.HasPrefix(file, strings.TrimSuffix(saved, filepath.Ext(saved))+".images/")
		}):
			from = "saved by the notebook"
		}
		list.Add([]string{name, digests[file], from})
	}
	return w.putTable(filesFile, list)
}

// dataSets returns the data sets that a path names, and those whose name an operation has.
func (w *writer) dataSets() (used []manifest.Manifest) {
	for _, name := range manifest.Names() {
		named := regexp.MustCompile(fmt.Sprintf(`"dataset:%[1]s["/]|"op":"(%[1]s"|%[2]s-)`, name,
			strings.ReplaceAll(name, "_", "")))
		if m, err := manifest.Get(name); err == nil && named.MatchString(w.plans) {
			used = append(used, m)
		}
	}
	return used
}

// writeLicenses lists the licenses of data sets and models.
func (w *writer) writeLicenses() error {
	list := table.NewFrame(datasets.Columns("kind:text", "name:text", "version:text", "license:text", "source:text"))
	add := func(kind, name, version, license, source string) {
		list.Add([]string{kind, name, version, license, source})
		w.used = append(w.used, entity{"@id": fmt.Sprintf("#used-%d", list.Len()), "@type": "CreativeWork",
			"name": name, "version": version,
			"description": strings.TrimSpace(kind + ", license: " + license + " " + source)})
	}
	for _, m := range w.dataSets() {
		add("data set", m.Name, m.Version, m.License, m.Origin)
	}
	models, sources := map[string]string{}, map[string]string{}
	for _, r := range w.results {
		maps.Copy(models, r.Models)
		maps.Copy(sources, r.Sources)
	}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		m, _ := gomlxmodels.Find(name)
		add("model", name, "SHA-256 "+models[name], cmp.Or(m.License, "not known: see its card"),
			cmp.Or(sources[name], m.Hub))
	}
	return w.putTable(licensesFile, list)
}

// hideOutputs removes folders of this machine from the executed notebook and its page, which are all that is there yet.
func (w *writer) hideOutputs() error {
	entries, err := os.ReadDir(w.dir)
	for _, e := range entries {
		data, readErr := os.ReadFile(filepath.Join(w.dir, e.Name()))
		err = errors.Join(err, readErr, w.put(e.Name(), []byte(w.places.hide(string(data)))))
	}
	return err
}

// writeManifest writes the SHA-256 of all files. That of the list is the digest of the record.
func (w *writer) writeManifest() error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		fmt.Fprintf(&b, "%s  %s\n", w.files[name].sha256, name)
	}
	return w.put(manifestFile, []byte(b.String()))
}
