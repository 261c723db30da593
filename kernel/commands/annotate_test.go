package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
)

// answerAll writes the answers to the pages of a study: the first option of each question.
func answerAll(t *testing.T, dir string) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(dir, "pages", "*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatal(err, "no pages")
	}
	for _, path := range pages {
		html := must.Get(os.ReadFile(path))(t)
		_, rest, _ := strings.Cut(string(html), `id="page">`)
		text, _, _ := strings.Cut(rest, "</script>")
		var page struct {
			Study, Page string
			Items       []struct{ Steps [][]any }
		}
		must.Do(t, json.Unmarshal([]byte(text), &page))
		items := map[string]any{}
		for i, it := range page.Items {
			given := map[string]any{}
			for j := range it.Steps {
				given[fmt.Sprint(j+1)] = map[string]any{"pick": []int{1}}
			}
			items[fmt.Sprint(i+1)] = map[string]any{"answers": given}
		}
		data, err := json.Marshal(map[string]any{"format": "annotation answers 1", "study": page.Study,
			"page": page.Page, "items": items})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "answers", page.Page+".json"), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnnotate makes pages, collects answers and computes scores of them, as the documentation does.
func TestAnnotate(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	must := func(line, want string) {
		t.Helper()
		if printed, err := run(strings.Fields(line)...); err != nil || !strings.Contains(printed, want) {
			t.Fatalf("antipode %s: %q, %v; want %q", line, printed, err, want)
		}
	}
	must("table --in archipelago-photos --head 7 --out photos.csv", "photos.csv: 7 rows")
	must("annotate make --task tags --tags rusty,new --in photos.csv --out study --seed 4",
		"study: 7 items for 3 raters, 3 pages")
	_, err := run("annotate", "collect", "study", "--out", "tags.csv")
	if err == nil || !strings.Contains(err.Error(), filepath.Join("study", "answers")+" has no .json file") {
		t.Errorf("no answers: %v", err)
	}
	answerAll(t, "study")
	must("annotate collect study --out tags.csv --ratings ratings.parquet", "ratings.parquet: 42 rows")
	must("score --metric tag-shares --in photos.csv --tags tags.csv", "n_inspected")
	must("score --metric agreement --in ratings.parquet --item item --by question", "rusty")
	_, err = run(strings.Fields("annotate make --task tags --tags a --in photos.csv --out study")...)
	if err == nil || !strings.Contains(err.Error(), "use another folder") {
		t.Errorf("a second study in the folder: %v", err)
	}

	must("table --in archipelago-photos --head 2 --select id,image,region --rename region=identity --out people.csv",
		"people.csv: 2 rows")
	pairs := "id,identity,attribute,na_stereo,region_stereo,offensiveness,score_asia,score_europe,score_na\n"
	for i, island := range []string{"Velmora", "Tarrish", "Ondulay", "Quessin", "Brackwyn", "Ilvanar"} {
		pairs += fmt.Sprintf("%d,%s,tall,2,2,-1,5,5,5\n%d,%s,round,0,0,-1,5,5,5\n", i, island, i+10, island)
	}
	if err := os.WriteFile("pairs.csv", []byte(pairs), 0o644); err != nil {
		t.Fatal(err)
	}
	must("annotate make --task visage --in people.csv --attributes pairs.csv --out people", "people: 2 items")
	answerAll(t, "people")
	must("annotate collect people --out showings.csv", "showings.csv: 12 rows")
	must("score --metric visage-likelihood --min-attributes 1 --in showings.csv", "tall")
}

// TestAnnotateUsage: a mistake in the arguments is one line that names what was meant.
func TestAnnotateUsage(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	for args, want := range map[string]string{
		"annotate":        "antipode annotate make",
		"annotate colect": "antipode annotate make … | collect DIR …; did you mean collect?",
		"annotate make":   "give --task TASK, --in TABLE and --out DIR",
		"annotate make --raters 0 --task tags --in t.csv --out d": `annotate make: invalid value "0" for flag ` +
			"--raters: it must be at least 1",
		"annotate collect":                                           "antipode annotate collect DIR --out TABLE",
		"annotate collect nope --out t.csv":                          "annotate collect: there is no folder nope",
		"annotate collect . --out t.txt":                             "t.txt: the name of a table ends in",
		"annotate make --task visag --in archipelago-photos --out d": "annotate make: no task \"visag\"",
	} {
		misused(run(strings.Fields(args)...))(t, want)
	}
}

func TestSpreadsheetSafe(t *testing.T) {
	f := spreadsheetSafe(&table.Frame{Columns: []table.Column{
		table.TextColumn("note", []string{"=1+1", "@SUM(A1)", "a-b", "", "-2", "+3", "\tx"}),
		table.NumberColumn("n", []float64{-1, 1, 1, 1, 1, 1, 1})}})
	if want := []string{"'=1+1", "'@SUM(A1)", "a-b", "", "'-2", "'+3", "'\tx"}; !slices.Equal(f.Texts("note"), want) {
		t.Errorf("%q", f.Texts("note"))
	}
}
