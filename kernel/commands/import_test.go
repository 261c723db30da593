package commands

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/internal/must"
	"antipode/kernel/backend/plugin"
	"antipode/test/testengine"
)

// inProcess makes commands evaluate their plans in a store of the test's own. It gives a function that runs one, and
// what that printed.
func inProcess(t *testing.T) func(args ...string) (string, error) {
	t.Helper()
	t.Setenv(plugin.Env, "none") // nothing to compile: faster for few small images
	testengine.Engine(t)
	return func(args ...string) (string, error) {
		t.Helper()
		r, w, err := os.Pipe()
		must.Do(t, err)
		stdout := os.Stdout
		os.Stdout = w
		printed := make(chan string)
		go func() {
			text, _ := io.ReadAll(r)
			printed <- string(text)
		}()
		err = dispatch(t.Context(), args)
		os.Stdout = stdout
		w.Close()
		return <-printed, err
	}
}

// pngOf returns a PNG of side × side gray pixels, each of a different level.
func pngOf(t *testing.T, side int) string {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, side, side))
	for i := range img.Pix {
		img.SetGray(i%side, i/side, color.Gray{Y: byte(i)})
	}
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, img))
	return b.String()
}

// folderOf writes files by their paths below a new folder.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Write(t, file, text)
	}
	return dir
}

func TestImportMidjourney(t *testing.T) {
	run := inProcess(t)
	const job = "_3f1b2c3d-0123-4567-89ab-cdef01234567"
	dir := folderOf(t, map[string]string{"ada_a_house_in_Accra" + job + "_2.png": pngOf(t, 3), "more/ada_a_घर" +
		job + ".webp.png": pngOf(t, 4), "more/ada_a_घर" + job + ".png": pngOf(t, 5)})
	out := filepath.Join(dir, "t.csv")
	args := []string{"import", "--dir", dir, "--model", "midjourney-v6", "--language", "en", "--midjourney", "--out",
		out}
	must.Fail(run(args...))(t, "1 of 3 names", job+`.webp.png"`)
	must.Do(t, os.Remove(filepath.Join(dir, "more", "ada_a_घर"+job+".webp.png")))
	if printed, err := run(args...); err != nil || !strings.Contains(printed, "t.csv: 2 rows") ||
		strings.Contains(printed, "--root") {
		t.Fatalf("%q, %v", printed, err)
	}
	got := must.Get(os.ReadFile(out))(t)
	name := "ada_a_house_in_Accra" + job + "_2.png"
	second := "more/ada_a_घर" + job + ".png"
	want := "id,image,source,prompt,job,variant,model,language\n" + name + "," + name +
		",generated,a house in Accra," + job[1:] + ",2,midjourney-v6,en\n" +
		second + "," + second + ",generated,a घर," + job[1:] + ",,midjourney-v6,en\n"
	must.True(t, string(got) == want, "got\n%s, want\n%s", got, want)
}

// TestImportGrid: the table and its images can be moved, and read without the folder; a second time nothing is cut.
func TestImportGrid(t *testing.T) {
	run := inProcess(t)
	dir := folderOf(t, map[string]string{"a.png": pngOf(t, 3*5+2*2+2*1), "b.png": pngOf(t, 3*7+2*2+2*1),
		"s.csv": "file,prompt,language,seed\na.png,\"a house, at dusk\",en,3\nb.png,घर,hi,\n"})
	out := filepath.Join(t.TempDir(), "t.parquet")
	args := []string{"import", "--dir", dir, "--model", "dalle-mini", "--sidecar", "s.csv", "--grid", "3", "--margin",
		"2", "--gap", "1", "--out", out}
	printed, err := run(args...)
	if err != nil || !strings.Contains(printed, "18 rows, 36 items computed, 0 found") ||
		strings.Contains(printed, "--root") {
		t.Fatalf("%q, %v", printed, err)
	}
	prints(run(args...))(t, "18 rows, 0 items computed, 36 found")
	moved := filepath.Join(t.TempDir(), "there")
	must.Do(t, os.Rename(filepath.Dir(out), moved))
	must.Do(t, os.RemoveAll(dir))
	f := must.Get(datasets.Parquet(filepath.Join(moved, "t.parquet")).Rows(t.Context()))(t)
	if f.Len() != 18 || f.Texts("prompt")[9] != "घर" || f.Texts("language")[0] != "en" || f.Numbers("seed")[0] != 3 ||
		f.Texts("id")[17] != "b.png#9" || f.Texts("grid")[17] != "b.png" {
		t.Errorf("%d rows: %q", f.Len(), f.Texts("id"))
	}
	file := must.Get(os.Open(f.Images("image")[17].Path))(t)
	defer file.Close()
	c, err := png.DecodeConfig(file)
	must.True(t, err == nil && c.Width == 7 && c.Height == 7, "%+v, %v", c, err)
}

// TestImportBad: each error says what is wrong and where, in one line; where a row is bad, --skip-bad leaves it out.
func TestImportBad(t *testing.T) {
	whole := pngOf(t, 9)
	cut := whole[:len(whole)/2]
	with := func(files map[string]string, more ...string) map[string]string {
		for i := 0; i+1 < len(more); i += 2 {
			files[more[i]] = more[i+1]
		}
		return files
	}
	folderWith := func(more ...string) map[string]string {
		return with(map[string]string{"a_1.png": whole, "b_2.png": whole}, more...)
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		args  string
		want  string
		rows  string // with --skip-bad; "" = an error then too
	}{
		{"no images", map[string]string{"x.txt": "x"}, "--model m", "no images", ""},
		{"no model", folderWith(), "", "name the generator", ""},
		{"names", folderWith("\x1b[31mc.png", whole), "--model m --names {prompt}_{seed:number}", `1 of 3 names`, ""},
		{"pattern", folderWith(), "--model m --names {prompt", "brace", ""},
		{"truncated", folderWith("c_3.png", cut), "--model m --names {prompt}_{seed:number}",
			`1 images cannot be used: "c_3.png" (c_3.png: not a readable PNG`, "2 rows"},
		{"truncated, hostile", folderWith("\x1b[31m\n=c.png", cut), "--model m", `"\x1b[31m\n=c.png" (` +
			`\x1b[31m =c.png: not`, "2 rows"},
		{"empty", folderWith("c_3.png", ""), "--model m", "the file is empty", "2 rows"},
		{"does not divide", folderWith("c.png", pngOf(t, 10)), "--model m --grid 3",
			`9 images cannot be used: "c.png#1" (c.png: 10×10 pixels are no grid of 3 × 3`, "18 rows"},
		{"margin", folderWith(), "--model m --margin 3", "need a grid", ""},
		{"leaves the folder", folderWith("s.csv", "file,prompt\na_1.png,x\nb_2.png,y\n../c.png,z\n"),
			"--model m --sidecar s.csv", "line 4: ../c.png", ""},
		{"duplicates", folderWith("s.csv", "file,prompt\na_1.png,x\nb_2.png,y\n./a_1.png,z\n"),
			"--model m --sidecar s.csv", `"a_1.png" is also in line 2`, ""},
		{"no such sidecar", folderWith(), "--model m --sidecar none.csv", "none.csv", ""},
	} {
		run, dir := inProcess(t), folderOf(t, c.files)
		out := filepath.Join(dir, "out.csv")
		args := append([]string{"import", "--dir", dir, "--out", out}, strings.Fields(c.args)...)
		_, err := run(args...)
		if err == nil || !strings.Contains(oneLine(err), c.want) || strings.ContainsAny(oneLine(err), "\x1b\n") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a table was written", c.name)
		}
		printed, err := run(append(args, "--skip-bad")...)
		if (err == nil) != (c.rows != "") || !strings.Contains(printed, c.rows) || strings.Contains(printed, "\x1b") ||
			c.rows != "" && !strings.Contains(printed, "left out: row ") {
			t.Errorf("%s with --skip-bad: %q, %v", c.name, printed, err)
		}
	}
	run := inProcess(t)
	for _, args := range []string{"", "--dir x", "--out x.csv", "--dir x --out x.txt", "--dir x --out x.csv more",
		"--dir x --out x.csv --grid y"} {
		misused(run(append([]string{"import"}, strings.Fields(args)...)...))(t)
	}
}

// TestImportElsewhere: images that stay outside the table's folder are told of, and can be read with --root.
func TestImportElsewhere(t *testing.T) {
	run, dir := inProcess(t),
		folderOf(t, map[string]string{"a.png": pngOf(t, 3), "prompts.csv": "file,prompt\na.png,x\n"})
	t.Chdir(dir)
	out := filepath.Join(t.TempDir(), "t.parquet")
	prints(run("import", "--dir", ".", "--model", "m", "--sidecar", "prompts.csv", "--out", out))(t,
		"pass --root . to commands that read")
	if f, err := datasets.Parquet(out).Rows(t.Context()); err == nil {
		t.Errorf("read without a root: %v", f.Images("image"))
	}
	f, err := datasets.Parquet(out, datasets.FileOptions{Root: dir}).Rows(t.Context())
	must.True(t, err == nil && f.Len() == 1 && filepath.Base(f.Images("image")[0].Path) == "a.png", "%v", err)
}

// prints returns a function that ends the test unless a command succeeded and printed the texts.
func prints(printed string, err error) func(t *testing.T, texts ...string) string {
	return func(t *testing.T, texts ...string) string {
		t.Helper()
		for _, text := range append(texts, "") {
			if err != nil || !strings.Contains(printed, text) {
				t.Fatalf("printed %q, %v, want %q", printed, err, text)
			}
		}
		return printed
	}
}

// misused returns a function that reports a failure unless the error is of usage, has the texts and no secret.
func misused(_ string, err error) func(t *testing.T, texts ...string) {
	return func(t *testing.T, texts ...string) {
		t.Helper()
		must.Err(t, err, texts...)
		if !errors.As(err, new(usageError)) || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%v, want an error of usage without the secret", err)
		}
	}
}
