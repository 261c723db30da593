package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"antipode/kernel/client"
)

// Record is a run record: what made a result, enough to make it again.
type Record struct {
	ID       string            `json:"id"`               // digest of the inputs and of what was asked
	Result   string            `json:"result"`           // digest of the rows it gave
	Plan     *client.Plan      `json:"plan"`             // what was asked; seeds and settings are in its arguments
	Inputs   []string          `json:"inputs"`           // digests of the input tables' rows, in the plan's order
	Models   map[string]string `json:"models,omitempty"` // model → digest
	Device   string            `json:"device,omitempty"` // "xla:cpu", …
	Versions map[string]string `json:"versions"`         // build, Go, libraries, stages
	Rows     int               `json:"rows"`
	Computed int               `json:"computed"` // items computed by the run
	Found    int               `json:"found"`    // items found in the store
	Notes    []string          `json:"notes,omitempty"`
	Bad      []client.BadRow   `json:"bad,omitempty"`
	Saved    string            `json:"saved,omitempty"` // the file the result was saved to: such a result is never removed by gc
	Uses     []string          `json:"uses,omitempty"`  // what it rests on, relative to the store: contexts of items, blobs
	Finished time.Time         `json:"finished"`
}

// FrameDigest is the digest of a frame's rows in their order. Pictures count by their content, not by where they lie.
func FrameDigest(f *client.Frame) (string, error) {
	plain := &client.Frame{Columns: make([]client.Column, len(f.Columns))}
	for i, c := range f.Columns {
		if c.Kind == client.Picture {
			images := make([]client.Image, len(c.Images))
			for j, img := range c.Images {
				images[j] = client.Image{SHA256: img.SHA256}
			}
			c.Images = images
		}
		plain.Columns[i] = c
	}
	h := sha256.New()
	if err := plain.Encode(h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (s *Store) resultPath(id, ext string) string { return filepath.Join(s.dir, "results", id+ext) }

// Result returns a kept table, ErrNotFound where there is none or it is damaged.
func (s *Store) Result(id string) (*client.Frame, *Record, error) {
	rec, err := s.Record(id)
	if err != nil {
		return nil, nil, err
	}
	data, err := os.ReadFile(s.resultPath(id, ".frame"))
	if err != nil {
		return nil, nil, fmt.Errorf("result %s: %w", id, ErrNotFound)
	}
	f, err := client.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, nil, fmt.Errorf("result %s is damaged: %w", id, ErrNotFound)
	}
	if digest, err := FrameDigest(f); err != nil || digest != rec.Result {
		return nil, nil, fmt.Errorf("result %s is damaged: %w", id, ErrNotFound)
	}
	if info, err := os.Stat(s.resultPath(id, ".frame")); err == nil {
		touch(s.resultPath(id, ".frame"), info)
	}
	return f, rec, nil
}

// Record returns a run record; id may be a unique beginning of one.
func (s *Store) Record(id string) (*Record, error) {
	if len(id) < 64 {
		matches, _ := filepath.Glob(s.resultPath(id+"*", ".json"))
		if len(matches) != 1 {
			return nil, fmt.Errorf("result %q: %d results begin so: %w", id, len(matches), ErrNotFound)
		}
		id = strings.TrimSuffix(filepath.Base(matches[0]), ".json")
	}
	data, err := os.ReadFile(s.resultPath(id, ".json"))
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", id, ErrNotFound)
	}
	rec := &Record{}
	if err := json.Unmarshal(data, rec); err != nil {
		return nil, fmt.Errorf("result %s: its record is damaged: %w", id, ErrNotFound)
	}
	return rec, nil
}

// PutResult keeps a table and its record. f may be nil: then the record alone is kept (a saved table lies in its own file).
func (s *Store) PutResult(f *client.Frame, rec *Record) error {
	if f != nil {
		var b bytes.Buffer
		if err := f.Encode(&b); err != nil {
			return err
		}
		if err := WriteFile(s.resultPath(rec.ID, ".frame"), b.Bytes()); err != nil {
			return fmt.Errorf("cannot keep a result in the store: %w", err)
		}
	}
	data, err := json.MarshalIndent(rec, "", " ")
	if err != nil {
		return err
	}
	if err := WriteFile(s.resultPath(rec.ID, ".json"), append(data, '\n')); err != nil {
		return fmt.Errorf("cannot keep a run record in the store: %w", err)
	}
	return nil
}

// Records lists the run records, newest first.
func (s *Store) Records() ([]*Record, error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "results", "*.json"))
	if err != nil {
		return nil, err
	}
	var out []*Record
	for _, n := range names {
		if rec, err := s.Record(strings.TrimSuffix(filepath.Base(n), ".json")); err == nil {
			out = append(out, rec)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Finished.After(out[j].Finished) })
	return out, nil
}
