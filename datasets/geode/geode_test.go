package geode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/digin"
	"antipode/datasets/manifest"
	"antipode/datasets/manifest/pull"
	"antipode/datasets/operation"
	"antipode/internal/must"
)

// index runs the source under [Photos].
func index(t *testing.T, o Options) (*datasets.Frame, string, error) {
	t.Helper()
	raw := must.Get(json.Marshal(o))(t)
	var note string
	f, err := operation.EvaluatorOf("geode-index")(t.Context(), datasets.Call{Home: t.TempDir(),
		Note: func(format string, args ...any) { note = fmt.Sprintf(format, args...) }}, raw, nil)
	if err == nil {
		must.Do(t, f.Check())
	}
	return f, note, err
}

// mine returns a copy of the test archive that a test may change.
func mine(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "geode")
	must.Do(t, os.CopyFS(dir, os.DirFS("testdata/geode")))
	return dir
}

func TestArchive(t *testing.T) {
	f, _ := must.Get2(index(t, Options{Dir: "testdata/geode"}))(t)
	for column, want := range map[string][]string{
		"path": {"images/Africa_Egypt_Egypt_bag_1.jpg",
			"images/Africa_South_Africa_South_Africa_plate_of_food_2.jpg",
			"images/SouthEastAsia_Indonesia_Indonesia_bag_3.jpg",
			"images/SouthEastAsia_Thailand_Thailand_plate_of_food_4.jpg"},
		"object":  {"bag", "plate of food", "bag", "plate of food"},
		"region":  {"Africa", "Africa", "SouthEastAsia", "SouthEastAsia"},
		"country": {"Egypt", "South Africa", "Indonesia", "Thailand"},
	} {
		must.EqualSlices(t, f.Texts(column), want, column)
	}
	must.Equal(t, f.Texts("id")[0], "Africa_Egypt_Egypt_bag_1.jpg", "id")
}

// The regions' archives are next to each other; one of them has paths relative to its index, and none has countries.
func TestRegionalArchives(t *testing.T) {
	f, _ := must.Get2(index(t, Options{Dir: "testdata/regional"}))(t)
	must.EqualSlices(t, f.Texts("path"), []string{"geode_africa/images/Africa_Egypt_Egypt_bag_1.jpg",
		"geode_europe/images/Europe_Italy_Italy_bag_5.jpg"}, "paths")
	must.EqualSlices(t, f.Texts("country"), []string{"", ""}, "countries")
}

func TestPhotosIsATableToSample(t *testing.T) {
	photos := Photos(Options{Dir: "testdata/geode"})
	var names []string
	for _, c := range photos.Columns() {
		names = append(names, c.Name+":"+string(c.Kind))
	}
	must.Equal(t, strings.Join(names, " "),
		"id:text image:image object:text region:text country:text outcome:text reason:text")
	must.Do(t, photos.Where("object", "in", digin.Objects27()).Sample(1, "object,region", 42).Err())
	t.Setenv("ANTIPODE_DATA", "testdata")
	byName, known := manifest.Table(Name)
	if !known || byName.Err() != nil {
		t.Fatalf("%v %v", known, byName.Err())
	}
	a, _ := byName.Plan()
	must.Equal(t, a.Digest(), must.Get(photos.Plan())(t).Digest(), "the table found by its name is another one")
}

func TestNotThere(t *testing.T) {
	t.Setenv("ANTIPODE_DATA", "")
	t.Setenv("ANTIPODE_MODULE", "")
	t.Setenv("ANTIPODE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	for _, o := range []Options{{}, {Dir: "nowhere"}} {
		must.Fail(Photos(o).Rows(context.Background()))(t, Page, "index.csv next to the folder images")
	}
	if m, err := manifest.Get(Name); err != nil || !strings.Contains(m.Warning, Page) || m.Files[0].Optional == "" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestDamagedArchives(t *testing.T) {
	const bag = "Africa_Egypt_Egypt_bag_1.jpg"
	outside := filepath.Join(t.TempDir(), "outside.jpg")
	must.Do(t, os.WriteFile(outside, []byte("x"), 0o644))
	replace := func(old, new string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, "index.csv")
			data, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(data, []byte(old)) {
				t.Fatalf("%q is not in the index: %v", old, err)
			}
			must.Do(t, os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(new), 1), 0o644))
		}
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   []string
	}{
		"no index": {func(t *testing.T, dir string) { must.Do(t, os.Remove(filepath.Join(dir, "index.csv"))) },
			[]string{"no index in", Page, "unpack"}},
		"empty index": {func(t *testing.T,
			dir string) {
			must.Do(t, os.WriteFile(filepath.Join(dir, "index.csv"), nil, 0o644))
		},
			[]string{"index.csv is empty", "file_path"}},
		"no rows": {func(t *testing.T, dir string) {
			must.Do(t, os.WriteFile(filepath.Join(dir, "index.csv"), []byte("file_path,object,region\n"), 0o644))
		}, []string{"none of the images in"}},
		"wrong column": {replace("file_path", "path"), []string{`index.csv, line 1: no column "file_path"`,
			"there are:"}},
		"unknown region": {replace("bag,Africa", "bag,Atlantis"),
			[]string{"index.csv, line 2, column region", `"Atlantis"`, "Africa, Americas"}},
		"empty object": {replace("bag,Africa", ",Africa"), []string{"index.csv, line 2, column object", "empty"}},
		"empty path":   {replace(bag, ""), []string{"line 2, column file_path", "empty"}},
		"parent": {replace(bag, "../"+bag),
			[]string{"line 2, column file_path", "leaves the archive's folder"}},
		"parent inside": {replace(bag, "x/../../"+bag), []string{"leaves the archive's folder"}},
		"absolute":      {replace(bag, "/"+bag), []string{"leaves the archive's folder"}},
		"backslash":     {replace(bag, `..\`+bag), []string{"leaves the archive's folder"}},
		"not an image":  {replace(bag, "notes.txt"), []string{`"notes.txt" is not an image`, ".jpg"}},
		"same id twice": {replace("SouthEastAsia_Indonesia_Indonesia_bag_3.jpg", bag),
			[]string{"index.csv, line 4", bag, "index.csv, line 2"}},
		"a link that leaves": {func(t *testing.T, dir string) {
			must.Do(t, os.Remove(filepath.Join(dir, "images", bag)))
			must.Do(t, os.Symlink(outside, filepath.Join(dir, "images", bag)))
		}, []string{"line 2, column file_path", "link"}},
		"a link to a folder": {func(t *testing.T, dir string) {
			must.Do(t, os.Rename(filepath.Join(dir, "images"), filepath.Join(dir, "photos")))
			must.Do(t, os.Symlink("photos", filepath.Join(dir, "images")))
		}, []string{"line 2, column file_path", "behind the link images"}},
		"a folder": {func(t *testing.T, dir string) {
			must.Do(t, os.Remove(filepath.Join(dir, "images", bag)))
			must.Do(t, os.Mkdir(filepath.Join(dir, "images", bag), 0o755))
		}, []string{"is not a file"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := mine(t)
			c.damage(t, dir)
			must.Fail(index(t, Options{Dir: dir}))(t, append(c.want, "geode: ")...)
		})
	}
}

// A row whose image is missing has an outcome, or is left out; an archive without photos is an error.
func TestMissingImages(t *testing.T) {
	dir := mine(t)
	must.Do(t, os.Remove(filepath.Join(dir, "images", "Africa_Egypt_Egypt_bag_1.jpg")))
	all, note, err := index(t, Options{Dir: dir})
	if err != nil || !strings.Contains(note, "1 rows have no image and the outcome failed") {
		t.Fatalf("%v, note %q", err, note)
	}
	must.EqualSlices(t, all.Texts("outcome"), []string{"failed", "ok", "ok", "ok"}, "outcomes")
	must.Equal(t, all.Texts("reason")[0], "the image Africa_Egypt_Egypt_bag_1.jpg is missing in the archive's folder")
	must.Equal(t, all.Texts("reason")[1], "")
	must.Equal(t, all.Texts("region")[0], "Africa")
	f, note, err := index(t, Options{Dir: dir, Present: true})
	if err != nil || f.Len() != 3 || !strings.Contains(note, "left out") {
		t.Errorf("%v, %v, note %q", f, err, note)
	}
	must.Do(t, os.RemoveAll(filepath.Join(dir, "images")))
	for _, present := range []bool{true, false} {
		// an archive without photos
		must.Fail(index(t, Options{Dir: dir, Present: present}))(t, "none of the images in")
	}
}

// Nothing is downloaded: a pull reports where to get the archive.
func TestPullSkips(t *testing.T) {
	err := pull.DataSet(context.Background(), Name,
		pull.Options{Dest: t.TempDir(), Progress: func(s pull.Step) {
			if s.State != "skipped" || s.File == "index.csv" && !strings.Contains(s.Note, Page) {
				t.Errorf("%+v", s)
			}
		}})
	if err != nil {
		t.Error(err)
	}
}
