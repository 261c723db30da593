package dollarstreet

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/datasets/operation"
	"antipode/internal/must"
)

func index(t *testing.T, o Options) (*datasets.Frame, error) {
	t.Helper()
	raw := must.Get(json.Marshal(o))(t)
	f, err := operation.EvaluatorOf("dollarstreet-index")(t.Context(),
		datasets.Call{Home: t.TempDir(), Note: t.Logf}, raw, nil)
	if err == nil {
		must.Do(t, f.Check())
	}
	return f, err
}

func TestArchive(t *testing.T) {
	f := must.Get(index(t, Options{Dir: "testdata/dollarstreet"}))(t)
	for column, want := range map[string][]string{
		"id":      {"h1", "h2/cups", "h2/children's toys", "h3"},
		"path":    {"assets/5d4b/one.jpg", "assets/5d4b/two.jpg", "assets/5d4b/two.jpg", "assets/5d4c/three.jpeg"},
		"object":  {"stove/hob", "cups", "children's toys", "arm watch"},
		"region":  {"Asia", "Africa", "Africa", "Americas"},
		"country": {"Nepal", "Malawi", "Malawi", "Colombia"},
	} {
		must.EqualSlices(t, f.Texts(column), want, column)
	}
	if got := f.Numbers("income"); got[0] != 120.5 || got[1] != 60 || got[2] != 60 || !math.IsNaN(got[3]) {
		t.Errorf("incomes %v", got)
	}
	var names []string
	for _, c := range Photos(Options{Dir: "testdata/dollarstreet"}).Columns() {
		names = append(names, c.Name+":"+string(c.Kind))
	}
	must.Equal(t, strings.Join(names, " "),
		"id:text image:image object:text region:text country:text outcome:text reason:text income:number")
}

// The folder as the archive has it, a level down, and the two lists in place of the whole one.
func TestVariants(t *testing.T) {
	dir := t.TempDir()
	down := filepath.Join(dir, "dataset_dollarstreet")
	must.Do(t, os.CopyFS(down, os.DirFS("testdata/dollarstreet")))
	f, err := index(t, Options{Dir: dir})
	if err != nil || f.Texts("path")[0] != "dataset_dollarstreet/assets/5d4b/one.jpg" {
		t.Fatalf("%v, %v", f, err)
	}
	must.Do(t, os.Remove(filepath.Join(down, "images_v2.csv")))
	must.Do(t, os.WriteFile(filepath.Join(down, "images_v2_imagenet_train.csv"),
		[]byte("imageRelPath,topics,region.id\nassets/5d4b/one.jpg,\"[\"\"Bed\"\"]\",eu\n"), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(down, "images_v2_imagenet_test.csv"),
		[]byte("imageRelPath,topics,region.id\nassets/5d4b/two.jpg,[],eu\nassets/5d4c/three.jpeg,\"['Roof', "+
			"'Wall']\",eu\n"), 0o644))
	f = must.Get(index(t, Options{Dir: dir}))(t)
	must.EqualSlices(t, f.Texts("object"), []string{"bed", "roof", "wall"})
	must.Equal(t, f.Texts("id")[2], "assets/5d4c/three.jpeg/wall")
	must.Equal(t, f.Texts("country")[0], "")
}

func TestDamagedArchives(t *testing.T) {
	data, err := os.ReadFile("testdata/dollarstreet/images_v2.csv")
	must.Do(t, err)
	for name, c := range map[string]struct {
		old, new string
		want     []string
	}{
		"wrong column": {"region.id", "region", []string{`images_v2.csv, line 1: no column "region.id"`}},
		"unknown region": {"np,as", "np,oc", []string{"images_v2.csv, line 2, column region.id", `"oc"`,
			"af (Africa)"}},
		"income": {"120.5", "much", []string{"images_v2.csv, line 2, column income",
			`"much" is not a number`}},
		"list": {"['Stove/hob']", "['Stove/hob", []string{"images_v2.csv, line 2, column topics",
			"is not a list"}},
		"empty topic": {"['Stove/hob']", "['']", []string{"line 2, column topics", "empty"}},
		"parent": {"assets/5d4b/one.jpg", "../one.jpg",
			[]string{"line 2, column imageRelPath", "leaves the archive's folder"}},
		"same id twice": {"h3,", "h1,", []string{"images_v2.csv, line 4", `"h1"`, "images_v2.csv, line 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ds")
			must.Do(t, os.CopyFS(dir, os.DirFS("testdata/dollarstreet")))
			text := strings.Replace(string(data), c.old, c.new, 1)
			if text == string(data) {
				t.Fatalf("%q is not in the index", c.old)
			}
			must.Do(t, os.WriteFile(filepath.Join(dir, "images_v2.csv"), []byte(text), 0o644))
			must.Fail(index(t, Options{Dir: dir}))(t, append(c.want, "dollarstreet: ")...)
		})
	}
	must.Fail(index(t, Options{Dir: t.TempDir()}))(t, Page) // an empty folder
}

func TestLists(t *testing.T) {
	for text, want := range map[string][]string{"Bed": {"Bed"}, "[]": nil, "[ ]": nil, `['a', "b's"]`: {"a", "b's"},
		`['it\'s',"\"x\""]`: {"it's", `"x"`}, `["Caf\u00e9"]`: {"Café"}, `['Caf\xe9']`: {"Café"}} {
		must.EqualSlices(t, must.Get(list(text))(t), want, text)
	}
	for _, text := range []string{"['a'", "['a' 'b']", "['a',]", "[a]", `['a\`, "["} {
		must.Fail(list(text))(t)
	}
}

func TestFoundByName(t *testing.T) {
	t.Setenv("ANTIPODE_DATA", "testdata")
	if table, known := manifest.Table(Name); !known || table.Err() != nil {
		t.Errorf("%v, %v", known, table.Err())
	}
}

// A row whose image is missing has an outcome.
func TestMissingImages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ds")
	must.Do(t, os.CopyFS(dir, os.DirFS("testdata/dollarstreet")))
	must.Do(t, os.Remove(filepath.Join(dir, "assets", "5d4b", "two.jpg")))
	f := must.Get(index(t, Options{Dir: dir}))(t)
	must.EqualSlices(t, f.Texts("outcome"), []string{"ok", "failed", "failed", "ok"})
	must.Equal(t, f.Texts("reason")[1], "the image assets/5d4b/two.jpg is missing in the archive's folder")
	must.Equal(t, f.Numbers("income")[1], 60)
}
