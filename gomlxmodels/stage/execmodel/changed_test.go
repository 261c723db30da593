package execmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"antipode/gomlxmodels/stage"
)

// TestImageChangesMeanwhile: the answer to an image that has changed while the program read it is not used.
func TestImageChangesMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(file, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("one"))
	for mode, want := range map[string]error{"fine": nil, "changes images": stage.ErrChanged} {
		g, _ := group(t, mode, nil)
		m := &Model{Ready: &Ready{DeviceKind: "cpu"}, group: g}
		given := items(1)
		given[0].Image, given[0].SHA256 = file, hex.EncodeToString(sum[:])
		if err := given[0].Unchanged(); err != nil {
			t.Fatal(err)
		}
		answers, err := m.RunRows(t.Context(), [][]Item{given})
		if !errors.Is(err, want) || (answers[0] == nil) != (want != nil) {
			t.Errorf("%s: %+v, %v", mode, answers, err)
		}
		if err := os.WriteFile(file, []byte("one"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
