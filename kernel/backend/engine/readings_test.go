package engine

import (
	"archive/tar"
	"bytes"
	"cmp"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/kernel/backend/parquet"
)

func saved(t *testing.T, e *Engine, tab datasets.Table) (csv string, notes []string, err error) {
	t.Helper()
	if err := tab.Err(); err != nil {
		return "", nil, err
	}
	path := filepath.Join(t.TempDir(), "out.csv")
	res, err := run1(t, e, tab, client.Request{Save: path, Counts: true})
	if err != nil {
		return "", nil, err
	}
	data := must.Get(os.ReadFile(path))(t)
	return string(data), res.Notes, nil
}

// TestReadings: what files of other programs mean. A column that nobody uses is written as it was read; one that is
// used is decided from all of its cells; what is guessed or lost is one line.
func TestReadings(t *testing.T) {
	e := newEngine(t)
	late := "tag,n\n" + strings.Repeat("7,1\n", 250) + "n/a,1\n2A,1\n11.0.1,1\n"
	wide := "id,key,seed,ratio\na,9007199254740993,18446744073709551615,1.50\nb,-9007199254740995,7,1e3\n"
	for name, c := range map[string]struct {
		file string
		make func(path string) datasets.Table
		want string // the saved table; "" = the file itself
		note string // of the run; "" = none
		err  string
	}{
		"texts after 250 numbers":     {file: late},
		"leading zeros":               {file: "id,fips,code\na,001,1e5\nb,002,2e3\n"},
		"wide integers":               {file: wide},
		"numbers as they are written": {file: "id,v,w\na,1.50,2 \nb,+3,\n"},
		"a code that is called nan":   {file: "id,lang2\na,nan\nb,nan\n"},
		"nan among numbers":           {file: "id,v\na,nan\nb,2\n", make: sum("v"), want: "v,n\nnan,1\n2,1\n"},
		"booleans and dates":          {file: "id,held,day\na,True,2026-03-29\nb,False,2026-03-30\n"},
		"a digit column counts groups": {file: "id,year\na,2024\nb,2023\nc,2024\n", make: sum("year"),
			want: "year,n\n2024,2\n2023,1\n"},
		"decimal commas, in parts of one file": {file: "id;v\na;1,5\nb;2,25\n", make: func(p string) datasets.Table {
			good := func(id string) datasets.Table { return datasets.CSV(p).Where("id", "==", id).Good() }
			return good("a").Concat(good("b"))
		}, want: "id,v\na,\"1,5\"\nb,\"2,25\"\n", note: `: 2 of 2 values of "v" have a decimal comma`},
		"numbers are compared": {file: "id,v\na,5\nb,10\nc,100\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Where("v", ">", 9) },
			want: "id,v\nb,10\nc,100\n"},
		"a text among numbers, compared": {file: "id,v\na,5\nb,N/A\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Where("v", ">", 4) },
			err:  `column "v" holds text, not numbers: row 2 holds "N/A", which is not a number; Cast("v", "number") (--cast v=number)`},
		"a text among numbers, sorted": {file: "id,v\na,5\nb,10\nc,N/A\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Sort("v") }, err: `row 3 holds "N/A"`},
		"sorted as texts": {file: "id,v\na,5\nb,10\nc,N/A\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Sort("v", datasets.SortOptions{As: table.KindText})
		}, want: "id,v\nb,10\na,5\nc,N/A\n"},
		"ids that are numbers, sorted": {file: "id\n10\n9\n100\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Sort("id") }, want: "id\n9\n10\n100\n"},
		"accents, contained": {file: "id,v\na,Co\u0302te d'Ivoire\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Where("v", "contains", "C\u00f4te")
		}},
		"blanks in the header": {file: "id, v\na,5\n", want: "id,v\na,5\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Where("v", ">", 1) }},
		"a name that is called Nan": {file: "id,v\na,Nan\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Where("v", "present", nil) }},
		"decimal commas, cast": {file: "id,v\na,\"1,5\"\nb,N/A\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Cast("v", table.KindNumber, table.NumberFormat{Decimal: ","})
		}, want: "id,v\na,1.5\nb,\n", note: `1 of 2 values of "v" are not numbers`},
		"a key of two rows, of some rows": {file: "id,k\na,x\nb,y\nc,y\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Join(datasets.CSV(p).Where("id", "!=", "a"), "k", datasets.JoinOptions{Suffix: "_2"})
		}, err: `k "y" is in rows 2 and 3 of the second table`},
		"a question of a name with two blanks": {file: "id,k\na,x  y\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Questions(datasets.FromRows([]map[string]any{{"id": "q", "k": "x y"}}), "k").
				Select("id", "k")
		}, want: "id,k\na#q,x  y\n", note: "other spellings of a group"},
		"cast": {file: "id,region,v\na,n,5\nb,s,N/A\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Cast("v", table.KindNumber).Sort("v") },
			want: "id,region,v\na,n,5\nb,s,\n",
			note: `Cast: 1 of 2 values of "v" are not numbers and count as missing (the first: row 2, "N/A") (region: s 1 of 1)`},
		"decimal commas": {file: "id;v;w\na;1,5;1.234\nb;2,25;5.678\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Where("v", "<", 2) },
			want: "id,v,w\na,\"1,5\",1.234\n",
			note: `w" have a point, in a file with decimal commas, and are read as 1.234; Decimal: "," and Thousands: "."`},
		"a comma in a number": {file: "id,v\na,\"1,500\"\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Where("v", ">", 2) },
			err:  `Thousands: "," (--thousands ,) reads 1,500 as 1500`},
		"thousands": {file: "id,v\na,\"1,500\"\nb,20\n", make: func(p string) datasets.Table {
			return datasets.CSV(p, datasets.FileOptions{Thousands: ","}).Where("v", ">", 1000)
		}, want: "id,v\na,\"1,500\"\n"},
		"spellings of a group": {file: "id,country\na,Co\u0302te\nb,C\u00f4te\nc,Namibia \nd,Namibia\ne,NAMIBIA\n",
			make: sum("country"), want: "country,n\nCôte,2\nNamibia,2\nNAMIBIA,1\n",
			note: "2 of 5 values are other spellings of a group"},
		"groups equal up to case": {file: "id,country\na,Namibia\nb,NAMIBIA\n", make: sum("country"),
			want: "country,n\nNamibia,1\nNAMIBIA,1\n", note: "NAMIBIA and Namibia"},
		"one spelling": {file: "id,country\na,Co\u0302te\n", make: sum("country"),
			want: "country,n\nCôte,1\n"},
		"a quote that is never closed": {file: "id,v\na,\"x\nb,y\nc,z\n", err: "a quote opened in line 2 is never " +
			"closed"},
		"blank keys and equal columns": {file: "id,k\na,x\nb,\n", make: func(p string) datasets.Table {
			other := datasets.FromRows([]map[string]any{{"id": "1", "k": "x", "v": 3}, {"id": "2", "k": "", "v": 9}})
			return datasets.CSV(p).Join(other, "k", datasets.JoinOptions{Suffix: "_2"})
		}, want: "id,k,id_2,v\na,x,1,3\nb,,,\n"},
		"equal columns": {file: "id,k\na,x\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Join(datasets.CSV(p), "k")
		}, err: `both tables have a column "id"`},
		"two runs": {file: "id,v\na,1\n", make: func(p string) datasets.Table {
			return datasets.ConcatBy("run", map[string]datasets.Table{"one": datasets.CSV(p), "two": datasets.CSV(p)})
		}, want: "id,v,run\none/a,1,one\ntwo/a,1,two\n"},
		"numbers and texts": {file: "id,tag\na,01\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Concat(datasets.FromRows([]map[string]any{{"id": "b", "tag": 7}}))
		}, want: "id,tag\na,01\nb,7\n"},
		"spellings of a number": {file: "id,year\na,2024.0\nb,2024\nc,-0\nd,0\n", make: sum("year"),
			want: "year,n\n2024,2\n0,2\n", note: `Cast("year", "text") (--cast year=text) compares them as they are`},
		"spellings, read twice": {file: "id,country\na,Peru\nb,Peru \n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Sample(1, "country", 0).Count("country")
		}, want: "country,n\nPeru,1\n", note: "column country: 1 of 2 values are other spellings"},
		"characters that are not seen": {file: "id,country\na,New York\nb,New\u00a0York\u200b\nc,\ufeffNew  York\n",
			make: sum("country"), want: "country,n\nNew York,3\n", note: "2 of 3 values are other spellings"},
		"years with a point, joined": {file: "id,year\na,2024.0\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Join(datasets.FromRows([]map[string]any{{"year": 2024, "w": "x"}}), "year")
		}, want: "id,year,w\na,2024.0,x\n", note: "1 of 2 values are other spellings of a group"},
		"years with a point, in a list": {file: "id,year\na,2024.0\nb,7\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).NeedValues("year", []string{"2024"}).Where("year", "in", []string{"2024"})
		}, want: "id,year\na,2024.0\n"},
		"no key matches": {file: "id,k\na,1\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Join(datasets.FromRows([]map[string]any{{"k": "7", "w": "x"}}), "k")
		}, want: "id,k,w\na,1,\n", note: `no row's k is in the second table; the first one holds "1", the second one "7"`},
		"a suffix that is taken": {file: "id,k,w,w_2\na,1,2,3\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Join(datasets.FromRows([]map[string]any{{"k": "7", "w": "x"}}), "k",
				datasets.JoinOptions{Suffix: "_2"})
		}, err: "choose another JoinOptions.Suffix"},
		"a name in another case": {file: "id,held\na,TRUE\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Where("held", "==", "true")
		}, want: "id,held\n", note: `no row has "true" in column "held"; did you mean "TRUE"?`},
		"percentages, cast": {file: "id,v\na,50%\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Cast("v", table.KindNumber) },
			want: "id,v\na,\n", note: `1 of 1 values of "v" are not numbers`},
		"thousands, cast": {file: "id,v\na,\"12,500\"\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Cast("v", table.KindNumber) },
			want: "id,v\na,\n", note: `Thousands: "," (--thousands ,) reads 12,500 as 12500`},
		"an integer that numbers round": {file: "id,n\na,9007199254740992\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Where("n", "==", 9007199254740993)
		}, want: "id,n\n"},
		"an integer that numbers round, set": {file: "id\na\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).With("n", 9007199254740993)
		}, want: "id,n\na,9007199254740993\n"},
		"dates by the day": {file: "id,day\na,29.03.2026\nb,1.4.2026\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Sort("day")
		}, err: "whose order as text is not that of the days: write them as 2026-03-29"},
		"numbers with other marks, sorted": {file: "id,v\na,\"1,500\"\nb,\"10,000\"\n",
			make: func(p string) datasets.Table { return datasets.CSV(p).Sort("v") },
			err:  `Thousands: "," (--thousands ,) reads 1,500 as 1500`},
		"lakhs": {file: "id,v\na,\"12,34,567\"\nb,20\n", make: func(p string) datasets.Table {
			return datasets.CSV(p, datasets.FileOptions{Thousands: ","}).Where("v", "==", 1234567)
		}, want: "id,v\na,\"12,34,567\"\n"},
		"spaces that do not break": {file: "id;v\na;1\u202f234,5\nb;1\u00a0000\n", make: func(p string) datasets.Table {
			return datasets.CSV(p, datasets.FileOptions{Decimal: ",", Thousands: " "}).Where("v", ">", 1000)
		}, want: "id,v\na,\"1\u202f234,5\"\n"},
		"a mark in the fraction": {file: "id,v\na,\"1.500,5\"\n", make: func(p string) datasets.Table {
			return datasets.CSV(p, datasets.FileOptions{Thousands: ","}).Where("v", ">", 1)
		}, err: `reads 1.500,5 as 1500.5`},
		"a quote in the last line": {file: "id,v\na,\"x\n", err: "a quote opened in line 2 is never closed"},
		"a NUL byte after 64 KiB": {file: "id,v\n" + strings.Repeat("a,b\n", 1<<15) + "c,d\x00\n", err: "line 32770, " +
			`column "v": a NUL byte`},
		"seeds of copies": {file: "id,seed\na,18446744073709500000\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Repeat(2, "image_id", 0)
		}, want: "id,seed,image_id\na#1,18446744073709500000,a\na#2,18446744073709500001,a\n"},
		"a seed that is none": {file: "id,seed\na,x\n", make: func(p string) datasets.Table {
			return datasets.CSV(p).Repeat(2, "image_id", 0)
		}, err: "the seed x is no whole number from 0 to 2^64−1"},
	} {
		path := must.Write(t, filepath.Join(t.TempDir(), "t.csv"), c.file)
		tab := datasets.CSV(path)
		if c.make != nil {
			tab = c.make(path)
		}
		c.want = cmp.Or(c.want, c.file)
		for _, format := range []string{"csv", "parquet"} { // the same after a way through Parquet
			if format == "parquet" {
				if c.make != nil || c.err != "" {
					break
				}
				file := filepath.Join(t.TempDir(), "t.parquet")
				if _, err := run1(t, e, tab, client.Request{Save: file, Counts: true}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				again, _, err := saved(t, e, datasets.Parquet(file))
				if !slices.Contains([]string{"numbers as they are written", "leading zeros", "wide integers"}, name) &&
					(err != nil || again != c.file) {
					t.Errorf("%s, through Parquet: %q, %v", name, again, err)
				}
				if name == "wide integers" && again != strings.NewReplacer("1.50", "1.5", "1e3",
					"1000").Replace(c.file) {
					t.Errorf("%s, through Parquet: %q", name, again)
				}
				continue
			}
			got, notes, err := saved(t, e, tab)
			switch {
			case c.err != "":
				must.Err(t, err, c.err)
			case err != nil || got != c.want:
				t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
			case c.note == "" && len(notes) > 0,
				c.note != "" && !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, c.note) }):
				t.Errorf("%s: notes %q, want %q", name, notes, c.note)
			}
		}
	}
}

// writePNG writes an image of one pixel.
func writePNG(t *testing.T, path string) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))))
	must.Write(t, path, b.String())
}

func sum(by string) func(string) datasets.Table {
	return func(path string) datasets.Table { return datasets.CSV(path).Count(by) }
}

// TestLayouts: the layouts of Hugging Face's libraries, hive folders and .tar files are one table each, with stable
// ids.
func TestLayouts(t *testing.T) {
	e := newEngine(t)
	dir := t.TempDir()
	shard := func(name string, rows ...string) {
		f := &table.Frame{Columns: []table.Column{table.TextColumn("label", rows)}}
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must.Do(t, parquet.Write(filepath.Join(dir, name), f))
	}
	shard("hf/data/train-00000-of-00002.parquet", "x", "y")
	shard("hf/data/train-00001-of-00002.parquet", "z")
	shard("tables/region=C%C3%B4te/part-0.parquet", "x")
	for _, name := range []string{"1", "2"} {
		writePNG(t, filepath.Join(dir, "hive", "region=K"+name, name+".png"))
		writePNG(t, filepath.Join(dir, "folder/train", name+".png"))
		writePNG(t, filepath.Join(dir, "lines", name+".png"))
	}
	must.Write(t, filepath.Join(dir, "folder/train/metadata.csv"), "file_name,region,code\n1.png,n,007\n9.png,s,008\n")
	must.Write(t, filepath.Join(dir, "lines/metadata.jsonl"),
		`{"file_name":"1.png","text":"a","n":9007199254740993}`+"\n"+`{"file_name":"2.png","text":null,"n":2}`+"\n")
	photo := must.Get(os.ReadFile(filepath.Join(dir, "lines/1.png")))(t)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, m := range []struct{ name, data string }{{"0001.png", string(photo)}, {"0001.txt", "a boat\n"},
		{"0001.json", `{"region":"n","w":0.5}`}, {"0002.png", string(photo)}, {"0002.mp3", "x"}} {
		must.Do(t, w.WriteHeader(&tar.Header{Name: m.name, Size: int64(len(m.data)), Mode: 0o644}))
		w.Write([]byte(m.data))
	}
	w.Close()
	must.Write(t, filepath.Join(dir, "w.tar"), archive.String())
	var odd bytes.Buffer
	w = tar.NewWriter(&odd)
	for _, m := range []struct{ name, data string }{{"1.png", string(photo)}, {"1.jpg", "x"}, {"1.seg.png", "x"},
		{"1.txt", "a"}, {"1.txt", "b"}, {"._1.png", "x"}, {"2.txt", "\xff"}, {"2.png", string(photo)}} {
		must.Do(t, w.WriteHeader(&tar.Header{Name: m.name, Size: int64(len(m.data)), Mode: 0o644}))
		w.Write([]byte(m.data))
	}
	w.Close()
	must.Write(t, filepath.Join(dir, "odd.tar"), odd.String())
	for _, name := range []string{"spelled/A.PNG", "spelled/Co\u0302te.png", "keys/region=K/id=7/1.png",
		"keys/region=P/2.png"} {
		writePNG(t, filepath.Join(dir, name))
	}
	must.Write(t, filepath.Join(dir, "spelled/metadata.csv"), "file_name,r,image\na.png,x,y\n"+
		"C\u00f4te.png,y,y\na.png,z,y\n")
	must.Write(t, filepath.Join(dir, "keys/region=K/metadata.csv"), "file_name,region\nid=7/1.png,Chile\n")
	for i, region := range []string{"K", "P"} {
		f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"}),
			table.TextColumn("region", []string{"K"})}}
		name := filepath.Join(dir, "ids/region="+region, string(rune('0'+i))+".parquet")
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, parquet.Write(name, f))
	}
	for name, c := range map[string]struct{ want, note string }{
		"odd.tar": {"id,caption\n1,a\n2,\n", "members that are not read: 1 .jpg of a row that has one already, 1 " +
			".seg.png of a row that has one already, 1 .txt of a row that has one already, 1 .txt that are not " +
			"UTF-8, 1 hidden"},
		"spelled": {"id,folder,r\nA.PNG,,x\nCo\u0302te.png,,y\n", `the column "image" is not read: it is that of the ` +
			"folder's images; rename it to read it\nmetadata.csv: 1 of 3 rows name a file that an earlier row names, " +
			"such as \"a.png\", and are left out\nmetadata.csv: 2 of 2 images were found under another spelling"},
		"keys": {"id,folder,region\nregion=K/id=7/1.png,region=K,Chile\nregion=P/2.png,region=P,P\n",
			`1 of 1 values of "region" differ from that of the folder's name (region=…), which does not count`},
		"ids": {"id,region\nregion=K/0.parquet/a,K\nregion=P/1.parquet/a,P\n", `several files have the id "a"`},
		"hf": {"id,label\ndata/train-00000-of-00002.parquet#1,x\ndata/train-00000-of-00002.parquet#2,y\n" +
			"data/train-00001-of-00002.parquet#1,z\n", ""},
		"tables": {"id,label,region\nregion=C%C3%B4te/part-0.parquet#1,x,Côte\n", ""},
		"hive":   {"id,folder,region\nregion=K1/1.png,region=K1,K1\nregion=K2/2.png,region=K2,K2\n", ""},
		"folder": {"id,folder,region,code\ntrain/1.png,train,n,007\ntrain/2.png,train,,\n",
			"1 of 2 images have no row in the metadata"},
		"lines": {"id,folder,text,n\n1.png,,a,9007199254740993\n2.png,,,2\n", ""},
		"w.tar": {"id,caption,region,w\n0001,a boat,n,0.5\n0002,,,\n", "members that are not read: 1 .mp3"},
	} {
		tab := datasets.Images(filepath.Join(dir, name))
		f := allRows(t, e, tab)
		if len(f.Images("image")) != f.Len() && !slices.Contains([]string{"hf", "tables", "ids"}, name) {
			t.Errorf("%s: %d images of %d rows", name, len(f.Images("image")), f.Len())
		}
		var columns []string
		for _, s := range f.Specs() {
			if s.Name != "image" {
				columns = append(columns, s.Name)
			}
		}
		got, notes, err := saved(t, e, tab.Select(columns...))
		must.True(t, err == nil && got == c.want, "%s: %q, %v, want %q", name, got, err, c.want)
		if c.note == "" && len(notes) > 0 || !strings.Contains(strings.Join(notes, "\n"), c.note) {
			t.Errorf("%s: notes %q, want %q", name, notes, c.note)
		}
	}
}

// TestSpellingsOfPaths: a path in another case, Unicode form or with backslashes is found if one file matches.
func TestSpellingsOfPaths(t *testing.T) {
	e := newEngine(t)
	dir := t.TempDir()
	for _, name := range []string{"img/A.PNG", "img/co\u0302te.png", "two/B.png", "two/b.PNG"} {
		writePNG(t, filepath.Join(dir, name))
	}
	tab := func(path string) datasets.Table {
		return datasets.CSV(must.Write(t, filepath.Join(dir, "t.csv"), "id,image\na,"+path+"\n"))
	}
	for _, path := range []string{`img\A.PNG`, "img/a.png", "img/c\u00f4te.png", `IMG\a.PNG`, " img/A.PNG "} {
		res, err := run1(t, e, tab(path), client.Request{})
		must.True(t, err == nil && len(res.Notes) == 1 && strings.Contains(res.Notes[0], "1 of 1 paths of the column"),
			"%s: %v, %v", path, res, err)
	}
	must.Equal(t, len(must.Get(run1(t, e, tab("img/A.PNG"), client.Request{}))(t).Notes), 0, "the path itself")
	for path, want := range map[string]string{"two/b.png": "several with similar names: B.png, b.PNG",
		"img/A.jpg": `/img/A.jpg); did you mean "A.PNG"?`,
		"img/c.png": "the file img/c.png is missing"} {
		must.Fail(run1(t, e, tab(path), client.Request{}))(t, want)
	}
}

// TestRecordOfReadings: the record of a saved table holds its readings by group.
func TestRecordOfReadings(t *testing.T) {
	e := newEngine(t)
	path := must.Write(t, filepath.Join(t.TempDir(), "t.csv"), "id,region,v\na,n,1\nb,s,x\nc,s,y\n")
	res := must.Get(run1(t, e, datasets.CSV(path).Cast("v", table.KindNumber),
		client.Request{Save: filepath.Join(t.TempDir(), "o.csv"), Counts: true}))(t)
	rec, err := e.Store.Record(res.Record)
	if err != nil || len(rec.Readings) != 1 {
		t.Fatalf("%+v, %v", rec, err)
	}
	f := table.ReadingsFrame(rec.Readings)
	must.EqualSlices(t, f.Texts("name_of_group"), []string{"", "n", "s"})
	must.EqualSlices(t, f.Numbers("n"), []float64{2, 0, 2})
	must.EqualSlices(t, f.Numbers("of"), []float64{3, 1, 2})
}
