package checks

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/kernel/backend/parquet"
)

// Files that other programs made; the scripts that make them are in these folders.
const (
	imageFiles   = "../../gomlxmodels/preprocess/testdata/files"
	foreignFiles = "../../gomlxmodels/preprocess/testdata/foreign"
	tableFiles   = "../../kernel/backend/parquet/testdata"
)

// input is a table, an image in it, or a folder, as people have them, given to embed.
type input struct {
	name   string
	table  string            // the content of t.csv, which is then what is given, unless in is
	files  map[string]string // other files: name → where its content is from, or "=CONTENT"
	in     string
	status int
	words  []string // of the one line on standard error, or for status 0 of what is printed
	ids    string   // for status 0: the ids of the rows
}

// images are the files a.png and b.png of a table.
func images(more ...string) map[string]string {
	files := map[string]string{"a.png": tableFiles + "/a.png", "b.png": tableFiles + "/b.png"}
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

// oneImage is a table of one image whose content is from a file.
func oneImage(name, from string, status int, words ...string) input {
	return input{name: name, table: "id,image\nx," + name + "\n", files: map[string]string{name: from}, status: status,
		words: words, ids: "x"}
}

// inputs are good, bad and foreign inputs, each with what embed makes of it.
func inputs() []input {
	const rows = "id,image,region\na,a.png,north\nb,b.png,south\n"
	other := func(separator string) string { return strings.ReplaceAll(rows, ",", separator) }
	convert := []string{`row 1 (id "x")`, "column image", "which is not supported", "convert it to PNG or JPEG"}
	list := []input{
		oneImage("x.heic", foreignFiles+"/image.heic", 1, append(convert, "x.heic", "a HEIC image")...),
		oneImage("renamed.jpg", foreignFiles+"/image.heic", 1, append(convert, "renamed.jpg", "a HEIC image")...),
		oneImage("x.avif", foreignFiles+"/image.avif", 1, append(convert, "an AVIF image")...),
		oneImage("x.jp2", foreignFiles+"/image.jp2", 1, append(convert, "a JPEG 2000 image")...),
		{name: "TIFF, BMP, CMYK, animated GIF",
			table: "id,image\ntiff,x.tif\nbmp,x.bmp\ncmyk,x.jpg\ngif,x.gif\na,a.png\nb,b.png\n",
			ids:   "tiff bmp cmyk gif a b",
			files: images("x.tif", imageFiles+"/lzw.tif", "x.bmp", imageFiles+"/rgb.bmp", "x.jpg",
				imageFiles+"/cmyk.jpg", "x.gif", imageFiles+"/moving.gif")},
		oneImage("moving.webp", foreignFiles+"/moving.webp", 1, "moving.webp", "save its first frame as PNG"),
		oneImage("page.jpg", foreignFiles+"/page.html", 1, "an HTML page", "download the image again"),
		oneImage("empty.png", "=", 1, `id "x"`, "empty.png", "0 bytes"),
		oneImage("cut.png", "="+half(imageFiles+"/rgb.png"), 1, `id "x"`, "cut.png", "not a readable PNG"),
		oneImage("huge.png", "="+hugePNG(60000), 1, `id "x"`, "huge.png", "60000×60000 pixels", "scale it down"),
		{name: "comma", table: rows, files: images(), ids: "a b"},
		{name: "semicolon", table: other(";"), files: images(), ids: "a b"},
		{name: "tab", table: other("\t"), files: images(), ids: "a b"},
		{name: "separators that vary", table: "id;image\na;a.png;x\n", files: images(), status: 1,
			words: []string{"t.csv", `sep=","`, "index=False"}},
		{name: "index without a name", table: ",image\n0,a.png\n1,b.png\n", files: images(), ids: "0 1"},
		{name: "column without a name", table: "id,,image\na,,a.png\n", files: images(), status: 1,
			words: []string{"t.csv", "column 2 has no name", "index=False"}},
		{name: "UTF-16", table: utf16LE(other("\t")), files: images(), ids: "a b"},
		{name: "UTF-16 without a mark", table: utf16LE(rows)[2:], files: images(), status: 1,
			words: []string{"t.csv", "UTF-16", "save the table as UTF-8"}},
		{name: "mark and CRLF", table: "\ufeff" + strings.ReplaceAll(rows, "\n", "\r\n"), files: images(), ids: "a b"},
		{name: "CR alone", table: strings.ReplaceAll(rows, "\n", "\r"), files: images(), status: 1,
			words: []string{"t.csv", "CR alone", "LF or CRLF"}},
		{name: "Latin-1", table: rows + "c,a.png,C\xf4te\n", files: images(), status: 1,
			words: []string{"t.csv, line 4", `column "region"`, "not UTF-8", "Côte", `encoding="utf-8"`}},
		{name: "duplicate ids", table: rows + "a,b.png,east\n", files: images(), status: 1,
			words: []string{"row 3", `id "a"`, "row 1 already"}},
		{name: "ragged", table: rows + "c,a.png\n", files: images(), status: 1,
			words: []string{"t.csv, line 4", "2 instead of 3 cells"}},
		{name: "quotation mark", table: rows + "c,a.png,5\" disk\n", files: images(), status: 1,
			words: []string{"t.csv, line 4", "quotation mark", "double the mark"}},
		{name: "empty table", table: "\n", status: 1, words: []string{"t.csv is empty", "header"}},
		{name: "no rows", table: "id,image\n", words: []string{"t.csv has no rows", "0 rows"}},
		{name: "missing image", table: "id,image\na,none.png\n", status: 1,
			words: []string{"row 1", `id "a"`, "none.png is missing"}},
		{name: "URL", table: "id,image\na,https://example.org/x.jpg\n", status: 1,
			words: []string{`id "a"`, "https://example.org/x.jpg", "antipode data images --url COLUMN"}},
		{name: "link inside", table: "id,image\na,link.png\n", files: images("link.png", "->a.png"), ids: "a"},
		{name: "link outside", table: "id,image\na,link.png\n", files: images("link.png", "->../outside.png"),
			status: 1, words: []string{`id "a"`, "link.png", "leaves the table's folder", "--root"}},
		{name: "missing table", in: "none.csv", status: 1, words: []string{"none.csv", "no such file"}},
		{name: "table at a URL", in: "https://example.org/t.csv", status: 1,
			words: []string{"https://example.org/t.csv", "is a URL; download the file first"}},
		{name: "Parquet called CSV", in: "p.csv", files: map[string]string{"p.csv": tableFiles + "/pandas.parquet"},
			status: 1, words: []string{"p.csv", "a Parquet file", "name it .parquet"}},
		{name: "CSV called Parquet", in: "c.parquet", files: map[string]string{"c.parquet": "=" + rows}, status: 1,
			words: []string{"c.parquet", "not a Parquet file"}},
		{name: "pandas", in: "p.parquet", files: images("p.parquet", tableFiles+"/pandas.parquet"),
			ids: "1 9007199254740993"},
		{name: "pandas with an index", in: "p.parquet", files: images("p.parquet", tableFiles+"/pandas_index.parquet"),
			ids: "p q"},
		{name: "polars", in: "p.parquet", files: images("p.parquet", tableFiles+"/polars.parquet"), ids: "1 2"},
		{name: "Hugging Face", in: "h.parquet", files: images("h.parquet", tableFiles+"/huggingface.parquet"),
			ids: "1 2"},
		{name: "numbers for images", in: "n.parquet", files: map[string]string{"n.parquet": "=" + numberImages()},
			status: 1, words: []string{"n.parquet", `column "image" holds numbers`, "paths"}},
		{name: "folder", in: ".", files: images("x.heic", foreignFiles+"/image.heic", "y.HEIC",
			foreignFiles+"/image.heic", "z.avif", foreignFiles+"/image.avif", "notes.txt", "=x", ".hidden", "=x"),
			words: []string{": 2 images; not read: 2 HEIC, 1 AVIF, 1 TXT"}, ids: "a.png b.png"},
		{name: "folder without images", in: ".", files: map[string]string{"x.heic": foreignFiles + "/image.heic"},
			status: 1, words: []string{"no images", "not read: 1 HEIC", "convert them"}},
		{name: "folder with a link", in: ".", files: images("link.png", "->../outside.png"), status: 1,
			words: []string{`id "link.png"`, "a link that leaves the folder"}},
	}
	for extension, fix := range map[string]string{"xlsx": "pd.read_excel", "json": "pd.read_json",
		"jsonl": "lines=True", "tsv": "rename it to .csv"} {
		name := "t." + extension
		list = append(list, input{name: name, in: name, files: map[string]string{name: "=x"}, status: 2,
			words: []string{name, fix, ".csv"}})
	}
	return list
}

// Every input is read, or is one line that says what, where and the fix, with the status of bad data or of a wrong use.
func TestInputs(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command and starts its backend")
	}
	h := build(t)
	// nothing is downloaded, and without the go command nothing is built
	h.env = append(h.env, "ANTIPODE_PLUGIN=none", "PATH=")
	for _, in := range inputs() {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()
			own := *h
			own.t = t
			in.check(t, &own)
		})
	}
}

func (in input) check(t *testing.T, h *installation) {
	top := t.TempDir()
	dir, out := filepath.Join(top, "set"), filepath.Join(top, "out.csv")
	must.Write(t, filepath.Join(top, "outside.png"), contentOf(tableFiles+"/a.png"))
	must.Do(t, os.MkdirAll(dir, 0o755))
	path := filepath.Join(dir, in.in)
	switch {
	case strings.Contains(in.in, "://"):
		path = in.in
	case in.in == "":
		path = filepath.Join(dir, "t.csv")
		must.Write(t, path, in.table)
	}
	for name, from := range in.files {
		if target, isLink := strings.CutPrefix(from, "->"); isLink {
			must.Do(t, os.Symlink(target, filepath.Join(dir, name)))
			continue
		}
		must.Write(t, filepath.Join(dir, name), contentOf(from))
	}
	status, stdout, stderr := h.run("embed", "--model", "archipelago-vit", "--in", path, "--out", out)
	stderr = withoutBackend(stderr)
	if in.status == 0 {
		must.Has(t, stdout+stderr, in.words...)
		if status != 0 {
			t.Fatalf("exit status %d: %s", status, stderr)
		}
		must.Equal(t, strings.Join(idsOf(t, out), " "), in.ids, "rows")
		return
	}
	failedOnce(t, status, in.status, stderr, in.words...)
	must.Fail(os.Stat(out))(t) // a failed run left a table
}

// withoutBackend leaves out the lines that say which backend serves.
func withoutBackend(stderr string) string {
	return strings.Join(slices.DeleteFunc(strings.SplitAfter(stderr, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "ANTIPODE_PLUGIN=none") || strings.Contains(line, "GOEXPERIMENT=simd") ||
			strings.Contains(line, "using the plain build")
	}), "")
}

// idsOf are the ids of a table that embed wrote, each of whose rows has a vector.
func idsOf(t *testing.T, path string) []string {
	t.Helper()
	records := must.Get(csv.NewReader(bytes.NewReader(read(t, path))).ReadAll())(t)
	id, full := slices.Index(records[0], "id"), slices.Index(records[0], "full")
	var ids []string
	for _, r := range records[1:] {
		var vector []float32
		err := json.Unmarshal([]byte(r[full]), &vector)
		must.True(t, err == nil && len(vector) == 128, "id %q has the vector %.20q", r[id], r[full])
		ids = append(ids, r[id])
	}
	return ids
}

// contentOf is what a file holds, or what is after "=".
func contentOf(from string) string {
	if text, is := strings.CutPrefix(from, "="); is {
		return text
	}
	data, err := os.ReadFile(from)
	if err != nil {
		panic(fmt.Sprintf("a fixture is missing: %v", err))
	}
	return string(data)
}

func half(from string) string {
	data := contentOf(from)
	return data[:len(data)/2]
}

func utf16LE(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// hugePNG is the header of a PNG of side × side pixels.
func hugePNG(side uint32) string {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")
	for range 2 {
		b = append(b, byte(side>>24), byte(side>>16), byte(side>>8), byte(side))
	}
	b = append(b, 8, 2, 0, 0, 0)
	sum := crc32.ChecksumIEEE(b[12:])
	return string(append(b, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum)))
}

// numberImages is a Parquet file whose column image holds numbers.
func numberImages() string {
	dir, err := os.MkdirTemp("", "inputs-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "n.parquet")
	if err := parquet.Write(path,
		&table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"}),
			table.NumberColumn("image", []float64{math.Pi})}}); err != nil {
		panic(err)
	}
	return contentOf(path)
}
