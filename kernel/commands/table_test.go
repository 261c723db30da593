package commands

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/datasets/operation"
	"antipode/internal/must"
	"antipode/kernel/backend/parquet"
)

const people = `id,region,object,code,size
a,north,bag,01,1
b,north,car,02,2
c,south,bag,03,3
d,south,car,x,4
e,south,bag,05,
`

func TestTable(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	other := "id,note\na,first\nc,third\n"
	for name, text := range map[string]string{"t.csv": people, "other.csv": other, "more.csv": "id,size\nf,9\n"} {
		must.Do(t, os.WriteFile(name, []byte(text), 0o644))
	}
	if printed, err := run("table", "--in", "t.csv", "--out", "t.parquet"); err != nil {
		t.Fatal(printed, err)
	}
	for _, c := range []struct {
		args []string
		want string // the file written
	}{
		{[]string{"--where", "region == south", "--where", "size >= 3", "--select", "id,size"},
			"id,size\nc,3\nd,4\n"},
		{[]string{"--where", `code == "03"`, "--select", "id"}, "id\nc\n"},
		{[]string{"--where", "code == 03", "--select", "id"}, "id\nc\n"},
		{[]string{"--where", "size missing", "--select", "id"}, "id\ne\n"},
		{[]string{"--where", "region in north", "--select", "id"}, "id\na\nb\n"},
		{[]string{"--with", "region=north ", "--where", "region in north", "--head", "1", "--select", "id"}, "id\na\n"},
		{[]string{"--where", "object contains a", "--head", "1", "--select", "id"}, "id\na\n"},
		{[]string{"--head", "2", "--where", "object == car", "--select", "id"}, "id\nb\n"},
		{[]string{"--sort-down", "size", "--head", "2", "--rename", "size=n", "--select", "id,n"},
			"id,n\nd,4\nc,3\n"},
		{[]string{"--sort", "size", "--with", "model=m 1", "--with", "k=3", "--head", "1", "--select", "id,model,k"},
			"id,model,k\na,m 1,3\n"},
		{[]string{"--count", "region,object", "--where", "n > 1"}, "region,object,n\nsouth,bag,2\n"},
		{[]string{"--mean", "size", "--by", "region", "--where", "region == south"}, "region,size,n\nsouth,3.5,2\n"},
		{[]string{"--median", "size"}, "size,n\n2.5,4\n"}, {[]string{"--sum", "size", "--select", "size"},
			"size\n10\n"},
		{[]string{"--unique", "region"}, "region\nnorth\nsouth\n"},
		{[]string{"--describe", "--where", "column == size", "--select", "missing,max"}, "missing,max\n1,4\n"},
		{[]string{"--sample", "2", "--by", "region", "--seed", "4", "--count", "region"},
			"region,n\nnorth,2\nsouth,2\n"},
		{[]string{"--join", "other.csv", "--on", "id", "--where", "note present", "--select", "id,note"},
			"id,note\na,first\nc,third\n"},
		{[]string{"--select", "id,size", "--concat", "more.csv", "--sort-down", "size", "--head", "1"},
			"id,size\nf,9\n"},
		{[]string{"--apply", "class-filter", "--min-images", "2", "--where", "kept == yes", "--select",
			"object,region"},
			"object,region\n"},
		{[]string{"--apply", "class-filter", "--min-images", "1", "--where", "kept == yes", "--count", "object"},
			"object,n\nbag,2\ncar,2\n"},
	} {
		for _, in := range []string{"t.csv", "t.parquet"} {
			args := append([]string{"table", "--in", in, "--out", "out.csv"}, c.args...)
			printed, err := run(args...)
			if err != nil {
				t.Errorf("%q: %s %v", args, printed, err)
				continue
			}
			must.Equal(t, string(must.Get(os.ReadFile("out.csv"))(t)), c.want, args)
		}
	}
	prints(run("table", "--in", "t.csv", "--head", "1"))(t, "north")
}

// TestTableErrors: an error names the flag.
func TestTableErrors(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("t.csv", []byte(people), 0o644))
	for _, c := range []struct {
		args, want string
		usage      bool
	}{
		{"--head|1", "give --in TABLE", true},
		{"--in|t.csv|--head|x", "table: --head x: not an integer", true},
		{"--in|t.csv|--head|-1", "table: --head -1: ", true},
		{"--in|t.csv|--where|region", "table: --where region: write 'COLUMN OP VALUE'", true},
		{"--in|t.csv|--where|rgion == x", `table: --where rgion == x: `, false},
		{"--in|t.csv|--where|region ~ x", `table: --where region ~ x: `, false},
		{"--in|t.csv|--where|region in south,nroth", `no row has "nroth" in column "region"; did you mean "north"?`, false},
		{"--in|t.csv|--rename|region", "table: --rename region: write A=B", true},
		{"--in|t.csv|--rename|region=object", "table: --rename region=object: ", false},
		{"--in|t.csv|--with|x", "table: --with x: write COLUMN=VALUE", true},
		{"--in|t.csv|--by|region", "the option before it does not take it", true},
		{"--in|t.csv|--head|2|--seed|1", "the option before it does not take it", true},
		{"--in|t.csv|--sample|9|--by|region", "9 rows", false},
		{"--in|t.csv|--selct|id", "table: unknown flag --selct; did you mean --select?", true},
		{"--in|t.csv|--apply|clas-filter", `did you mean "class-filter"?`, true},
		{"--in|t.csv|--apply|region-summary", "region-summary is a metric: `antipode score --metric region-summary`",
			true},
		{"--in|t.csv|--apply|class-filter|--min-images|x", `class-filter: min-images: "x" is not an integer`, true},
		{"--in|t.csv|--apply|gallery|--selection|hubs", "gallery does not read --in", true},
		{"--apply|gallery|--selection|hubs|--real|t.csv", "gallery: give --gen TABLE", true},
		{"--apply|class-filter", "class-filter: give --in TABLE", true},
		{"--in|t.csv|--out|x.txt|--head|1", "x.txt: the name of a table ends in", true},
		{"--in|t.csv|x", `table takes no argument "x"`, true},
	} {
		printed, err := run(append([]string{"table"}, strings.Split(c.args, "|")...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, new(usageError)) != c.usage {
			t.Errorf("%s: %q, %v, want %q, usage %v", c.args, printed, err, c.want, c.usage)
		}
	}
	must.Fail(run("score", "--metric", "injected-verdicts", "--in", "t.csv"))(t,
		"is a table operation: `antipode table --apply injected-verdicts`")
}

// TestOperationHelp: the help of every metric and table operation names its tables, options and columns.
func TestOperationHelp(t *testing.T) {
	run := inProcess(t)
	prints(run("table", "--list"))(t, "class-filter ")
	for _, metric := range []bool{true, false} {
		for _, name := range operation.Names(metric) {
			args := []string{"table", "--apply", name, "--help"}
			if metric {
				args = []string{"score", "--metric", name, "--help"}
			}
			printed, err := run(args...)
			op := operation.Find(name)
			wants := []string{"antipode " + args[0], op.Title, "Columns of the result:"}
			for _, o := range op.Options {
				wants = append(wants, "-"+o.Flag, o.Help)
			}
			for _, in := range op.Inputs {
				wants = append(wants, "-"+roleFlag(in.Role)+" TABLE", in.About)
			}
			for _, r := range op.Results {
				wants = append(wants, r.Name)
			}
			for _, want := range wants {
				must.True(t, strings.Contains(printed, want) && errors.Is(err, flag.ErrHelp),
					"%q lacks %q: %v\n%s", args, want, err, printed)
			}
		}
	}
}

// TestTranslations: a table of translations, whose ids occur several times, is checked and read; without the operation
// a repeated id is an error.
func TestTranslations(t *testing.T) {
	run := inProcess(t)
	dir := folderOf(t, map[string]string{
		"prompts.csv":   "id,caption\na,a red bus\nb,two dogs\n",
		"languages.csv": "code,caption_source\nen,original\nhin_Deva,IndicTrans2\ntam_Taml,IndicTrans2\n",
		"t.csv": "id,language,text,source\na,hin_Deva,एक लाल बस,IndicTrans2\na,tam_Taml,a red bus,IndicTrans2\n" +
			"b,hin_Deva,दो कुत्ते,IndicTrans2\n",
	})
	file := func(name string) string { return filepath.Join(dir, name) }
	must.Fail(run("table", "--in", file("t.csv"), "--out", file("x.csv")))(t, "the id is in row 1 already")
	_ = must.Get(run("table", "--in", file("t.csv"), "--apply", "indictti-translations", "--prompts",
		file("prompts.csv"), "--languages", file("languages.csv"), "--out", file("problems.csv")))(t)
	want := "id,prompt_id,language,problem,detail,prompt\n" +
		"a-tam_Taml,a,tam_Taml,untranslated,the English caption,a red bus\n" +
		"b-tam_Taml,b,tam_Taml,missing,no translation,\n"
	if got := read(t, file("problems.csv")); got != want {
		t.Errorf("problems\n%s, want\n%s", got, want)
	}
	for _, format := range []string{".csv", ".parquet"} {
		if format == ".parquet" {
			convert(t, file("t.csv"), file("t.parquet"))
		}
		_ = must.Get(run("table", "--in", file("prompts.csv"), "--apply", "indictti-captions", "--translations",
			file("t"+format), "--languages", file("languages.csv"), "--out", file("all.csv")))(t)
		got := read(t, file("all.csv"))
		if strings.Count(got, "\n") != 7 ||
			!strings.Contains(got, "\nb-hin_Deva,b,hin_Deva,Deva,दो कुत्ते,two dogs,IndicTrans2,ok,\n") ||
			!strings.Contains(got, "\nb-tam_Taml,b,tam_Taml,Taml,,two dogs,IndicTrans2,skipped,") {
			t.Errorf("%s: prompts\n%s", format, got)
		}
	}
}

// convert writes a table of translations as Parquet.
func convert(t *testing.T, from, to string) {
	t.Helper()
	f := must.Get(datasets.CSV(from, datasets.FileOptions{RepeatedIDs: true}).Rows(t.Context()))(t)
	must.Do(t, parquet.Write(to, f))
}

// TestNamedTables: the help of every named table lists its options, and the example in it is one that the table takes.
func TestNamedTables(t *testing.T) {
	run, examples := inProcess(t), 0
	for _, name := range manifest.Tables() {
		printed, err := run("table", "--in", name, "--help")
		must.True(t, err == nil && strings.HasPrefix(printed, "The table "+name), "%s: %q, %v", name, printed, err)
		if _, example, has := strings.Cut(printed, "--in '"+name+":"); has {
			example, _, _ = strings.Cut(example, "' --out")
			made, known := manifest.Table(name + ":" + example)
			if examples++; !known || made.Err() != nil || !json.Valid([]byte(example)) {
				t.Errorf("%s: %s: %v", name, example, made.Err())
			}
		}
	}
	must.True(t, examples >= 4, "%d examples", examples)
	for options, want := range map[string]string{`{"templat":"x"}`: `no option "templat"; the options are template, `,
		`{"per_cell":"x"}`: "per_cell: a number is expected, not a string"} {
		made, _ := manifest.Table("digin-prompts:" + options)
		must.True(t, made.Err() != nil && strings.Contains(made.Err().Error(), want), "%s: %v", options, made.Err())
	}
}

// TestConcatNames: tables of one file name in several folders have names of their own.
func TestConcatNames(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	for i, name := range []string{"base.csv", "a/run.csv", "b/run.csv"} {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.WriteFile(name, fmt.Appendf(nil, "id,size\nr%d,1\n", i), 0o644))
	}
	printed := must.Get(run("table", "--in", "base.csv", "--concat", "a/run.csv", "--by", "run", "--concat",
		"b/run.csv", "--by", "run", "--count", "run", "--out", "-"))(t)
	must.Has(t, printed, "base,1", "run,1", "b/run.csv,1")
}

// TestFreeName: a file of another content is not replaced.
func TestFreeName(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("a_cat.png", []byte("old"), 0o644))
	must.Equal(t, must.Get(freeName("a_cat", ".png", []byte("old")))(t), "a_cat.png")
	must.Equal(t, must.Get(freeName("a_cat", ".png", []byte("new")))(t), "a_cat-2.png")
}
