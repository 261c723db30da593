package plots_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/plots"
)

// scoresByLanguage is a table with a row for each model and language, one pair missing, in the form metrics give.
func scoresByLanguage() plots.TableView {
	return plots.Table(made(texts("model", "SD", "SD", "SD", "Alt", "Alt"), texts("language", "en", "hi", "ta", "en", "ta"),
		client.NumberColumn("igc", []float64{0.5121, 0.24194, 0.2268, 0.46581, 0.2506}), client.NumberColumn("igc_low", []float64{0.49, 0.22, 0.2, 0.44, math.NaN()}),
		client.NumberColumn("igc_high", []float64{0.53, 0.26, 0.25, 0.49, math.NaN()}), client.NumberColumn("n_used", []float64{40, 40, 39, 40, 40}),
		texts("vector", "full", "full", "full", "full", "full"), texts("interval", "95 % bootstrap", "95 % bootstrap", "95 % bootstrap", "95 % bootstrap", "95 % bootstrap")))
}

// TestPaperLayout prints a table wide, in blocks, in per cent, with its settings, in every form.
func TestPaperLayout(t *testing.T) {
	ctx := context.Background()
	v := scoresByLanguage().Wide("model", "language", "igc").Blocks(1, "model", "en").Percent().Decimals(1).Head("model", "Model").Settings("vector").Noted("Own scores")
	for name, c := range map[string]struct {
		form func(context.Context) (string, error)
		want string
	}{
		"text": {v.Text, `Model                 en                 hi
SD     51.2 [49.0, 53.0]  24.2 [22.0, 26.0]
Alt    46.6 [44.0, 49.0]            no data

Model                 en                 ta
SD     51.2 [49.0, 53.0]  22.7 [20.0, 25.0]
Alt    46.6 [44.0, 49.0]               25.1
Own scores; vector: full
`},
		"markdown": {v.Markdown, `| Model | en | hi |
| --- | ---: | ---: |
| SD | 51.2 \[49.0, 53.0\] | 24.2 \[22.0, 26.0\] |
| Alt | 46.6 \[44.0, 49.0\] | no data |

| Model | en | ta |
| --- | ---: | ---: |
| SD | 51.2 \[49.0, 53.0\] | 22.7 \[20.0, 25.0\] |
| Alt | 46.6 \[44.0, 49.0\] | 25.1 |

Own scores; vector: full
`},
		"csv": {v.CSV, `model,en,en_low,en_high,hi,hi_low,hi_high,ta,ta_low,ta_high,vector
SD,0.5121,0.49,0.53,0.24194,0.22,0.26,0.2268,0.2,0.25,full
Alt,0.46581,0.44,0.49,,,,0.2506,,,full
`},
	} {
		got, err := c.form(ctx)
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
	latex, err := v.LaTeX(ctx)
	if err != nil || strings.Count(latex, `\begin{tabular}{lrr}`) != 2 || !strings.Contains(latex, "% vector: full\n") || !strings.Contains(latex, `Alt & 46.6 [44.0, 49.0] & no data \\`) {
		t.Errorf("latex: %v\n%s", err, latex)
	}
	page, err := v.Titled("IGC").HTML(ctx)
	if err != nil || strings.Count(page, "<table") != 2 || strings.Count(page, "<caption") != 1 || !strings.Contains(page, "vector: full") {
		t.Errorf("html: %v\n%s", err, page)
	}
	inert(t, "blocks", page)
	all, err := scoresByLanguage().Wide("model", "language", "igc").Settings().Text(ctx)
	if err != nil || !strings.HasSuffix(all, "vector: full; interval: 95 % bootstrap\n") {
		t.Errorf("settings that are not listed: %v\n%s", err, all)
	}
}

// What all rows say alike of how they came about stands once below a table, and stays a column in CSV and where rows differ.
func TestSaidOnce(t *testing.T) {
	ctx := context.Background()
	rows := []map[string]any{{"region": "a", "score": 0.5, "note": "perceived", "warning": "", "settings": "k = 3"}, {"region": "b", "score": 0.25, "note": "perceived", "warning": "", "settings": "k = 5"}}
	text, err := plots.Table(datasets.FromRows(rows)).Text(ctx)
	if err != nil || !strings.HasSuffix(text, "note: perceived\n") || strings.Contains(text, "warning") || !strings.Contains(text, "k = 5") {
		t.Errorf("%v\n%s", err, text)
	}
	if csv, err := plots.Table(datasets.FromRows(rows)).CSV(ctx); err != nil || strings.Count(csv, "perceived") != 2 {
		t.Errorf("csv: %v\n%s", err, csv)
	}
	if asked, err := plots.Table(datasets.FromRows(rows), "region", "note").Text(ctx); err != nil || strings.Count(asked, "perceived") != 2 {
		t.Errorf("asked for: %v\n%s", err, asked)
	}
}

// TestSpans looks at common heads in every form that has them.
func TestSpans(t *testing.T) {
	ctx := context.Background()
	v := plots.Table(made(texts("model", "SD"), client.NumberColumn("EN Xc", []float64{81}), client.NumberColumn("EN Wc", []float64{28}), client.NumberColumn("Average of all Xc", []float64{5}))).Spans(" ")
	got, err := v.Text(ctx)
	if want := "         EN     Average\nmodel  Xc  Wc  of all Xc\nSD     81  28          5\n"; err != nil || got != want {
		t.Errorf("text: %v\n%s\nwant\n%s", err, got, want)
	}
	latex, err := v.LaTeX(ctx)
	if err != nil || !strings.Contains(latex, " & \\multicolumn{2}{c}{EN} & \\multicolumn{1}{c}{Average} \\\\\n\\cmidrule(lr){2-3} \\cmidrule(lr){4-4}\nmodel & Xc & Wc & of all Xc \\\\\n") {
		t.Errorf("latex: %v\n%s", err, latex)
	}
	page, err := v.HTML(ctx)
	if err != nil || !strings.Contains(page, `<th colspan="2"`) || strings.Count(page, "<bdi>EN</bdi>") != 1 {
		t.Errorf("html: %v\n%s", err, page)
	}
	inert(t, "spans", page)
	markdown, err := v.Markdown(ctx)
	if err != nil || !strings.Contains(markdown, "| model | EN Xc | EN Wc |") {
		t.Errorf("markdown keeps whole names: %v\n%s", err, markdown)
	}
}

// TestLayoutErrors asks for layouts that a table does not have.
func TestLayoutErrors(t *testing.T) {
	long := scoresByLanguage()
	twice := plots.Table(made(texts("model", "SD", "SD"), texts("language", "en", "en"), small(1, 2)))
	for want, v := range map[string]plots.TableView{
		`"igd"`:                            long.Wide("model", "language", "igd"),
		`"models"`:                         long.Wide("models", "language", "igc"),
		`no column "de" to repeat`:         long.Wide("model", "language", "igc").Blocks(2, "model", "de"),
		`row 2 (model "SD") is the second`: twice.Wide("model", "language", "v"),
		`"nosuch"`:                         long.Settings("nosuch"),
		`holds more than one text`:         long.Settings("language"),
	} {
		for name, form := range map[string]func(context.Context) (string, error){"text": v.Text, "html": v.HTML, "latex": v.LaTeX, "markdown": v.Markdown} {
			if _, err := form(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: want %q: %v", name, want, err)
			}
		}
	}
}
