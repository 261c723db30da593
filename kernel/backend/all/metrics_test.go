package all

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/operation"
	"antipode/internal/must"
)

// Every package of metrics that registers a metric is linked into the backend: a plan would else end with "no metric".
func TestMetricsAreLinked(t *testing.T) {
	source := must.Get(os.ReadFile("all.go"))(t)
	files, err := filepath.Glob("../../../metrics/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		name := path.Base(filepath.ToSlash(filepath.Dir(file)))
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), "metrics.Define(") &&
			!strings.Contains(string(source), `"antipode/metrics/`+name+`"`) {
			t.Errorf("%s registers metrics; import antipode/metrics/%s", file, name)
		}
	}
	for _, name := range []string{"permutation-test", "adjust-p", "effect-size", "clustered-mean"} {
		must.True(t, operation.Find(name) != nil, "%v", name)
	}
}
