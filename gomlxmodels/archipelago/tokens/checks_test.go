//go:build checks

package tokens

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"antipode/internal/must"
	"antipode/test/testbackend"
)

var update = flag.Bool("update", false, "write testdata/ids.json.gz again from transformers' ids")

// TestTransformers compares the ids of all texts with those of the transformers that is installed.
func TestTransformers(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, Write(dir))
	list := must.Get(json.Marshal(texts()))(t)
	path := filepath.Join(t.TempDir(), "texts.json")
	must.Do(t, os.WriteFile(path, list, 0o600))
	ids := testbackend.Python(t, []string{"transformers"}, "testdata/reference.py", dir, path)
	var want [][]int32
	must.Do(t, json.Unmarshal([]byte(ids), &want))
	compare(t, want)
	if !*update || t.Failed() {
		return
	}
	f := must.Get(os.Create(golden))(t)
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	_ = must.Get(z.Write([]byte(ids)))(t)
	must.Do(t, z.Close())
	must.Do(t, f.Close())
}
