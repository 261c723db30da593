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
	var identity, region []string
	v := make([][]float64, 5)
	for _, p := range visagedata.PrintedSimilarity() {
		identity, region = append(identity, visagedata.DisplayName(p.Identity)), append(region, regionOf[p.Identity])
		for k, x := range []float64{p.DS, p.DNS, p.SNS, p.MeanS, p.DS - p.DNS} {
			v[k] = append(v[k], math.Round(1e4*x)/1e4)
		}
	}
	return made(table.TextColumn("identity", identity), table.TextColumn("region", region),
		table.NumberColumn("s_d_s", v[0]), table.NumberColumn("s_d_ns", v[1]),
		table.NumberColumn("s_s_ns", v[2]), table.NumberColumn("mean_sim", v[3]), table.NumberColumn("pull", v[4]))
}

// tendencies are the first n rows of Table 2 of the paper with the columns of the metric visage-association.
func tendencies(n int) datasets.Table {
	var identity, theta []string
	var stereo, random []float64
	for _, p := range visagedata.PrintedTables() {
		if p.Table == 2 && len(identity) < n {
			identity, theta = append(identity, p.Label), append(theta, p.ThetaText)
			stereo, random = append(stereo, p.Stereo), append(random, p.Random)
		}
	}
	return made(table.TextColumn("identity", identity), table.NumberColumn("l_stereo", stereo),
		table.NumberColumn("l_random", random), table.TextColumn("theta_text", theta))
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
	var identity, region []string
	var count, offense, n []float64
	for i := range 24 {
		identity, region = append(identity,
			fmt.Sprintf("%s, %s coast", regions[i%6], []string{"north", "east", "south", "west"}[i/6])),
			append(region, []string{"inner islands", "outer islands"}[i%2])
		count, n = append(count, math.Round(9+7*wave(i))), append(n, 15)
		x := 0.9 + 1.1*wave(i, 3)
		if i == 8 {
			x = math.NaN()
		}
		offense = append(offense, x)
	}
	return made(table.TextColumn("identity", identity), table.TextColumn("region", region),
		table.NumberColumn("n_stereotypes", count), table.NumberColumn("offensiveness", offense),
		table.NumberColumn("n_used", n))
}

// seen are likelihoods of attributes that annotators saw, next to the salience of those that captions name.
func seen() datasets.Table {
	words := []string{"boat", "lamp", "hat", "harbour", "goat", "hill", "shawl", "market", "drum", "kite"}
	var identity, attribute, source []string
	var v []float64
	for i, id := range regions[:2] {
		for k := range 5 {
			identity, attribute, source = append(identity, id, id),
				append(attribute, words[(3*i+k)%10], words[(3*i+2*k+1)%10]),
				append(source, "annotators: L(a, id)", "captions: salience")
			v = append(v, 0.6-0.1*float64(k)+0.05*wave(i, k), 3.2-0.5*float64(k)+0.3*wave(k, i))
		}
	}
	return made(table.TextColumn("identity", identity), table.TextColumn("attribute", attribute),
		table.TextColumn("source", source), table.NumberColumn("score", v))
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
	var axis, attribute, kind, model []string
	var v, low, high, n []float64
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
					axis, attribute, kind, model = append(axis, of.axis), append(attribute, word), append(kind, prompt),
						append(model, name)
					if m == 0 && t == 2 && p == 1 {
						x = math.NaN()
					}
					v, low, high, n = append(v, x), append(low, max(x-0.3, -1)), append(high, min(x+0.3, 1)),
						append(n, 9)
				}
			}
		}
	}
	return made(table.TextColumn("axis", axis), table.TextColumn("attribute", attribute),
		table.TextColumn("prompt", kind), table.TextColumn("model", model),
		table.NumberColumn("bias", v), table.NumberColumn("bias_low", low), table.NumberColumn("bias_high", high),
		table.NumberColumn("n_used", n), table.TextColumn("interval", repeat("95 % Wilson interval", len(v))))
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
	var a, b, model []string
	var n []float64
	for m, name := range entigenModels[1:] {
		for i, x := range labels {
			for j, y := range labels {
				a, b, model = append(a, x), append(b, y), append(model, name)
				n = append(n, []float64{68, 4, 6, 9, 41, 3, 7, 5, 12}[3*i+j]+float64(m*(i+2*j)))
			}
		}
	}
	return made(table.TextColumn("model", model), table.TextColumn("human", a), table.TextColumn("CLIP", b),
		table.NumberColumn("images", n))
}

// printedAverages is Table 1 of the Decomposed-DIG paper.
func printedAverages() datasets.Table {
	t := []table.Column{table.TextColumn("template", []string{"Orig.", "New", "Delta"})}
	for i, name := range []string{"Obj-only, avg. prec.", "Obj-only, worst prec.", "Obj-only, avg. covg.",
		"Obj-only, worst covg.", "BG-only, avg. prec.", "BG-only, worst prec.", "BG-only, avg. covg.",
		"BG-only, worst covg."} {
		t = append(t, table.NumberColumn(name, [][]float64{{0.617, 0.665, 0.048}, {0.564, 0.609, 0.045},
			{0.377, 0.390, 0.013}, {0.352, 0.344, -0.008}, {0.481, 0.466, -0.015}, {0.363, 0.389, 0.026},
			{0.383, 0.461, 0.078}, {0.278, 0.423, 0.145}}[i]))
	}
	return made(t...)
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
	var row, prompt, model []string
	var v []float64
	for _, c := range cells {
		if c.Table == tab && c.Judge == "human" && c.Axis == axis {
			row, prompt, model, v = append(row, c.Prompt+", "+c.Category), append(prompt, c.Prompt),
				append(model, c.Model), append(v, c.Value)
		}
	}
	return made(table.TextColumn("row", row), table.TextColumn("prompt_id", prompt),
		table.TextColumn("model", model), table.NumberColumn("score", v))
}

// printedScores are the printed cells of a table of IndicTTI.
func printedScores(cells []indictti.Cell, err error) datasets.Table {
	if err != nil {
		panic(err)
	}
	var model, language []string
	var v []float64
	for _, c := range cells {
		model, language, v = append(model, c.Model), append(language, c.Language), append(v, c.Value)
	}
	return made(table.TextColumn("model", model), table.TextColumn("language", language),
		table.NumberColumn("value", v))
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
