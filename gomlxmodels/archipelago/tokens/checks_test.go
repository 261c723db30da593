//go:build checks

package tokens

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"antipode/internal/testbackend"
)

var update = flag.Bool("update", false, "write testdata/ids.json.gz again from transformers' ids")

// TestTransformers compares the ids of all texts with those of the transformers that is installed.
func TestTransformers(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(texts())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "texts.json")
	if err := os.WriteFile(path, list, 0o600); err != nil {
		t.Fatal(err)
	}
	ids := testbackend.Python(t, []string{"transformers"}, "testdata/reference.py", dir, path)
	var want [][]int32
	if err := json.Unmarshal([]byte(ids), &want); err != nil {
		t.Fatal(err)
	}
	compare(t, want)
	if !*update || t.Failed() {
		return
	}
	f, err := os.Create(golden)
	if err != nil {
		t.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	if _, err := z.Write([]byte(ids)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
