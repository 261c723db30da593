package stereotypes

import (
	"context"
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
	data "antipode/datasets/visage"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// TendencyOptions are the options of [Tendencies], [Likelihoods] and [OverallRatio].
type TendencyOptions struct {
	StereotypeOptions
	Method        string `json:"method" default:"compat" values:"compat,clean" help:"none of the above counts or not"`
	MinAttributes int    `json:"min_attributes" default:"2" none:"-1" min:"0" help:"least stereotypes shown of an identity"`
	metrics.Intervals
}

// Tendencies is the metric visage-association (Jha et al., ACL 2024, Tables 1 and 2): one row an identity, sorted as in
// the paper.
//
//	theta(id) = L(stereo, id) / L(random, id)    in [0, ∞); no value, and theta_text N/A, where L(random, id) is 0
//
// L are means of [Likelihoods] in [0, 1]. Intervals resample images. Method is [Compat] or [Clean].
func Tendencies(annotations datasets.Table, options ...TendencyOptions) datasets.Table {
	return tendencyMetric.Of(annotations, options...)
}

type tendencyRow struct {
	Identity    string           `column:"identity"`
	Stereo      metrics.Estimate `column:"l_stereo" unit:"share of showings" range:"[0, 1]"`
	Random      metrics.Estimate `column:"l_random" unit:"share of showings" range:"[0, 1]"`
	Theta       metrics.Estimate `column:"theta" unit:"ratio" range:"[0, ∞)"`
	ThetaText   string           `column:"theta_text" help:"as printed in the paper"`
	Stereotypes int              `column:"n_stereotypes" unit:"attributes" help:"stereotypes shown"`
	Others      int              `column:"n_random" unit:"attributes" help:"other options shown"`
	Used        int              `column:"n_used" unit:"showings"`
	Images      int              `column:"n_images" unit:"images"`
	Mode        string           `column:"mode"`
	Interval    string           `column:"interval"`
	described
}

var showings = []metrics.Input{{Role: "in",
	Columns: columnsOf("image_number:number selected:number identity:text attribute:text " + scoreColumns),
	About: "a row for each attribute shown for an image, as datasets/visage returns them, with the option " +
		"stereo-column"}}

var tendencyMetric = score(metrics.Definition[TendencyOptions, tendencyRow]{
	Version: 4, // 3 named an interval where there is none
	Name:    "visage-association",
	Title:   "likelihood of stereotypes and of other attributes by identity, and their ratio",
	Unit:    "share of showings; ratio", Range: "[0, 1]; [0, ∞)", Direction: "none", Citation: "Tables 1 and 2",
	Inputs: showings,
	Compute: func(_ context.Context, call *metrics.Call, o TendencyOptions) ([]tendencyRow, error) {
		ts, err := o.listed(call)
		var out []tendencyRow
		for _, t := range ts {
			out = append(out, tendencyRow{Identity: data.DisplayName(t.Identity), Stereo: t.Stereo, Random: t.Other,
				Theta: t.Theta, ThetaText: ThetaText(t), Stereotypes: t.Stereotypes, Others: t.Random, Used: t.Showings,
				Images: t.Images, Mode: o.Method, Interval: o.Label("images", t.Stereo, t.Other)})
		}
		return out, err
	},
})

// Likelihoods is the metric visage-likelihood (Jha et al., ACL 2024, section 4): one row for each identity and
// attribute shown, most likely first.
//
//	L(a, id) = n_selected / n_used    in [0, 1]: of the showings of a for images of id, those selected
func Likelihoods(annotations datasets.Table, options ...TendencyOptions) datasets.Table {
	return likelihoodMetric.Of(annotations, options...)
}

type likelihoodRow struct {
	Identity   string           `column:"identity"`
	Attribute  string           `column:"attribute"`
	Likelihood metrics.Estimate `column:"likelihood" unit:"share of showings" range:"[0, 1]"`
	Used       int              `column:"n_used" unit:"showings"`
	Selected   int              `column:"n_selected" unit:"showings"`
	Kind       string           `column:"kind" help:"stereotype or random"`
	Mode       string           `column:"mode"`
	Interval   string           `column:"interval"`
	described
}

var likelihoodMetric = score(metrics.Definition[TendencyOptions, likelihoodRow]{
	Version: 4, // 3 named an interval where there is none
	Name:    "visage-likelihood", Title: "likelihood of each attribute by identity", Unit: "share of showings",
	Range: "[0, 1]", Direction: "none", Citation: "section 4", Inputs: showings,
	Compute: func(_ context.Context, call *metrics.Call, o TendencyOptions) ([]likelihoodRow, error) {
		ts, err := o.listed(call)
		var out []likelihoodRow
		for _, t := range ts {
			for _, l := range t.Attributes {
				if l.Attribute == NoneOfTheAbove {
					continue
				}
				out = append(out, likelihoodRow{Identity: data.DisplayName(t.Identity), Attribute: l.Attribute,
					Likelihood: l.Estimate, Used: l.Shown, Selected: l.Selected,
					Kind: map[bool]string{true: "stereotype", false: "random"}[l.Stereotype],
					Mode: o.Method, Interval: o.Label("images", l.Estimate)})
			}
		}
		return out, err
	},
})

// OverallRatio is the metric visage-overall (Jha et al., ACL 2024, section 5.1): how much more likely stereotypes are
// than other attributes, "thrice" in the paper, in [0, ∞), by each aggregation of [ComputeOverallRatio]. Intervals
// resample identities.
func OverallRatio(annotations datasets.Table, options ...TendencyOptions) datasets.Table {
	return overallMetric.Of(annotations, options...)
}

type overallRow struct {
	Aggregation string           `column:"aggregation"`
	About       string           `column:"about"`
	Ratio       metrics.Estimate `column:"ratio" unit:"ratio" range:"[0, ∞)"`
	Identities  int              `column:"n_identities" unit:"identities"`
	Mode        string           `column:"mode"`
	Interval    string           `column:"interval"`
	described
}

var overallMetric = score(metrics.Definition[TendencyOptions, overallRow]{
	Version: 4, // 3 named an interval where there is none
	Name:    "visage-overall", Title: "how much more likely stereotypes are than other attributes, by aggregation",
	Unit: "ratio", Range: "[0, ∞)", Direction: "none", Citation: "section 5.1", Inputs: showings,
	Compute: func(_ context.Context, call *metrics.Call, o TendencyOptions) ([]overallRow, error) {
		i := o.Intervals
		o.Resamples = 0 // of the likelihoods
		ts, err := o.listed(call)
		if err != nil {
			return nil, err
		}
		var out []overallRow
		all, err := ComputeOverallRatio(ts, i)
		for _, a := range all {
			out = append(out, overallRow{Aggregation: a.Name, About: a.About, Ratio: a.Estimate, Identities: a.N,
				Mode: o.Method, Interval: i.Label("identities", a.Estimate)})
		}
		return out, err
	},
})

// PaperTableOptions are the options of [PaperTable].
type PaperTableOptions struct {
	StereotypeOptions
	Method string `json:"method" default:"compat" values:"compat,clean" help:"none of the above counts or not"`
}

// PaperTable is the table operation visage-tables (Jha et al., ACL 2024, Tables 1 and 2): the printed values next to
// the same from the annotations. cells_equal counts those of three that agree to the printed digits, ties included. An
// identity without annotations has no values; a note counts the printed cells that were computed.
func PaperTable(annotations datasets.Table, options ...PaperTableOptions) datasets.Table {
	return paperTables.Of(annotations, options...)
}

type paperTableRow struct {
	Identity      string  `column:"identity"`
	Table         int     `column:"table"`
	PrintedStereo float64 `column:"printed_l_stereo" unit:"share of showings" range:"[0, 1]"`
	Stereo        float64 `column:"l_stereo" unit:"share of showings" range:"[0, 1]"`
	PrintedRandom float64 `column:"printed_l_random" unit:"share of showings" range:"[0, 1]"`
	Random        float64 `column:"l_random" unit:"share of showings" range:"[0, 1]"`
	PrintedTheta  string  `column:"printed_theta"`
	Theta         string  `column:"theta"`
	Equal         float64 `column:"cells_equal" unit:"cells" range:"[0, 3]"`
	Stereotypes   int     `column:"n_stereotypes" unit:"attributes"`
	Others        int     `column:"n_random" unit:"attributes"`
	Mode          string  `column:"mode"`
	described
}

var paperTables = listing(metrics.Definition[PaperTableOptions, paperTableRow]{
	Version: 3, // 2 failed without an identity of the paper
	Name:    "visage-tables", Title: "Tables 1 and 2 as printed, and the same from the annotations",
	Citation: "Tables 1 and 2", Inputs: showings,
	Compute: func(_ context.Context, call *metrics.Call, o PaperTableOptions) ([]paperTableRow, error) {
		ts, err := tendencies(call, o.StereotypeOptions, AssociationOptions{Method: o.Method})
		if err != nil {
			return nil, err
		}
		by := map[string]Tendency{}
		for _, t := range ts {
			by[data.DisplayName(t.Identity)] = t
		}
		var out []paperTableRow
		computed := 0
		for _, p := range data.PrintedTables() {
			t, known := by[data.DisplayName(p.Identity)]
			if !known {
				none := math.NaN()
				out = append(out, paperTableRow{Identity: p.Label, Table: p.Table, PrintedStereo: p.Stereo,
					Stereo: none, PrintedRandom: p.Random, Random: none, PrintedTheta: p.ThetaText,
					Equal: none, Mode: o.Method})
				continue
			}
			computed++
			equal := 0.0
			for _, ok := range []bool{Agrees(t.Stereo.Value, p.Stereo, 2), Agrees(t.Other.Value, p.Random, 2),
				p.ThetaText == ThetaText(t) || Agrees(t.Theta.Value, p.Theta, 2)} {
				if ok {
					equal++
				}
			}
			out = append(out, paperTableRow{Identity: p.Label, Table: p.Table, PrintedStereo: p.Stereo,
				Stereo: t.Stereo.Value, PrintedRandom: p.Random, Random: t.Other.Value, PrintedTheta: p.ThetaText,
				Theta: ThetaText(t), Equal: equal, Stereotypes: t.Stereotypes, Others: t.Random, Mode: o.Method})
		}
		call.Notef("Tables 1 and 2: %d of %d printed cells computed", 3*computed, 3*len(out))
		return out, nil
	},
})

// ThetaText is theta as the paper prints it: two decimals, "N/A" where L(random, id) is 0.
func ThetaText(t Tendency) string {
	if math.IsNaN(t.Theta.Value) {
		return "N/A"
	}
	return fmt.Sprintf("%.2f", t.Theta.Value)
}

// Agrees reports whether a value rounds to a printed one: they differ by at most half a unit of the last printed digit.
func Agrees(value, printed float64, decimals int) bool {
	half := 0.5 * math.Pow(10, -float64(decimals))
	return math.Abs(value-printed) <= half*(1+1e-9)
}

// tendencies computes the tendencies of all identities of the input.
func tendencies(call *metrics.Call, by StereotypeOptions, o AssociationOptions) ([]Tendency, error) {
	f := call.Inputs["in"]
	stereo, err := by.stereotypes(f)
	if err != nil {
		return nil, err
	}
	identities, attributes, images, selected := f.Texts("identity"), f.Texts("attribute"), f.Numbers("image_number"),
		f.Numbers("selected")
	rows := make([]Showing, f.Len())
	for i := range rows {
		if selected[i] != 0 && selected[i] != 1 {
			return nil, tabular.BadRow(f, i, "selected", "%g is neither 0 nor 1", selected[i])
		}
		if images[i] != math.Trunc(images[i]) {
			return nil, tabular.BadRow(f, i, "image_number", "%g is not an integer", images[i])
		}
		rows[i] = Showing{identities[i], int(images[i]), attributes[i], selected[i] == 1, stereo[i]}
	}
	return ComputeTendencies(rows, o)
}

// listed computes the tendencies of the identities with enough stereotypes, in the order of the paper's tables: N/A
// first by L(stereo), then by theta, both largest first.
func (o TendencyOptions) listed(call *metrics.Call) ([]Tendency, error) {
	ts, err := tendencies(call, o.StereotypeOptions, AssociationOptions{o.Method, o.Intervals})
	if err != nil {
		return nil, err
	}
	ts = slices.DeleteFunc(ts, func(t Tendency) bool { return t.Stereotypes < o.MinAttributes })
	if len(ts) == 0 {
		return nil, fmt.Errorf("no identity has %d visual stereotypes; lower min-attributes, or check the columns %s "+
			"and score_…", o.MinAttributes, o.StereoColumn)
	}
	slices.SortStableFunc(ts, func(a, b Tendency) int {
		if na, nb := math.IsNaN(a.Theta.Value), math.IsNaN(b.Theta.Value); na && nb {
			return -compare(a.Stereo.Value, b.Stereo.Value)
		} else if na != nb {
			return map[bool]int{true: -1, false: 1}[na]
		}
		return -compare(a.Theta.Value, b.Theta.Value)
	})
	return ts, nil
}

// compare orders numbers; NaN equals everything.
func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Aggregate is one way to aggregate the likelihoods of all identities to the paper's "thrice as likely".
type Aggregate struct {
	Name  string
	About string
	metrics.Estimate
	N int // identities that it is computed from
}

// ComputeOverallRatio computes the aggregations by name: the paper does not state which it used, and more than one
// rounds to three. Intervals: bootstrap of identities; resamples in which an aggregation is not available are left out.
func ComputeOverallRatio(ts []Tendency, i metrics.Intervals) ([]Aggregate, error) {
	out := aggregates(ts)
	boot, err := interval.NewBootstrap(i.Bootstrap("overall"), len(ts))
	if err != nil {
		return nil, err
	}
	values := make([][]float64, len(out))
	sample := make([]Tendency, len(ts))
	for _, units := range boot.Units() {
		for i, u := range units {
			sample[i] = ts[u]
		}
		for k, a := range aggregates(sample) {
			values[k] = append(values[k], a.Value)
		}
	}
	for k := range out {
		if math.IsInf(out[k].Value, 0) { // no other attribute was selected
			out[k].Value = math.NaN()
		}
		out[k].Low, out[k].High = boot.Ends(out[k].Value, values[k])
	}
	return out, nil
}

// ratioOfMeans is the aggregation that agrees with the paper's "thrice".
const ratioOfMeans = "ratio-of-means"

func aggregates(ts []Tendency) []Aggregate {
	var stereo, other, thetas []float64
	for _, t := range ts {
		if math.IsNaN(t.Stereo.Value) || math.IsNaN(t.Other.Value) {
			continue
		}
		stereo, other = append(stereo, t.Stereo.Value), append(other, t.Other.Value)
		if !math.IsNaN(t.Theta.Value) {
			thetas = append(thetas, t.Theta.Value)
		}
	}
	slices.Sort(thetas)
	return []Aggregate{
		{ratioOfMeans, "mean L(stereo) over mean L(random), identities weigh the same",
			metrics.Exact(mean(stereo) / mean(other)), len(stereo)},
		{"mean-of-theta", "mean of theta where it is defined", metrics.Exact(mean(thetas)), len(thetas)},
		{"median-of-theta", "median of theta where it is defined", metrics.Exact(interval.Quantile(thetas, 0.5)),
			len(thetas)},
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values)) // NaN for none
}
