//go:build checks

package visage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/test/testbackend"
	"antipode/test/testnotebook"
)

// TestNotebook runs notebooks/visage.ipynb through the built command on pairs in the layout of SeeGULL with ViSAGe's
// ratings and on annotations in the layout of the released ones, with random weights in the architectures of Stable
// Diffusion, BLIP-2 and CLIP, by parameters alone. The pairs are made up and harmless; the names of the identities are
// the paper's, so that the ledger has values to compare.
func TestNotebook(t *testing.T) {
	testbackend.XLA(t)
	dir := t.TempDir()
	pairs, answers := studyOf([]string{"Danish", "Peruvian"}, []string{"hat", "scarf", "bicycle", "tall", "umbrella",
		"glasses"})
	for name, text := range map[string]string{"pairs.csv": pairs, "showings.csv": answers} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	network := func(name string) string { return testnotebook.Folder(t, "../../gomlxmodels/"+name) }
	notebook := testnotebook.Open(t, "visage")
	parameters := []string{"attributes=" + filepath.Join(dir, "pairs.csv"), "n=1", "detail=Danish,Peruvian",
		"annotations=" + filepath.Join(dir, "showings.csv"), "generator=" + network("diffusion/testdata/sd1"),
		"captioner=" + network("blip2/testdata/opt"), "encoder=" + network("clip/testdata/bf16-shards")}
	out := notebook.Run(append(parameters, "plan=true")...)
	for _, want := range []string{"generate sd1", "caption opt", "embed bf16-shards", "plan=true"} {
		if !strings.Contains(out, want) {
			t.Errorf("the plan has no %q:\n%s", want, out)
		}
	}
	notebook.Run(parameters...)
	page := notebook.Page()
	for _, want := range []string{"the truth is not known", "Peruvian", "masked 1 (not rated)",
		"selected by: annotators"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	ledger := notebook.Ledger()
	for _, item := range []string{"Table 1, Danish, L(stereo)", "Table 1, Danish, L(random)"} {
		if row := strings.Join(ledger[item], ","); row == "" || strings.Contains(row, "not computable") {
			t.Errorf("%s: %q", item, row)
		}
	}
	for _, item := range []string{"Table 4, Peruvian, S(d, s)", "Table 5, Danish, Mean Sim"} {
		if row := strings.Join(ledger[item], ","); !strings.Contains(row, fmt.Sprintf(",%d,", 1+2*2*3)) {
			t.Errorf("%s: %q", item, row)
		}
	}
	if row := strings.Join(ledger["Table 5, Swiss, Mean Sim"], ","); !strings.Contains(row, "not computable") {
		t.Errorf("an identity that is not in the study: %q", row)
	}
	other := filepath.Join(t.TempDir(), "other") // two generators, with the captioner in place of annotators
	must.Do(t, os.CopyFS(other, os.DirFS("../../gomlxmodels/diffusion/testdata/sd1")))
	two := []string{"annotations=", "generator=" + network("diffusion/testdata/sd1") + "," + other}
	notebook.Run(append(parameters, two...)...)
	for _, want := range []string{"Stereotypical pull: sd1", "Stereotypical pull: other", "undecided"} {
		if !strings.Contains(notebook.Page(), want) {
			t.Errorf("the page of two generators has no %q", want)
		}
	}
}

// studyOf returns pairs of identities and attributes in the layout of datasets/visage.Pairs, of which each identity has
// two visual stereotypes, and answers in the layout of its annotations: three annotators of four images.
func studyOf(identities, attributes []string) (pairs, answers string) {
	const facts = "na_stereo,region_stereo,offensiveness,score_asia,score_europe,score_na"
	var p, s strings.Builder
	p.WriteString("id,identity,attribute," + facts + "\n")
	s.WriteString("id,identity,attribute,image_number,selected," + facts + "\n")
	for i, id := range identities {
		for a, attribute := range attributes {
			values := ",,,5,5,4" // no pair of SeeGULL
			if a/2 == i {
				values = "3,1,-1,5,4,4"
				fmt.Fprintf(&p, "p%d-%d,%s,%s,%s\n", i, a, id, attribute, values)
			} else if a == len(attributes)-1 {
				values = "0,1,-1,2,1,3" // not visual, no stereotype
				fmt.Fprintf(&p, "p%d-%d,%s,%s,%s\n", i, a, id, attribute, values)
				continue
			}
			for n := range 12 {
				selected := 0
				if (n+a)%(2+a+i) == 0 {
					selected = 1
				}
				fmt.Fprintf(&s, "s%d-%d-%d,%s,%s,%d,%d,%s\n", i, a, n, id, attribute, n/3+1, selected, values)
			}
		}
	}
	return p.String(), s.String()
}
