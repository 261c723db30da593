package plots_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/indictti"
	"antipode/datasets/table"
)

// made puts columns together in the order of their names: synthetic tables of the examples.
func made(columns ...table.Column) datasets.Table {
	return datasets.FromFrame(&datasets.Frame{Columns: columns})
}

// frame is a table without rows; its columns are given as name:kind.
func frame(columns ...string) *table.Frame { return table.NewFrame(datasets.Columns(columns...)) }

// rows are those of a table in memory.
func rows(t datasets.Table) *datasets.Frame {
	f, err := t.Rows(context.Background())
	if err != nil {
		panic(err)
	}
	return f
}

// wave is a pseudo-random number between -1 and 1.
func wave(k ...int) float64 {
	x := 0.0
	for i, v := range k {
		x += float64(v) * []float64{12.9898, 78.233, 37.719, 93.989}[i]
	}
	return math.Sin(x) * math.Cos(3*x)
}

// indic are the codes and scripts of the paper's 31 languages, in the order of its tables.
func indic() (codes, scripts []string) {
	for _, l := range indictti.Languages() {
		codes, scripts = append(codes, l.Code), append(scripts, l.Script)
	}
	return codes, scripts
}

var indicModels = []string{"Stable Diffusion", "Alt Diffusion", "Midjourney", "Dalle3", "Alt Diffusion m9"}

// likeness is a synthetic level of a model for a language: high for English and, with Dalle3, for most languages.
func likeness(model, language int) float64 {
	switch {
	case language == 0:
		return 0.9
	case model == 3 && language != 28 && language != 30:
		return 0.75
	case model == 3:
		return 0.15
	}
	return 0.35 + 0.05*float64(model)
}

// pairs are likenesses of every two languages for four models, with the columns of the metric indictti-scal.
func pairs() datasets.Table {
	codes, scripts := indic()
	f := frame("model:text", "language_a:text", "language_b:text", "script_a:text", "script_b:text", "kind:text",
		"scal:number", "n:number")
	for m, name := range indicModels[:4] {
		for i := range codes {
			for j := range codes {
				low, high := min(i, j), max(i, j)
				x := 0.2 + 0.25*math.Sqrt(likeness(m, i)*likeness(m, j)) + 0.02*wave(low, high, m)
				if m < 3 && (i == 0) != (j == 0) {
					x -= 0.14
				}
				if scripts[i] == scripts[j] {
					x += []float64{0.02, 0.03, 0.09, 0.02}[m]
				}
				k := "SCAL"
				if i == j {
					x, k = x+0.12, "SCWL"
				}
				f.Add([]string{name, codes[i], codes[j], scripts[i], scripts[j], k}, x, 40)
			}
		}
	}
	return datasets.FromFrame(f)
}

// consistency are SCWL and DWL by language and model.
func consistency() datasets.Table {
	codes, _ := indic()
	f := frame("model:text", "language:text", "scwl:number", "dwl:number", "n:number")
	for m, name := range indicModels {
		for i, c := range codes {
			f.Add([]string{name, c}, 0.45+0.12*likeness(m, i)+0.012*wave(i, m),
				0.55+0.25*likeness(m, i)+0.03*wave(m, i), 1000)
		}
	}
	return datasets.FromFrame(f)
}

// ratings are mean ratings of translations into 30 languages.
func ratings() datasets.Table {
	codes, _ := indic()
	f := frame("language:text", "rating:number", "rating_low:number", "rating_high:number", "n:number")
	for i := range codes[1:] {
		x := 4.4 + 0.35*wave(i)
		switch codes[i+1] {
		case "kas_Deva", "snd_Deva", "sin_Sinh":
			x = 3.1 + 0.2*wave(i)
		}
		f.Add([]string{codes[i+1]}, x, x-0.25, min(x+0.2, 5), 40)
	}
	return datasets.FromFrame(f)
}

type drawnRow struct {
	text []string // values of text columns
	item archipelago.Item
}

// imaged makes a table of images with text columns.
func imaged(names []string, all []drawnRow) datasets.Table {
	texts := make([][]string, len(names))
	var images []table.Image
	var id []string
	for i, r := range all {
		img, _ := drawn(r.item)
		images, id = append(images, img), append(id, fmt.Sprintf("%s-%d", r.item.ID, i))
		for k, v := range r.text {
			texts[k] = append(texts[k], v)
		}
	}
	columns := []table.Column{table.TextColumn("id", id), table.ImageColumn("image", images)}
	for k, n := range names {
		columns = append(columns, table.TextColumn(n, texts[k]))
	}
	return made(columns...)
}

// some is the k-th image of an island and object, photos and sampled ones in turn.
func some(island, object, k int) archipelago.Item {
	set := items(world.Sampled(), island%len(world.Islands()), object%len(world.Objects()))
	if k%2 == 1 {
		set = items(world.Reference(), island%len(world.Islands()), object%len(world.Objects()))
	}
	return set[(k/2)%len(set)]
}

// sheetOfScripts are images of two models for one prompt in languages of four scripts, right-to-left ones among them.
func sheetOfScripts() datasets.Table {
	var all []drawnRow
	for i, l := range [][3]string{{"Devanagari", "hin_Deva", "एक नाव"}, {"Devanagari", "mar_Deva", "एक होडी"},
		{"Arabic", "urd_Arab", "ایک کشتی"}, {"Bengali", "ben_Beng", "একটি নৌকা"}, {"Tamil", "tam_Taml", "ஒரு படகு"}} {
		for m, model := range []string{"Stable Diffusion", "Dalle3"} {
			for k := range 2 {
				all = append(all, drawnRow{[]string{l[0], l[1], model, l[2], "a boat"}, some(i+2*m, m+(1-m)*i, k)})
			}
		}
	}
	return imaged([]string{"script", "language", "model", "prompt", "english"}, all)
}

var cocoLanguages = []string{"EN", "ES", "DE", "ZH", "JA", "HE", "ID"}

// concepts are synthetic scores of 193 concepts in seven languages by six models.
func concepts() datasets.Table {
	f := frame("model:text", "language:text", "concept:text", "cross_consistency:number",
		"inverse_distinctiveness:number")
	chance := rand.New(rand.NewPCG(7, 193))
	own := make([]float64, 193) // some concepts are easier
	for k := range own {
		own[k] = 0.1 * chance.NormFloat64()
	}
	for m, name := range []string{"DALL-E Mini", "DALL-E 2", "CogView 2", "SD 1.4", "SD 2", "AltDiffusion"} {
		for l, lang := range cocoLanguages {
			level := 0.7 - 0.06*float64(l)
			if m == 2 {
				level = []float64{0.4, 0.42, 0.4, 0.65, 0.42, 0.38, 0.4}[l]
			}
			for k := range 193 {
				f.Add([]string{name, lang, fmt.Sprintf("concept %d", k+1)},
					min(max(level+own[k]+0.09*chance.NormFloat64(), 0), 1),
					min(max(0.45+0.03*float64(l)+0.09*chance.NormFloat64(), 0), 1))
			}
		}
	}
	return datasets.FromFrame(f)
}

var cocoPairs = [][2]string{{"ES", "DE"}, {"ES", "ID"}, {"ZH", "JA"}, {"ES", "JA"}}

// facing puts the scores of a concept in two languages next to each other, by model, for four pairs of languages.
func facing() datasets.Table {
	f := rows(concepts())
	at := map[[3]string]float64{}
	for i, v := range f.Numbers("cross_consistency") {
		at[[3]string{f.Texts("model")[i], f.Texts("language")[i], f.Texts("concept")[i]}] = v
	}
	out := frame("pair:text", "model:text", "concept:text", "first:number", "second:number", "gap:number")
	for _, p := range cocoPairs {
		for i, name := range f.Texts("model") {
			if f.Texts("language")[i] != p[0] || name == "CogView 2" || i%4 > 0 {
				continue
			}
			c := f.Texts("concept")[i]
			x, y := at[[3]string{name, p[0], c}], at[[3]string{name, p[1], c}]
			out.Add([]string{p[0] + "–" + p[1], name, c}, x, y, math.Abs(x-y))
		}
	}
	return datasets.FromFrame(out)
}

// correlations are Pearson's r and the least-squares line of the pairs, with the columns of the metric
// cococrola-correlations.
func correlations() datasets.Table {
	f := rows(facing())
	out := frame("pair:text", "pearson:number", "r_squared:number", "slope:number", "intercept:number",
		"n_used:number")
	for _, p := range cocoPairs {
		name := p[0] + "–" + p[1]
		var x, y []float64
		for i, of := range f.Texts("pair") {
			if of == name {
				x, y = append(x, f.Numbers("first")[i]), append(y, f.Numbers("second")[i])
			}
		}
		c := stat.Correlation(x, y, nil)
		b, a := stat.LinearRegression(x, y, nil, false)
		out.Add([]string{name}, c, c*c, a, b, float64(len(x)))
	}
	return datasets.FromFrame(out)
}

// ranked are images of six concepts of a model and language with the concept's score.
func ranked() datasets.Table {
	var all []drawnRow
	var score []float64
	for k := range 5 {
		for i := range 4 {
			all = append(all, drawnRow{[]string{world.Objects()[k], "ES"}, some(k, k, i)})
			score = append(score, 0.5+0.35*wave(k))
		}
	}
	f := rows(imaged([]string{"concept", "language"}, all))
	return datasets.FromFrame(f.With(table.NumberColumn("Xc", score)))
}

// byModelAndLanguage are images of one concept by model and language.
func byModelAndLanguage() datasets.Table {
	var all []drawnRow
	for m, model := range []string{"DALL-E mega", "SD 2", "DALL-E 2", "AltDiffusion"} {
		for l, lang := range []string{"EN", "ES", "DE", "中文", "日本語", "עברית", "ID"} {
			if m == 2 && l == 5 {
				continue
			}
			all = append(all, drawnRow{[]string{model, lang}, some(l*(m%2), (m+l)/4, m+l)})
		}
	}
	return imaged([]string{"model", "language"}, all)
}

// boxed are images with the box that an annotator drew around what showed an attribute, as datasets/visage gives
// it; one has none.
func boxed() datasets.Table {
	var all []drawnRow
	box := make([][]float64, 4)
	for k := range 5 {
		item := some(k, k, k)
		all = append(all, drawnRow{[]string{item.Region, []string{"tall", "striped", "round", "bright", "wide"}[k],
			fmt.Sprintf("task %d", 17+k)}, item})
		for c, v := range []float64{120 + 20*float64(k), 90, 400, 380 + 10*float64(k)} {
			if k == 3 {
				v = math.NaN()
			}
			box[c] = append(box[c], v)
		}
	}
	f := rows(imaged([]string{"identity", "attribute", "task"}, all))
	for c, name := range []string{"box_left", "box_top", "box_right", "box_bottom"} {
		f = f.With(table.NumberColumn(name, box[c]))
	}
	return datasets.FromFrame(f)
}
