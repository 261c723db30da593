//go:build checks

package checks

import (
	"path/filepath"
	"testing"

	"antipode/test/testbackend"
)

// `antipode embed` on ViT-B/16 folders as timm and transformers save them agrees with the libraries: whole image,
// object only, background only; pandas reads what it writes.
func TestReferenceLibraries(t *testing.T) {
	testbackend.XLA(t)
	dir := t.TempDir()
	modules := []string{"torch", "timm", "transformers", "pandas", "pyarrow", "PIL"}
	testbackend.Python(t, modules, "reference_vit.py", "make", dir)
	h := build(t)
	for _, library := range []string{"timm", "transformers", "plain"} {
		t.Log(h.done("embed", "--model", filepath.Join(dir, library), "--in", filepath.Join(dir, "images.csv"), "--out",
			filepath.Join(dir, library+".parquet"), "--masking", "drop"))
	}
	t.Log("\n" + testbackend.Python(t, modules, "reference_vit.py", "compare", dir))
}
