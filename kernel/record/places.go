package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"antipode/datasets/manifest"
	"antipode/kernel/backend/store"
)

// places are folders of the machine and what they are called in a record:
//
//	notebook:/FILE       the notebook's folder; with `store verify` that of --files, or what the record makes again
//	store:/FILE          the store
//	dataset:NAME/FILE    a data set (antipode data pull NAME)
//	files:NAME/FILE      another folder; with `store verify` the folder NAME in that of --files
//	home:/FILE           elsewhere in the user's home folder, in what the notebook printed
type places []place

type place struct{ name, dir string }

func (p *places) add(name, dir string) {
	if dir == "" || dir == "/" || slices.ContainsFunc(*p, func(q place) bool { return q.dir == dir }) {
		return
	}
	*p = append(*p, place{name, dir})
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		p.add(name, real)
	}
	slices.SortStableFunc(*p, func(a, b place) int { return len(b.dir) - len(a.dir) })
}

// absolute is an absolute path, in JSON.
var absolute = regexp.MustCompile(`"(?:exec:)?(/(?:[^"\\]|\\.)+)"`)

// placesOf returns the places of a notebook's run; journal is JSON with the paths that it used.
func placesOf(notebook, home string, journal []byte) (p places, err error) {
	dir, err := filepath.Abs(filepath.Dir(notebook))
	if err != nil {
		return nil, err
	}
	p.add("notebook:", dir)
	for _, name := range manifest.Names() {
		if found, err := manifest.Find(name, manifest.FindOptions{Home: home, From: dir}); err == nil {
			p.add("dataset:"+name, found)
		}
	}
	p.add("store:", home)
	for _, m := range absolute.FindAllSubmatch(journal, -1) {
		file := unquoted(string(m[1]))
		info, err := os.Stat(file)
		if err != nil || p.hold(file) {
			continue
		}
		if !info.IsDir() {
			file = filepath.Dir(file)
		}
		name := "files:" + filepath.Base(file)
		if slices.ContainsFunc(p, func(q place) bool { return q.name == name }) {
			name += fmt.Sprintf("-%d", len(p))
		}
		p.add(name, file)
	}
	if user, err := os.UserHomeDir(); err == nil {
		p.add("home:", user)
	}
	return p, nil
}

// hold reports whether a file is in one of the folders, or is one.
func (p places) hold(file string) bool {
	return slices.ContainsFunc(p, func(q place) bool { return file == q.dir || strings.HasPrefix(file, q.dir+"/") })
}

// hide replaces the folders in a text, as they are or as JSON has them, by the names of their places.
func (p places) hide(text string) string {
	for _, q := range p {
		text = replaced(text, q.dir, q.name)
		if inJSON := quoted(q.dir); inJSON != q.dir {
			text = replaced(text, inJSON, quoted(q.name))
		}
	}
	return text
}

// replaced replaces a folder in a text where it is a path or the beginning of one.
func replaced(text, dir, name string) string {
	var out strings.Builder
	from := 0
	for {
		at := strings.Index(text[from:], dir)
		if at < 0 {
			return out.String() + text[from:]
		}
		at += from
		end := at + len(dir)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if at > 0 && inName(before) || end < len(text) && inName(after) {
			out.WriteString(text[from:end])
		} else {
			out.WriteString(text[from:at] + name)
		}
		from = end
	}
}

// inName reports whether a character next to a path belongs to a longer name.
func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.-", r)
}

// quoted returns a text as JSON has it between quotes, and unquoted the text.
func quoted(text string) string {
	data, _ := json.Marshal(text) // a text has JSON
	return string(data[1 : len(data)-1])
}

func unquoted(inJSON string) (text string) {
	if json.Unmarshal([]byte(`"`+inJSON+`"`), &text) != nil {
		return inJSON
	}
	return text
}

// placed is a path in a place, in JSON.
var placed = regexp.MustCompile(`"(exec:)?((?:notebook|store|dataset|files):(?:[^"\\]|\\.)*)"`)

// resolved returns a record whose paths are those of this machine, which find returns.
func resolved(rec store.Record, find func(placed string) (string, error)) (store.Record, error) {
	var failed error
	out, err := rewritten(rec, func(text string) string {
		return placed.ReplaceAllStringFunc(text, func(match string) string {
			parts := placed.FindStringSubmatch(match)
			name, err := find(unquoted(parts[2]))
			failed = cmp.Or(err, failed)
			return `"` + quoted(parts[1]+name) + `"`
		})
	})
	return out, cmp.Or(failed, err)
}
