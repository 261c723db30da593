package all

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/operation"
)

// Every package of metrics that registers a metric is linked into the backend: a plan would else end with "no metric".
func TestMetricsAreLinked(t *testing.T) {
	source, err := os.ReadFile("all.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../metrics/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(filepath.ToSlash(filepath.Dir(file)))
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), "metrics.Define(") &&
			!strings.Contains(string(source), `"antipode/metrics/`+name+`"`) {
			t.Errorf("%s registers metrics; import antipode/metrics/%s", file, name)
		}
	}
	for _, name := range []string{"permutation-test", "adjust-p", "effect-size", "clustered-mean"} {
		if operation.Find(name) == nil {
			t.Error(name)
		}
	}
}
