package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
)

// Record is a record as [Open] reads it.
type Record struct {
	Dir      string
	Digest   string   // of the manifest, which names all other files: that of the record
	Problems []string // what was changed, is missing or does not fit together
	Results  []*Result
	Files    map[string][2]string // that were read: SHA-256 and where they come from, by their paths in places
}

// ErrNoRecord is wrapped by the error of a folder that is no record.
var ErrNoRecord = errors.New("not a record of `antipode record`")

// Open reads a record and checks it: every file by its SHA-256, files that are missing or that nothing lists, and
// whether metadata, results, their tables and the list of conclusions fit together. It computes nothing.
func Open(dir string) (*Record, error) {
	files, err := list(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoRecord)
	}
	r := &Record{Dir: dir, Files: map[string][2]string{}}
	if err != nil {
		r.say("%v", err)
	}
	if files[manifestFile] == 0 && files[metadataFile] == 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoRecord)
	}
	data := r.readAll(files)
	r.checkCrate(data, r.checkManifest(data))
	r.readResults(data)
	r.checkConclusions(data[conclusionsFile])
	rows, err := csv.NewReader(bytes.NewReader(data[filesFile])).ReadAll()
	if err != nil {
		r.say("%s: %v", filesFile, err)
	}
	for _, row := range rows[min(1, len(rows)):] {
		if len(row) == 3 {
			r.Files[row[0]] = [2]string{row[1], row[2]}
		}
	}
	return r, nil
}

func (r *Record) say(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

func (r *Record) readAll(files map[string]int64) map[string][]byte {
	out := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := os.ReadFile(filepath.Join(r.Dir, filepath.FromSlash(name)))
		if err != nil {
			r.say("%v", err)
			continue
		}
		out[name] = data
	}
	return out
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// checkManifest compares the files with the manifest. It returns the names that it has said something about.
func (r *Record) checkManifest(data map[string][]byte) map[string]bool {
	said := map[string]bool{}
	text := data[manifestFile]
	r.Digest = digestOf(text)
	listed := map[string]bool{manifestFile: true}
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		content, there := data[name]
		switch {
		case !ok || len(sum) != 64 || listed[name]:
			r.say("%s: the line %q is damaged", manifestFile, strings.TrimSpace(line))
		case !there:
			r.say("%s: missing", name)
			said[name] = true
		case digestOf(content) != sum:
			r.say("%s: changed", name)
			said[name] = true
		}
		listed[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if !listed[name] {
			r.say("%s: no part of the record; %s does not list it", name, manifestFile)
			said[name] = true
		}
	}
	return said
}

// checkCrate compares the files with the metadata, but those that something was said about.
func (r *Record) checkCrate(data map[string][]byte, said map[string]bool) {
	c, err := readCrate(r.Dir)
	if err != nil {
		r.say("%v", err)
		return
	}
	described := c.files()
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if name == metadataFile || name == manifestFile {
			continue
		}
		if want := [2]string{digestOf(data[name]), fmt.Sprint(len(data[name]))}; described[name] != want && !said[name] {
			r.say("%s: %s describes another file", name, metadataFile)
		}
		delete(described, name)
	}
	for _, name := range slices.Sorted(maps.Keys(described)) {
		if !said[name] {
			r.say("%s: missing; %s describes it", name, metadataFile)
		}
	}
}

func (r *Record) readResults(data map[string][]byte) {
	for _, name := range slices.Sorted(maps.Keys(data)) {
		stem, isResult := strings.CutPrefix(strings.TrimSuffix(name, ".json"), "results/")
		if !isResult || !strings.HasSuffix(name, ".json") {
			continue
		}
		res := &Result{}
		err := json.Unmarshal(data[name], res)
		if res.name = stem; err == nil && res.Plan == nil {
			err = errors.New("it has no plan")
		}
		if err == nil {
			err = compacted(res.Plan)
		}
		if err == nil {
			err = res.read(data[res.file(".csv")])
		}
		if err != nil {
			r.say("%s: %v", name, err)
			continue
		}
		r.Problems = append(r.Problems, res.check()...)
		r.Results = append(r.Results, res)
	}
}

// checkConclusions compares the list of conclusions with the results.
func (r *Record) checkConclusions(data []byte) {
	all := table.NewFrame(datasets.Columns("result:text", "row:text", "column:text", "value:text"))
	for _, res := range r.Results {
		for _, c := range res.conclusions(res.table) {
			all.Add([]string{c.result, c.row, c.column, c.value})
		}
	}
	if want, err := encode(all); err != nil || !bytes.Equal(want, data) {
		r.say("%s: not the conclusions of the results", conclusionsFile)
	}
}
