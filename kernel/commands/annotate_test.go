package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	says := func(line, want string) { t.Helper(); prints(run(strings.Fields(line)...))(t, want) }
	says("table --in archipelago-photos --head 7 --out photos.csv", "photos.csv: 7 rows")
	says("annotate make --task tags --tags rusty,new --in photos.csv --out study --seed 4",
		"study: 7 items for 3 raters, 3 pages")
	must.Fail(run("annotate", "collect", "study", "--out", "tags.csv"))(t,
		filepath.Join("study", "answers")+" has no .json file")
	answerAll(t, "study")
	says("annotate collect study --out tags.csv --ratings ratings.parquet", "ratings.parquet: 42 rows")
	says("score --metric tag-shares --in photos.csv --tags tags.csv", "n_inspected")
	says("score --metric agreement --in ratings.parquet --item item --by question", "rusty")
	must.Fail(run(strings.Fields("annotate make --task tags --tags a --in photos.csv --out study")...))(t,
		"use another folder")
	says("table --in archipelago-photos --head 2 --select id,image,region --rename region=identity --out people.csv",
		"people.csv: 2 rows")
	pairs := "id,identity,attribute,na_stereo,region_stereo,offensiveness,score_asia,score_europe,score_na\n"
	for i, island := range []string{"Velmora", "Tarrish", "Ondulay", "Quessin", "Brackwyn", "Ilvanar"} {
		pairs += fmt.Sprintf("%d,%s,tall,2,2,-1,5,5,5\n%d,%s,round,0,0,-1,5,5,5\n", i, island, i+10, island)
	}
	must.Do(t, os.WriteFile("pairs.csv", []byte(pairs), 0o644))
	says("annotate make --task visage --in people.csv --attributes pairs.csv --out people", "people: 2 items")
	answerAll(t, "people")
	says("annotate collect people --out showings.csv", "showings.csv: 12 rows")
	says("score --metric visage-likelihood --min-attributes 1 --in showings.csv", "tall")
}

func TestSpreadsheetSafe(t *testing.T) {
	f := spreadsheetSafe(&table.Frame{Columns: []table.Column{
		table.TextColumn("note", []string{"=1+1", "@SUM(A1)", "a-b", "", "-2", "+3", "\tx"}),
		table.NumberColumn("n", []float64{-1, 1, 1, 1, 1, 1, 1})}})
	must.EqualSlices(t, f.Texts("note"), []string{"'=1+1", "'@SUM(A1)", "a-b", "", "'-2", "'+3", "'\tx"})
}
