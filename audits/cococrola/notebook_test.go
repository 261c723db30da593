//go:build checks

package cococrola_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/test/testbackend"
	"antipode/test/testengine"
	"antipode/test/testnotebook"
)

// TestNotebook runs notebooks/cococrola.ipynb through the built command on a list in the form of the released one, with
// random weights in the architectures of Stable Diffusion and CLIP, by parameters alone. The generator has the name of
// one of the paper's models, so that cells of Table 2 are computed.
func TestNotebook(t *testing.T) {
	testbackend.XLA(t)
	testengine.Use(t)
	generator := filepath.Join(t.TempDir(), "stable-diffusion-v1-4")
	must.Do(t, os.CopyFS(generator, os.DirFS(network("diffusion/testdata/sd1"))))
	notebook := testnotebook.Open(t, "cococrola")
	parameters := []string{"concepts=" + conceptFile(t), "generator=" + generator, "encoder=" + clip(t), "n=3",
		"templates=dog"}
	if out := notebook.Run(append(parameters, "plan=true")...); !strings.Contains(out,
		"generate stable-diffusion-v1-4") || !strings.Contains(out, "plan=true") {
		t.Errorf("the plan:\n%s", out)
	}
	notebook.Run(parameters...)
	page := notebook.Page()
	for _, want := range []string{"the truth is not known", "Words that several concepts share"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	ledger := notebook.Ledger()
	for _, cell := range []string{"Table 2, SD 1.4, EN, Xc", "Table 2, SD 1.4, ES, Wc", "section 4: concepts"} {
		if row := strings.Join(ledger[cell], ","); row == "" || strings.Contains(row, "not computable") {
			t.Errorf("%s: %s", cell, row)
		}
	}
	for _, cell := range []string{"Table 2, SD 1.4, DE, Xc", "Table 2, SD 1.4, Avg, Xc", "Table 2, SD 2, EN, Xc"} {
		if row := strings.Join(ledger[cell], ","); !strings.Contains(row, "not computable") {
			t.Errorf("%s: %s", cell, row)
		}
	}
	if row := strings.Join(ledger["Table 2, SD 1.4, EN, Xc"], ","); !strings.Contains(row, ",12,") {
		t.Errorf("not computed from 12 images: %s", row)
	}
}
