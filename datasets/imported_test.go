package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
)

const job = "3f1b2c3d-0123-4567-89ab-cdef01234567"

// folderOf writes files by their paths; a .png that holds "" becomes an image of one color, each another.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		data := []byte(text)
		if text == "" {
			data = onePixel(t, byte(len(name)))
		}
		must.Do(t, os.WriteFile(file, data, 0o644))
	}
	return dir
}

// onePixel is a PNG file of one gray pixel.
func onePixel(t *testing.T, level byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	must.Do(t, png.Encode(&buf, &image.Gray{Pix: []byte{level}, Stride: 1, Rect: image.Rect(0, 0, 1, 1)}))
	return buf.Bytes()
}

// evaluate lists a table of [Imported] as the backend does; the cutting of grids is package engine's.
func evaluate(t *testing.T, table Table) (*Frame, error) {
	t.Helper()
	plan, err := table.Plan()
	if err != nil {
		return nil, err
	}
	if plan.Op == CutOp {
		plan = plan.Inputs[0]
	}
	var args ImportedArgs
	must.Do(t, json.Unmarshal(plan.Args, &args))
	f, err := args.Evaluate(t.Logf)
	specs := table.Columns()
	for i := range specs {
		if err == nil && specs[i].Kind == "" { // decided when the table runs
			specs[i].Kind = f.Specs()[i].Kind
		}
	}
	if err == nil && !slices.Equal(f.Specs(), specs) {
		t.Errorf("columns %v, but %v were announced", f.Specs(), table.Columns())
	}
	return f, err
}

func TestImportedNames(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"ada_A_house_in_Accra_at_dusk_" + job + ".png": "",
		"more/ada_a_घर_in__Delhi_" + job + "_3.png":    "",
		".hidden/x.png": "", "notes.txt": "no image",
	})
	f := must.Get(evaluate(t, Imported(dir, ImportOptions{Model: "midjourney-v6", Language: "en",
		Names: MidjourneyNames})))(t)
	must.EqualSlices(t, f.Texts("prompt"), []string{"A house in Accra at dusk", "a घर in Delhi"}, "prompts")
	if got := f.Numbers("variant"); len(got) != 2 || !math.IsNaN(got[0]) || got[1] != 3 {
		t.Errorf("variants %v", got)
	}
	for column, want := range map[string]string{"model": "midjourney-v6", "language": "en", "source": "generated",
		"job": job} {
		must.EqualSlices(t, f.Texts(column), []string{want, want}, column, want, "twice")
	}
	must.Equal(t, f.Texts("id")[1], "more/ada_a_घर_in__Delhi_"+job+"_3.png", "ids")
	must.Equal(t, f.Images("image")[1].Path, filepath.Join(dir, "more", "ada_a_घर_in__Delhi_"+job+"_3.png"), "images")
}

func TestImportedPaths(t *testing.T) {
	dir := folderOf(t, map[string]string{"hi/Ghana/घर--0007.png": "", "en/Peru/a house--12.png": ""})
	f := must.Get(evaluate(t, Imported(dir,
		ImportOptions{Model: "m", Names: []string{"{language}/{country}/{prompt}--{seed:number}"}})))(t)
	must.Equal(t, fmt.Sprint(f.Texts("language"), f.Texts("country"), f.Texts("prompt"), f.Numbers("seed")),
		"[en hi] [Peru Ghana] [a house घर] [12 7]")
}

func TestImportedSidecar(t *testing.T) {
	dir := folderOf(t, map[string]string{"1.png": "", "sub/\u00e922.png": "",
		"prompts.csv": "\ufefffile,prompt,language,seed,model,rating\nSub\\e\u030122.png,\"maison, la " +
			"nuit\",fr,8,craiyon,4.5\n1.png,house,en,,dalle-mini,\n"})
	f := must.Get(evaluate(t, Imported(dir, ImportOptions{Sidecar: "prompts.csv"})))(t)
	got := fmt.Sprint(f.Texts("id"), f.Texts("prompt"), f.Texts("language"), f.Texts("model"), f.Numbers("seed"),
		f.Numbers("rating"))
	must.Equal(t, got,
		"[1.png sub/\u00e922.png] [house maison, la nuit] [en fr] [dalle-mini craiyon] [NaN 8] [NaN 4.5]")
}

// TestImportedGrid: a grid is as many rows, which the stage that cuts reads.
func TestImportedGrid(t *testing.T) {
	dir := folderOf(t, map[string]string{"a.png": "", "b#1.png": ""})
	table := Imported(dir, ImportOptions{Model: "dalle-mini", Names: []string{"{prompt}"}, Grid: 3, Margin: 5,
		Gap: 2})
	f := must.Get(evaluate(t, table))(t)
	if f.Len() != 18 || f.Texts("id")[9] != "b#1.png#1" || f.Texts("grid")[17] != "b#1.png" ||
		f.Numbers("cell")[17] != 9 || f.Texts("prompt")[3] != "a" ||
		filepath.Base(f.Images("image")[8].Path) != "a.png" {
		t.Errorf("%d rows, ids %q, grids %q, cells %v", f.Len(), f.Texts("id"), f.Texts("grid"), f.Numbers("cell"))
	}
	plan := must.Get(table.Plan())(t)
	must.Equal(t, plan.Op, CutOp)
	must.Equal(t, string(plan.Args), `{"grid":3,"margin":5,"gap":2}`)
}

// TestImportedErrors: each error says what is wrong, and where.
func TestImportedErrors(t *testing.T) {
	must.Fail(Imported("s3://bucket/folder/", ImportOptions{Model: "m"}).Err())(t, "from a disk only")
	many := map[string]string{}
	for i := range 14 {
		many[fmt.Sprintf("%02d.png", i)] = ""
	}
	one := map[string]string{"1.png": ""}
	with := func(csv string) map[string]string { return map[string]string{"1.png": "", "2.png": "", "s.csv": csv} }
	for _, c := range []struct {
		name  string
		files map[string]string
		o     ImportOptions
		want  []string
	}{
		{"no model", one, ImportOptions{}, []string{"name the generator"}},
		{"no images", map[string]string{"a.txt": "x"}, ImportOptions{Model: "m"},
			[]string{"no images", "not read: 1 TXT"}},
		{"names that do not fit", many, ImportOptions{Model: "m", Names: []string{"{prompt}_{seed:number}"}},
			[]string{"14 of 14 names", `"00.png"`, `"09.png" and 4 more`, "{prompt}_{seed:number}"}},
		{"no sidecar", one, ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"s.csv", "no such file"}},
		{"no column \"file\"", with("name,prompt\n1.png,x\n"), ImportOptions{Model: "m", Sidecar: "s.csv"},
			[]string{"no column \"file\"", "prompt"}},
		{"row without image", with("file,prompt\n1.png,x\n2.png,y\n3.png,z\n"),
			ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"s.csv: 1 rows name files that are not images",
				"line 4: 3.png"}},
		{"row of elsewhere", with("file,prompt\n1.png,x\n2.png,y\n../1.png,z\n"),
			ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"line 4: ../1.png"}},
		{"image without row", with("file,prompt\n1.png,x\n"), ImportOptions{Model: "m", Sidecar: "s.csv"},
			[]string{"1 of 2 images have no row", `"2.png"`}},
		{"two rows", with("file,prompt\n1.png,x\n2.png,y\n./1.png,z\n"), ImportOptions{Model: "m", Sidecar: "s.csv"},
			[]string{"line 4", "also in line 2"}},
		{"not UTF-8", with("file,prompt\n1.png,caf\xe9\n2.png,x\n"), ImportOptions{Model: "m", Sidecar: "s.csv"},
			[]string{`s.csv, line 2, column "prompt": not UTF-8 (as Latin-1 the cell is "café"); save the table as UTF-8`}},
		{"short row", with("file,prompt\n1.png\n"), ImportOptions{Model: "m", Sidecar: "s.csv"},
			[]string{"s.csv", "s.csv, line 2: 1 instead of 2 cells"}},
		{"seed", with("file,seed\n1.png,x\n2.png,1\n"), ImportOptions{Model: "m", Sidecar: "s.csv"},
			[]string{"1.png", "seed", `"x" is not a number`}},
		{"own column", with("file,id\n1.png,x\n"), ImportOptions{Model: "m", Sidecar: "s.csv"},
			[]string{`"id"`, "is set by the import"}},
		{"model twice", with("file,model\n1.png,x\n"), ImportOptions{Model: "m", Sidecar: "s.csv"},
			[]string{"model", `"m"`}},
		{"prompt twice", with("file,prompt\n1.png,x\n"),
			ImportOptions{Model: "m", Sidecar: "s.csv", Names: []string{"{prompt}"}},
			[]string{`"prompt" is in both`}},
		{"unknown kind", one, ImportOptions{Model: "m", Names: []string{"{prompt:word}"}}, []string{"{prompt:word}"}},
		{"no column", one, ImportOptions{Model: "m", Names: []string{"{*}"}}, []string{`"{*}"`, "no column"}},
		{"brace", one, ImportOptions{Model: "m", Names: []string{"{prompt}_{seed"}}, []string{"brace"}},
		{"column twice", one, ImportOptions{Model: "m", Names: []string{"{a}-{a}"}}, []string{"{a} occurs twice"}},
		{"kinds", one, ImportOptions{Model: "m", Names: []string{"{a}-{b}", "{a:number}"}},
			[]string{`"a" is a number`}},
		{"seed as text", one, ImportOptions{Model: "m", Names: []string{"{seed}"}},
			[]string{"seed cannot contain text values"}},
		{"margin without grid", one, ImportOptions{Model: "m", Margin: 3},
			[]string{"margin and gap need a grid"}},
		{"negative grid", one, ImportOptions{Model: "m", Grid: -1}, []string{"Grid is -1"}},
	} {
		must.Fail(evaluate(t, Imported(folderOf(t, c.files), c.o)))(t, c.want...)
	}
	must.Fail(Imported(filepath.Join(t.TempDir(), "none"), ImportOptions{Model: "m"}).Err())(t,
		"cannot read the folder")
}

// TestImportedSidecarChanged: the plan holds the sidecar's columns; another head is an error.
func TestImportedSidecarChanged(t *testing.T) {
	dir := folderOf(t, map[string]string{"1.png": "", "s.csv": "file,prompt\n1.png,x\n"})
	table := Imported(dir, ImportOptions{Model: "m", Sidecar: "s.csv"})
	must.Do(t, os.WriteFile(filepath.Join(dir, "s.csv"), []byte("file,caption\n1.png,x\n"), 0o644))
	must.Fail(evaluate(t, table))(t, "changed")
}

// TestImportedLinks: a link that leaves the folder is not followed.
func TestImportedLinks(t *testing.T) {
	outside := folderOf(t, map[string]string{"secret.png": ""})
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(outside, "secret.png"), filepath.Join(dir, "a.png")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	must.Fail(evaluate(t, Imported(dir, ImportOptions{Model: "m"})))(t, `1 of 1 images`, `"a.png"; copy`)
}

// TestImportedHostileNames: whatever a name holds is text, in values and, quoted, in messages; a name that is no
// UTF-8 is an error.
func TestImportedHostileNames(t *testing.T) {
	hostile := "=cmd|' \x1b[31m\n<script>,\"; rm -rf .."
	dir := folderOf(t, map[string]string{hostile + "_7.png": "", "..png": "", "a_b_8.png": ""})
	names := []string{"{prompt:words}_{seed:number}"}
	f := must.Get(evaluate(t, Imported(dir, ImportOptions{Model: "m", Names: names})))(t)
	want := strings.Join(strings.Fields(hostile), " ") // words
	must.EqualSlices(t, f.Texts("prompt"), []string{want, "a b"})
	must.Equal(t, f.Texts("id")[0], hostile+"_7.png")
	_, err := evaluate(t, Imported(dir, ImportOptions{Model: "m", Names: []string{"{seed:number}"}}))
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") ||
		!strings.Contains(err.Error(), `\x1b[31m\n<script>`) {
		t.Errorf("%q", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "\xff\xfe_1.png"), onePixel(t, 1), 0o644); err != nil {
		t.Skip("the file system refuses such a name: ", err)
	}
	must.Fail(evaluate(t, Imported(dir, ImportOptions{Model: "m", Names: names})))(t,
		`are not UTF-8: "\xff\xfe_1.png"; rename`)
}
