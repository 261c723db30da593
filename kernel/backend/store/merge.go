package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"antipode/internal/atomicfile"
	"antipode/internal/glob"
)

// jobsDir is the folder of the status files of jobs.
const jobsDir = "jobs"

// MergeOptions configure [Store.Merge].
type MergeOptions struct {
	// Difference compares items that several packs hold.
	Difference Difference
	// Strict makes items that differ beyond [Tolerance] an error, before anything is changed.
	Strict bool
	// Remove removes the files of the other stores that this one then has.
	Remove bool
}

// copiesAtOnce is the number of files that are copied at the same time. The disk syncs files together that are written
// at the same time.
const copiesAtOnce = 64

type merging struct {
	s       *Store
	sources []*Store
	files   atomicfile.Group // that are copied
	names   [16]sync.Mutex   // one is locked to write a pack, by the last digit of its name

	mu     sync.Mutex
	report MergeReport
	left   map[string]bool // folders of items in sources that are not copied, because they differ
	kept   map[string]bool // files of the sources whose content the store has
}

// Merge copies what the stores in the given folders have and this one lacks: images, items, results and the status
// files of jobs. It verifies each file's SHA-256 and leaves out damaged ones. Packs are copied whole, nothing else is
// written again; merging in any order, any number of times, or after it was killed gives the same store. Where results
// or status files of the same name differ, one of them is chosen, the same in any order.
//
// Items of the same inputs are compared before anything is copied. Those of a stage and model (a context) that differ
// beyond [Tolerance] are never mixed: this store keeps its own, and of the others those whose items agree with it and
// with each other, in the order of their packs' names, are copied.
func (s *Store) Merge(ctx context.Context, folders []string, o MergeOptions) (*MergeReport, error) {
	defer s.Use()()
	m := &merging{s: s, left: map[string]bool{}, kept: map[string]bool{}}
	defer func() {
		for _, source := range m.sources {
			_ = source.lock.Close()
		}
	}()
	for _, folder := range folders {
		if err := m.open(folder, o.Remove); err != nil {
			return nil, err
		}
	}
	m.report.Stores = len(m.sources)
	if err := m.compare(ctx, o.Difference); err != nil {
		return nil, fmt.Errorf("store merge: %w", err)
	}
	if o.Strict && !m.report.Within() {
		return &m.report, fmt.Errorf("store merge: nothing was merged: %s", m.report.differences())
	}
	for _, step := range []struct {
		pattern string
		file    func(source *Store, path string) error
	}{
		{"blobs/*/*", m.blob},
		{"items/*/*/*", m.items},
		{"results/*.json", m.result},
		{jobsDir + "/*/*.json", m.status},
	} {
		if err := m.each(ctx, step.pattern, step.file); err != nil {
			return nil, fmt.Errorf("store merge: %w", err)
		}
		m.files.Sync()
	}
	slices.Sort(m.report.Damaged)
	if o.Remove {
		// folders last: a merge that was killed is run again with all of them
		for _, remove := range []func(*Store) error{m.remove, removeEmpty} {
			for _, source := range m.sources {
				if err := remove(source); err != nil {
					return nil, fmt.Errorf("store merge: cannot remove %s: %w", source.dir, err)
				}
			}
		}
	}
	return &m.report, nil
}

// Check returns an error for a folder that is no store.
func Check(folder string) error {
	list, err := os.ReadDir(folder)
	if err == nil && !slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		return slices.Contains(parts, e.Name()) || e.Name() == lockFile
	}) {
		err = fmt.Errorf("%s is no store: it has none of the folders %s", folder, strings.Join(parts, ", "))
	}
	return err
}

// open opens a source. Nothing is created in it except its lock. With remove it may be the rest of one that was
// removed.
func (m *merging) open(folder string, remove bool) error {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	list, err := os.ReadDir(dir)
	if err == nil && !(remove && len(list) == 0) {
		err = Check(folder)
	}
	if err != nil {
		return fmt.Errorf("store merge: %w", err)
	}
	own, err := os.Stat(m.s.dir)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if os.SameFile(own, info) {
		return fmt.Errorf("store merge: %s is the store to merge into; name others", folder)
	}
	source := &Store{dir: dir}
	if err := source.share(); err != nil {
		return err
	}
	m.sources = append(m.sources, source)
	return nil
}

// each calls file for the files of a pattern in each source, again for those that took the place of vanished ones.
func (m *merging) each(ctx context.Context, pattern string, file func(*Store, string) error) error {
	for range relist {
		again := atomic.Bool{}
		group, failed := errgroup.WithContext(ctx)
		group.SetLimit(copiesAtOnce)
		for _, source := range m.sources {
			for _, name := range glob.In(source.dir, pattern) {
				if m.done(name) || failed.Err() != nil {
					continue
				}
				group.Go(func() error {
					if failed.Err() != nil {
						return nil
					}
					err := file(source, name)
					if errors.Is(err, fs.ErrNotExist) {
						if _, statErr := os.Stat(name); errors.Is(statErr, fs.ErrNotExist) {
							again.Store(true)
							err = nil
						}
					}
					return err
				})
			}
		}
		if err := errors.Join(group.Wait(), ctx.Err()); err != nil || !again.Load() {
			return err
		}
	}
	return errors.New("files are removed from the stores faster than they can be read; run it again")
}

// done reports whether a file has been dealt with.
func (m *merging) done(path string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[path] || slices.Contains(m.report.Damaged, path)
}

// blob copies an image.
func (m *merging) blob(_ *Store, path string) error {
	name := filepath.Base(path)
	digest, ext, _ := strings.Cut(name, ".")
	if ext != "" {
		ext = "." + ext
	}
	if len(digest) != digestLen || filepath.Base(filepath.Dir(path)) != digest[:2] {
		return nil // a temporary file
	}
	to := m.s.blobPath(digest, ext)
	if found, err := HashFile(to); err == nil && found == digest {
		m.found(path)
		return nil
	}
	f, size, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	switch err := m.copy(to, f, size, 0, digest); {
	case errors.Is(err, ErrDamaged):
		m.damaged(path)
	case err != nil:
		return err
	default:
		m.copied(path, func(r *MergeReport) { r.Images++ })
	}
	return nil
}

func openFile(path string) (f *os.File, size int64, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// copyBuffer is the size of the buffers of copies.
const copyBuffer = 256 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// copy copies a file if its content without the last bytes, as many as tail, has the SHA-256 digest. If it has another
// one the error is ErrDamaged, and nothing is written. The file is read once.
func (m *merging) copy(to string, f *os.File, size, tail int64, digest string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return m.files.Replace(to, 0o600, func(w io.Writer) error {
		buffer := copyBuffers.Get().(*[copyBuffer]byte)
		defer copyBuffers.Put(buffer)
		h := sha256.New()
		if _, err := io.CopyBuffer(io.MultiWriter(w, h), io.NewSectionReader(f, 0, size-tail), buffer[:]); err != nil {
			return err
		}
		if hex.EncodeToString(h.Sum(nil)) != digest {
			return ErrDamaged
		}
		_, err := io.Copy(w, io.NewSectionReader(f, size-tail, tail))
		return err
	})
}

// items copies a pack.
func (m *merging) items(source *Store, path string) error {
	if filepath.Ext(path) != packSuffix || m.left[filepath.Dir(path)] {
		return nil
	}
	rel, err := filepath.Rel(source.dir, path)
	if err != nil {
		return err
	}
	n, copied, err := m.pack(filepath.Join(m.s.dir, rel), path)
	switch {
	case errors.Is(err, ErrDamaged):
		m.damaged(path)
	case err != nil:
		return err
	case !copied:
		m.found(path)
	default:
		m.copied(path, func(r *MergeReport) {
			r.Packs++
			r.Items += n
		})
	}
	return nil
}

// pack copies a pack of n items unless the store has it. Packs of one name differ at most in their headers: that with
// the smaller SHA-256 stays. The error is ErrDamaged if the pack is not sound.
func (m *merging) pack(to, path string) (n int, copied bool, err error) {
	f, size, err := openFile(path)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	_, entries, err := openPack(f, size, filepath.Base(path))
	switch {
	case errors.Is(err, errPack), errors.Is(err, errVersion):
		return 0, false, ErrDamaged
	case err != nil:
		return 0, false, err
	}
	sum := make([]byte, sha256.Size)
	if err := readAt(f, sum, size-int64(packSum)); err != nil {
		return 0, false, err
	}
	defer m.lock(to)()
	if there, err := soundSum(to); err == nil && bytes.Compare(there, sum) <= 0 {
		_, err := soundSum(path)
		return len(entries), false, err
	}
	return len(entries), true, m.copy(to, f, size, int64(packSum), hex.EncodeToString(sum))
}

// soundSum returns the SHA-256 at the end of a pack, or ErrDamaged if the pack has another one.
func soundSum(path string) (sum []byte, err error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, end := sha256.New(), make([]byte, sha256.Size)
	if _, err = io.Copy(h, io.NewSectionReader(f, 0, size-int64(packSum))); err == nil {
		err = readAt(f, end, size-int64(packSum))
	}
	if err == nil && !bytes.Equal(h.Sum(nil), end) || errors.Is(err, errPack) {
		err = ErrDamaged
	}
	return end, err
}

// lock locks the name of a pack, which other sources may have, too.
func (m *merging) lock(path string) (unlock func()) {
	own := &m.names[path[len(path)-len(packSuffix)-1]%byte(len(m.names))]
	own.Lock()
	return own.Unlock
}

// result copies a run record and its table. Of two sound results of one name it keeps the one whose record is smaller.
func (m *merging) result(source *Store, path string) error {
	id := strings.TrimSuffix(filepath.Base(path), ".json")
	theirs, err := source.rawResult(id)
	if errors.Is(err, ErrNotFound) { // gc removed a part, or a merge did that was killed
		if own, err := m.s.rawResult(id); err == nil && bytes.Compare(own.record, theirs.record) <= 0 {
			m.found(path)
		}
		return nil
	}
	if err != nil {
		m.damaged(path)
		return nil
	}
	m.mu.Lock() // two sources may have it
	defer m.mu.Unlock()
	frame := source.resultPath(id, ".frame")
	if own, err := m.s.rawResult(id); err == nil && bytes.Compare(own.record, theirs.record) <= 0 {
		m.report.Found++
		m.kept[path], m.kept[frame] = true, true
		return nil
	}
	if theirs.frame != nil {
		if err := WriteFile(m.s.resultPath(id, ".frame"), theirs.frame); err != nil {
			return err
		}
	}
	if err := WriteFile(m.s.resultPath(id, ".json"), theirs.record); err != nil {
		return err
	}
	m.report.Results++
	m.kept[path], m.kept[frame] = true, true
	return nil
}

// status copies a status file of a job. Of two files of one name it keeps the one that was updated later.
func (m *merging) status(source *Store, path string) error {
	rel, err := filepath.Rel(source.dir, path)
	if err != nil {
		return err
	}
	theirs, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	to := filepath.Join(m.s.dir, rel)
	own, err := os.ReadFile(to)
	if err == nil {
		a, b := updated(own), updated(theirs)
		if b.Before(a) || b.Equal(a) && bytes.Compare(own, theirs) <= 0 {
			m.kept[path] = true
			return nil
		}
	}
	m.kept[path] = true
	return WriteFile(to, theirs)
}

// updated returns the time that a status file states.
func updated(status []byte) time.Time {
	var s struct {
		Updated time.Time `json:"updated"`
	}
	_ = json.Unmarshal(status, &s) // else the zero time
	return s.Updated
}

// ifThere returns an error unless it says that a file was removed meanwhile.
func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (m *merging) found(path string) { m.copied(path, func(r *MergeReport) { r.Found++ }) }

func (m *merging) copied(path string, count func(*MergeReport)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[path] = true
	count(&m.report)
}

func (m *merging) damaged(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.report.Damaged, path) {
		m.report.Damaged = append(m.report.Damaged, path)
	}
}
