package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/digin"
	"antipode/datasets/indictti"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/kernel/backend/parquet"
)

// geodeFiles is a made-up archive in the layout of GeoDE: two photos of eight objects in each region.
func geodeFiles(t *testing.T) map[string]string {
	t.Helper()
	var index strings.Builder
	index.WriteString(",file_path,object,region,ip_country\n")
	files := map[string]string{}
	for _, region := range digin.GeoDERegions() {
		for _, object := range digin.Objects40()[:8] {
			for n := range 2 {
				object := strings.ReplaceAll(object, " ", "_")
				file := fmt.Sprintf("%s_X_%s_%d.jpg", region.Key, object, n)
				fmt.Fprintf(&index, "%d,%s,%s,%s,X\n", len(files), file, object, region.Key)
				files["images/"+file] = pngOf(t, 3)
			}
		}
	}
	files["index.csv"] = index.String()
	return files
}

// dollarStreetFiles is a made-up archive in the layout of Dollar Street.
func dollarStreetFiles(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"images_v2.csv": "id,country.name,country.id,region.id,type,topics,place,income,imageRelPath\n" +
			"h1,Nepal,np,as,image,['Stove/hob'],home 1,120.5,assets/1/one.jpg\n" +
			"h2,Malawi,mw,af,image,\"['Cups', 'Plates']\",home 2,60,assets/1/two.jpg\n" +
			"h3,Colombia,co,am,image,['Cups'],home 3,,assets/2/three.jpg\n",
		"assets/1/one.jpg": pngOf(t, 3), "assets/1/two.jpg": pngOf(t, 4), "assets/2/three.jpg": pngOf(t, 5),
	}
}

// TestDataCheckArchives: of a whole archive only its size differs from the published one; each damage is named, and
// fails the command where the loader needs the missing part.
func TestDataCheckArchives(t *testing.T) {
	run := inProcess(t)
	edit := func(file, old, new string) func(map[string]string) {
		return func(files map[string]string) {
			if !strings.Contains(files[file], old) {
				t.Fatalf("%s does not contain %q", file, old)
			}
			files[file] = strings.Replace(files[file], old, new, 1)
		}
	}
	remove := func(file string) func(map[string]string) {
		return func(files map[string]string) {
			if _, known := files[file]; !known {
				t.Fatalf("no file %s", file)
			}
			delete(files, file)
		}
	}
	add := func(file, text string) func(map[string]string) {
		return func(files map[string]string) { files[file] = text }
	}
	const bag = "Africa_X_bag_1.jpg"
	for _, c := range []struct {
		data, name string
		change     func(map[string]string)
		flags      []string
		prints     []string
		fails      string // "" = exit status 0
	}{
		{"geode", "whole", func(map[string]string) {}, nil, []string{"96 files of images",
			"index.csv: 96 rows, columns file_path, object, region, ip_country\n", "96 of 96 images decoded",
			"\n  bag              2       2         2         2       2              2         12\n",
			"differs: 96 rows; the data set is described with 61940",
			"differs: objects without a row, 32: chair, stove, dog and 29 more",
			"differs: fewer than 170 images of an object and region that the published selection has, 48: "}, ""},
		{"geode", "some images", func(map[string]string) {}, []string{"--n", "20"},
			[]string{"20 of 20 images decoded"}, ""},
		{"geode", "a column more", edit("index.csv", ",file_path", "who,file_path"), nil,
			[]string{"columns that are not read: who"}, ""},
		{"geode", "no index", remove("index.csv"), nil, []string{"needed: no index"}, "no index in"},
		{"geode", "no column", edit("index.csv", "object,region", "object,area"), nil, nil, `no column "region"`},
		{"geode", "no country", edit("index.csv", "ip_country", "land"), nil,
			[]string{"differs: index.csv: optional columns are missing: ip_country"}, ""},
		{"geode", "no image", remove("images/" + bag), nil, []string{"needed: missing images (Africa 1), 1: " + bag},
			"missing images (Africa 1), 1: " + bag},
		{"geode", "unknown region", edit("index.csv", "bag,Africa", "bag,Atlantis"), nil, nil,
			"rows that cannot be read, 1: index.csv, line"},
		{"geode", "an object more", edit("index.csv", "_1.jpg,bag,Africa", "_1.jpg,hovercraft,Africa"), nil,
			[]string{"differs: objects that are not in the published list, 1: hovercraft"}, ""},
		{"geode", "an id twice", edit("index.csv", bag, "Africa_X_bag_0.jpg"), nil, []string{
			"differs: images that no row names, 1: images/" + bag}, `the id "Africa_X_bag_0.jpg" is in index.csv, line`},
		{"geode", "an image more", add("images/other.png", pngOf(t, 3)), nil,
			[]string{"differs: images that no row names, 1: images/other.png"}, ""},
		{"geode", "damaged", add("images/"+bag, pngOf(t, 9)[:50]), []string{"--all"}, nil,
			"damaged images among the 96 decoded, 1: images/" + bag + " (not a readable PNG"},
		{"geode", "not in the sample", add("images/"+bag, pngOf(t, 9)[:50]), []string{"--n", "1"},
			[]string{"1 of 1 images decoded"}, ""},
		{"geode", "two damages", func(files map[string]string) {
			remove("images/" + bag)(files)
			edit("index.csv", "bag,Europe", "bag,Atlantis")(files)
		}, nil, nil, "and 1 other differences"},
		{"dollarstreet", "whole", func(map[string]string) {}, nil, []string{"3 files of images", "stove/hob  0",
			"3 of 3 images decoded", "differs: 3 rows", "differs: 3 countries; the data set is described with 63",
			"differs: regions without a row, 1: Europe"}, ""},
		{"dollarstreet", "no image", remove("assets/1/two.jpg"), nil, nil,
			"missing images (Africa 2), 2: assets/1/two.jpg, assets/1/two.jpg"},
		{"dollarstreet", "no topics", edit("images_v2.csv", "topics", "things"), nil, nil, `no column "topics"`},
	} {
		t.Run(c.data+" "+c.name, func(t *testing.T) {
			files := geodeFiles(t)
			if c.data == "dollarstreet" {
				files = dollarStreetFiles(t)
			}
			c.change(files)
			printed, err := run(append([]string{"data", "check", c.data, folderOf(t, files)}, c.flags...)...)
			if (err != nil) != (c.fails != "") || err != nil && (!strings.Contains(err.Error(), c.fails) ||
				!strings.HasPrefix(err.Error(), c.data+": ") || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error %v, not %q", err, c.fails)
			}
			must.Has(t, printed, c.prints...)
		})
	}
}

// captionFile writes a file in the layout of LAION-COCO-NLLB with n rows from number first. change alters its columns.
func captionFile(t *testing.T, file string, first, n int, change func(columns map[string]*table.Column)) {
	t.Helper()
	var pairs [][]string
	for _, l := range indictti.Languages() {
		if l.Source == indictti.NLLB {
			pairs = append(pairs, []string{l.Code, "caption in " + l.Name})
		}
	}
	captions := must.Get(json.Marshal(pairs))(t)
	text := map[string][]string{}
	scores := make([]float64, n)
	for i := range n {
		text["id"] = append(text["id"], fmt.Sprint(first+i))
		text["url"] = append(text["url"], fmt.Sprintf("https://images.example/%d.jpg", first+i))
		text["eng_caption"] = append(text["eng_caption"], "a boat")
		text["captions"] = append(text["captions"], string(captions))
	}
	columns := map[string]*table.Column{}
	for name, values := range text {
		c := table.TextColumn(name, values)
		columns[name] = &c
	}
	score := table.NumberColumn("score", scores)
	columns["score"] = &score
	change(columns)
	f := &table.Frame{}
	for _, name := range []string{"id", "url", "eng_caption", "captions", "score"} {
		if c := columns[name]; c != nil {
			f.Columns = append(f.Columns, *c)
		}
	}
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, parquet.Write(file, f))
}

func TestDataCheckCaptions(t *testing.T) {
	run := inProcess(t)
	same := func(map[string]*table.Column) {}
	set := func(column string, row int, value string) func(map[string]*table.Column) {
		return func(columns map[string]*table.Column) { columns[column].Texts[row] = value }
	}
	for _, c := range []struct {
		name   string
		change func(map[string]*table.Column)
		flags  []string
		prints []string
		fails  string
	}{
		{"whole", same, nil, []string{"test-00000-of-00001-0123456789abcdef.parquet: 30 rows, columns",
			"330 rows checked", "differs: train has 5000 rows; the data set's page states about 879000",
			"differs: missing files of the split train, 1: train-00001-of-00002"}, ""},
		{"more rows", same, []string{"--all"}, []string{"5030 rows checked"}, ""},
		{"no captions", func(columns map[string]*table.Column) { delete(columns, "captions") }, nil, nil,
			`no column "captions"`},
		{"no score", func(columns map[string]*table.Column) { delete(columns, "score") }, nil,
			[]string{`no column "score", which is optional`}, ""},
		{"numbers", func(columns map[string]*table.Column) {
			c := table.NumberColumn("captions", make([]float64, 5000))
			columns["captions"] = &c
		}, nil, nil, "captions are not a list of pairs of code and caption"},
		{"not pairs", set("captions", 500, `[["asm_Beng"]]`), nil, nil,
			"rows whose captions cannot be read, 1: train-00000-of-00002.parquet, row 501 (caption 1 is a list of 1"},
		{"not in the sample", set("captions", 499, `[["asm_Beng"]]`), nil, nil, ""},
		{"found with all", set("captions", 499, `[["asm_Beng"]]`), []string{"--all"}, nil, "row 500 (caption 1"},
		{"no caption", set("captions", 0, `[["asm_Beng", "x"]]`), nil,
			[]string{"differs: rows without a caption in a language of the paper, "}, ""},
		{"no URL", set("url", 0, "a.jpg"), nil, []string{"differs: rows without the URL of an image, 1: "}, ""},
		{"no English", set("eng_caption", 0, " "), nil, []string{"differs: rows without an English caption, 1"}, ""},
		{"an id twice", set("id", 0, "1"), nil, nil, `repeated ids, 1: train-00000-of-00002.parquet, row 2 ("1", also`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			captionFile(t, filepath.Join(dir, "data", "test-00000-of-00001-0123456789abcdef.parquet"), 9000, 30, same)
			captionFile(t, filepath.Join(dir, "data", "train-00000-of-00002.parquet"), 0, 5000, c.change)
			printed, err := run(append([]string{"data", "check", "laion_coco_nllb", dir, "--n", "300"}, c.flags...)...)
			if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("error %v, not %q", err, c.fails)
			}
			must.Has(t, printed, c.prints...)
		})
	}
	broken := folderOf(t, map[string]string{"train-00000-of-00001.parquet": "PAR1 cut off"})
	must.Fail(run("data", "check", "laion_coco_nllb", broken))(t, "train-00000-of-00001.parquet is damaged")
	must.Fail(run("data", "check", "laion_coco_nllb", t.TempDir()))(t, "no Parquet file")
	for _, args := range [][]string{{"geode"}, {"geodes", t.TempDir()}, {"geode", t.TempDir(), "--n", "0"}} {
		misused(run(append([]string{"data", "check"}, args...)...))(t)
	}
}
