package commands

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"antipode/internal/must"
)

// TestCompare: the exit statuses, by metric and by a chain of operations, and the images that changed most.
func TestCompare(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	write := func(name string, south float64) {
		text := "id,region,score\n"
		for i := range 80 {
			region, shift := "north", 0.0
			if i%2 == 1 {
				region, shift = "south", south
			}
			text += fmt.Sprintf("%d,%s,%.4f\n", i, region, math.Sin(float64(i))+shift)
		}
		must.Do(t, os.WriteFile(name, []byte(text), 0o644))
	}
	write("a.csv", 0)
	write("worse.csv", -0.4)
	write("better.csv", 0.4)
	mean := "--metric clustered-mean --value score --by region --better higher --margin 0.1"
	for args, want := range map[string]struct {
		status  int
		printed string
	}{
		"--b better.csv " + mean:                             {0, "0 of 2 scores got worse beyond the margin, 0 und"},
		"--b worse.csv " + mean:                              {3, "south    value  regression"},
		"--b worse.csv --on region --strict " + mean:         {3, "south    value  undecided"},
		"--b worse.csv --on region " + mean:                  {0, "2 undecided"},
		"--b worse.csv --on score " + mean:                   {0, "south    value  undecided"}, // independent
		"--b worse.csv --better higher":                      {2, ""},
		"--b worse.csv --metric clustered-mean --value wide": {1, ""},
		"--b worse.csv --metric nose":                        {2, ""},
		mean:                                                 {2, ""},
	} {
		printed, err := run(append(strings.Fields("compare --a a.csv"), strings.Fields(args)...)...)
		var exit exitError
		status := 0
		switch {
		case errors.As(err, &exit):
			status = exit.status
		case errors.As(err, new(usageError)):
			status = 2
		case err != nil:
			status = 1
		}
		must.True(t, status == want.status && strings.Contains(printed, want.printed),
			"%s: status %d, %v\n%s", args, status, err, printed)
	}
	chain := []string{"compare", "--a", "a.csv", "--b", "worse.csv", "--better", "higher", "--audit",
		"clustered-mean value=score by=region", "--out", "changes.csv"}
	if _, err := run(chain...); err == nil || !strings.HasPrefix(string(must.Get(os.ReadFile("changes.csv"))(t)),
		"subject,score,verdict,change") {
		t.Errorf("a chain: %v", err)
	}
}

// TestWorkflow: the commands of the example of a workflow are read as they are meant, up to their first file.
func TestWorkflow(t *testing.T) {
	run := inProcess(t)
	text := string(must.Get(os.ReadFile("../../docs/examples/compare.yml"))(t))
	t.Chdir(t.TempDir())
	n := 0
	for line := range strings.Lines(text) {
		if args, ok := strings.CutPrefix(strings.TrimSpace(line), "antipode "); ok {
			n++
			if _, err := run(strings.Fields(args)...); err == nil || errors.As(err, new(usageError)) ||
				!strings.Contains(err.Error(), "cannot read the table") {
				t.Errorf("%s: %v", args, err)
			}
		}
	}
	must.Equal(t, n, 4, "commands")
}
