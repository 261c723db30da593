package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"antipode/kernel/backend/store"
)

// Record is a record as [Open] reads it.
type Record struct {
	Dir      string
	Digest   string   // of the manifest, which names all other files: that of the record
	Problems []string // what was changed, is missing or does not fit together
	Results  []*Result
	read     map[string]string // SHA-256 of the files that were read, by their paths in places
}

// ErrNoRecord is wrapped by the error of a folder that is no record.
var ErrNoRecord = errors.New("not a record of `antipode record`")

// Open reads a record and checks it: every file by its SHA-256, files that are missing or that nothing lists, and
// whether metadata, results, their tables and the list of conclusions fit together. It computes nothing.
func Open(dir string) (*Record, error) {
	files, err := list(dir)
	if errors.Is(err, fs.ErrNotExist) || files[manifestFile] == files[metadataFile] {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoRecord)
	}
	r := &Record{Dir: dir, Digest: files[manifestFile].sha256, read: map[string]string{}}
	if err != nil {
		r.say("", err)
	}
	r.checkFiles(files)
	results, _ := fs.Glob(os.DirFS(dir), "results/*.json")
	for _, name := range results {
		stem := strings.TrimSuffix(name, ".json")
		res, err := readResult(path.Base(stem), r.data(name), r.data(stem+".csv"))
		if r.say(name, err); err == nil {
			r.Results = append(r.Results, res)
		}
	}
	if want, err := encode(conclusionsOf(r.Results)); err != nil || !bytes.Equal(want, r.data(conclusionsFile)) {
		r.say(conclusionsFile, errors.New("not the conclusions of the results"))
	}
	listed, err := decode(r.data(filesFile), fileColumns)
	r.say(filesFile, err)
	for row := range listed.Len() {
		if listed.Texts("from")[row] == "read" {
			r.read[listed.Texts("file")[row]] = listed.Texts("sha256")[row]
		}
	}
	return r, nil
}

// say adds a problem, nil = none.
func (r *Record) say(name string, err error) {
	if err != nil {
		r.Problems = append(r.Problems, strings.TrimPrefix(name+": "+err.Error(), ": "))
	}
}

func (r *Record) data(name string) []byte {
	data, err := os.ReadFile(filepath.Join(r.Dir, filepath.FromSlash(name)))
	if !errors.Is(err, fs.ErrNotExist) {
		r.say("", err)
	}
	return data
}

// checkFiles compares the files with the manifest and, where they are those, with the metadata.
func (r *Record) checkFiles(files map[string]listing) {
	left := maps.Clone(files)
	delete(left, manifestFile)
	for line := range strings.Lines(string(r.data(manifestFile))) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		switch f, there := files[name]; {
		case !ok || left[name] == listing{} && there:
			r.say(manifestFile, fmt.Errorf("the line %q is damaged", strings.TrimSpace(line)))
		case !there:
			r.say(name, errors.New("missing"))
		case f.sha256 != sum:
			r.say(name, errors.New("changed"))
		}
		delete(left, name)
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		r.say(name, fmt.Errorf("no part of the record: %s does not list it", manifestFile))
	}
	var c crate
	r.say(metadataFile, json.Unmarshal(r.data(metadataFile), &c))
	described := map[string]listing{manifestFile: files[manifestFile], metadataFile: files[metadataFile]}
	for _, e := range c.Graph {
		if e["@type"] == "File" {
			described[fmt.Sprint(e["@id"])] = listing{fmt.Sprint(e["sha256"]), fmt.Sprint(e["contentSize"])}
		}
	}
	if !maps.Equal(files, described) && len(r.Problems) == 0 {
		r.say(metadataFile, errors.New("it does not describe these files"))
	}
}

// listing is a file of a record.
type listing struct{ sha256, size string }

// list returns the files of a record by their names with slashes. What is no file is an error.
func list(dir string) (files map[string]listing, err error) {
	files = map[string]listing{}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s: not a file", name)
		}
		if err != nil {
			return err
		}
		sum, err := store.HashFile(filepath.Join(dir, filepath.FromSlash(name)))
		files[name] = listing{sum, fmt.Sprint(info.Size())}
		return err
	})
	return files, err
}
