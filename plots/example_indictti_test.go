package plots_test

import (
	"antipode/datasets/indictti"
	"antipode/plots"
)

// Figure 3: SCAL of every two languages, a panel for each model, one scale of colors. The diagonal is SCWL, another
// score, and struck out; lines part the scripts. Leave out Groups for the order of the paper's tables.
func ExampleHeat_indicttiFigure3() {
	fig := plots.Heat{
		Table:        pairs(),
		Value:        "scal",
		Rows:         "language_a",
		Columns:      "language_b",
		RowGroups:    "script_a",
		ColumnGroups: "script_b",
		Panels:       "model",
		Percent:      true,
		Hatched:      plots.Match{Column: "kind", Value: "SCWL"},
		Title:        "Similarity of images between languages (SCAL, %)",
		XLabel:       "language, by script",
		YLabel:       "language, by script",
	}
	golden("indictti-figure-3", fig)
	// Output: as in indictti-figure-3.svg
}

// Figures 4 and 9: SCWL and DWL by language, a line for each model. Figure 4 is without AltDiffusion m9 and on the
// common set of prompts, Figure 9 with it and on the complete sets: which rows the table has.
func ExampleLines_indicttiFigure9() {
	fig := plots.Lines{
		Table:   consistency(),
		X:       "language",
		Y:       "scwl",
		MoreY:   []string{"dwl"},
		Series:  "model",
		Panels:  "score",
		Names:   map[string]string{"scwl": "(a) SCWL", "dwl": "(b) DWL"},
		Percent: true,
		YLimits: plots.Range{Low: 40, High: 80},
		Title:   "Consistency and distinctness within a language",
		XLabel:  "language",
		YLabel:  "score (%)",
	}
	golden("indictti-figure-9", fig)
	// Output: as in indictti-figure-9.svg
}

// Figure 8: mean rating of the translations, from 1 to 5.
func ExampleBars_indicttiFigure8() {
	fig := plots.Bars{
		Table:      ratings(),
		X:          "language",
		Y:          "rating",
		YLimits:    plots.Range{Low: 1, High: 5},
		References: []plots.Mark{{At: 3, Name: "same in the main points"}},
		Interval:   "95 % bootstrap interval over prompts",
		Title:      "Quality of translation",
		YLabel:     "mean rating (XSTS, 1 to 5)",
	}
	golden("indictti-figure-8", fig)
	// Output: as in indictti-figure-8.svg
}

// Figures 1, 5 to 7 and 10 to 13: contact sheets by script, language and model, each image with its prompt in its own
// script and in English. One of the figures is a choice of rows: of a model, a script, a prompt.
func ExampleGrid_indicttiFigures5To13() {
	fig := plots.Grid{
		Table:    sheetOfScripts(),
		Rows:     "language",
		Columns:  "model",
		Blocks:   "script",
		Captions: []string{"prompt", "english"},
		PerCell:  2,
		Title:    "One prompt, by script, language and model",
	}
	golden("indictti-figure-7", fig)
	// Output: as in indictti-figure-7.svg
}

// Tables 2 to 4 and 6 to 11: models down, languages across, in two blocks that both start with English; here Table 7 as
// printed. From scores of your own: Percent().
func ExampleTable_indicttiTable7() {
	igc := printedScores(indictti.PrintedTable(7))
	plots.Show(plots.Table{
		Table:    igc,
		Title:    "IGC (%), common set",
		Wide:     plots.Wide{Rows: "model", Columns: "language", Value: "value"},
		Block:    15,
		Repeat:   []string{"model", "en"},
		Decimals: 2,
		Notes:    []string{"Mittal et al., ECCV 2024, Table 7"},
	})
	// Output:
	// IGC (%), common set
	// model                en  asm_Beng  ben_Beng  guj_Gujr  hin_Deva  kan_Knda  mal_Mlym  mar_Deva  mni_Beng  npi_Deva  ory_Orya  pan_Guru  san_Deva  snd_Arab  tam_Taml  tel_Telu
	// Stable Diffusion  51.21     24.19     23.84     23.25     23.53     23.24     22.96     23.53     23.58     23.96     23.76     22.97     23.11     23.06     22.68     22.61
	// Alt Diffusion     46.58     24.23     25.08     25.18     25.43     27.74     24.27     25.42     22.79     25.98     26.27     25.48     25.68     24.68     25.06     22.19
	// Alt Diffusion m9  42.43     26.50     28.39     30.46     28.94     29.74     29.59     28.86     23.29     30.67     29.55     28.76     26.54     25.54     28.29     28.62
	// Midjourney        48.94     22.69     22.66     23.06     22.50     22.81     22.04     22.75     21.97     22.29     22.82     23.05     22.81     23.34     22.55     22.09
	// Dalle3            48.92     40.02     44.22     43.75     44.86     42.74     43.12     46.10     30.91     43.14     40.00     45.06     37.66     36.30     41.25     41.39
	//
	// model                en  urd_Arab  kas_Arab  kas_Deva  mai_Deva  awa_Deva  bho_Deva  hne_Deva  mag_Deva  sin_Sinh  brx_Deva  doi_Deva  gom_Deva  sat_Olck  snd_Deva  mni_Mtei
	// Stable Diffusion  51.21     22.92     22.58     23.41     23.71     25.16     22.98     23.19     23.41     24.00     23.83     22.90     23.88     24.14     23.64     23.98
	// Alt Diffusion     46.58     25.40     24.45     25.01     26.39     25.97     25.53     25.59     26.10     24.60     23.82     24.87     24.73     24.16     25.16     24.35
	// Alt Diffusion m9  42.43     28.39     25.05     27.48     27.34     29.31     28.24     30.17     29.53     29.79     23.28     27.16     25.83     24.10     28.24     24.26
	// Midjourney        48.94     23.30     22.76     22.63     22.90     23.09     22.65     22.97     22.64     22.16     22.57     22.90     22.79     21.25     22.53     21.99
	// Dalle3            48.92     44.10     38.81     44.04     43.18     44.88     44.22     44.03     44.17     37.46     29.76     44.69     38.91     23.18     42.18     22.46
	// Mittal et al., ECCV 2024, Table 7
}
