package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const job = "3f1b2c3d-0123-4567-89ab-cdef01234567"

// folderOf writes files by their paths; a .png that holds "" becomes a picture of one colour, each another.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		data := []byte(text)
		if text == "" {
			data = gridFile(t, 1, 1, 0, 0, byte(len(name)))
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// gridFile is a grid of pictures of side × side pixels; picture k (from 0) is grey of level first + k, the rest is white.
func gridFile(t *testing.T, grid, side, margin, gap int, first byte) []byte {
	t.Helper()
	size := 2*margin + grid*side + (grid-1)*gap
	img := image.NewGray(image.Rect(0, 0, size, size))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for k := range grid * grid {
		x0, y0 := margin+k%grid*(side+gap), margin+k/grid*(side+gap)
		for y := range side {
			for x := range side {
				img.SetGray(x0+x, y0+y, color.Gray{Y: first + byte(k)})
			}
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// evaluate runs a table of [Imported] as the backend does.
func evaluate(t *testing.T, table Table, home string) (*Frame, error) {
	t.Helper()
	plan, err := table.Plan()
	if err != nil {
		return nil, err
	}
	f, err := FindSource(plan.Op)(t.Context(), json.RawMessage(plan.Args), SourceEnv{Home: home, Note: t.Logf})
	if err == nil && !slices.Equal(f.Specs(), table.Columns()) {
		t.Errorf("columns %v, but %v were announced", f.Specs(), table.Columns())
	}
	return f, err
}

func TestImportedNames(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"ada_A_house_in_Accra_at_dusk_" + job + ".png": "",
		"more/ada_a_घर_in__Delhi_" + job + "_3.png":    "",
		".hidden/x.png": "", "notes.txt": "no picture",
	})
	f, err := evaluate(t, Imported(dir, ImportOptions{Model: "midjourney-v6", Language: "en", Names: MidjourneyNames}), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Texts("prompt"); !slices.Equal(got, []string{"A house in Accra at dusk", "a घर in Delhi"}) {
		t.Errorf("prompts %q", got)
	}
	if got := f.Numbers("variant"); len(got) != 2 || !math.IsNaN(got[0]) || got[1] != 3 {
		t.Errorf("variants %v", got)
	}
	for column, want := range map[string]string{"model": "midjourney-v6", "language": "en", "source": "generated", "job": job} {
		if got := f.Texts(column); !slices.Equal(got, []string{want, want}) {
			t.Errorf("%s is %q, want %q twice", column, got, want)
		}
	}
	if got := f.Texts("id"); got[1] != "more/ada_a_घर_in__Delhi_"+job+"_3.png" {
		t.Errorf("ids %q", got)
	}
	images := f.Images("image")
	if images[0].SHA256 == images[1].SHA256 || len(images[0].SHA256) != 64 || !strings.HasPrefix(images[0].Path, dir) {
		t.Errorf("images %v", images)
	}
}

func TestImportedPaths(t *testing.T) {
	dir := folderOf(t, map[string]string{"hi/Ghana/घर--7.png": "", "en/Peru/a house--12.png": ""})
	f, err := evaluate(t, Imported(dir, ImportOptions{Model: "m", Names: []string{"{language}/{country}/{prompt}--{seed:number}"}}), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(f.Texts("language"), f.Texts("country"), f.Texts("prompt"), f.Numbers("seed")); got != "[en hi] [Peru Ghana] [a house घर] [12 7]" {
		t.Error(got)
	}
}

func TestImportedSidecar(t *testing.T) {
	dir := folderOf(t, map[string]string{"1.png": "", "sub/22.png": "",
		"prompts.csv": "\ufefffile,prompt,language,seed,model,rating\nsub\\22.png,\"maison, la nuit\",fr,8,craiyon,4.5\n1.png,house,en,,dalle-mini,\n"})
	f, err := evaluate(t, Imported(dir, ImportOptions{Sidecar: "prompts.csv"}), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(f.Texts("id"), f.Texts("prompt"), f.Texts("language"), f.Texts("model"), f.Numbers("seed"), f.Numbers("rating"))
	if got != "[1.png sub/22.png] [house maison, la nuit] [en fr] [dalle-mini craiyon] [NaN 8] [NaN 4.5]" {
		t.Error(got)
	}
}

func TestImportedGrid(t *testing.T) {
	home := t.TempDir()
	dir := folderOf(t, map[string]string{"a.png": string(gridFile(t, 3, 4, 5, 2, 10)), "b.png": string(gridFile(t, 3, 4, 5, 2, 100))})
	table := Imported(dir, ImportOptions{Model: "dalle-mini", Names: []string{"{prompt}"}, Grid: 3, Margin: 5, Gap: 2})
	f, err := evaluate(t, table, home)
	if err != nil {
		t.Fatal(err)
	}
	if f.Len() != 18 || f.Texts("id")[9] != "b.png#1" || f.Texts("grid")[17] != "b.png" || f.Numbers("cell")[17] != 9 || f.Texts("prompt")[3] != "a" {
		t.Errorf("%d rows, ids %q, grids %q, cells %v", f.Len(), f.Texts("id"), f.Texts("grid"), f.Numbers("cell"))
	}
	for i, picture := range f.Images("image") {
		want := uint8([]int{10, 100}[i/9] + i%9)
		data, err := os.ReadFile(picture.Path)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []image.Point{{}, {X: 3}, {Y: 3}, {X: 3, Y: 3}} {
			if r, _, _, _ := img.At(at.X, at.Y).RGBA(); uint8(r) != want || img.Bounds().Max != image.Pt(4, 4) {
				t.Errorf("picture %d has %d at %v in %v, want %d", i, uint8(r), at, img.Bounds(), want)
			}
		}
		if filepath.Base(picture.Path) != picture.SHA256+".png" || !strings.HasPrefix(picture.Path, filepath.Join(home, "blobs")) {
			t.Errorf("picture %d lies at %s", i, picture.Path)
		}
	}

	// Cut again, nothing is written; where a picture is gone, it comes back.
	first, last := f.Images("image")[0].Path, f.Images("image")[17].Path
	past := modified(t, last)
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	again, err := evaluate(t, table, home)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Images("image"), f.Images("image")) || modified(t, last) != past {
		t.Error("other pictures the second time")
	}
	modified(t, first)
}

// modified is when a file was written.
func modified(t *testing.T, file string) string {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().String()
}

// TestImportedErrors: each error says what is wrong, and where.
func TestImportedErrors(t *testing.T) {
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
		{"no pictures", map[string]string{"a.txt": "x"}, ImportOptions{Model: "m"}, []string{"no pictures"}},
		{"names that do not fit", many, ImportOptions{Model: "m", Names: []string{"{prompt}_{seed:number}"}}, []string{"14 of 14 names", `"00.png"`, `"09.png" and 4 more`, "{prompt}_{seed:number}"}},
		{"no sidecar", one, ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"s.csv", "no such file"}},
		{"no column file", with("name,prompt\n1.png,x\n"), ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"no column file", "prompt"}},
		{"row without picture", with("file,prompt\n1.png,x\n2.png,y\n3.png,z\n"), ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"s.csv: 1 rows name no picture", "line 4: 3.png"}},
		{"row of elsewhere", with("file,prompt\n1.png,x\n2.png,y\n../1.png,z\n"), ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"line 4: ../1.png"}},
		{"picture without row", with("file,prompt\n1.png,x\n"), ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"1 of 2 pictures have no row", `"2.png"`}},
		{"two rows", with("file,prompt\n1.png,x\n2.png,y\n./1.png,z\n"), ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"line 4", "line 2 already"}},
		{"short row", with("file,prompt\n1.png\n"), ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"s.csv", "wrong number of fields"}},
		{"seed", with("file,seed\n1.png,x\n2.png,1\n"), ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"1.png", "seed", `"x" is no number`}},
		{"own column", with("file,id\n1.png,x\n"), ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{`"id"`, "fills itself"}},
		{"model twice", with("file,model\n1.png,x\n"), ImportOptions{Model: "m", Sidecar: "s.csv"}, []string{"model", `"m"`}},
		{"prompt twice", with("file,prompt\n1.png,x\n"), ImportOptions{Model: "m", Sidecar: "s.csv", Names: []string{"{prompt}"}}, []string{`"prompt" stands in both`}},
		{"unknown kind", one, ImportOptions{Model: "m", Names: []string{"{prompt:word}"}}, []string{"{prompt:word}"}},
		{"no column", one, ImportOptions{Model: "m", Names: []string{"{*}"}}, []string{`"{*}"`, "no column"}},
		{"brace", one, ImportOptions{Model: "m", Names: []string{"{prompt}_{seed"}}, []string{"brace"}},
		{"column twice", one, ImportOptions{Model: "m", Names: []string{"{a}-{a}"}}, []string{"{a} stands twice"}},
		{"kinds", one, ImportOptions{Model: "m", Names: []string{"{a}-{b}", "{a:number}"}}, []string{`"a" is a number`}},
		{"seed as text", one, ImportOptions{Model: "m", Names: []string{"{seed}"}}, []string{"seed holds no text values"}},
		{"margin without grid", one, ImportOptions{Model: "m", Margin: 3}, []string{"Margin"}},
		{"negative grid", one, ImportOptions{Model: "m", Grid: -1}, []string{"a grid of -1"}},
		{"no grid", one, ImportOptions{Model: "m", Grid: 3}, []string{"1.png", "1×1 pixels are no grid of 3 × 3"}},
		{"no picture to cut", map[string]string{"1.png": "text"}, ImportOptions{Model: "m", Grid: 3}, []string{"1.png", "not a picture"}},
		{"damaged", map[string]string{"1.png": "\x89PNG\r\n\x1a\nxx"}, ImportOptions{Model: "m", Grid: 3}, []string{"1.png", "not a readable picture"}},
	} {
		_, err := evaluate(t, Imported(folderOf(t, c.files), c.o), t.TempDir())
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.name, err, want)
			}
		}
	}
	if err := Imported(filepath.Join(t.TempDir(), "none"), ImportOptions{Model: "m"}).Err(); err == nil || !strings.Contains(err.Error(), "cannot read the folder") {
		t.Error(err)
	}
}

// TestImportedSidecarChanged: the plan holds the sidecar's columns; another head is an error.
func TestImportedSidecarChanged(t *testing.T) {
	dir := folderOf(t, map[string]string{"1.png": "", "s.csv": "file,prompt\n1.png,x\n"})
	table := Imported(dir, ImportOptions{Model: "m", Sidecar: "s.csv"})
	if err := os.WriteFile(filepath.Join(dir, "s.csv"), []byte("file,caption\n1.png,x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := evaluate(t, table, t.TempDir()); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Error(err)
	}
}

// TestImportedLinks: a link that leaves the folder is not followed.
func TestImportedLinks(t *testing.T) {
	outside := folderOf(t, map[string]string{"secret.png": ""})
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(outside, "secret.png"), filepath.Join(dir, "a.png")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if f, err := evaluate(t, Imported(dir, ImportOptions{Model: "m"}), t.TempDir()); err == nil {
		t.Errorf("%v", f.Columns)
	}
}
