package lesson

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/kernel/jupyter/notebook"
)

var update = flag.Bool("update", false, "write the lessons again, from their solutions")

const folder = "../../notebooks/lessons"

// answer finds an answer or a prediction in the source of a cell, checked the exercise that it calls Check for.
var (
	answer  = regexp.MustCompile(`(?m)^(var (?:answer|prediction)\w+ = )"(.*)"`)
	checked = regexp.MustCompile(`lesson\.Check\("(\w+)"`)
)

// solutions returns the paths of the solutions.
func solutions(t *testing.T) []string {
	paths := must.Get(filepath.Glob(filepath.Join(folder, "*_solution.ipynb")))(t)
	must.Equal(t, len(paths), 5, "solutions")
	return paths
}

// TestLessons compares the lessons with their solutions: they are the same without the answers, the predictions, the
// cells tagged "solution" and the outputs. In the committed solutions every answer is right.
func TestLessons(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range solutions(t) {
		solution := must.Get(notebook.Read(path))(t)
		for _, name := range outputs(t, path, solution, ": right") {
			if seen[name] {
				t.Errorf("exercise %s is in two lessons", name)
			}
			seen[name] = true
		}
		lesson := &notebook.Notebook{Metadata: solution.Metadata, Minor: solution.Minor}
		for _, c := range solution.Cells {
			if !c.Tagged("solution") {
				lesson.Cells = append(lesson.Cells, &notebook.Cell{Type: c.Type, ID: c.ID, Metadata: c.Metadata,
					Source: answer.ReplaceAllString(c.Source, `$1""`)})
			}
		}
		path = strings.Replace(path, "_solution", "", 1)
		if *update {
			must.Do(t, lesson.Save(path))
		}
		must.Equal(t, string(must.Get(notebook.Read(path))(t).Encode()), string(lesson.Encode()), path,
			"differs from its solution: run go test ./datasets/lesson -update")
	}
	for name := range exercises {
		if !seen[name] {
			t.Errorf("no lesson has exercise %s", name)
		}
	}
}

// outputs returns the exercises of a notebook; the output of each must have its name and then want.
func outputs(t *testing.T, path string, nb *notebook.Notebook, want string) (names []string) {
	for _, c := range nb.Cells {
		for _, m := range checked.FindAllStringSubmatch(c.Source, -1) {
			names = append(names, m[1])
			if got := printed(c); !strings.Contains(got, m[1]+want) {
				t.Errorf("%s: exercise %s prints %q, without %q", path, m[1], got, want)
			}
		}
	}
	return names
}

func printed(c *notebook.Cell) (text string) {
	for _, o := range c.Outputs {
		plain, _ := o.Data["text/plain"].(string)
		text += o.Text + plain + "\n"
	}
	return text
}

// TestVerdict checks answers in all forms, mistakes and what is not an answer.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		exercise, answer string
		want             any
		slips            []any
		prefix           string
	}{
		{"1a", "", 0.75, nil, "1a: not answered yet"},
		{"1a", " 3/4 ", 0.75, nil, "1a: right"},
		{"1a", "75 %", 0.75, nil, "1a: right"},
		{"1a", "0,75", 0.75, nil, "1a: right"},
		{"2a", "23", 23, nil, "2a: right"},
		{"1a", "0.5", 0.75, []any{0.5}, "1a: not yet. " + exercises["1a"].slips[0]},
		{"1a", "0.6", 0.75, []any{0.5}, "1a: not yet. " + exercises["1a"].hint},
		{"1a", "many", 0.75, nil, "1a: write a number"},
		{"1a", "3/0", 0.75, nil, "1a: write a number"},
		{"1a", "NaN", 0.75, nil, "1a: write a number"},
		{"1d", "Coverage", nil, nil, "1d: right"},
		{"1d", "recall", nil, nil, "1d: write one of: precision, coverage, both, neither."},
		{"2c", "Zeroprob , white", "white,zeroprob", nil, "2c: right"},
		{"2c", "zeroprob", "white,zeroprob", []any{"zeroprob"}, "2c: not yet. " + exercises["2c"].slips[0]},
		{"4c", "no disparity", nil, nil, "4c: not yet. " + exercises["4c"].slips[0]},
	} {
		got, err := verdict(c.exercise, c.answer, c.want, c.slips...)
		if err != nil || !strings.HasPrefix(got, c.prefix) {
			t.Errorf("%s, %q: %q, %v; want %q", c.exercise, c.answer, got, err, c.prefix)
		}
	}
	must.Fail(verdict("9z", "1", 1))(t) // an unknown exercise
}

// TestHints: every exercise has a hint, and no hint names the answer of its exercise.
func TestHints(t *testing.T) {
	for name, e := range exercises {
		if len(e.hint) < 20 {
			t.Errorf("%s has no hint", name)
		}
		for i, s := range e.slips {
			if i < len(e.choices) && (e.choices[i] == e.right) != (s == "") {
				t.Errorf("%s: hint %q of the choice %q", name, s, e.choices[i])
			}
		}
	}
	for _, path := range solutions(t) {
		for _, c := range must.Get(notebook.Read(path))(t).Cells {
			a, m := answer.FindStringSubmatch(c.Source), checked.FindStringSubmatch(c.Source)
			if a == nil || m == nil {
				continue
			}
			e := exercises[m[1]]
			for _, hint := range append(e.slips, e.hint) {
				if _, err := number(a[2]); err == nil && strings.Contains(hint, a[2]+" ") {
					t.Errorf("%s: %q gives the answer %q away", m[1], hint, a[2])
				}
			}
		}
	}
}

// TestPoints: N and Scenes are respected, and a seed is a sample.
func TestPoints(t *testing.T) {
	o := PointsOptions{N: 300, Seed: 1, Scenes: 1, Shift: 10}
	f := must.Get(Points("set", o).Rows(t.Context()))(t)
	mean := 0.0
	for _, x := range f.Numbers("x") {
		mean += x / 300
	}
	if f.Len() != 300 || mean < 11.8 || mean > 12.2 {
		t.Errorf("%d points around x = %g; want 300 around 12", f.Len(), mean)
	}
	must.Equal(t, fmt.Sprint(must.Get(Points("set", o).Rows(t.Context()))(t)), fmt.Sprint(f),
		"the same seed has other points")
	must.Fail(Points("set", PointsOptions{N: 1, Scenes: 4}).Err())(t) // four scenes are
}
