package store

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"antipode/internal/atomicfile"
)

// parts are the folders of computed data.
var parts = []string{"blobs", "items", "results"}

// scratchPrefix is that of the names of the folders that [Store.Scratch] makes.
const scratchPrefix = "verify-"

// GC are the options of [Store.Collect].
type GC struct {
	Keep   time.Duration `json:"keep"`    // files used within this time stay, unless Max is exceeded
	Max    int64         `json:"max"`     // maximal size in bytes; 0 = any
	DryRun bool          `json:"dry_run"` // remove nothing
}

// Removal is a file that [Store.Collect] removes.
type Removal struct {
	Path string    `json:"path"` // relative to the store
	Size int64     `json:"size"`
	Used time.Time `json:"used"`
}

// Collect removes blobs, items and results that were not used within gc.Keep, and then more, oldest first, until the
// store has at most gc.Max bytes, the temporary files of processes that were killed, and the digests of files that no
// longer exist. The records of saved results stay, with all items of the contexts that they use and their images.
// It returns the removed files and the number of bytes that stay. While a run or another process uses the store the
// error is [ErrInUse].
func (s *Store) Collect(gc GC) (removed []Removal, stays int64, err error) {
	if !gc.DryRun {
		done, err := s.alone()
		if err != nil {
			return nil, 0, err
		}
		defer done()
	}
	pinned, err := s.pinned()
	if err != nil {
		return nil, 0, err
	}
	if removed, err = s.leftovers(gc.DryRun); err != nil {
		return nil, 0, err
	}
	var all []Removal
	for _, sub := range parts {
		err := Files(s.dir, sub, func(name string, info fs.FileInfo) error {
			stays += info.Size()
			if !isPinned(pinned, name) {
				all = append(all, Removal{name, info.Size(), info.ModTime()})
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	slices.SortFunc(all, func(a, b Removal) int {
		return cmp.Or(a.Used.Compare(b.Used), strings.Compare(a.Path, b.Path))
	})
	for _, r := range all {
		if time.Since(r.Used) <= gc.Keep && (gc.Max == 0 || stays <= gc.Max) {
			continue
		}
		if !gc.DryRun {
			if err := os.Remove(filepath.Join(s.dir, r.Path)); err != nil && !os.IsNotExist(err) {
				return removed, stays, err
			}
		}
		removed = append(removed, r)
		stays -= r.Size
	}
	if !gc.DryRun {
		s.mu.Lock()
		clear(s.items) // indexed again on use
		s.mu.Unlock()
		err = s.files.prune()
	}
	return removed, stays, err
}

// Files calls f for each file in a part of the store in a folder, with its path relative to the store, with slashes.
// Temporary files and what is removed meanwhile are left out.
func Files(home, part string, f func(name string, info fs.FileInfo) error) error {
	return filepath.WalkDir(filepath.Join(home, part), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || atomicfile.IsTemporary(path) {
			return ifThere(err)
		}
		info, err := d.Info()
		if err != nil {
			return ifThere(err)
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		return f(filepath.ToSlash(rel), info)
	})
}

// otherWriters is the age of a temporary file from which on no process is writing it. It matters in the folders of
// models, plugins and programs, which the store's lock does not protect.
const otherWriters = time.Hour

// leftovers removes the temporary files and folders of processes that were killed.
func (s *Store) leftovers(dryRun bool) (removed []Removal, err error) {
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed meanwhile, or not ours
		}
		scratch := d.IsDir() && filepath.Dir(path) == s.dir && strings.HasPrefix(d.Name(), scratchPrefix)
		if !scratch && !atomicfile.IsTemporary(path) {
			return nil
		}
		rel, err := filepath.Rel(s.dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		part, _, _ := strings.Cut(rel, string(filepath.Separator))
		if err != nil || !scratch && !slices.Contains(parts, part) && time.Since(info.ModTime()) < otherWriters {
			return nil
		}
		removed = append(removed, Removal{rel, info.Size(), info.ModTime()})
		if !dryRun {
			err = os.RemoveAll(path)
		}
		if err == nil && d.IsDir() {
			err = filepath.SkipDir
		}
		return err
	})
	return removed, err
}

// pinned returns what saved results depend on, as paths relative to the store: files, without their extensions, and
// folders.
func (s *Store) pinned() (map[string]bool, error) {
	recs, err := s.Records()
	if err != nil {
		return nil, err
	}
	pins := map[string]bool{}
	for _, r := range recs {
		if r.Saved == "" {
			continue
		}
		pins["results/"+r.ID] = true
		for _, context := range r.Uses {
			if !pins[context] && filepath.IsLocal(context) {
				pins[context] = true
				if err := s.pinImages(context, pins); err != nil {
					return nil, err
				}
			}
		}
	}
	return pins, nil
}

// pinImages adds the images that the items of a context name. It finds all hexadecimal SHA-256 digests in the packs, so
// that those of a damaged pack, whose sound items are used, count as well.
func (s *Store) pinImages(context string, pins map[string]bool) error {
	return Files(s.dir, context, func(name string, _ fs.FileInfo) error {
		const digits = "0123456789abcdef"
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		for at := digestLen - 1; at < len(data); at += digestLen { // each digest has one of these bytes
			from := len(bytes.TrimRight(data[:at], digits))
			if at = len(data) - len(bytes.TrimLeft(data[at:], digits)); at-from >= digestLen {
				pins[blobName(string(data[from:from+digestLen]), "")] = true
			}
		}
		return ifThere(err)
	})
}

// isPinned reports whether a file, or a folder that it is in, is pinned.
func isPinned(pins map[string]bool, name string) bool {
	for name = strings.TrimSuffix(name, path.Ext(name)); name != "."; name = path.Dir(name) {
		if pins[name] {
			return true
		}
	}
	return false
}

// Usage returns the sizes of the store's parts in bytes.
func (s *Store) Usage() (map[string]int64, error) {
	out := map[string]int64{}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(s.dir, path)
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil {
			if part, _, _ := strings.Cut(rel, string(filepath.Separator)); part != lockFile {
				out[part] += info.Size()
			}
		}
		return nil
	})
	return out, err
}
