package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"antipode/datasets/table"
)

// Record is a run record: the provenance of a result, sufficient to compute it again.
type Record struct {
	ID     string            `json:"id"`               // digest of the plan and its inputs
	Result string            `json:"result"`           // digest of the result's rows
	Plan   *table.Plan       `json:"plan"`             // with seeds and options in its arguments
	Inputs []string          `json:"inputs"`           // digests of the input tables' rows, in the plan's order
	Models map[string]string `json:"models,omitempty"` // model → digest
	// Sources are the repositories and commits of models, where they are known: OWNER/NAME@COMMIT of the hub.
	Sources  map[string]string `json:"sources,omitempty"`
	Device   string            `json:"device,omitempty"` // "xla:cpu", …
	Versions map[string]string `json:"versions"`         // build, Go, libraries, stages
	Rows     int               `json:"rows"`
	Computed int               `json:"computed,omitempty"` // items computed by the run
	Found    int               `json:"found,omitempty"`    // items found in the store
	Notes    []string          `json:"notes,omitempty"`
	// Readings are what reading the run's files and texts lost or guessed.
	Readings []table.Reading `json:"readings,omitempty"`
	Bad      []table.BadRow  `json:"bad,omitempty"`
	// Saved is the file that the result was saved to; gc does not remove such a result.
	Saved string `json:"saved,omitempty"`
	// Uses are the folders of the contexts of items that the result depends on, relative to the store, with slashes.
	Uses     []string  `json:"uses,omitempty"`
	Finished time.Time `json:"finished,omitzero"`
}

func (s *Store) resultPath(id, ext string) string { return filepath.Join(s.dir, "results", id+ext) }

// Result returns a stored table and its record, or [ErrNotFound] if it is missing or damaged. id may be a unique
// prefix.
func (s *Store) Result(id string) (*table.Frame, *Record, error) {
	rec, err := s.Record(id)
	if err != nil {
		return nil, nil, err
	}
	raw, err := s.rawResult(rec.ID)
	if errors.Is(err, errResult) {
		return nil, nil, fmt.Errorf("result %s is damaged: %w", id, ErrNotFound)
	}
	if raw.table == nil {
		return nil, nil, fmt.Errorf("result %s: %w", id, ErrNotFound)
	}
	for _, ext := range []string{".json", ".frame"} {
		if info, err := os.Stat(s.resultPath(rec.ID, ext)); err == nil {
			touch(s.resultPath(rec.ID, ext), info)
		}
	}
	for _, c := range raw.table.Columns { // of a result that comes from another store
		for i, img := range c.Images {
			if filepath.Base(img.Path) == img.SHA256+filepath.Ext(img.Path) && !strings.HasPrefix(img.Path, s.dir) {
				if own, err := s.Image(img); err == nil {
					c.Images[i] = own
				}
			}
		}
	}
	return raw.table, rec, nil
}

// rawResult is a result as it is stored: its record and, unless it was saved to a file only, its table.
type rawResult struct {
	record, frame []byte
	table         *table.Frame // that frame encodes
}

// rawResult returns a result. The error is [ErrNotFound] if a part of it is missing.
func (s *Store) rawResult(id string) (raw rawResult, err error) {
	if raw.record, err = os.ReadFile(s.resultPath(id, ".json")); err != nil {
		return raw, ErrNotFound
	}
	rec := &Record{}
	if json.Unmarshal(raw.record, rec) != nil || rec.Plan == nil || rec.ID != id {
		return raw, errResult
	}
	if raw.frame, err = os.ReadFile(s.resultPath(id, ".frame")); err != nil {
		if rec.Saved != "" {
			return raw, nil
		}
		return raw, ErrNotFound
	}
	if raw.table, err = table.Decode(bytes.NewReader(raw.frame)); err != nil {
		return raw, errResult
	}
	if digest, err := FrameDigest(raw.table); err != nil || digest != rec.Result {
		return raw, errResult
	}
	return raw, nil
}

var errResult = errors.New("a damaged result")

// Record returns a run record; id may be a unique prefix.
func (s *Store) Record(id string) (*Record, error) {
	if len(id) < 64 {
		matches, err := s.resultIDs(id)
		if err != nil {
			return nil, err
		}
		switch len(matches) {
		case 0:
			return nil, fmt.Errorf("no result begins with %q (`antipode store ls` lists them): %w", id, ErrNotFound)
		case 1:
		default:
			return nil, fmt.Errorf("%d results begin with %q; give more of its letters: %w", len(matches), id,
				ErrNotFound)
		}
		id = matches[0]
	}
	data, err := os.ReadFile(s.resultPath(id, ".json"))
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", id, ErrNotFound)
	}
	rec := &Record{}
	if err := json.Unmarshal(data, rec); err != nil || rec.Plan == nil {
		return nil, fmt.Errorf("result %s: its record is damaged: %w", id, ErrNotFound)
	}
	return rec, nil
}

// PutResult stores a table and its record, or only the record if f is nil (the table was saved to a file).
func (s *Store) PutResult(f *table.Frame, rec *Record) error {
	if f != nil {
		var b bytes.Buffer
		if err := f.Encode(&b); err != nil {
			return err
		}
		if err := WriteFile(s.resultPath(rec.ID, ".frame"), b.Bytes()); err != nil {
			return fmt.Errorf("cannot store a result: %w", err)
		}
	}
	data, err := json.MarshalIndent(rec, "", " ")
	if err != nil {
		return err
	}
	if err := WriteFile(s.resultPath(rec.ID, ".json"), append(data, '\n')); err != nil {
		return fmt.Errorf("cannot store a run record: %w", err)
	}
	return nil
}

// resultIDs returns the ids of the results that begin with a prefix.
func (s *Store) resultIDs(prefix string) (ids []string, err error) {
	list, err := os.ReadDir(filepath.Join(s.dir, "results"))
	for _, e := range list {
		if id, is := strings.CutSuffix(e.Name(), ".json"); is && strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	return ids, ifThere(err)
}

// Records returns the run records, newest first.
func (s *Store) Records() ([]*Record, error) {
	ids, err := s.resultIDs("")
	if err != nil {
		return nil, err
	}
	var out []*Record
	for _, id := range ids {
		if rec, err := s.Record(id); err == nil {
			out = append(out, rec)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Finished.After(out[j].Finished) })
	return out, nil
}
