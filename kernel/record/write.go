package record

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
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

// Run is a notebook's run, of which [Write] makes a record.
type Run struct {
	Notebook string   // the notebook's path
	Params   []string // NAME=VALUE
	Journal  []client.Entry
	Started  time.Time
	Ended    time.Time
	Author   string   // of the record; "" = not stated
	License  string   // of the record, as the user states it; "" = not stated
	Software Property // name and version of the command
	// Environment is the machine: compiler, processor, plugin, precision and so on.
	Environment []Property
	Images      bool // copy the images of the results

	Home  string // the store's folder
	Store *store.Store
	Rows  func(context.Context, client.Request) (*client.Result, error) // evaluates a plan with that store
}

// Property is a name with a value.
type Property struct{ Name, Value string }

// writer writes one record.
type writer struct {
	Run
	dir      string
	places   places
	results  []*Result
	ids      map[string]bool // of scores that have been added
	images   map[string]table.Image
	made     []string // paths of the files that the run saved
	datasets map[string]bool
	models   map[string][2]string // name → digest, source
	used     []entity             // data sets and models
}

// Write writes the record of a run into dir, a folder with the executed notebook and its page. It returns the number of
// results, and the digest of the record: that of its manifest.
func Write(ctx context.Context, dir string, run Run) (results int, digest string, err error) {
	w := &writer{Run: run, dir: dir, ids: map[string]bool{}, images: map[string]table.Image{},
		datasets: map[string]bool{}, models: map[string][2]string{}}
	if w.places, err = placesOf(run.Notebook, run.Home); err != nil {
		return 0, "", err
	}
	for _, e := range run.Journal {
		w.places.addFrom(e.Request.Plan)
		if e.Request.Save != "" {
			w.places.addFile(e.Request.Save)
		}
		for file := range e.Result.Trace.Files {
			w.places.addFile(file)
		}
	}
	if err := w.collect(ctx); err != nil {
		return 0, "", err
	}
	if len(w.results) == 0 {
		return 0, "", errors.New("the notebook computes no score and saves no table: there is nothing to record")
	}
	for _, step := range []func() error{w.writeResults, w.writeFiles, w.writeLicenses, w.hideOutputs, w.copyImages,
		w.writeMetadata} {
		if err := step(); err != nil {
			return 0, "", err
		}
	}
	digest, err = w.writeManifest()
	return len(w.results), digest, err
}

// collect adds the results of the journal: the scores of each run, inputs first, and the tables that were saved last
// under their names. A table of cell.Keep is no result: it is the same as long as it is in the store.
func (w *writer) collect(ctx context.Context) error {
	last := map[string]int{}
	for i, e := range w.Journal {
		last[e.Request.Save] = i
	}
	for i, e := range w.Journal {
		saved := e.Request.Save != "" && !w.isKept(e.Request.Save)
		if err := w.scores(e.Request.Plan, e.Result.Trace.Results, saved); err != nil {
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
		if !objecturl.IsRemote(e.Request.Save) {
			w.made = append(w.made, e.Request.Save)
		}
	}
	return nil
}

func (w *writer) isKept(file string) bool { return filepath.Dir(file) == filepath.Join(w.Home, "kept") }

// scores adds the scores of a plan and its inputs; without those of the plan itself if inputsOnly.
func (w *writer) scores(p *table.Plan, ids map[string]string, inputsOnly bool) error {
	for _, in := range p.Inputs {
		if err := w.scores(in, ids, false); err != nil {
			return err
		}
	}
	id := ids[p.Digest()]
	if id == "" || inputsOnly || w.ids[id] {
		return nil
	}
	w.ids[id] = true
	f, rec, err := w.Store.Result(id)
	if err != nil {
		return err
	}
	return w.add(p.Op, p, rec, f)
}

func (w *writer) add(name string, plan *table.Plan, rec *store.Record, f *table.Frame) error {
	stem := unusual.ReplaceAllString(strings.TrimSuffix(name, path.Ext(name)), "_")
	r, err := newResult(fmt.Sprintf("%03d-%s", len(w.results)+1, stem), plan, rec, f)
	if err != nil {
		return err
	}
	hiddenResult, err := hidden(w.places, r)
	if err != nil {
		return err
	}
	hiddenResult.name, hiddenResult.table = r.name, r.table
	if err := hiddenResult.identify(); err != nil {
		return err
	}
	w.results = append(w.results, hiddenResult)
	for model, digest := range hiddenResult.Models {
		w.models[model] = [2]string{digest, hiddenResult.Sources[model]}
	}
	for _, c := range f.Columns {
		for _, img := range c.Images {
			if w.Images && img.SHA256 != "" {
				w.images[img.SHA256] = img
			}
		}
	}
	return nil
}

var unusual = regexp.MustCompile(`[^\w.-]+`)

func (w *writer) writeResults() error {
	all := table.NewFrame(datasets.Columns("result:text", "row:text", "column:text", "value:text"))
	for _, r := range w.results {
		data, err := encode(r.table)
		if err == nil {
			err = w.put(r.file(".csv"), data)
		}
		if err == nil {
			data, err = marshal(r)
		}
		if err == nil {
			err = w.put(r.file(".json"), data)
		}
		if err != nil {
			return err
		}
		for _, c := range r.conclusions(r.table) {
			all.Add([]string{c.result, c.row, c.column, c.value})
		}
	}
	return w.putTable(conclusionsFile, all)
}

func (w *writer) put(name string, data []byte) error {
	to := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

func (w *writer) putTable(name string, f *table.Frame) error {
	data, err := encode(f)
	if err != nil {
		return err
	}
	return w.put(name, data)
}

// writeFiles lists the files that were read, and copies tables of cell.Keep.
func (w *writer) writeFiles() error {
	digests := map[string]string{}
	for _, e := range w.Journal {
		maps.Copy(digests, e.Result.Trace.Files)
		w.dataSets(e.Request.Plan)
	}
	for name := range w.datasets {
		m, err := manifest.Get(name)
		if err != nil {
			return err
		}
		dir, err := manifest.Find(name, manifest.FindOptions{Home: w.Home, From: filepath.Dir(w.Notebook)})
		if err != nil {
			continue // its printed values alone were read
		}
		for _, f := range m.Files {
			file := filepath.Join(dir, filepath.FromSlash(f.Path))
			if digest, err := store.HashFile(file); err == nil {
				digests[file] = digest
			}
		}
	}
	list := table.NewFrame(datasets.Columns("file:text", "sha256:text", "from:text"))
	for _, file := range slices.Sorted(maps.Keys(digests)) {
		inStore, err := filepath.Rel(w.Home, file)
		part, _, _ := strings.Cut(filepath.ToSlash(inStore), "/")
		from := "read"
		switch {
		case w.isKept(file):
			data, err := os.ReadFile(file)
			if err == nil {
				err = w.put("kept/"+filepath.Base(file), data)
			}
			if err != nil {
				return err
			}
			from = "a function of the notebook; in kept/"
		case err == nil && part != ".." && part != "data" && part != "models":
			continue // images that the store holds
		case slices.ContainsFunc(w.made, func(saved string) bool { return isPartOf(file, saved) }):
			from = "saved by the notebook"
		}
		list.Add([]string{w.places.hide(file), digests[file], from})
	}
	return w.putTable(filesFile, list)
}

// isPartOf reports whether a file is a saved table or one of its images.
func isPartOf(file, saved string) bool {
	return file == saved || strings.HasPrefix(file, strings.TrimSuffix(saved, filepath.Ext(saved))+".images/")
}

// dataSets adds the data sets of a plan's sources: those that a path names, and those whose name an operation has.
func (w *writer) dataSets(p *table.Plan) {
	text := w.places.hide(string(p.Args))
	for _, name := range manifest.Names() {
		op := strings.ReplaceAll(name, "_", "")
		if strings.Contains(text, `"dataset:`+name) || p.Op == name || strings.HasPrefix(p.Op, op+"-") {
			w.datasets[name] = true
		}
	}
	for _, in := range p.Inputs {
		w.dataSets(in)
	}
}

func (w *writer) writeLicenses() error {
	list := table.NewFrame(datasets.Columns("kind:text", "name:text", "version:text", "license:text", "source:text"))
	add := func(kind, name, version, license, source string) {
		list.Add([]string{kind, name, version, license, source})
		w.used = append(w.used, entity{"@id": fmt.Sprintf("#used-%d", list.Len()), "@type": "CreativeWork", "name": name,
			"version": version, "description": strings.TrimSpace(kind + ", license: " + license + " " + source)})
	}
	for _, name := range slices.Sorted(maps.Keys(w.datasets)) {
		m, err := manifest.Get(name)
		if err != nil {
			return err
		}
		add("data set", m.Name, m.Version, m.License, m.Origin)
	}
	for _, name := range slices.Sorted(maps.Keys(w.models)) {
		m, _ := gomlxmodels.Find(name)
		license := cmp.Or(m.License, "not known: see its card")
		if m.Status == gomlxmodels.BuiltIn {
			license = cmp.Or(m.License, "part of Antipode")
		}
		add("model", name, "SHA-256 "+w.models[name][0], license, cmp.Or(w.models[name][1], m.Hub))
	}
	return w.putTable(licensesFile, list)
}

// hideOutputs removes folders of this machine from the executed notebook and its page.
func (w *writer) hideOutputs() error {
	entries, err := os.ReadDir(w.dir)
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); err == nil && (ext == ".ipynb" || ext == ".html") {
			var data []byte
			if data, err = os.ReadFile(filepath.Join(w.dir, e.Name())); err == nil {
				err = w.put(e.Name(), []byte(w.places.hide(string(data))))
			}
		}
	}
	return err
}

func (w *writer) copyImages() error {
	for digest, img := range w.images {
		data, err := os.ReadFile(img.Path)
		if err != nil {
			return fmt.Errorf("--images: %w", err)
		}
		if err := w.put("images/"+digest+filepath.Ext(img.Path), data); err != nil {
			return err
		}
	}
	return nil
}

// writeManifest writes the SHA-256 of all files, and returns that of the list.
func (w *writer) writeManifest() (digest string, err error) {
	files, err := list(w.dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum, err := store.HashFile(filepath.Join(w.dir, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, name)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:]), w.put(manifestFile, []byte(b.String()))
}

// list returns the files of a record with their sizes, by their names with slashes. What is no file is an error.
func list(dir string) (files map[string]int64, err error) {
	files = map[string]int64{}
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: not a file", rel)
		}
		files[filepath.ToSlash(rel)] = info.Size()
		return err
	})
	return files, err
}
