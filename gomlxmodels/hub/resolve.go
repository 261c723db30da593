package hub

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/gomlxmodels"
	"antipode/internal/atomicfile"
)

// Store is what finding and hashing models needs of the environment; a stage.Env is one.
type Store interface {
	// ModelDir is the folder into which built-in models are written.
	ModelDir() string
	// FileDigest returns the SHA-256 of a file.
	FileDigest(path string) (string, error)
	// NoteModel adds a model's digest to the record of the run, and where it comes from, "" = not known.
	NoteModel(model, digest, source string)
}

// builtin are the models that are part of the program, by name: the files of their folders.
var builtin = map[string]fs.FS{}

// Add registers a model that is part of the program under its name.
func Add(name string, files fs.FS) { builtin[name] = files }

// Resolve returns a model's folder on disk. A model is named by a name that gomlxmodels.Known lists, by a name on the
// hub, or by the absolute path of its folder. A built-in model is written to the store first; a model of the hub must
// be in the cache already, or in the store from packages of the Python index (see [PullPackages]).
func Resolve(store interface{ ModelDir() string }, model string) (string, error) {
	if files, ok := builtin[model]; ok {
		return unpack(filepath.Join(store.ModelDir(), model), files)
	}
	if m, ok := gomlxmodels.Find(model); ok {
		if err := m.Runs(); err != nil {
			return "", err
		}
		s, err := FindKnown(m)
		if errors.Is(err, ErrNotPulled) {
			return findPackaged(store.ModelDir(), m, err)
		}
		return s.Dir, err
	} else if filepath.IsAbs(model) {
		return model, nil
	}
	id, revision, ok := Split(model)
	if !ok {
		return "", fmt.Errorf("no model %q", model)
	}
	s, err := Find(id, revision, "")
	return s.Dir, err
}

// Name returns a model's name for people: a known name as it is, OWNER/NAME of a model on the hub, whatever its
// revision, and of a folder its last part. A folder in the hub's cache is named by its repository.
func Name(model string) string {
	if id, _, ok := Split(model); ok {
		return id
	}
	if id, _, ok := snapshot(model); ok {
		return id
	}
	return filepath.Base(model)
}

// Digest returns the digest of a model's contents: its files, and other values that its output depends on (options
// that were read, encoded as JSON). The run's record notes it.
func Digest(store Store, model string, files []string, values ...any) (string, error) {
	h := sha256.New()
	for _, file := range files {
		d, err := store.FileDigest(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %s\n", filepath.Base(file), d)
	}
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return "", err
		}
		h.Write(text)
	}
	digest := hex.EncodeToString(h.Sum(nil))
	store.NoteModel(model, digest, Source(files))
	return digest, nil
}

// Source returns the repositories and commits that files in the hub's cache are of, as OWNER/NAME@COMMIT, joined by
// commas; "" for other files.
func Source(files []string) string {
	var sources []string
	for _, file := range files {
		for dir := filepath.Dir(file); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if id, commit, ok := snapshot(dir); ok && !slices.Contains(sources, id+"@"+commit) {
				sources = append(sources, id+"@"+commit)
			}
		}
	}
	return strings.Join(sources, ", ")
}

// snapshot splits a folder of the hub's cache: …/models--OWNER--NAME/snapshots/COMMIT.
func snapshot(dir string) (id, commit string, ok bool) {
	snapshots, commit := filepath.Split(dir)
	snapshots = filepath.Clean(snapshots)
	cached, ok := strings.CutPrefix(filepath.Base(filepath.Dir(snapshots)), "models--")
	id = strings.Replace(cached, "--", "/", 1)
	return id, commit, ok && filepath.Base(snapshots) == "snapshots" && idForm.MatchString(id)
}

// unpack writes a built-in model's files to a folder, unless they are there unchanged.
func unpack(dir string, files fs.FS) (string, error) {
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(path))
		if old, err := os.ReadFile(target); err == nil && bytes.Equal(old, data) {
			return nil
		}
		return atomicfile.Write(target, data)
	})
	return dir, err
}
