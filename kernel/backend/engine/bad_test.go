package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
)

// looked stands for the stage that decodes images: a file that begins with "bad" cannot be.
type looked struct{ counted }

func (looked) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns(stage.Pixels + ":number")
}

func (looked) Compute(_ context.Context, in [][]byte) ([][]table.Value, error) {
	out := make([][]table.Value, len(in))
	for i := range out {
		out[i] = []table.Value{{Number: 1}}
	}
	return out, nil
}

func init() { register(stage.Decodable, func(c counted) stage.Worker[[]byte] { return looked{c} }) }

// A table of six rows, of which four are bad in four ways, gives the two good ones and the list of the four; read
// as it is, it stays an error.
func TestGoodAndBad(t *testing.T) {
	e := newEngine(t)
	dir, tab := images(t, 6)
	must.Write(t, filepath.Join(dir, "img", "1.png"), "bad bytes")
	must.Do(t, os.Remove(filepath.Join(dir, "img", "2.png")))
	text := strings.NewReplacer("i4,", "i0,", "i5,", ",").Replace(string(must.Get(os.ReadFile(tab))(t)))
	must.Write(t, tab, text)
	photos := datasets.CSV(tab)

	res := must.Get(run1(t, e, photos.Good(), client.Request{}))(t)
	must.Equal(t, strings.Join(res.Frame.Texts("id"), " "), "i0 i3", "good rows")
	must.Equal(t, len(res.Frame.Columns), 3)
	must.Equal(t, len(res.Bad), 4)
	bad := allRows(t, e, photos.Bad())
	want := map[string]string{"i2": "missing", "i0": "row 1 already", "(row 6)": "id is empty", "i1": "not an image"}
	if bad.Len() != len(want) {
		t.Fatalf("%d bad rows, want %d: %v", bad.Len(), len(want), bad.Texts("reason"))
	}
	for i, id := range bad.Texts("id") {
		if reason := bad.Texts("reason")[i]; want[id] == "" || !strings.Contains(reason, want[id]) {
			t.Errorf("bad row %q: %q, want %q", id, reason, want[id])
		}
	}
	list := must.Get(run1(t, e, photos.Bad(), client.Request{Save: filepath.Join(t.TempDir(), "bad.csv")}))(t)
	must.Equal(t, len(must.Get(e.Store.Record(list.Record))(t).Inputs), 0, "digests of inputs, which have bad rows")
	must.Fail(run1(t, e, photos, client.Request{}))(t) // the table as it is runs despite its bad rows
	// a bad row that is not in Good is no longer an error
	must.Fail(run1(t, e, photos.Good().Concat(photos.Head(0)), client.Request{}))(t)
	// both go on as tables: with stages, and into files
	f := allRows(t, e, counts(photos.Good()))
	must.True(t, f.Len() == 2 && f.Vectors("full")[1] != nil, "a stage on the good rows gives %d rows", f.Len())
	for _, tab := range []datasets.Table{photos.Good(), photos.Bad()} {
		must.Get(run1(t, e, tab, client.Request{Save: filepath.Join(t.TempDir(), "out.csv")}))(t)
	}
}

func TestRename(t *testing.T) {
	e := newEngine(t)
	_, tab := images(t, 2)
	f := allRows(t, e, datasets.CSV(tab).Rename("region", "country").Where("country", "==", "south"))
	if !f.Has("country") || f.Has("region") || f.Len() != 1 {
		t.Errorf("columns %s, %d rows", table.NameList(f.Specs()), f.Len())
	}
	must.Fail(datasets.CSV(tab).Rename("region", "id").Err())(t)         // a name that is taken
	must.Fail(datasets.CSV(tab).Rename("continent", "country").Err())(t) // a missing column is renamed
}

func TestRemovePrefix(t *testing.T) {
	e := newEngine(t)
	rows := datasets.FromRows([]map[string]any{{"id": "1", "said": "the crest is  round"},
		{"id": "2", "said": "a drum"}, {"id": "3", "said": ""}})
	must.EqualSlices(t, allRows(t, e, rows.RemovePrefix("said", "the crest is")).Texts("said"), []string{"round",
		"a drum", ""}, "left")
	must.Fail(rows.RemovePrefix("heard", "the").Err())(t) // a missing column is cut
}

// The column that groups is text, whatever its values look like; in a folder it is named after the folders' meaning.
func TestImages(t *testing.T) {
	e := newEngine(t)
	dir := t.TempDir()
	for _, name := range []string{"1990/a.png", "2000/b.png", "2000/deep/c.png"} {
		must.Write(t, filepath.Join(dir, name), name)
	}
	tab := must.Write(t, filepath.Join(dir, "t.csv"), "id,image,year,size\na,1990/a.png,1990,3\nb,2000/b.png,2000,4\n")
	for path, want := range map[string]string{dir: "1990 1 2000 2", tab: "1990 1 2000 1"} {
		f := allRows(t, e, datasets.Images(path, datasets.ImagesOptions{By: "year"}).Count("year"))
		var got []string
		for i, y := range f.Texts("year") {
			got = append(got, y, f.Columns[1].Cell(i))
		}
		must.Equal(t, strings.Join(got, " "), want, path, "by year")
	}
	if f := allRows(t, e, datasets.Images(tab, datasets.ImagesOptions{By: "year"})); f.Numbers("size") == nil {
		t.Error("a column that does not group is no number column any more")
	}
	for _, path := range []string{"", filepath.Join(dir, "none"), must.Write(t, filepath.Join(dir, "t.txt"), "x")} {
		must.True(t, datasets.Images(path).Err() != nil, "images of %q", path)
	}
	must.Fail(datasets.Images(tab, datasets.ImagesOptions{By: "region"}).Err())(t, "region") // a missing column
}
