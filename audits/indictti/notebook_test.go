//go:build checks

package indictti_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/test/testbackend"
	"antipode/test/testengine"
	"antipode/test/testnotebook"
)

// TestNotebook runs notebooks/indictti.ipynb through the built command on captions in the layout of LAION-COCO-NLLB,
// with random weights in the architectures of Stable Diffusion, BLIP-2 (captions, vectors, the joint space) and a
// sentence encoder, and with a table of images made elsewhere, by parameters alone.
func TestNotebook(t *testing.T) {
	testbackend.XLA(t)
	testengine.Use(t)
	dir := laion(t)
	generator := filepath.Join(t.TempDir(), "stable-diffusion-v1-5")
	must.Do(t, os.CopyFS(generator, os.DirFS(network("diffusion/testdata/sd1"))))
	notebook := testnotebook.Open(t, "indictti")
	parameters := []string{"captions=laion_coco_nllb:" + dir, "photos=" + filepath.Join(dir, "photos.csv"),
		"translations=" + filepath.Join(dir, "translations.csv"), "languages=hin_Deva,urd_Arab,brx_Deva",
		"ratings=" + filepath.Join(dir, "ratings.csv"), "prompts=4", "n=2",
		"generator=" + generator + "," + filepath.Join(dir, "Dalle3.csv"),
		"captioner=" + testnotebook.Folder(t, network("blip2/testdata/opt")),
		"encoder=" + testnotebook.Folder(t, network("blip2/testdata/opt")),
		"sentences=" + testnotebook.Folder(t, "../../kernel/backend/all/testdata/encoders/sentence"),
		"joint=" + testnotebook.Folder(t, network("blip2/testdata/retrieval"))}
	out := notebook.Run(append(parameters, "plan=true")...)
	if !strings.Contains(out, "generate stable-diffusion-v1-5") || !strings.Contains(out, "plan=true") {
		t.Errorf("the plan:\n%s", out)
	}
	notebook.Run(parameters...)
	page := notebook.Page()
	for _, want := range []string{"the truth is not known", "brx_Deva", "capitalized word", "no caption in hin_Deva",
		"claim 16", "no image"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	ledger := notebook.Ledger()
	for _, table := range []string{"Table 7", "Table 8", "Table 10"} {
		for _, cell := range []string{"Stable Diffusion, hin_Deva", "Dalle3, en"} {
			row := ledger[table+", "+cell]
			if len(row) == 0 || strings.Contains(strings.Join(row, ","), "not computable") ||
				!strings.Contains(strings.Join(row, ","), fmt.Sprintf(",%d,", 8)) {
				t.Errorf("%s, %s: %q", table, cell, row)
			}
		}
	}
	if row := ledger["Table 7, Midjourney, en"]; !strings.Contains(strings.Join(row, ","), "not computable") {
		t.Errorf("a model that was not run: %q", row)
	}
}
