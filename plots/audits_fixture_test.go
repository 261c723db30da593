package plots_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"

	"antipode/datasets"
	"antipode/datasets/cococrola"
	"antipode/datasets/entigen"
	"antipode/datasets/indictti"
	"antipode/datasets/table"
	visagedata "antipode/datasets/visage"
)

// pulls are the paper's Tables 3 to 5 with the columns of the metric visage-pull, with SeeGULL's region of each
// identity.
func pulls() datasets.Table {
	text, err := os.ReadFile("../datasets/visage/regions.csv")
	if err != nil {
		panic(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		panic(err)
	}
	regionOf := map[string]string{}
	for _, l := range lines[1:] {
		regionOf[l[0]] = l[1]
	}
	f := frame("identity:text", "region:text", "s_d_s:number", "s_d_ns:number", "s_s_ns:number", "mean_sim:number",
		"pull:number")
	for _, p := range visagedata.PrintedSimilarity() {
		v := []float64{p.DS, p.DNS, p.SNS, p.MeanS, p.DS - p.DNS}
		for k, x := range v {
			v[k] = math.Round(1e4*x) / 1e4
		}
		f.Add([]string{visagedata.DisplayName(p.Identity), regionOf[p.Identity]}, v...)
	}
	return datasets.FromFrame(f)
}

// tendencies are the first n rows of Table 2 of the paper with the columns of the metric visage-association.
func tendencies(n int) datasets.Table {
	f := frame("identity:text", "l_stereo:number", "l_random:number", "theta_text:text")
	for _, p := range visagedata.PrintedTables() {
		if p.Table == 2 && f.Len() < n {
			f.Add([]string{p.Label, p.ThetaText}, p.Stereo, p.Random)
		}
	}
	return datasets.FromFrame(f)
}

// consensus are the shares of Figure 6 from the released ratings.
func consensus() datasets.Table {
	return made(table.TextColumn("label", []string{"Strongly Agree", "Agree", "Unsure", "Disagree",
		"Strongly Disagree"}),
		table.NumberColumn("share", []float64{20.4112, 22.1665, 0.2006, 20.3611, 7.5226}),
		table.NumberColumn("n_used", []float64{1994, 1994, 1994, 1994, 1994}))
}

// islandCounts are a number of visual stereotypes and a mean offensiveness of synthetic peoples; one has none.
func islandCounts() datasets.Table {
	f := frame("identity:text", "region:text", "n_stereotypes:number", "offensiveness:number", "n_used:number")
	for i := range 24 {
		x := 0.9 + 1.1*wave(i, 3)
		if i == 8 {
			x = math.NaN()
		}
		f.Add([]string{fmt.Sprintf("%s, %s coast", regions[i%6], []string{"north", "east", "south", "west"}[i/6]),
			[]string{"inner islands", "outer islands"}[i%2]}, math.Round(9+7*wave(i)), x, 15)
	}
	return datasets.FromFrame(f)
}

// seen are likelihoods of attributes that annotators saw, next to the salience of those that captions name.
func seen() datasets.Table {
	words := []string{"boat", "lamp", "hat", "harbour", "goat", "hill", "shawl", "market", "drum", "kite"}
	f := frame("identity:text", "attribute:text", "source:text", "score:number")
	for i, id := range regions[:2] {
		for k := range 5 {
			f.Add([]string{id, words[(3*i+k)%10], "annotators: L(a, id)"}, 0.6-0.1*float64(k)+0.05*wave(i, k))
			f.Add([]string{id, words[(3*i+2*k+1)%10], "captions: salience"}, 3.2-0.5*float64(k)+0.3*wave(k, i))
		}
	}
	return datasets.FromFrame(f)
}

// prompted are images of two peoples for a default prompt and prompts with an attribute.
func prompted() datasets.Table {
	var all []drawnRow
	for i := range 2 {
		for p, prompt := range []string{"default", "stereotypical", "not stereotypical"} {
			for k := range 2 {
				all = append(all, drawnRow{[]string{world.Islands()[i], prompt}, some(i+4*(p/2), p, 2*k+p%2)})
			}
		}
	}
	return imaged([]string{"identity", "prompt"}, all)
}

var entigenModels = []string{"minDALL-E", "DALL-E mini", "Stable Diffusion"}

// biases are synthetic biases of each attribute by prompt, axis and model, with the columns of the metric entigen-bias;
// without a usable image there is none.
func biases() datasets.Table {
	f := frame("axis:text", "attribute:text", "prompt:text", "model:text", "bias:number", "bias_low:number",
		"bias_high:number", "n_used:number", "interval:text")
	for a, of := range []struct {
		axis       string
		attributes []string
	}{{"perceived gender", []string{"police officer", "doctor", "suit", "scarf", "makeup"}},
		{"perceived skin color", []string{"police officer", "doctor", "suit", "scarf", "makeup"}},
		{"perceived culture", []string{"bride", "groom", "wedding"}}} {
		for m, name := range entigenModels {
			for t, word := range of.attributes {
				for p, prompt := range []string{"original", "ethical intervention", "irrelevant"} {
					x := math.Round(9*math.Tanh(2.2*wave(a, t, m)+0.4*wave(t, p))*[]float64{1, 0.5, 0.9}[p]) / 9
					if m == 0 && t == 2 && p == 1 {
						x = math.NaN()
					}
					f.Add([]string{of.axis, word, prompt, name, "95 % Wilson interval"}, x, max(x-0.3, -1),
						min(x+0.3, 1), 9)
				}
			}
		}
	}
	return datasets.FromFrame(f)
}

// variants are nine images for each of four prompts of one model.
func variants() datasets.Table {
	var all []drawnRow
	for p, prompt := range []string{"original", "P-G1: … irrespective of their gender",
		"P-S1: … irrespective of their skin color", "P-I1: … honesty is the best policy"} {
		for k := range 9 {
			all = append(all, drawnRow{[]string{prompt}, some(k*p, 4, k+p)})
		}
	}
	return imaged([]string{"prompt"}, all)
}

// votes are how often an annotator and CLIP gave which label.
func votes() datasets.Table {
	labels := []string{"perceived man", "perceived woman", "uncertain"}
	f := frame("model:text", "human:text", "CLIP:text", "images:number")
	for m, name := range entigenModels[1:] {
		for i, x := range labels {
			for j, y := range labels {
				f.Add([]string{name, x, y}, []float64{68, 4, 6, 9, 41, 3, 7, 5, 12}[3*i+j]+float64(m*(i+2*j)))
			}
		}
	}
	return datasets.FromFrame(f)
}

// printedAverages is Table 1 of the Decomposed-DIG paper.
func printedAverages() datasets.Table {
	f := frame("template:text", "Obj-only, avg. prec.:number", "Obj-only, worst prec.:number",
		"Obj-only, avg. covg.:number", "Obj-only, worst covg.:number", "BG-only, avg. prec.:number",
		"BG-only, worst prec.:number", "BG-only, avg. covg.:number", "BG-only, worst covg.:number")
	f.Add([]string{"Orig."}, 0.617, 0.564, 0.377, 0.352, 0.481, 0.363, 0.383, 0.278)
	f.Add([]string{"New"}, 0.665, 0.609, 0.390, 0.344, 0.466, 0.389, 0.461, 0.423)
	f.Add([]string{"Delta"}, 0.048, 0.045, 0.013, -0.008, -0.015, 0.026, 0.078, 0.145)
	return datasets.FromFrame(f)
}

// head returns the first n rows of a table in memory.
func head(t datasets.Table, n int) datasets.Table {
	f := rows(t)
	var first []int
	for i := range min(n, f.Len()) {
		first = append(first, i)
	}
	return datasets.FromFrame(f.Pick(first))
}

// human are the printed human values of a table and axis of ENTIGEN; row names prompt and category.
func human(cells []entigen.PrintedCell, tab int, axis string) datasets.Table {
	f := frame("row:text", "prompt_id:text", "model:text", "score:number")
	for _, c := range cells {
		if c.Table == tab && c.Judge == "human" && c.Axis == axis {
			f.Add([]string{c.Prompt + ", " + c.Category, c.Prompt, c.Model}, c.Value)
		}
	}
	return datasets.FromFrame(f)
}

// printedScores are the printed cells of a table of IndicTTI.
func printedScores(cells []indictti.Cell, err error) datasets.Table {
	if err != nil {
		panic(err)
	}
	f := frame("model:text", "language:text", "value:number")
	for _, c := range cells {
		f.Add([]string{c.Model, c.Language}, c.Value)
	}
	return datasets.FromFrame(f)
}

// entigenTable puts the printed values of Table 1 into its columns.
func entigenTable(cells []entigen.PrintedCell) datasets.Table {
	var prompts, heads []string
	at := map[[2]string]string{}
	for _, c := range cells {
		if c.Table != 1 {
			continue
		}
		axis := c.Axis
		if axis == entigen.PerceivedSkin {
			axis = "perceived skin color"
		}
		head := axis + " (" + c.Judge + "), " + c.Model
		if !slices.Contains(prompts, c.Prompt) {
			prompts = append(prompts, c.Prompt)
		}
		if !slices.Contains(heads, head) {
			heads = append(heads, head)
		}
		at[[2]string{c.Prompt, head}] = c.Text
	}
	columns := []table.Column{table.TextColumn("prompt", prompts)}
	for _, h := range heads {
		texts := make([]string, len(prompts))
		for i, p := range prompts {
			texts[i] = at[[2]string{p, h}]
		}
		columns = append(columns, table.TextColumn(h, texts))
	}
	return made(columns...)
}

// tableTwo puts the printed cells of CoCo-CroLa's Table 2 into the columns that the metric cococrola-table gives.
func tableTwo(cells []cococrola.PrintedCell, err error) datasets.Table {
	if err != nil {
		panic(err)
	}
	var models, heads []string
	at := map[[2]string]float64{}
	for _, c := range cells {
		if !slices.Contains(models, c.Model) {
			models = append(models, c.Model)
		}
		for score, v := range map[string]float64{"Xc": c.Xc, "Wc": c.Wc} {
			at[[2]string{c.Model, c.Language + " " + score}] = v
		}
		if first := c.Language + " Xc"; !slices.Contains(heads, first) {
			heads = append(heads, first, c.Language+" Wc")
		}
	}
	columns := []table.Column{table.TextColumn("model", models)}
	for _, h := range heads {
		v := make([]float64, len(models))
		for i, m := range models {
			v[i] = at[[2]string{m, h}]
		}
		columns = append(columns, table.NumberColumn(h, v))
	}
	return made(columns...)
}
