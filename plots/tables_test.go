package plots_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
)

// scoresByLanguage is a table with a row for each model and language, one pair missing, as metrics return it.
func scoresByLanguage() datasets.Table {
	return made(texts("model", "SD", "SD", "SD", "Alt", "Alt"), texts("language", "en", "hi", "ta", "en", "ta"),
		table.NumberColumn("igc", []float64{0.5121, 0.24194, 0.2268, 0.46581, 0.2506}),
		table.NumberColumn("igc_low", []float64{0.49, 0.22, 0.2, 0.44, math.NaN()}),
		table.NumberColumn("igc_high", []float64{0.53, 0.26, 0.25, 0.49, math.NaN()}),
		table.NumberColumn("n_used", []float64{40, 40, 39, 40, 40}),
		table.TextColumn("vector", slices.Repeat([]string{"full"}, 5)),
		table.TextColumn("interval", slices.Repeat([]string{"95 % bootstrap"}, 5)))
}

// byLanguage prints the scores with a column for each language.
var byLanguage = plots.Wide{Rows: "model", Columns: "language", Value: "igc"}

// TestPaperLayout prints a table wide, in blocks, in percent, with a footer, in every form.
func TestPaperLayout(t *testing.T) {
	v := plots.Table{
		Table:    scoresByLanguage(),
		Wide:     byLanguage,
		Block:    1,
		Repeat:   []string{"model", "en"},
		Percent:  true,
		Decimals: 1,
		Names:    map[string]string{"model": "Model"},
		Footer:   []string{"vector"},
		Notes:    []string{"Own scores"},
	}
	for format, want := range map[string]string{
		"txt": `Model                 en                 hi
SD     51.2 [49.0, 53.0]  24.2 [22.0, 26.0]
Alt    46.6 [44.0, 49.0]            no data

Model                 en                 ta
SD     51.2 [49.0, 53.0]  22.7 [20.0, 25.0]
Alt    46.6 [44.0, 49.0]               25.1
Own scores; vector: full
`,
		"md": `| Model | en | hi |
| --- | ---: | ---: |
| SD | 51.2 \[49.0, 53.0\] | 24.2 \[22.0, 26.0\] |
| Alt | 46.6 \[44.0, 49.0\] | no data |

| Model | en | ta |
| --- | ---: | ---: |
| SD | 51.2 \[49.0, 53.0\] | 22.7 \[20.0, 25.0\] |
| Alt | 46.6 \[44.0, 49.0\] | 25.1 |

Own scores; vector: full
`,
		"csv": `model,en,en_low,en_high,hi,hi_low,hi_high,ta,ta_low,ta_high,vector
SD,0.5121,0.49,0.53,0.24194,0.22,0.26,0.2268,0.2,0.25,full
Alt,0.46581,0.44,0.49,,,,0.2506,,,full
`,
	} {
		got, err := plots.Text(v, format)
		must.True(t, err == nil && got == want, "%s: %v\n%s\nwant\n%s", format, err, got, want)
	}
	latex, err := plots.Text(v, "tex")
	if err != nil || strings.Count(latex, `\begin{tabular}{lrr}`) != 2 ||
		!strings.Contains(latex, "% vector: full\n") ||
		!strings.Contains(latex, `Alt & 46.6 [44.0, 49.0] & no data \\`) {
		t.Errorf("latex: %v\n%s", err, latex)
	}
	v.Title = "IGC"
	page, err := plots.Text(v, "html")
	if err != nil || strings.Count(page, "<table") != 2 || strings.Count(page, "<caption") != 1 ||
		!strings.Contains(page, "vector: full") {
		t.Errorf("html: %v\n%s", err, page)
	}
	inert(t, "blocks", page)
	all, err := plots.Text(plots.Table{Table: scoresByLanguage(), Wide: byLanguage, Constants: true}, "txt")
	must.True(t, err == nil && strings.HasSuffix(all, "vector: full; interval: 95 % bootstrap\n"),
		"constants: %v\n%s", err, all)
}

// TestConstantsBelow prints columns such as note, where equal in all rows, once below the table; they are columns in
// CSV and where rows differ.
func TestConstantsBelow(t *testing.T) {
	rows := []map[string]any{{"region": "a", "score": 0.5, "note": "perceived", "warning": "", "settings": "k = 3"},
		{"region": "b", "score": 0.25, "note": "perceived", "warning": "", "settings": "k = 5"}}
	text, err := plots.Text(plots.Table{Table: datasets.FromRows(rows)}, "txt")
	if err != nil || !strings.HasSuffix(text, "note: perceived\n") || strings.Contains(text, "warning") ||
		!strings.Contains(text, "k = 5") {
		t.Errorf("%v\n%s", err, text)
	}
	if csv, err := plots.Text((plots.Table{
		Table: datasets.FromRows(rows),
	}), "csv"); err != nil || strings.Count(csv, "perceived") != 2 {
		t.Errorf("csv: %v\n%s", err, csv)
	}
	if listed, err := plots.Text((plots.Table{
		Table:   datasets.FromRows(rows),
		Columns: []string{"region", "note"},
	}), "txt"); err != nil ||
		strings.Count(listed, "perceived") != 2 {
		t.Errorf("listed: %v\n%s", err, listed)
	}
}

// TestSpans checks common labels in every form that has them.
func TestSpans(t *testing.T) {
	v := plots.Table{
		Table: made(texts("model", "SD"), table.NumberColumn("EN Xc", []float64{81}),
			table.NumberColumn("EN Wc", []float64{28}), table.NumberColumn("Average of all Xc", []float64{5})),
		Span: " ",
	}
	got, err := plots.Text(v, "txt")
	want := "         EN     Average\nmodel  Xc  Wc  of all Xc\nSD     81  28          5\n"
	must.True(t, err == nil && got == want, "text: %v\n%s\nwant\n%s", err, got, want)
	latex, err := plots.Text(v, "tex")
	if err != nil || !strings.Contains(latex,
		" & \\multicolumn{2}{c}{EN} & \\multicolumn{1}{c}{Average} \\\\\n\\cmidrule(lr){2-3} "+
			"\\cmidrule(lr){4-4}\nmodel & Xc & Wc & of all Xc \\\\\n") {
		t.Errorf("latex: %v\n%s", err, latex)
	}
	page, err := plots.Text(v, "html")
	must.True(t, err == nil && strings.Contains(page, `<th colspan="2"`) && strings.Count(page, "<bdi>EN</bdi>") == 1,
		"html: %v\n%s", err, page)
	inert(t, "spans", page)
	markdown, err := plots.Text(v, "md")
	must.True(t, err == nil && strings.Contains(markdown, "| model | EN Xc | EN Wc |"),
		"markdown has whole names: %v\n%s", err, markdown)
}

// TestLayoutErrors sets layouts that a table does not allow.
func TestLayoutErrors(t *testing.T) {
	long := scoresByLanguage()
	twice := made(texts("model", "SD", "SD"), texts("language", "en", "en"), small(1, 2))
	for want, v := range map[string]plots.Table{
		`"igd"`:                    {Table: long, Wide: plots.Wide{Rows: "model", Columns: "language", Value: "igd"}},
		`"models"`:                 {Table: long, Wide: plots.Wide{Rows: "models", Columns: "language", Value: "igc"}},
		`no column "de" to repeat`: {Table: long, Wide: byLanguage, Block: 2, Repeat: []string{"model", "de"}},
		`row 2 (model "SD") is the second`: {Table: twice,
			Wide: plots.Wide{Rows: "model", Columns: "language", Value: "v"}},
		`"nosuch"`:                              {Table: long, Footer: []string{"nosuch"}},
		`holds more than one text`:              {Table: long, Footer: []string{"language"}},
		`Names: no such column: "igd"`:          {Table: long, Names: map[string]string{"igd": "IGD"}},
		`ColumnDecimals: no such column: "igd"`: {Table: long, ColumnDecimals: map[string]int{"igd": 2}},
	} {
		for _, name := range []string{"txt", "html", "tex", "md"} {
			must.Fail(plots.Text(v, name))(t, want)
		}
	}
}

// TestMaskedText: tables and captions of figures display the masked form of a prompt.
func TestMaskedText(t *testing.T) {
	prompts := made(texts("id", "a", "b"), texts("prompt", "a loud person", "a tall person"),
		texts("prompt_shown", "a masked 1 person", ""), table.NumberColumn("n", []float64{1, 2}))
	printed := plots.Table{Table: prompts}
	for name, f := range map[string]plots.Figure{"txt": printed, "csv": printed,
		"svg": plots.Bars{Table: prompts, Y: "n", X: "prompt"}} {
		got, err := plots.Text(f, name)
		if err != nil || strings.Contains(got, "loud") || !strings.Contains(got, "masked 1") ||
			!strings.Contains(got, "tall") || strings.Contains(got, "_shown") {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// A value has the same digits in a table and next to its bar, and a figure does not say what its table lacks.
func TestSameDigits(t *testing.T) {
	for _, row := range []map[string]any{
		{"region": "A", "score": 0.41234},
		{"region": "A", "score": 0.41234, "score_low": 0.25, "score_high": 0.55},
		{"region": "A", "score": 41.234, "score_low": 41.2, "score_high": 41.3},
		{"region": "A", "score": 7.0},
	} {
		scores := datasets.FromRows([]map[string]any{row})
		text := must.Get(plots.Text(plots.Table{Table: scores, Columns: []string{"score"}}, "txt"))(t)
		printed, _, _ := strings.Cut(strings.Fields(text)[1], " ")
		svg := must.Get(plots.Render(plots.Bars{Table: scores, X: "region", Y: "score", Horizontal: true}, "svg"))(t)
		must.True(t, strings.Contains(string(svg), ">"+printed+"</text>"),
			"%v: the table has %s, not the figure", row, printed)
		must.True(t, !strings.Contains(string(svg), "n: not given"), "the figure says that n is not given")
	}
}
