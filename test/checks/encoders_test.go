//go:build checks

package checks

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"antipode/gomlxmodels"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// `antipode embed` and `antipode segment` on encoders that transformers and sentence-transformers have just saved
// agrees with them: configurations drawn from ANTIPODE_TEST_SEED, and the real sizes with random weights.
func TestReferenceEncoders(t *testing.T) {
	testbackend.XLA(t)
	h := build(t)
	for _, size := range []string{"small", "real"} {
		t.Run(size, func(t *testing.T) {
			dir := t.TempDir()
			modules := []string{"torch", "transformers", "sentence_transformers", "pandas", "pyarrow", "pycocotools",
				"PIL"}
			t.Log("\n" + testbackend.Python(t, modules, "reference_encoders.py", "make", dir, size,
				fmt.Sprint(near.Seed(t))))
			for _, run := range strings.Split(strings.TrimSpace(testbackend.Python(t, modules, "reference_encoders.py",
				"list", dir)), "\n") {
				name, vector, _ := strings.Cut(run, " ")
				if vector == "mask" {
					t.Log(h.done("segment", "--model", filepath.Join(dir, name), "--object", "object", "--in",
						filepath.Join(dir, "objects.csv"), "--out", filepath.Join(dir, name+".mask.parquet")))
					continue
				}
				args := []string{"embed", "--model", filepath.Join(dir, name), "--vector", vector, "--out",
					filepath.Join(dir, name+"."+vector+".parquet")}
				if vector == gomlxmodels.ClipImage {
					args = append(args, "--in", filepath.Join(dir, "images.csv"))
				} else {
					args = append(args, "--in", filepath.Join(dir, "texts.csv"), "--text", "caption")
				}
				t.Log(h.done(args...))
			}
			t.Log("\n" + testbackend.Python(t, modules, "reference_encoders.py", "compare", dir))
		})
	}
}
