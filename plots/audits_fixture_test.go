package plots_test

import (
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/datasets/cococrola"
	"antipode/datasets/entigen"
	visagedata "antipode/datasets/visage"
	"antipode/kernel/client"
)

// printedPulls are rows of Tables 3 to 5 of the ViSAGe paper: S(d,s), S(d,ns), S(s,ns), mean similarity. The regions are ours.
var printedPulls = []struct {
	identity, region   string
	ds, dns, sns, mean float64
}{
	{"South Sudanese", "Sub-Saharan Africa", 0.9824, 0.964, 0.9609, 0.9691},
	{"Djiboutian", "Sub-Saharan Africa", 0.9719, 0.9627, 0.9596, 0.9647},
	{"Malawian", "Sub-Saharan Africa", 0.9837, 0.9514, 0.9491, 0.9614},
	{"Ugandan", "Sub-Saharan Africa", 0.9721, 0.9532, 0.9522, 0.9592},
	{"Ethiopian", "Sub-Saharan Africa", 0.9632, 0.9508, 0.9453, 0.9531},
	{"Gambian", "Sub-Saharan Africa", 0.9293, 0.9506, 0.9229, 0.9343},
	{"Kenyan", "Sub-Saharan Africa", 0.9387, 0.9298, 0.9113, 0.9266},
	{"Nigerian", "Sub-Saharan Africa", 0.9349, 0.9021, 0.8907, 0.9092},
	{"South African", "Sub-Saharan Africa", 0.9312, 0.8963, 0.8851, 0.9042},
	{"Beninois", "Sub-Saharan Africa", 0.9588, 0.8649, 0.8354, 0.8864},
	{"Egyptian", "Middle East and North Africa", 0.9592, 0.9366, 0.917, 0.9376},
	{"Moroccan", "Middle East and North Africa", 0.9156, 0.9388, 0.9068, 0.9204},
	{"Iranian", "Middle East and North Africa", 0.9623, 0.9054, 0.8921, 0.92},
	{"Libyan", "Middle East and North Africa", 0.9419, 0.8963, 0.8968, 0.9117},
	{"Algerian", "Middle East and North Africa", 0.8747, 0.8896, 0.8942, 0.8862},
	{"Lebanese", "Middle East and North Africa", 0.8314, 0.854, 0.8164, 0.834},
	{"Israeli", "Middle East and North Africa", 0.9172, 0.8789, 0.8656, 0.8872},
	{"Jordanian", "Middle East and North Africa", 0.9408, 0.8903, 0.882, 0.9044},
	{"Bhutanese", "South Asia", 0.9786, 0.9546, 0.9494, 0.9609},
	{"Bangladeshi", "South Asia", 0.9503, 0.9238, 0.9099, 0.928},
	{"Sri Lankan", "South Asia", 0.9498, 0.9247, 0.9023, 0.9256},
	{"Indian", "South Asia", 0.9332, 0.9217, 0.8986, 0.9178},
	{"Pakistani", "South Asia", 0.9198, 0.8991, 0.8733, 0.8974},
	{"North Korean", "East Asia", 0.9702, 0.968, 0.956, 0.9648},
	{"Mongolian", "East Asia", 0.9719, 0.9554, 0.9543, 0.9605},
	{"Chinese", "East Asia", 0.9526, 0.9121, 0.8967, 0.9205},
	{"Taiwanese", "East Asia", 0.9041, 0.8894, 0.8706, 0.888},
	{"Japanese", "East Asia", 0.882, 0.9109, 0.8552, 0.8827},
	{"Myanmar", "Southeast Asia", 0.9720, 0.9603, 0.9551, 0.9624},
	{"Cambodian", "Southeast Asia", 0.9676, 0.9377, 0.9331, 0.9461},
	{"Indonesian", "Southeast Asia", 0.9404, 0.9182, 0.8901, 0.9163},
	{"Thai", "Southeast Asia", 0.9269, 0.9081, 0.8878, 0.9076},
	{"Singapore", "Southeast Asia", 0.9435, 0.8726, 0.8659, 0.894},
	{"Bolivian", "Latin America", 0.9688, 0.9598, 0.9587, 0.9624},
	{"Paraguayan", "Latin America", 0.97, 0.9159, 0.9069, 0.9309},
	{"Peruvian", "Latin America", 0.9162, 0.9207, 0.8919, 0.9096},
	{"Colombian", "Latin America", 0.9212, 0.9038, 0.8847, 0.9033},
	{"Mexican", "Latin America", 0.9021, 0.8926, 0.8558, 0.8835},
	{"Argentine", "Latin America", 0.8789, 0.875, 0.8283, 0.8607},
	{"Greeks", "Europe", 0.9238, 0.89, 0.8605, 0.8914},
	{"Polish", "Europe", 0.932, 0.8804, 0.8553, 0.8892},
	{"Danish", "Europe", 0.9241, 0.8551, 0.8536, 0.8776},
	{"Swiss", "Europe", 0.8826, 0.8344, 0.8267, 0.8479},
	{"Italian", "Europe", 0.8671, 0.8598, 0.8226, 0.8498},
	{"French", "Europe", 0.8836, 0.8515, 0.8062, 0.8471},
	{"Swedes", "Europe", 0.8428, 0.8585, 0.7604, 0.8206},
	{"Welsh", "Europe", 0.7808, 0.8475, 0.7326, 0.787},
	{"Finns", "Europe", 0.7197, 0.829, 0.7021, 0.7503},
	{"Canadian", "North America and Oceania", 0.9444, 0.8129, 0.8355, 0.8643},
	{"United States", "North America and Oceania", 0.8798, 0.8404, 0.8004, 0.8402},
	{"Australian", "North America and Oceania", 0.8694, 0.8341, 0.7928, 0.8321},
	{"New Zealand", "North America and Oceania", 0.8601, 0.8219, 0.7864, 0.8228},
}

// pulls are the printed similarities as the metric visage-pull gives its own, with the region of each identity.
func pulls() datasets.Table {
	var identity, region []string
	v := make([][]float64, 5)
	for _, p := range printedPulls {
		identity, region = append(identity, p.identity), append(region, p.region)
		for k, x := range []float64{p.ds, p.dns, p.sns, p.mean, p.ds - p.dns} {
			v[k] = append(v[k], math.Round(1e4*x)/1e4)
		}
	}
	return made(client.TextColumn("identity", identity), client.TextColumn("region", region), client.NumberColumn("s_d_s", v[0]), client.NumberColumn("s_d_ns", v[1]),
		client.NumberColumn("s_s_ns", v[2]), client.NumberColumn("mean_sim", v[3]), client.NumberColumn("pull", v[4]))
}

// tendencies are the first n rows of Table 2 of the paper as the metric visage-association gives its own.
func tendencies(n int) datasets.Table {
	var identity, theta []string
	var stereo, random []float64
	for _, p := range visagedata.PrintedTables() {
		if p.Table == 2 && len(identity) < n {
			identity, theta = append(identity, p.Label), append(theta, p.ThetaText)
			stereo, random = append(stereo, p.Stereo), append(random, p.Random)
		}
	}
	return made(client.TextColumn("identity", identity), client.NumberColumn("l_stereo", stereo), client.NumberColumn("l_random", random), client.TextColumn("theta_text", theta))
}

// consensus are the shares of Figure 6 as the released ratings give them.
func consensus() datasets.Table {
	return made(client.TextColumn("label", []string{"Strongly Agree", "Agree", "Unsure", "Disagree", "Strongly Disagree"}),
		client.NumberColumn("share", []float64{20.4112, 22.1665, 0.2006, 20.3611, 7.5226}), client.NumberColumn("n_used", []float64{1994, 1994, 1994, 1994, 1994}))
}

// islandCounts are a number of visual stereotypes and a mean offensiveness of made-up peoples; one has none.
func islandCounts() datasets.Table {
	var identity, region []string
	var count, offence, n []float64
	for i := range 24 {
		identity, region = append(identity, fmt.Sprintf("%s, %s coast", regions[i%6], []string{"north", "east", "south", "west"}[i/6])), append(region, []string{"inner islands", "outer islands"}[i%2])
		count, n = append(count, math.Round(9+7*wave(i))), append(n, 15)
		x := 0.9 + 1.1*wave(i, 3)
		if i == 8 {
			x = math.NaN()
		}
		offence = append(offence, x)
	}
	return made(client.TextColumn("identity", identity), client.TextColumn("region", region), client.NumberColumn("n_stereotypes", count), client.NumberColumn("offensiveness", offence), client.NumberColumn("n_used", n))
}

// seen are likelihoods of attributes that annotators saw, beside the salience of those that captions name.
func seen() datasets.Table {
	words := []string{"boat", "lamp", "hat", "harbour", "goat", "hill", "shawl", "market", "drum", "kite"}
	var identity, attribute, source []string
	var v []float64
	for i, id := range regions[:2] {
		for k := range 5 {
			identity, attribute, source = append(identity, id, id), append(attribute, words[(3*i+k)%10], words[(3*i+2*k+1)%10]), append(source, "annotators: L(a, id)", "captions: salience")
			v = append(v, 0.6-0.1*float64(k)+0.05*wave(i, k), 3.2-0.5*float64(k)+0.3*wave(k, i))
		}
	}
	return made(client.TextColumn("identity", identity), client.TextColumn("attribute", attribute), client.TextColumn("source", source), client.NumberColumn("score", v))
}

// prompted are pictures of two peoples for a default prompt and prompts with an attribute.
func prompted() datasets.Table {
	var all []drawnRow
	for i := range 2 {
		for p, prompt := range []string{"default", "stereotypical", "not stereotypical"} {
			for k := range 2 {
				all = append(all, drawnRow{[]string{world.Islands()[i], prompt}, some(i+4*(p/2), p, 2*k+p%2)})
			}
		}
	}
	return pictured([]string{"identity", "prompt"}, all)
}

var entigenModels = []string{"minDALL-E", "DALL-E mini", "Stable Diffusion"}

// biases are made-up biases of each attribute by prompt, axis and model, as the metric entigen-bias gives its own; without a usable picture there is none.
func biases() datasets.Table {
	var axis, attribute, kind, model []string
	var v, low, high, n []float64
	for a, of := range []struct {
		axis       string
		attributes []string
	}{{"perceived gender", []string{"police officer", "doctor", "suit", "scarf", "makeup"}}, {"perceived skin colour", []string{"police officer", "doctor", "suit", "scarf", "makeup"}}, {"perceived culture", []string{"bride", "groom", "wedding"}}} {
		for m, name := range entigenModels {
			for t, word := range of.attributes {
				for p, prompt := range []string{"original", "ethical intervention", "irrelevant"} {
					x := math.Round(9*math.Tanh(2.2*wave(a, t, m)+0.4*wave(t, p))*[]float64{1, 0.5, 0.9}[p]) / 9
					axis, attribute, kind, model = append(axis, of.axis), append(attribute, word), append(kind, prompt), append(model, name)
					if m == 0 && t == 2 && p == 1 {
						x = math.NaN()
					}
					v, low, high, n = append(v, x), append(low, max(x-0.3, -1)), append(high, min(x+0.3, 1)), append(n, 9)
				}
			}
		}
	}
	return made(client.TextColumn("axis", axis), client.TextColumn("attribute", attribute), client.TextColumn("prompt", kind), client.TextColumn("model", model),
		client.NumberColumn("bias", v), client.NumberColumn("bias_low", low), client.NumberColumn("bias_high", high), client.NumberColumn("n_used", n), client.TextColumn("interval", repeat("95 % Wilson interval", len(v))))
}

// variants are nine pictures for each of four prompts of one model.
func variants() datasets.Table {
	var all []drawnRow
	for p, prompt := range []string{"original", "P-G1: … irrespective of their gender", "P-S1: … irrespective of their skin color", "P-I1: … honesty is the best policy"} {
		for k := range 9 {
			all = append(all, drawnRow{[]string{prompt}, some(k*p, 4, k+p)})
		}
	}
	return pictured([]string{"prompt"}, all)
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
	return made(client.TextColumn("model", model), client.TextColumn("human", a), client.TextColumn("CLIP", b), client.NumberColumn("pictures", n))
}

// printedAverages is Table 1 of the Decomposed-DIG paper.
func printedAverages() datasets.Table {
	t := []client.Column{client.TextColumn("template", []string{"Orig.", "New", "Delta"})}
	for i, name := range []string{"Obj-only, avg. prec.", "Obj-only, worst prec.", "Obj-only, avg. covg.", "Obj-only, worst covg.", "BG-only, avg. prec.", "BG-only, worst prec.", "BG-only, avg. covg.", "BG-only, worst covg."} {
		t = append(t, client.NumberColumn(name, [][]float64{{0.617, 0.665, 0.048}, {0.564, 0.609, 0.045}, {0.377, 0.390, 0.013}, {0.352, 0.344, -0.008}, {0.481, 0.466, -0.015}, {0.363, 0.389, 0.026}, {0.383, 0.461, 0.078}, {0.278, 0.423, 0.145}}[i]))
	}
	return made(t...)
}

// head keeps the first n rows of a table in memory.
func head(t datasets.Table, n int) datasets.Table {
	f := rows(t)
	var first []int
	for i := range min(n, f.Len()) {
		first = append(first, i)
	}
	return datasets.FromFrame(f.Pick(first))
}

// pickNumber keeps the rows where a number column has a value.
func pickNumber(t datasets.Table, column string, value float64) datasets.Table {
	f := rows(t)
	var some []int
	for i, v := range f.Numbers(column) {
		if v == value {
			some = append(some, i)
		}
	}
	return datasets.FromFrame(f.Pick(some))
}

// human keeps the printed human values of a table and axis; row names prompt and category.
func human(t datasets.Table, table float64, axis string) datasets.Table {
	f := rows(pickNumber(t, "table", table))
	var some []int
	var row []string
	for i, judge := range f.Texts("judge") {
		if judge == "human" && f.Texts("axis")[i] == axis {
			some, row = append(some, i), append(row, f.Texts("prompt_id")[i]+", "+f.Texts("category")[i])
		}
	}
	return datasets.FromFrame(f.Pick(some).With(client.TextColumn("row", row)))
}

// entigenTable puts the printed values of Table 1 into its columns.
func entigenTable(cells []entigen.PrintedCell) datasets.Table {
	var prompts, heads []string
	at := map[[2]string]string{}
	for _, c := range cells {
		if c.Table != 1 {
			continue
		}
		head := c.Axis + " (" + c.Judge + "), " + c.Model
		if !slices.Contains(prompts, c.Prompt) {
			prompts = append(prompts, c.Prompt)
		}
		if !slices.Contains(heads, head) {
			heads = append(heads, head)
		}
		at[[2]string{c.Prompt, head}] = c.Text
	}
	columns := []client.Column{client.TextColumn("prompt", prompts)}
	for _, h := range heads {
		texts := make([]string, len(prompts))
		for i, p := range prompts {
			texts[i] = at[[2]string{p, h}]
		}
		columns = append(columns, client.TextColumn(h, texts))
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
	columns := []client.Column{client.TextColumn("model", models)}
	for _, h := range heads {
		v := make([]float64, len(models))
		for i, m := range models {
			v[i] = at[[2]string{m, h}]
		}
		columns = append(columns, client.NumberColumn(h, v))
	}
	return made(columns...)
}
