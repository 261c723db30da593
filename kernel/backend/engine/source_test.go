package engine

import (
	"os"
	"path/filepath"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
)

// TestFilesAreReadWhenNeeded evaluates tables of which one row has no file: only those that need it fail.
func TestFilesAreReadWhenNeeded(t *testing.T) {
	e := newEngine(t)
	dir, name := images(t, 6)
	must.Do(t, os.Remove(filepath.Join(dir, "img", "4.png")))
	all := datasets.CSV(name)
	right := datasets.CSV(must.Write(t, filepath.Join(dir, "right.csv"),
		"region,image\nnorth,img/0.png\nsouth,img/4.png\n"))
	for title, c := range map[string]struct {
		table datasets.Table
		rows  int // −1 = the missing file is an error
	}{
		"all":            {all, -1},
		"head":           {all.Head(4), 4},
		"other rows":     {all.Where("id", "!=", "i4").Sort("region"), 5},
		"that row":       {all.Where("id", "==", "i4"), -1},
		"no image":       {all.Select("id", "region"), 6},
		"with an image":  {all.Where("image", "present", "").Select("id"), -1},
		"a joined table": {all.Head(2).Join(right.Select("region", "image").Rename("image", "image2"), "region"), -1},
		"twice":          {all.Head(3).Concat(all.Head(3).With("id", "x").Head(1)), 4},
		"good":           {all.Good(), 5},
		"bad":            {all.Bad(), 1},
	} {
		for _, save := range []string{"", filepath.Join(t.TempDir(), "out.csv")} {
			res, err := run1(t, e, c.table, client.Request{Save: save})
			switch {
			case c.rows < 0:
				must.Err(t, err, "the file img/4.png is missing")
			case err != nil:
				t.Errorf("%s, saved to %q: %v", title, save, err)
			case res.Rows != c.rows:
				t.Errorf("%s, saved to %q: %d rows, want %d", title, save, res.Rows, c.rows)
			}
		}
	}
	res := must.Get(run1(t, e, all, client.Request{SkipBad: true}))(t)
	must.True(t, res.Rows == 5 && len(res.Bad) == 1 && res.Bad[0].ID == "i4" && res.Bad[0].Row == 5,
		"%d rows, bad %+v", res.Rows, res.Bad)
}
