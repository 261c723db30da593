package cococrola

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/internal/must"
)

// demo returns a made-up copy of the demo repository's layout, with two models, three languages and two concepts, and
// its concept file. SD 2 has 12 images whose similarities are true; the files have them as the authors' program
// computes them.
func demo(t *testing.T) DemoOptions {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	self := func(true float64, n int) string { return fmt.Sprint(true * float64(n-1) / float64(n)) }
	write("concepts.csv", "en,zh,he\neye,眼,עין\ndog,狗,כלב\n")
	write("demo/sd2/results_en.csv", "en,zh,he\n"+self(0.8, 12)+",0.4,---\n"+self(0.6, 12)+",0.2,0.3\n")
	write("demo/sd2/results_self.csv", "en,zh,he\n"+self(0.8, 12)+","+self(0.7, 12)+",---\n"+self(0.6, 12)+",0,0\n")
	write("demo/sd2/results_specific.csv", "en,zh,he\n0.3,0.4,---\n0.2,0.1,0.5\n")
	write("demo/cv2/results_zh.csv", "en,zh,he\neye,0.35,"+self(0.64, 12)+",0.4\ndog,0.3,"+self(0.5, 12)+",0.2\n")
	write("demo/cv2/results_self.csv", "en,zh,he\n0,0,0\n0,0,0\n")
	write("demo/cv2/results_specific.csv", "en,zh,he\n0,0,0\n0,0,0\n")
	for _, name := range []string{"0-en-eye-0.jpg", "0-en-eye-11.jpg", "1-he-ice-cream-2.png", "index.html",
		"1-en-dog-failure.log"} {
		write("demo/sd2/"+name, "")
	}
	return DemoOptions{Dir: dir, Concepts: filepath.Join(dir, "concepts.csv")}
}

func demoFrame(t *testing.T, source string, o DemoOptions) (*datasets.Frame, error) {
	t.Helper()
	raw := must.Get(json.Marshal(o))(t)
	return operation.EvaluatorOf(source)(context.Background(), datasets.Call{Home: t.TempDir()}, raw, nil)
}

// TestDemoScores: comparisons with themselves are corrected, failures score −1 or are blank, and the columns are those
// that were declared.
func TestDemoScores(t *testing.T) {
	o := demo(t)
	f := must.Get(demoFrame(t, "cococrola-demo-scores", o))(t)
	if f.Len() != 12 || !slices.Equal(f.Specs(), DemoScores(o).Columns()) {
		t.Fatalf("%d rows, columns %v", f.Len(), f.Specs())
	}
	for i, model := range f.Texts("model") {
		name := strings.Join([]string{model, f.Texts("language")[i], f.Texts("concept")[i]}, " ")
		want, tested := map[string][3]float64{"SD 2 en eye": {0.8, 0.8, 0.3}, "SD 2 zh eye": {0.4, 0.7, 0.4},
			"SD 2 he eye": {-1, -1, -1}, "SD 2 he dog": {0.3, 0, 0.5}, "CogView 2 zh eye": {0.64, 0, 0},
			"CogView 2 en eye": {0.35, 0, 0}}[name]
		got := [3]float64{f.Numbers("cross_consistency")[i], f.Numbers("self_consistency")[i],
			f.Numbers("inverse_distinctiveness")[i]}
		for k := range got {
			if tested && math.Abs(got[k]-want[k]) > 1e-12 {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		if failed := name == "SD 2 he eye"; failed != (f.Texts("outcome")[i] == "failed") {
			t.Errorf("%s: outcome %q", name, f.Texts("outcome")[i])
		}
	}
	o.Failures = FailuresBlank
	f = must.Get(demoFrame(t, "cococrola-demo-scores", o))(t)
	blank := 0
	for _, v := range f.Numbers("cross_consistency") {
		if math.IsNaN(v) {
			blank++
		}
	}
	must.Equal(t, blank, 1, "blank scores")
	damaged := filepath.Join(o.Dir, "demo", "sd2", "results_en.csv")
	for text, want := range map[string]string{"en,zh,he\n0,0,0\n": "has 1 rows of scores, the concept file 2 concepts",
		"en,zh,he\n0,0\n0,0,0\n": "line 2: 2 scores for 3 languages", "en,zh,he\n0,2,0\n0,0,0\n": `column zh: "2"`,
		"en,zh,he\neye,0,0,0\ncat,0,0,0\n": `line 3: the concept is "cat"`} {
		must.Do(t, os.WriteFile(damaged, []byte(text), 0o600))
		must.Fail(demoFrame(t, "cococrola-demo-scores", o))(t, want)
	}
	o.Dir = t.TempDir()
	must.Fail(demoFrame(t, "cococrola-demo-scores", o))(t, "clone the demo repository") // an empty folder
}

// TestDemoImages: images are listed by the parts of their names; other files are not.
func TestDemoImages(t *testing.T) {
	o := demo(t)
	f, err := demoFrame(t, "cococrola-demo-images", o)
	if err != nil || !slices.Equal(f.Texts("id"), []string{"sd2/0-en-eye-0.jpg", "sd2/0-en-eye-11.jpg",
		"sd2/1-he-ice-cream-2.png"}) || !slices.Equal(f.Texts("concept"), []string{"eye", "eye", "ice-cream"}) ||
		!slices.Equal(f.Texts("language"), []string{"en", "en", "he"}) || !slices.Equal(f.Numbers("number"),
		[]float64{0, 11, 2}) || f.Texts("model")[0] != "SD 2" {
		t.Errorf("%v, %v", f, err)
	}
	images := DemoImages(o)
	if err := images.Err(); err != nil || len(images.Columns()) != 6 || images.Columns()[1].Name != "image" {
		t.Errorf("%v, %v", images.Columns(), err)
	}
}
