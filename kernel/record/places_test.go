package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"antipode/internal/must"
)

// TestPlaces: a folder is replaced where it is a path, also as JSON has it, and not within another path.
func TestPlaces(t *testing.T) {
	dir := filepath.Join(must.Get(filepath.EvalSymlinks(t.TempDir()))(t), "R&D")
	other := filepath.Join(t.TempDir(), "a&b")
	for _, d := range []string{dir, other, dir + " 2"} {
		must.Do(t, os.MkdirAll(d, 0o700))
	}
	must.Write(t, dir+" 2/x.csv", "x")
	journal := must.Get(json.Marshal([]string{dir + "/x.csv", other, dir + " 2/x.csv"}))(t)
	p := must.Get(placesOf(filepath.Join(dir, "n.ipynb"), t.TempDir(), journal))(t)
	must.Equal(t, p.hide(dir+"/x.csv:"+dir+" /mnt"+dir+"/a "+dir+"-2"),
		"notebook:/x.csv:notebook: /mnt"+dir+"/a "+dir+"-2")
	must.Equal(t, p.hide(string(journal)), `["notebook:/x.csv","files:a\u0026b","files:R\u0026D 2/x.csv"]`)
}
