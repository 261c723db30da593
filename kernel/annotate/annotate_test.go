package annotate

import (
	"path/filepath"
	"testing"
)

// maxPage is the size of the largest page, in bytes.
const maxPage = 3_000_000

// TestTasks fills in the pages of each task with a rater who sees what the images show.
func TestTasks(t *testing.T) {
	for task, trial := range trials(evaluator(t)) {
		t.Run(task, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "study")
			trial.o.Task, trial.o.Seed = task, 3
			made, err := Make(trial.in, dir, trial.o)
			if err != nil {
				t.Fatal(err)
			}
			if made.Largest > maxPage || made.Pages == 0 {
				t.Errorf("%+v", made)
			}
			t.Logf("%+v", made)
			newRater(t, trial).fill(t, dir)
			c, err := Collect(dir, CollectOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(c.Notes)
			trial.check(t, c)
		})
	}
}
