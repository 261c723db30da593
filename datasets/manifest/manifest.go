package manifest

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"
	"sync"

	"antipode/kernel/client"
)

// File is one file of a data set.
type File struct {
	Path     string   // where it lies in the data set's folder once stored, with /
	Upstream string   // the name upstream gives it, relative to the repository's root; "" = Path
	URL      string   // address of the bytes upstream publishes
	Commit   string   // commit of the upstream repository that holds them
	SHA256   string   // of the upstream bytes, lower-case hex; "" where only GitBlob is known
	GitBlob  string   // git's own id of the upstream bytes (SHA-1 over "blob <length>\0" and the bytes); "" where SHA256 is known
	Normal   string   // SHA-256 of the normalised form; "" = not recorded (see Set) or the same as upstream
	Set      string   // files of one set are normalised together, by the manifest's Normalise; "" = stored as upstream has it
	Rows     int      // data rows; 0 = not a table, or not known
	Columns  []string // columns kept
	Optional string   // why it is fetched only when asked for by [Options.All]; "" = always fetched
}

// Manifest describes a data set.
type Manifest struct {
	Name     string // as `antipode data pull` takes it
	Title    string
	Origin   string // where it is published
	Version  string
	Licence  string
	Citation string
	Warning  string // what a reader should know before opening it; may be ""
	Files    []File

	// Normalise turns the upstream bytes of the files of a set (by File.Path) into the form that is stored. Nothing of
	// the upstream bytes is written anywhere before it has run. nil where no file has a Set.
	Normalise func(set string, files map[string][]byte) (map[string][]byte, error)
}

var (
	mu        sync.Mutex
	manifests = map[string]Manifest{}
)

// Register makes a manifest known. It panics on a second registration of a name: that is a mistake in the program.
func Register(m Manifest) {
	mu.Lock()
	defer mu.Unlock()
	if _, twice := manifests[m.Name]; twice {
		panic(fmt.Sprintf("manifest: %q registered twice", m.Name))
	}
	manifests[m.Name] = m
}

// Names lists the known data sets.
func Names() []string {
	mu.Lock()
	defer mu.Unlock()
	var names []string
	for n := range manifests {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Get returns the manifest of that name, or an error that lists the known ones.
func Get(name string) (Manifest, error) {
	mu.Lock()
	m, ok := manifests[name]
	mu.Unlock()
	if !ok {
		return Manifest{}, fmt.Errorf("no data set %q; known: %s%s",
			name, strings.Join(Names(), ", "), client.Hint(name, Names()))
	}
	return m, nil
}

// File returns a copy of the entry of the file stored under that path, or nil.
func (m Manifest) File(path string) *File {
	if at := slices.IndexFunc(m.Files, func(f File) bool { return f.Path == path }); at >= 0 {
		f := m.Files[at]
		return &f
	}
	return nil
}

// upstream is the file's name at its origin.
func (f File) upstream() string {
	if f.Upstream == "" {
		return f.Path
	}
	return f.Upstream
}

// Form says which of its two accepted forms a file has.
type Form string

// The forms of a file.
const (
	AsUpstream Form = "upstream"
	Normalised Form = "normalised"
)

// Check says which accepted form the bytes are; anything else is an error that shows what was found and what is accepted.
func (f File) Check(data []byte) (Form, error) {
	got := sumOf(data)
	switch {
	case got == f.Normal:
		return Normalised, nil
	case got == f.SHA256:
		return AsUpstream, nil
	case f.GitBlob != "" && gitBlob(data) == f.GitBlob:
		return AsUpstream, nil
	}
	return "", &HashError{File: f, Got: got, Bytes: len(data)}
}

// HashError says that bytes are not those the manifest records.
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
		want += " or SHA-256 " + e.File.Normal + " (normalised)"
	}
	return fmt.Sprintf("%s is not the recorded file: found SHA-256 %s (%d bytes), accepted %s", e.File.Path, e.Got, e.Bytes, want)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func gitBlob(data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// Used says which file a loader read.
type Used struct {
	Path   string // below the data set's folder, as found
	Form   Form
	SHA256 string // of the bytes as found, lower-case hex
}

// Read returns a file of the data set in its normalised form, from a folder that holds either form under either name. The
// bytes are checked. fs.ErrNotExist is wrapped when neither name is there.
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
		if sum, err := fs.ReadFile(fsys, f.Path+sumSuffix); err == nil {
			f.Normal = strings.TrimSpace(string(sum))
		}
	}
	form, err := f.Check(data)
	if err != nil {
		return nil, Used{}, fmt.Errorf("%s: %w; remove it and run `antipode data pull %s`", m.Name, err, m.Name)
	}
	used := Used{Path: name, Form: form, SHA256: sumOf(data)}
	if form == AsUpstream && f.Set != "" {
		out, err := m.Normalise(f.Set, map[string][]byte{f.Path: data})
		if err != nil {
			return nil, Used{}, fmt.Errorf("%s: %s: %w", m.Name, name, err)
		}
		data = out[f.Path]
	}
	return data, used, nil
}

// sumSuffix ends the name of the small file beside a normalised file whose hash the manifest does not record: it holds
// the SHA-256 that [Pull] found after it had checked the upstream bytes.
const sumSuffix = ".sha256"
