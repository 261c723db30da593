// Package checkpoint finds the folder of a model and says what a digest of the model must cover. A model is named by a name
// that `antipode models` lists (shipped inside the program, or pulled before), or by its folder.
package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/stage"
)

// shipped are the models inside the program, by name: the files of their folders.
var shipped = map[string]fs.FS{}

// Ship makes a model inside the program known under its name.
func Ship(name string, files fs.FS) { shipped[name] = files }

// Folder is a model's folder on disk: a shipped model is written to the store's folder of models first, one of the hub is
// looked for in the cache it was pulled to, an absolute path is the folder already.
func Folder(env stage.Env, model string) (string, error) {
	if files, ok := shipped[model]; ok {
		return unpack(filepath.Join(env.ModelDir(), model), files)
	}
	if m, ok := gomlxmodels.Find(model); ok {
		model = m.Hub
	} else if filepath.IsAbs(model) {
		return model, nil
	}
	id, revision, ok := hub.Split(model)
	if !ok {
		return "", fmt.Errorf("no model %q", model)
	}
	s, err := hub.Find(id, revision, "")
	return s.Dir, err
}

// Name is what people call a model: its name, or the last part of its folder.
func Name(model string) string { return filepath.Base(model) }

// Architecture is what the folder's config.json says the model is: its model_type, "" in a timm folder, which has none.
func Architecture(dir string) (string, error) {
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("model folder: %w", err)
	}
	var c struct {
		ModelType string `json:"model_type"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return "", fmt.Errorf("%s: not readable: %w", path, err)
	}
	return c.ModelType, nil
}

// Digest names a model's contents: the digests of its files and what else decides what it gives (settings that were read,
// written as JSON). Where the run keeps a record, the model is noted there.
func Digest(env stage.Env, model string, files []string, settings ...any) (string, error) {
	h := sha256.New()
	for _, file := range files {
		d, err := env.FileDigest(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %s\n", filepath.Base(file), d)
	}
	for _, s := range settings {
		text, err := json.Marshal(s)
		if err != nil {
			return "", err
		}
		h.Write(text)
	}
	digest := hex.EncodeToString(h.Sum(nil))
	if noter, ok := env.(interface{ Model(name, digest string) }); ok {
		noter.Model(model, digest)
	}
	return digest, nil
}

// unpack writes a shipped model's files to a folder, once, and puts back any that changed.
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
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		tmp := target + fmt.Sprintf(".%d.tmp", os.Getpid())
		if err := os.WriteFile(tmp, data, 0o644); err != nil {
			return err
		}
		return os.Rename(tmp, target)
	})
	return dir, err
}
