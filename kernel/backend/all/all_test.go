package all

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// Every package of metrics that registers scores is linked: what is not can be neither a notebook's nor a command's.
func TestEveryMetricIsLinked(t *testing.T) {
	source := must.Get(os.ReadFile("all.go"))(t)
	files, err := filepath.Glob("../../../metrics/*/register.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no package that registers scores was found (%v)", err)
	}
	for _, f := range files {
		if name := "metrics/" + filepath.Base(filepath.Dir(f)); !strings.Contains(string(source), name+`"`) {
			t.Errorf("%s is not imported", name)
		}
	}
}
