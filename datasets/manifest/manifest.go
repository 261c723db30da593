package manifest

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"antipode/datasets/table"
)

// File is one file of a data set.
type File struct {
	Path     string // slash-separated path in the data set's folder
	Upstream string // its path in the upstream repository; "" = Path
	URL      string // address of the bytes upstream publishes
	Commit   string // commit of the upstream repository that holds them
	SHA256   string // of the upstream bytes, lower-case hex; "" where only GitBlob is known
	// git's own id of the upstream bytes (SHA-1 over "blob <length>\0" and the bytes); "" where SHA256 is known
	GitBlob string
	Normal  string // SHA-256 of the normalized form; "" = not recorded (see Set) or the same as upstream
	// files of one set are normalized together, by the manifest's Normalize; "" = stored as upstream has it
	Set      string
	Rows     int      // data rows; 0 = not a table, or not known
	Columns  []string // columns of the stored form
	Optional string   // why it is downloaded only with [Options.All]; "" = always downloaded
}

// Manifest describes a data set.
type Manifest struct {
	Name     string // as `antipode data pull` takes it
	Title    string
	Origin   string // where it is published
	Version  string
	License  string
	Citation string
	Warning  string // shown before the data set is used; may be ""
	Files    []File

	// Normalize converts the upstream bytes of the files of a set (by File.Path) to the stored form. None of
	// the upstream bytes is written to disk before it has run. nil if no file has a Set.
	Normalize func(set string, files map[string][]byte) (map[string][]byte, error)
}

var (
	mu        sync.Mutex
	manifests = map[string]Manifest{}
)

// Register adds a manifest. It panics if the name is registered already.
func Register(m Manifest) {
	mu.Lock()
	defer mu.Unlock()
	if _, twice := manifests[m.Name]; twice {
		panic(fmt.Sprintf("manifest: %q registered twice", m.Name))
	}
	manifests[m.Name] = m
}

// Names lists the registered data sets.
func Names() []string {
	mu.Lock()
	defer mu.Unlock()
	return slices.Sorted(maps.Keys(manifests))
}

// Get returns the manifest of that name, or an error that lists the registered ones.
func Get(name string) (Manifest, error) {
	mu.Lock()
	m, ok := manifests[name]
	mu.Unlock()
	if !ok {
		return Manifest{}, fmt.Errorf("no data set %q; known: %s%s",
			name, strings.Join(Names(), ", "), table.Hint(name, Names()))
	}
	return m, nil
}

// File returns a copy of the entry of the file with that path, or nil.
func (m Manifest) File(path string) *File {
	if at := slices.IndexFunc(m.Files, func(f File) bool { return f.Path == path }); at >= 0 {
		f := m.Files[at]
		return &f
	}
	return nil
}

// upstream returns the file's path in the upstream repository.
func (f File) upstream() string {
	if f.Upstream == "" {
		return f.Path
	}
	return f.Upstream
}

// Form is one of the two accepted forms of a file.
type Form string

// The forms of a file.
const (
	AsUpstream Form = "upstream"
	Normalized Form = "normalized"
)

// Check returns the form of the bytes. Bytes of neither form are a *[HashError], which shows what was found and
// what is accepted.
func (f File) Check(data []byte) (Form, error) {
	got := Sum(data)
	switch {
	case got == f.Normal:
		return Normalized, nil
	case got == f.SHA256:
		return AsUpstream, nil
	case f.GitBlob != "" && gitBlob(data) == f.GitBlob:
		return AsUpstream, nil
	}
	return "", &HashError{File: f, Got: got, Bytes: len(data)}
}

// HashError reports bytes that are not those the manifest records.
type HashError struct {
	File  File
	Got   string // SHA-256 of the bytes, lower-case hex
	Bytes int
}

func (e *HashError) Error() string {
	want := "SHA-256 " + e.File.SHA256 + " (upstream)"
	if e.File.SHA256 == "" {
		want = "git blob " + e.File.GitBlob + " (upstream)"
	}
	if e.File.Normal != "" {
		want += " or SHA-256 " + e.File.Normal + " (normalized)"
	}
	return fmt.Sprintf("%s is not the recorded file: found SHA-256 %s (%d bytes), accepted %s", e.File.Path, e.Got,
		e.Bytes, want)
}

// Sum returns the SHA-256 of data in hexadecimal.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func gitBlob(data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// Used describes the file that a loader read.
type Used struct {
	Path   string // in the data set's folder, as found
	Form   Form
	SHA256 string // of the bytes as found, lower-case hex
}

// Read returns a file of the data set in its normalized form, from a folder that holds either form under either name.
// The bytes are checked. The error wraps fs.ErrNotExist if neither name exists.
func (m Manifest) Read(fsys fs.FS, path string) ([]byte, Used, error) {
	f := m.File(path)
	if f == nil {
		return nil, Used{}, fmt.Errorf("data set %s has no file %q", m.Name, path)
	}
	name := f.Path
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		name = f.upstream()
		data, err = fs.ReadFile(fsys, name)
	}
	if err != nil {
		return nil, Used{}, fmt.Errorf("%s: %w", m.Name, err)
	}
	if f.Normal == "" && f.Set != "" {
		if sum, err := fs.ReadFile(fsys, f.Path+SumSuffix); err == nil {
			f.Normal = strings.TrimSpace(string(sum))
		}
	}
	form, err := f.Check(data)
	if err != nil {
		return nil, Used{}, fmt.Errorf("%s: %w; remove it and run `antipode data pull %s`", m.Name, err, m.Name)
	}
	used := Used{Path: name, Form: form, SHA256: Sum(data)}
	if form == AsUpstream && f.Set != "" {
		out, err := m.Normalize(f.Set, map[string][]byte{f.Path: data})
		if err != nil {
			return nil, Used{}, fmt.Errorf("%s: %s: %w", m.Name, name, err)
		}
		data = out[f.Path]
	}
	return data, used, nil
}

// SumSuffix is the suffix of the file next to a normalized file whose hash the manifest does not record: it contains
// the SHA-256 that package pull computed after it checked the upstream bytes.
const SumSuffix = ".sha256"
