package stereotypes

import (
	"context"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/datasets/table"
	data "antipode/datasets/visage"
	"antipode/metrics"
)

// ValueTables are the inputs of [Values]: results of this package, of which any may be missing. Annotations and
// Likelihoods are not masked.
type ValueTables struct {
	Annotations   datasets.Table
	Likelihoods   datasets.Table // of Likelihoods
	Tendencies    datasets.Table // of Tendencies
	Overall       datasets.Table // of OverallRatio
	Agreement     datasets.Table // of SalienceAgreement
	Pulls         datasets.Table // of PullTable
	PullCount     datasets.Table // of PullCount
	Counts        datasets.Table // of StereotypeCounts
	Consensus     datasets.Table // of ConsensusTable
	Visual        datasets.Table // of VisualAttributes
	Offensiveness datasets.Table // of OffensivenessTable
}

type valueRow struct {
	Item  string  `column:"item"`
	Holds string  `column:"holds" help:"yes or no, of a finding; empty for a number"`
	Value float64 `column:"value"`
	Low   float64 `column:"value_low"`
	High  float64 `column:"value_high"`
	N     float64 `column:"n" unit:"images"`
	described
}

// part is an optional input of [Values].
func part(role, columns, about string) metrics.Input {
	return metrics.Input{Role: role, Columns: columnsOf(columns), About: about, Optional: true}
}

var values = listing(metrics.Definition[struct{}, valueRow]{
	Name: "visage-values", Version: 1, Title: "the values of the tables and claims of ViSAGe",
	Citation: "Tables 1 to 5",
	Inputs: []metrics.Input{
		part("annotations", "identity:text image_number:number", "annotations"),
		part("likelihoods", "identity:text attribute:text likelihood:number", "visage-likelihood, not masked"),
		part("tendencies", "identity:text l_stereo:number l_random:number theta:number theta_text:text",
			"visage-association"),
		part("overall", "aggregation:text ratio:number mode:text", "visage-overall"),
		part("agreement", "share:number n_used:number", "visage-salience-agreement"),
		part("pulls", "identity:text s_d_s:number s_d_ns:number s_s_ns:number mean_sim:number", "visage-pull"),
		part("pull-count", "n_positive:number n_used:number", "visage-pull-count"),
		part("counts", "identity:text n_stereotypes:number", "visage-stereotypes"),
		part("consensus", "label:text share:number", "visage-consensus"),
		part("visual", "attribute:text visual:text", "visage-visual-attributes"),
		part("offensiveness", "identity:text offensiveness:number", "visage-offensiveness"),
	},
	Compute: func(_ context.Context, call *metrics.Call, _ struct{}) ([]valueRow, error) {
		var v valuation
		for _, s := range []struct {
			role string
			add  func(f *table.Frame)
		}{{"annotations", v.annotations}, {"likelihoods", v.likelihoods}, {"tendencies", v.tendencies},
			{"overall", v.overall}, {"agreement", v.agreement}, {"pulls", v.pulls}, {"pull-count", v.pullCount},
			{"counts", v.counts}, {"consensus", v.consensus}, {"visual", v.visual},
			{"offensiveness", v.offensiveness}} {
			if f := call.Inputs[s.role]; f != nil && f.Len() > 0 {
				s.add(f)
			}
		}
		return v, nil
	},
})

// Values is the metric visage-values (Jha et al., ACL 2024, Tables 1 to 5): the values of the items that
// data.PrintedValues lists, for metrics.Ledger, as far as the given tables determine them, with their intervals.
func Values(t ValueTables) datasets.Table {
	return values.Table(map[string]datasets.Table{"annotations": t.Annotations, "likelihoods": t.Likelihoods,
		"tendencies": t.Tendencies, "overall": t.Overall, "agreement": t.Agreement, "pulls": t.Pulls,
		"pull-count": t.PullCount, "counts": t.Counts, "consensus": t.Consensus, "visual": t.Visual,
		"offensiveness": t.Offensiveness})
}

// valuation collects rows.
type valuation []valueRow

func (v *valuation) number(item string, value float64) {
	none := math.NaN()
	*v = append(*v, valueRow{Item: item, Value: value, Low: none, High: none, N: none})
}

func (v *valuation) holds(item string, yes bool) {
	v.number(item, math.NaN())
	(*v)[len(*v)-1].Holds = map[bool]string{true: "yes", false: "no"}[yes]
}

// estimate adds a value of row i of a table with its interval, times a scale.
func (v *valuation) estimate(item string, f *table.Frame, column string, i int, scale float64, n string) {
	v.number(item, scale*f.Numbers(column)[i])
	r := &(*v)[len(*v)-1]
	for name, into := range map[string]*float64{column + "_low": &r.Low, column + "_high": &r.High} {
		if c := f.Numbers(name); c != nil {
			*into = scale * c[i]
		}
	}
	if c := f.Numbers(n); c != nil {
		r.N = c[i]
	}
}

func (v *valuation) annotations(f *table.Frame) {
	type image struct {
		identity string
		number   float64
	}
	identities, images := map[string]bool{}, map[image]bool{}
	for i, id := range f.Texts("identity") {
		identities[id], images[image{id, f.Numbers("image_number")[i]}] = true, true
	}
	v.number("introduction: identity groups", float64(len(identities)))
	v.number("section 3.2: annotated image-attribute pairs", float64(f.Len())/3)
	v.number("section 3.2: identity-image pairs", float64(len(images)))
}

func (v *valuation) likelihoods(f *table.Frame) {
	for i, id := range f.Texts("identity") {
		if id == "Bangladeshi" && f.Texts("attribute")[i] == "poor" {
			v.estimate("section 5.1: likelihood of the attribute of the example, Bangladeshi", f, "likelihood", i,
				1, "")
		}
	}
}

func (v *valuation) tendencies(f *table.Frame) {
	at := map[string]int{}
	for i, id := range f.Texts("identity") {
		at[id] = i + 1
	}
	for _, p := range data.PrintedTables() {
		i := at[data.DisplayName(p.Identity)] - 1
		if i < 0 {
			continue
		}
		v.estimate(data.Item(p.Table, p.Identity, "L(stereo)"), f, "l_stereo", i, 1, "n_images")
		v.estimate(data.Item(p.Table, p.Identity, "L(random)"), f, "l_random", i, 1, "n_images")
		if item := data.Item(p.Table, p.Identity, "theta"); math.IsNaN(p.Theta) {
			v.holds(item, f.Texts("theta_text")[i] == p.ThetaText)
		} else {
			v.estimate(item, f, "theta", i, 1, "n_images")
		}
	}
	if i := at["Nigerian"] - 1; i >= 0 {
		v.estimate("section 5.1: stereotypes over other attributes, Nigerian", f, "theta", i, 1, "n_images")
	}
	only, known := true, true
	for _, id := range []string{"Togolese", "Zimbabwean", "Swedes", "Danish"} {
		i := at[id] - 1
		known = known && i >= 0
		only = only && i >= 0 && f.Texts("theta_text")[i] == "N/A"
	}
	if known {
		v.holds("section 5.1: only stereotypes seen of Togolese, Zimbabwean, Swedes, Danish", only)
	}
}

func (v *valuation) overall(f *table.Frame) {
	for i, name := range f.Texts("aggregation") {
		if name == ratioOfMeans && f.Texts("mode")[i] == Compat {
			v.estimate("section 5.1: stereotypes over other attributes (ratio of the means)", f, "ratio", i, 1, "")
		}
	}
}

func (v *valuation) agreement(f *table.Frame) {
	if f.Numbers("n_used")[0] == 0 {
		return
	}
	v.estimate("section 5.2: salient stereotypes that annotators saw as well", f, "share", 0, 100, "")
}

func (v *valuation) pulls(f *table.Frame) {
	at := map[string]int{}
	for i, id := range f.Texts("identity") {
		at[id] = i + 1
	}
	for _, p := range data.PrintedSimilarity() {
		i := at[data.DisplayName(p.Identity)] - 1
		if i < 0 {
			continue
		}
		v.estimate(data.Item(p.Table, p.Identity, "S(d, s)"), f, "s_d_s", i, 1, "n_used")
		v.estimate(data.Item(p.Table, p.Identity, "S(d, ns)"), f, "s_d_ns", i, 1, "n_used")
		v.estimate(data.Item(p.Table, p.Identity, "S(s, ns)"), f, "s_s_ns", i, 1, "n_used")
		v.estimate(data.Item(p.Table, p.Identity, "Mean Sim"), f, "mean_sim", i, 1, "n_used")
	}
}

func (v *valuation) pullCount(f *table.Frame) {
	v.number("section 6: identities with a pull above 0", f.Numbers("n_positive")[0])
}

func (v *valuation) counts(f *table.Frame) {
	one := 0
	for i, id := range f.Texts("identity") {
		n := f.Numbers("n_stereotypes")[i]
		if n == 1 {
			one++
		}
		if slices.Contains([]string{"Australian", "Mexican", "Indian", "New Zealand", "Ethiopian", "Japanese"}, id) {
			v.number("section 3.1: visual stereotypes, "+id, n)
		}
	}
	v.number("section 3.1: identities with one visual stereotype", float64(one))
}

func (v *valuation) consensus(f *table.Frame) {
	for i, label := range f.Texts("label") {
		v.estimate("Figure 6: two of three raters agree, "+label, f, "share", i, 1, "")
	}
}

func (v *valuation) visual(f *table.Frame) {
	n := 0
	for _, yes := range f.Texts("visual") {
		if yes == "yes" {
			n++
		}
	}
	v.number("section 3.1: visual attributes of SeeGULL's 1994", float64(n))
}

func (v *valuation) offensiveness(f *table.Frame) {
	var rows []int
	for i, o := range f.Numbers("offensiveness") {
		if !math.IsNaN(o) {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(i, j int) int {
		return compare(f.Numbers("offensiveness")[j], f.Numbers("offensiveness")[i])
	})
	if len(rows) < 10 {
		return
	}
	holds := func(item string, rows []int, printed ...string) {
		yes := true
		for _, i := range rows {
			yes = yes && slices.Contains(printed, f.Texts("identity")[i])
		}
		v.holds(item, yes)
	}
	holds("Figure 8: most offensive are Jordanian, Uruguayan, Gabonese, Laos, Albanian", rows[:5],
		"Jordanian", "Uruguayan", "Gabonese", "Laos", "Albanian")
	holds("Figure 8: least offensive are Australian, Swedes, Danish, Norwegian, Nepalese", rows[len(rows)-5:],
		"Australian", "Swedes", "Danish", "Norwegian", "Nepalese")
}
