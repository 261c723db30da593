package datasets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
)

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func TestCSVKnowsItsColumns(t *testing.T) {
	tab := CSV(file(t, "t.csv",
		"\xef\xbb\xbfid,image,mask,region,seed,score,full,note\na,a.png,,n,1,0.5,\"[1,2]\",7x\nb,b.png,,s,2,,,8\n"))
	must.Do(t, tab.Err())
	var got []string
	for _, c := range tab.Columns() {
		got = append(got, c.Name+":"+string(c.Kind))
	}
	must.Equal(t, strings.Join(got, " "), "id:text image:image mask:mask region:text seed:number score: full: note:",
		got)
}

func TestTablesInErrorStaySilentUntilTheyRun(t *testing.T) {
	for _, c := range map[string]struct {
		tab  Table
		want string
	}{
		"no file":    {CSV("none.csv"), "none.csv"},
		"empty":      {CSV(file(t, "e.csv", "")), "needs a header line"},
		"twice":      {CSV(file(t, "d.csv", "id,id\n")), `two columns are called "id"`},
		"no folder":  {Folder("none"), "none"},
		"file":       {Folder(file(t, "f.csv", "x")), "not a folder"},
		"zero":       {Table{}, "zero datasets.Table"},
		"zero later": {Table{}.Head(1), "zero datasets.Table"},
		"column":     {FromRows([]map[string]any{{"id": "a"}}).Sort("nope").Head(1), `no such column: "nope"`},
		"value":      {FromRows([]map[string]any{{"id": "a"}}).Where("id", "==", true), "use a string"},
		"rows":       {FromRows([]map[string]any{{"id": "a"}, {"id": 3}}), "row 2"},
		"kind": {FromRows([]map[string]any{{"v": []float32{1}}}).Concat(FromRows([]map[string]any{{"v": 3}})),
			"in one table"},
		"save": {FromRows([]map[string]any{{"id": []string{"a"}}}), "[]string"},
	} {
		must.Fail(c.tab.Rows(context.Background()))(t, c.want)
	}
	// saved to an unknown format
	must.Fail(FromRows([]map[string]any{{"id": "a"}}).SaveE(context.Background(), "x.xlsx"))(t)
}

func TestTablesAreImmutable(t *testing.T) {
	base := FromRows([]map[string]any{{"id": "a", "region": "n"}})
	before := fmt.Sprint(base.Columns())
	base.With("model", "m")
	base.Select("id")
	base.Concat(FromRows([]map[string]any{{"id": "b", "x": 1}}))
	must.Equal(t, fmt.Sprint(base.Columns()), before, "a verb changed its table")
	a := must.Get(base.With("x", 1).Plan())(t)
	b, _ := base.With("x", 1).Plan()
	c, _ := base.With("x", 2).Plan()
	if a.Digest() != b.Digest() || a.Digest() == c.Digest() {
		t.Error("equal plans must have equal digests, and only they")
	}
}

func TestFromFrameNeedsNoBackend(t *testing.T) {
	f := &Frame{Columns: []Column{table.TextColumn("id", []string{"a", "b"})}}
	must.Equal(t, must.Get(FromFrame(f).Rows(context.Background()))(t), f)
}

func TestFormat(t *testing.T) {
	f := &Frame{Columns: []Column{table.TextColumn("region", []string{"north", "s\nouth"}),
		table.NumberColumn("n", []float64{1, 20})}}
	want := "region   n\nnorth    1\ns outh  20\n"
	must.Equal(t, Format(f, 0), want)
	if got := Format(f, 1); !strings.Contains(got, "1 more row") {
		t.Errorf("%q", got)
	}
}
