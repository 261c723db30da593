//go:build checks

package lesson

import (
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/kernel/jupyter/notebook"
	"antipode/test/testnotebook"
)

// TestNotebook runs every solution with the built command. Before each exercise the same cell runs twice, without an
// answer and with a wrong one, which must print so and a hint; the right one must print "right".
func TestNotebook(t *testing.T) {
	command := testnotebook.Open(t, "tour") // the built command, in a temporary folder
	for _, path := range solutions(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			nb := must.Get(notebook.Read(path))(t)
			var cells []*notebook.Cell
			for _, c := range nb.Cells {
				if m := checked.FindStringSubmatch(c.Source); m != nil {
					right, wrong := answer.FindStringSubmatch(c.Source)[2], "nowhere"
					if _, err := number(right); err == nil {
						wrong = "-17"
					}
					for _, choice := range exercises[m[1]].choices {
						if choice != right {
							wrong = choice
						}
					}
					for kind, value := range map[string]string{"blank": "", "wrong": wrong} {
						cells = append(cells, &notebook.Cell{Type: c.Type, ID: kind + m[1],
							Source: answer.ReplaceAllString(c.Source, `$1"`+value+`"`)})
					}
				}
				cells = append(cells, c)
			}
			nb.Cells = cells
			cmd := command.Command("run", "--in-place", "lesson.ipynb")
			must.Do(t, nb.Save(filepath.Join(cmd.Dir, "lesson.ipynb")))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			done := must.Get(notebook.Read(filepath.Join(cmd.Dir, "lesson.ipynb")))(t)
			for i, c := range done.Cells {
				want := ": right"
				switch {
				case strings.HasPrefix(c.ID, "blank"):
					want = ": not answered yet"
				case strings.HasPrefix(c.ID, "wrong"):
					want = ": not yet. "
				}
				outputs(t, path, &notebook.Notebook{Cells: done.Cells[i : i+1]}, want)
			}
		})
	}
}
