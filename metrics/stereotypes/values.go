package stereotypes

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	data "antipode/datasets/visage"
	"antipode/metrics"
	"antipode/metrics/interval"
)

// ValueTables are the inputs of [Values]: results of this package, of which any may be missing. Annotations and
// Likelihoods are not masked.
type ValueTables struct {
	Annotations   datasets.Table
	Likelihoods   datasets.Table // of Likelihoods
	Tendencies    datasets.Table // of Tendencies
	Overall       datasets.Table // of OverallRatio
	Agreement     datasets.Table // of SalienceAgreement
	Pulls         datasets.Table // of Pulls
	PullCount     datasets.Table // of PullCount
	Counts        datasets.Table // of StereotypeCounts
	Consensus     datasets.Table // of Consensus
	Visual        datasets.Table // of VisualAttributes
	Offensiveness datasets.Table // of Offensiveness
	South         datasets.Table // verdicts on the Global South by measure: found, not found or undecided
}

// optional is an optional input of [Values].
func optional(role, columns, about string) metrics.Input {
	return metrics.Input{Role: role, Columns: columnsOf(columns), About: about, Optional: true}
}

type valueRow struct {
	metrics.ValueRow
	described
}

var values = listing(metrics.Definition[struct{}, valueRow]{
	Name: "visage-values", Version: 3, // 2 had no claims about the Global South
	Title:    "the values of the tables and claims of ViSAGe",
	Citation: "Tables 1 to 5",
	Inputs: []metrics.Input{
		optional("annotations", "identity:text image_number:number", "annotations"),
		optional("likelihoods", "identity:text attribute:text likelihood:number", "visage-likelihood, not masked"),
		optional("tendencies", "identity:text l_stereo:number l_random:number theta:number theta_text:text",
			"visage-association"),
		optional("overall", "aggregation:text ratio:number mode:text", "visage-overall"),
		optional("agreement", "share:number n_used:number", "visage-salience-agreement"),
		optional("pulls", "identity:text s_d_s:number s_d_ns:number s_s_ns:number mean_sim:number", "visage-pull"),
		optional("pull-count", "n_positive:number n_used:number", "visage-pull-count"),
		optional("counts", "identity:text n_stereotypes:number", "visage-stereotypes"),
		optional("consensus", "label:text share:number", "visage-consensus"),
		optional("visual", "attribute:text visual:text", "visage-visual-attributes"),
		optional("offensiveness", "identity:text offensiveness:number", "visage-offensiveness"),
		optional("south", "measure:text verdict:text", "verdicts on the Global South, of this run"),
	},
	Compute: func(_ context.Context, call *metrics.Call, _ struct{}) (out []valueRow, err error) {
		var v metrics.ValueRows
		v.AddItems(call, items...)
		v.AddItems(call, printedItems()...)
		for role, add := range map[string]func(v *metrics.ValueRows, f *table.Frame){"annotations": annotations,
			"tendencies": tendencyClaims, "counts": single, "offensiveness": offensiveClaims,
			"south": southClaims} {
			if f := call.Inputs[role]; f != nil && f.Len() > 0 {
				add(&v, f)
			}
		}
		slices.SortStableFunc(v, func(a, b metrics.ValueRow) int { return cmp.Compare(a.Item, b.Item) })
		for _, row := range v {
			out = append(out, valueRow{ValueRow: row})
		}
		return out, nil
	},
})

// of selects the row of an identity, or of another text.
func of(column, text string) map[string]string { return map[string]string{column: text} }

// items are the values of the paper's text.
var items = func() []metrics.ItemValue {
	out := []metrics.ItemValue{
		{Item: "section 5.1: likelihood of the attribute of the example, Bangladeshi", Role: "likelihoods",
			Where: map[string]string{"identity": "Bangladeshi", "attribute": "poor"}, Column: "likelihood"},
		{Item: "section 5.1: stereotypes over other attributes, Nigerian", Role: "tendencies",
			Where: of("identity", "Nigerian"), Column: "theta", N: "n_images"},
		{Item: "section 5.1: stereotypes over other attributes (ratio of the means)", Role: "overall",
			Where: map[string]string{"aggregation": ratioOfMeans, "mode": Compat}, Column: "ratio"},
		{Item: "section 5.2: salient stereotypes that annotators saw as well", Role: "agreement", Column: "share",
			Scale: 100},
		{Item: "section 6: identities with a pull above 0", Role: "pull-count", Column: "n_positive"},
		{Item: "section 3.1: visual attributes of SeeGULL's 1994", Role: "visual", Where: of("visual", "yes")},
	}
	for _, id := range []string{"Australian", "Mexican", "Indian", "New Zealand", "Ethiopian", "Japanese"} {
		out = append(out, metrics.ItemValue{Item: "section 3.1: visual stereotypes, " + id, Role: "counts",
			Where: of("identity", id), Column: "n_stereotypes"})
	}
	for _, label := range Labels[1:] {
		out = append(out, metrics.ItemValue{Item: "Figure 6: two of three raters agree, " + label, Role: "consensus",
			Where: of("label", label), Column: "share"})
	}
	return out
}()

// printedItems are the values of Tables 1 to 5.
func printedItems() (out []metrics.ItemValue) {
	add := func(table int, identity, role, n string, columns ...[2]string) {
		for _, c := range columns {
			out = append(out, metrics.ItemValue{Item: data.Item(table, identity, c[0]), Role: role, Column: c[1], N: n,
				Where: of("identity", data.DisplayName(identity))})
		}
	}
	for _, p := range data.PrintedTables() {
		add(p.Table, p.Identity, "tendencies", "n_images", [2]string{"L(stereo)", "l_stereo"},
			[2]string{"L(random)", "l_random"})
		if !math.IsNaN(p.Theta) {
			add(p.Table, p.Identity, "tendencies", "n_images", [2]string{"theta", "theta"})
		}
	}
	for _, p := range data.PrintedSimilarity() {
		add(p.Table, p.Identity, "pulls", "n_used", [2]string{"S(d, s)", "s_d_s"}, [2]string{"S(d, ns)", "s_d_ns"},
			[2]string{"S(s, ns)", "s_s_ns"}, [2]string{"Mean Sim", "mean_sim"})
	}
	return out
}

// Values is the metric visage-values (Jha et al., ACL 2024, Tables 1 to 5): the values of the items that
// data.PrintedValues lists, for metrics.Ledger, as far as the given tables determine them, with their intervals.
func Values(t ValueTables) datasets.Table {
	return values.Table(map[string]datasets.Table{"annotations": t.Annotations, "likelihoods": t.Likelihoods,
		"tendencies": t.Tendencies, "overall": t.Overall, "agreement": t.Agreement, "pulls": t.Pulls,
		"pull-count": t.PullCount, "counts": t.Counts, "consensus": t.Consensus, "visual": t.Visual,
		"offensiveness": t.Offensiveness, "south": t.South})
}

func number(v *metrics.ValueRows, item string, n int) {
	v.Add(item, metrics.Exact(float64(n)), math.NaN())
}

func annotations(v *metrics.ValueRows, f *table.Frame) {
	type image struct {
		identity string
		number   float64
	}
	identities, images := map[string]bool{}, map[image]bool{}
	for i, id := range f.Texts("identity") {
		identities[id], images[image{id, f.Numbers("image_number")[i]}] = true, true
	}
	number(v, "introduction: identity groups", len(identities))
	v.Add("section 3.2: annotated image-attribute pairs", metrics.Exact(float64(f.Len())/3), math.NaN())
	number(v, "section 3.2: identity-image pairs", len(images))
}

// tendencyClaims adds the printed N/A of Tables 1 and 2, and the claim about identities without random attributes.
func tendencyClaims(v *metrics.ValueRows, f *table.Frame) {
	text := map[string]string{}
	for i, id := range f.Texts("identity") {
		text[id] = f.Texts("theta_text")[i]
	}
	for _, p := range data.PrintedTables() {
		if t, has := text[data.DisplayName(p.Identity)]; has && math.IsNaN(p.Theta) {
			v.AddClaim(data.Item(p.Table, p.Identity, "theta"), t == p.ThetaText)
		}
	}
	only := true
	for _, id := range []string{"Togolese", "Zimbabwean", "Swedes", "Danish"} {
		t, known := text[id]
		if !known {
			return
		}
		only = only && t == "N/A"
	}
	v.AddClaim("section 5.1: only stereotypes seen of Togolese, Zimbabwean, Swedes, Danish", only)
}

func single(v *metrics.ValueRows, f *table.Frame) {
	one := 0
	for _, n := range f.Numbers("n_stereotypes") {
		if n == 1 {
			one++
		}
	}
	number(v, "section 3.1: identities with one visual stereotype", one)
}

// southClaims adds the two statements about the Global South.
func southClaims(v *metrics.ValueRows, f *table.Frame) {
	of := map[string]string{"found": interval.Pass, "not found": interval.Fail, "undecided": interval.Undecided}
	for item, measures := range map[string][]string{"abstract: stronger pull of the Global South": {"pull"},
		"section 6: higher similarity of the Global South in all three measures": {"s_d_s", "s_d_ns", "s_s_ns"}} {
		var verdicts []string
		for i, m := range f.Texts("measure") {
			if slices.Contains(measures, m) {
				verdicts = append(verdicts, of[f.Texts("verdict")[i]])
			}
		}
		if len(verdicts) == len(measures) {
			v.AddVerdict(item, interval.Every(verdicts...))
		}
	}
}

// offensiveClaims adds whether the five most and least offensive groups are those of Figure 8.
func offensiveClaims(v *metrics.ValueRows, f *table.Frame) {
	var rows []int
	for i, o := range f.Numbers("offensiveness") {
		if !math.IsNaN(o) {
			rows = append(rows, i)
		}
	}
	if len(rows) < 10 {
		return
	}
	slices.SortStableFunc(rows, func(i, j int) int {
		return compare(f.Numbers("offensiveness")[j], f.Numbers("offensiveness")[i])
	})
	for item, rows := range map[string][]int{
		"Figure 8: most offensive are Jordanian, Uruguayan, Gabonese, Laos, Albanian":   rows[:5],
		"Figure 8: least offensive are Australian, Swedes, Danish, Norwegian, Nepalese": rows[len(rows)-5:],
	} {
		_, names, _ := strings.Cut(item, " are ")
		v.AddClaim(item, !slices.ContainsFunc(rows, func(i int) bool {
			return !slices.Contains(strings.Split(names, ", "), f.Texts("identity")[i])
		}))
	}
}
