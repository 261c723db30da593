package visage

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"antipode/datasets/manifest"
	"antipode/internal/must"
)

func read(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join("testdata", name)))(t))
}

func TestReadAnnotations(t *testing.T) {
	rows, report := must.Get2(readAnnotations("annotations.csv", []byte(read(t, "annotations.csv"))))(t)
	want := []Annotation{
		{2, "A0", "batch_one", "Veltan", 1, "tall hat", true, Box{10.5, 20.5, 110, 220}},
		{3, "A0", "batch_one", "Veltan", 1, "प्रसन्न", false, Box{}},
		{4, "A0", "batch_one", "Veltan", 1, NoneOfTheAbove, false, Box{}},
		{5, "A0", "batch_one", "Veltan", 2, "tall hat", true, Box{0, 400, 500, 512}}, // corners in any order, clamped
		{7, "A1", "batch_two", "মেঘ দ্বীপ", 12, "সবুজ", false, Box{}},
		{8, "A1", "batch_two", "جزيرة الريح", 3, "هادئ", true, Box{3, 0, 100, 4}},
		{9, "A1", "", "New Veltan ", 10, NoneOfTheAbove, false, Box{}},
	}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("got  %+v\nwant %+v", rows, want)
	}
	if report.Rows != 7 || report.Dropped != 1 || report.Why == "" {
		t.Errorf("%+v", report)
	}
}

func TestBadAnnotations(t *testing.T) {
	good := read(t, "annotations.csv")
	for _, c := range []struct{ name, from, to, want string }{
		{"no column", "worker_id", "worker", `no column "worker_id"`},
		{"present", "no,[],সবুজ", "maybe,[],সবুজ", `line 7, column present: "maybe" is neither yes nor no`},
		{"box of one corner", "'10.5,20.5', '110,220'", "'10.5,20.5'", "line 2, column coords"},
		{"box that is no number", "10.5", "ten", `line 2, column coords: "ten" is not a number`},
		{"box that is no list", "\"['1e2,0', '3,4']\"", "100", "line 8, column coords"},
		{"image", "batch_two/মেঘ দ্বীপ12.png", "batch_two/cloud.png", "line 7, column img_path"},
		{"no attribute", "no,[],সবুজ", "no,[],", "line 7, column attribute: the attribute is missing"},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		if text == good {
			t.Fatalf("%s: the fixture does not hold %q", c.name, c.from)
		}
		must.Fail(readAnnotations("a.csv", []byte(text)))(t, c.want, "a.csv")
	}
}

func TestReadRatings(t *testing.T) {
	rows, report, err := readRatings("ratings.csv", []byte(read(t, "ratings.csv")))
	want := []Rating{{"tall hat", 5, 4, 4}, {"प्रसन्न", 4, 2, 4}, {"هادئ", 1, 2, 3}, {"tall hat", 4, 4, 4}}
	if err != nil || !reflect.DeepEqual(rows, want) || report.Twice != 1 {
		t.Errorf("%+v, %+v, %v", rows, report, err)
	}
	bad := strings.Replace(read(t, "ratings.csv"), "Agree,4,Disagree,2", "Agree,6,Disagree,2", 1)
	must.Fail(readRatings("r.csv", []byte(bad)))(t, "r.csv, line 3, column score_asia")
}

// workbook makes an .xlsx file of one sheet: strings shared or inline, numbers, a formula's text, gaps.
func workbook(t *testing.T, sheet string, parts map[string]string) []byte {
	t.Helper()
	all := map[string]string{
		"xl/workbook.xml":            `<workbook xmlns="m" xmlns:r="rel"><sheets><sheet name="other" r:id="r1"/><sheet name="` + sheet + `" r:id="r2"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="r1" Target="worksheets/o.xml"/><Relationship Id="r2" Target="worksheets/s.xml"/></Relationships>`,
		"xl/sharedStrings.xml":       `<sst><si><t>worker_id</t></si><si><t>img_path</t></si><si><r><t>मे</t></r><r><t>घ &amp; co</t></r></si></sst>`,
		"xl/worksheets/s.xml": `<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c><c r="AB1"/></row>` +
			`<row r="2"><c r="A2" t="inlineStr"><is><t>A7QX9PLM2K</t></is></c><c r="B2"><v>5.0</v></c><c r="C2" t="str"><v>/x/y/batch/Veltan1.png</v></c></row>` +
			`<row r="3"><c r="A3" t="s"><v>2</v></c></row><row r="4"><c r="A4" s="1"/></row></sheetData></worksheet>`,
	}
	for name, text := range parts {
		all[name] = text
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range all {
		if text == "" {
			continue
		}
		w := must.Get(z.Create(name))(t)
		_ = must.Get(w.Write([]byte(text)))(t)
	}
	must.Do(t, z.Close())
	return b.Bytes()
}

func TestReadWorkbook(t *testing.T) {
	rows := must.Get(readWorkbook("w.xlsx", workbook(t, "data", nil), "data"))(t)
	if len(rows) != 4 || len(rows[0]) != 28 || rows[0][0] != "worker_id" || rows[0][1] != "" ||
		rows[0][2] != "img_path" ||
		!reflect.DeepEqual(rows[1], []string{"A7QX9PLM2K", "5", "/x/y/batch/Veltan1.png"}) ||
		rows[2][0] != "मेघ & co" || rows[3][0] != "" {
		t.Errorf("%q", rows)
	}
	for _, c := range []struct {
		name  string
		data  []byte
		sheet string
		want  string
	}{
		{"no archive", []byte("worker_id,img_path\n"), "data", "not a workbook"},
		{"no sheet", workbook(t, "data", nil), "missing", `no sheet "missing" (there are: other, data)`},
		{"no part", workbook(t, "data", map[string]string{"xl/worksheets/s.xml": ""}), "data", "xl/worksheets/s.xml"},
		{"broken XML", workbook(t, "data", map[string]string{"xl/worksheets/s.xml": "<worksheet><row><c r='A1'>"}),
			"data", "xl/worksheets/s.xml"},
		{"bad string", workbook(t, "data", map[string]string{"xl/sharedStrings.xml": "<sst/>"}), "data",
			"A1: no shared string"},
		{"bad reference", workbook(t, "data",
			map[string]string{"xl/worksheets/s.xml": "<worksheet><row><c r='ZZZZZZZZ1'><v>1</v></c></row>" +
				"</worksheet>"}), "data", "bad cell reference"},
	} {
		must.Fail(readWorkbook("w.xlsx", c.data, c.sheet))(t, c.want, "w.xlsx")
	}
}

func TestNormalize(t *testing.T) {
	out := must.Get(normalize("workbook", map[string][]byte{workbookFile: workbook(t, "full_set_annotations", nil)}))(t)
	// The crowd platform's id becomes a label, the storage prefix goes, empty rows go.
	want := "worker_id,,img_path\nw00001,5,batch/Veltan1.png\nw00002,,\n"
	must.Equal(t, string(out[workbookFile]), want)
	csv := []byte("worker_id,img_path\nA12,/a/b/c/d1.png\nAXYZ1234567,c/d2.png\nAXYZ1234567,e3.png\n")
	out = must.Get(normalize("current", map[string][]byte{currentFile: csv}))(t)
	must.Equal(t, string(out[currentFile]), "worker_id,img_path\nA12,c/d1.png\nw00001,c/d2.png\nw00001,e3.png\n")
}

// TestVersions: the current file comes first; where only the workbook is there, the report says that it was
// withdrawn.
func TestVersions(t *testing.T) {
	must.Fail(loadAnnotations(fstest.MapFS{}, AnyVersion))(t, "antipode data pull visage")
	must.Fail(loadAnnotations(fstest.MapFS{}, "newest"))(t, CurrentVersion)
	other := []byte(read(t, "annotations.csv"))
	var wrong *manifest.HashError
	if _, _, err := loadAnnotations(fstest.MapFS{currentFile: {Data: other}}, AnyVersion); !errors.As(err, &wrong) ||
		!strings.Contains(err.Error(), "0bd78729ec3029168ec8542e4309d7aaadc50d30") {
		t.Errorf("%v", err)
	}
	sum := fmt.Sprintf("%x", sha(other))
	both := fstest.MapFS{currentFile: {Data: other}, currentFile + ".sha256": {Data: []byte(sum)},
		workbookFile: {Data: []byte("damaged")}}
	if rows, report, err := loadAnnotations(both, AnyVersion); err != nil || len(rows) != 7 || report.Withdrawn ||
		report.Used.Path != currentFile || strings.Contains(report.Remark(), "withdrew") {
		t.Errorf("%v, %v", report, err)
	}
	if _, _, err := loadAnnotations(both, WorkbookOnly); !errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
}

func TestPrintedTables(t *testing.T) {
	rows := PrintedTables()
	tables, seen, na := map[int]int{}, map[string]bool{}, 0
	for _, r := range rows {
		tables[r.Table]++
		seen[r.Identity] = true
		if r.ThetaText == "N/A" {
			na++
		}
	}
	if len(rows) != 105 || tables[1] != 51 || tables[2] != 54 || len(seen) != 105 || na != 20 {
		t.Errorf("%d rows %v, %d identities, %d N/A", len(rows), tables, len(seen), na)
	}
}
