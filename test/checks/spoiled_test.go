//go:build checks

package checks

import (
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/test/testbackend"
)

// spoiled are rows that embed cannot use, each with what its one line must name.
var spoiled = []struct {
	row   string
	words []string
}{
	{"cut,cut.jpg,good.mask.png", []string{`id "cut"`, "cut.jpg"}},
	{"empty,empty.png,", []string{`id "empty"`, "empty.png", "0 bytes"}},
	{"mask,good.png,small.mask.png", []string{`id "mask"`, "mask", "32×32", "64×64"}},
	{"gone,gone.png,", []string{`id "gone"`, "gone.png", "missing"}},
	{"good,good2.png,", []string{`id "good"`, "already"}},
	{"text,notes.png,", []string{`id "text"`, "notes.png"}},
	{"badmask,good.png,cut.mask.png", []string{`id "badmask"`, "cut.mask.png"}},
	{"nomask,good.png,gone.mask.png", []string{`id "nomask"`, "gone.mask.png", "missing"}},
	{"out,../outside.png,", []string{`id "out"`, "../outside.png", "--root"}},
	{"none,,", []string{`id "none"`, "image"}},
}

func TestDamagedImages(t *testing.T) {
	testbackend.XLA(t)
	h := build(t)
	top := t.TempDir()
	dir := filepath.Join(top, "set")
	writeImage(t, filepath.Join(top, "outside.png"), 64)
	for _, name := range []string{"good.png", "good2.png", "good3.png", "cut.jpg"} {
		writeImage(t, filepath.Join(dir, name), 64)
	}
	writeImage(t, filepath.Join(dir, "good.mask.png"), 64)
	writeImage(t, filepath.Join(dir, "small.mask.png"), 32)
	for from, to := range map[string]string{"cut.jpg": "cut.jpg", "good.mask.png": "cut.mask.png"} {
		data := read(t, filepath.Join(dir, from))
		must.Write(t, filepath.Join(dir, to), data[:len(data)/2])
	}
	must.Write(t, filepath.Join(dir, "empty.png"), "")
	must.Write(t, filepath.Join(dir, "notes.png"), "not an image")

	table, out := filepath.Join(dir, "t.csv"), filepath.Join(dir, "out.csv")
	embed := func(rows ...string) (int, string, string) {
		must.Write(t, table, []byte("id,image,mask\ngood,good.png,good.mask.png\n"+strings.Join(rows,
			"\n")+"\nlast,good3.png,\n"))
		os.Remove(out)
		return h.run("embed", "--model", "archipelago-vit", "--in", table, "--out", out)
	}
	if status, _, errs := embed("second,good2.png,"); status != 0 {
		t.Fatalf("good rows: exit status %d: %s", status, errs)
	}
	var all []string
	for _, s := range spoiled {
		id, _, _ := strings.Cut(s.row, ",")
		t.Run(id+"-"+strings.Trim(s.words[len(s.words)-1], "./-"), func(t *testing.T) {
			status, _, errs := embed(s.row)
			oneLine(t, status, errs, append([]string{"row 2"}, s.words...)...)
			must.Fail(os.Stat(out))(t) // a failed run left a table
		})
		all = append(all, s.row)
	}
	embed(all...)
	printed := h.done("embed", "--model", "archipelago-vit", "--in", table, "--out", out, "--skip-bad")
	t.Log("\n" + printed)
	var listed []string
	for _, line := range strings.Split(printed, "\n") {
		if strings.HasPrefix(line, "left out: ") {
			listed = append(listed, line)
		}
	}
	must.Equal(t, len(listed), len(spoiled), "rows are listed", "bad")
	for i, s := range spoiled {
		words := append([]string{fmt.Sprintf("row %d (", i+2)}, s.words...)
		found := false
		for _, line := range listed {
			all := true
			for _, w := range words {
				all = all && strings.Contains(line, w)
			}
			found = found || all
		}
		must.True(t, found, "no line lists %q", words)
	}
	records := must.Get(csv.NewReader(strings.NewReader(string(read(t, out)))).ReadAll())(t)
	var ids []string
	for _, r := range records[1:] {
		ids = append(ids, r[0])
	}
	must.Equal(t, strings.Join(ids, " "), "good last", "rows", "kept")
}

func TestSpoiledTables(t *testing.T) {
	testbackend.XLA(t)
	h := build(t)
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		must.Write(t, path, []byte(content))
		return path
	}
	writeImage(t, filepath.Join(dir, "a.png"), 64)
	out := filepath.Join(dir, "out.csv")
	fails := func(args []string, words ...string) {
		t.Helper()
		status, _, errs := h.run(append(args, "--out", out)...)
		oneLine(t, status, errs, words...)
	}
	embed := func(table string) []string {
		return []string{"embed", "--model", "archipelago-vit", "--in", table}
	}
	var vectors strings.Builder
	vectors.WriteString("id,region,full\n")
	for i := range 8 {
		fmt.Fprintf(&vectors, "v%d,north,\"[%d, %d, 1]\"\n", i, i, i*i)
	}
	good := file("vectors.csv", vectors.String())
	score := func(gen string, more ...string) []string {
		return append([]string{"score", "--metric", "precision-coverage", "--real", good, "--gen", gen}, more...)
	}
	h.done(append(score(good), "--out", out)...) // what a first run says of the plugin is said

	fails(embed(file("noimage.csv", "id,photo\na,a.png\n")), "image", "photo")
	fails(embed(file("noid.csv", "name,image\na,a.png\n")), "id", "name")
	fails(embed(file("twice.csv", "id,image,image\na,a.png,a.png\n")), "twice.csv", "image")
	fails(embed(file("ragged.csv", "id,image\na,a.png\nb\n")), "ragged.csv", "3")
	fails(embed(file("latin.csv", "id,image\n\xe9,a.png\n")), "latin.csv", "UTF-8")
	fails(embed(file("void.csv", "")), "void.csv", "empty")
	fails(embed(file("void.parquet", "")), "void.parquet")
	fails(embed(file("text.parquet", "id,image\na,a.png\n")), "text.parquet")
	fails(embed(filepath.Join(dir, "gone.csv")), "gone.csv")

	fails(score(good, "--by", "continent"), "continent", "region")
	fails(score(good, "--vector", "object_only"), "object_only")
	fails(score(file("length.csv", vectors.String()+"v8,north,\"[1, 2]\"\n")), "generated", `id "v8"`)
	fails(score(file("number.csv", vectors.String()+"v8,north,\"[1, 2, x]\"\n")), "number.csv", "line 10", "full")

	nan := filepath.Join(dir, "nan.parquet")
	testbackend.Python(t, []string{"pandas", "pyarrow", "numpy"}, "spoil.py", nan)
	spoiledVectors := []string{"score", "--metric", "precision-coverage", "--real", nan, "--gen", nan}
	fails(spoiledVectors, "nan.parquet", `id "v4"`, "full", "NaN")
	printed := h.done(append(spoiledVectors, "--out", out, "--skip-bad")...)
	t.Log(printed)
	if !strings.Contains(printed, `id "v4"`) || !strings.Contains(string(read(t, out)), ",11,") {
		t.Errorf("--skip-bad does not score the 11 good vectors and list the bad one: %s\n%s", printed, read(t, out))
	}
}

func TestSpoiledModels(t *testing.T) {
	testbackend.XLA(t)
	h := build(t)
	dir := t.TempDir()
	writeImage(t, filepath.Join(dir, "a.png"), 64)
	table, out := filepath.Join(dir, "t.csv"), filepath.Join(dir, "out.csv")
	must.Write(t, table, []byte("id,image\na,a.png\n"))
	h.done("embed", "--model", "archipelago-vit", "--in", table, "--out", out)
	source := filepath.Join(filepath.Dir(h.binary), "store", "models", "archipelago-vit")
	weights, config := read(t, filepath.Join(source, "model.safetensors")),
		string(read(t, filepath.Join(source, "config.json")))
	n := binary.LittleEndian.Uint64(weights)

	for name, c := range map[string]struct {
		weights []byte
		config  string
		words   []string
	}{
		"short file": {weights[:5], config, []string{"model.safetensors"}},
		"empty file": {nil, config, []string{"model.safetensors"}},
		"huge header": {append(binary.LittleEndian.AppendUint64(nil, 1<<60), weights[8:]...), config,
			[]string{"model.safetensors", "header"}},
		"header no JSON": {append(append([]byte{}, weights[:8]...),
			append([]byte(strings.Repeat("x", int(n))), weights[8+n:]...)...), config,
			[]string{"model.safetensors", "header"}},
		"short data":     {weights[:len(weights)-1000], config, []string{"model.safetensors"}},
		"no config":      {weights, "", []string{"config.json"}},
		"config no JSON": {weights, config[:len(config)/2], []string{"config.json"}},
		"other width": {weights, strings.Replace(config, `"hidden_size"`, `"hidden_size": 96, "was"`, 1),
			[]string{"model.safetensors", "configuration", "128", "96"}},
		"more layers": {weights, strings.Replace(config, `"num_hidden_layers"`, `"num_hidden_layers": 17, "was"`, 1),
			[]string{"layer"}},
		"other kind": {weights, strings.Replace(config, `"model_type"`, `"model_type": "bert", "was"`, 1),
			[]string{"bert"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			must.Write(t, filepath.Join(folder, "model.safetensors"), c.weights)
			if c.config != "" {
				must.Write(t, filepath.Join(folder, "config.json"), []byte(c.config))
			}
			status, _, errs := h.run("embed", "--model", folder, "--in", table, "--out", out)
			oneLine(t, status, errs, c.words...)
		})
	}
}
