package execmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
)

// TestImageChangesMeanwhile: the answer to an image that has changed while the program read it is not used.
func TestImageChangesMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.png")
	must.Do(t, os.WriteFile(file, []byte("one"), 0o600))
	sum := sha256.Sum256([]byte("one"))
	for mode, want := range map[string]error{"fine": nil, "changes images": stage.ErrChanged} {
		g, _ := group(t, mode, nil)
		m := &Model{Ready: &Ready{DeviceKind: "cpu"}, group: g}
		given := items(1)
		given[0].Image, given[0].SHA256 = file, hex.EncodeToString(sum[:])
		must.Do(t, given[0].Unchanged())
		answers, err := m.RunRows(t.Context(), [][]Item{given})
		if !errors.Is(err, want) || (answers[0] == nil) != (want != nil) {
			t.Errorf("%s: %+v, %v", mode, answers, err)
		}
		must.Do(t, os.WriteFile(file, []byte("one"), 0o600))
	}
}

// TestReplacedWithTimes: a listed file that is replaced by one of the same size and time of modification has changed.
func TestReplacedWithTimes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no time of change")
	}
	file, at := filepath.Join(t.TempDir(), "weights"), time.Unix(1e9, 0)
	var before []time.Time
	for _, text := range []string{"1.0", "9.0"} {
		must.Do(t, errors.Join(os.WriteFile(file+".new", []byte(text), 0o600), os.Chtimes(file+".new", at, at),
			os.Rename(file+".new", file)))
		r := &Ready{}
		r.Model.Files = []File{{Path: file, Size: 3}}
		now, err := times(r)
		if err != nil || equal(now, before) {
			t.Errorf("%s: %v, %v", text, now, err)
		}
		before = now
		time.Sleep(20 * time.Millisecond) // the resolution of a file system's clock
	}
}
