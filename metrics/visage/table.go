package visage

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
)

const citation = "Jha et al., ACL 2024, arXiv 2401.06310"

// Option sets an option of a metric's table form, by its name on the command line.
type Option struct{ name, value string }

// The options of the table forms. What each metric takes and its defaults: `antipode score --metric NAME --help`.
func InMode(m Mode) Option              { return Option{"mode", string(m)} }
func MinStereo(n int) Option            { return Option{"min_stereo", strconv.Itoa(n)} }
func ByRule(r Rule) Option              { return Option{"rule", string(r)} }
func MinAttributes(n int) Option        { return Option{"min_attributes", strconv.Itoa(n)} }
func StereoColumn(column string) Option { return Option{"stereo_column", column} }
func Draws(n int) Option                { return Option{"draws", strconv.Itoa(n)} }

func score(metric string, t datasets.Table, options []Option) datasets.Table {
	args := metrics.Args{Metric: metric, Options: map[string]string{}}
	for _, o := range options {
		args.Options[o.name] = o.value
	}
	return metrics.Score(args, map[string]datasets.Table{"in": t}).Named(metric)
}

// Tendencies is the metric visage-association: Tables 1 and 2 of the paper, one row an identity.
func Tendencies(annotations datasets.Table, options ...Option) datasets.Table {
	return score("visage-association", annotations, options)
}

// Likelihoods is the metric visage-likelihood: one row for each identity and attribute shown.
func Likelihoods(annotations datasets.Table, options ...Option) datasets.Table {
	return score("visage-likelihood", annotations, options)
}

// OverallRatio is the metric visage-overall: the aggregations behind "thrice as likely", by name.
func OverallRatio(annotations datasets.Table, options ...Option) datasets.Table {
	return score("visage-overall", annotations, options)
}

// PaperTables is the metric visage-tables: the paper's Tables 1 and 2 beside the same from the annotations.
func PaperTables(annotations datasets.Table, options ...Option) datasets.Table {
	return score("visage-tables", annotations, options)
}

// ConsensusTable is the metric visage-consensus: the paper's Figure 6.
func ConsensusTable(ratings datasets.Table) datasets.Table {
	return score("visage-consensus", ratings, nil)
}

// StereotypeCounts is the metric visage-stereotypes: identities by the number of their visual stereotypes.
func StereotypeCounts(pairs datasets.Table, options ...Option) datasets.Table {
	return score("visage-stereotypes", pairs, options)
}

// OffensivenessTable is the metric visage-offensiveness: O(id), one row an identity.
func OffensivenessTable(annotations datasets.Table, options ...Option) datasets.Table {
	return score("visage-offensiveness", annotations, options)
}

var (
	ratingColumns = []client.ColumnSpec{{Name: "score_asia", Kind: client.Number}, {Name: "score_europe", Kind: client.Number}, {Name: "score_na", Kind: client.Number}}
	pairIn        = append([]client.ColumnSpec{{Name: "identity", Kind: client.Text}, {Name: "attribute", Kind: client.Text}}, ratingColumns...)
	rowIn         = append([]client.ColumnSpec{{Name: "picture", Kind: client.Number}, {Name: "selected", Kind: client.Number}}, pairIn...)

	inRows  = metrics.Input{Role: "in", Columns: rowIn, About: "one row for each attribute shown for a picture, as datasets/visage gives them"}
	inPairs = metrics.Input{Role: "in", Columns: pairIn, About: "one row for each pair of identity and attribute, as datasets/visage gives them"}

	stereoOptions = []metrics.Option{
		{Name: "min_stereo", Default: "2", About: "least number of SeeGULL's annotators who call the pair a stereotype"},
		{Name: "stereo_column", Default: "na_stereo", About: "whose count: annotators in North America, or in the identity's own region", Values: []string{"na_stereo", "region_stereo"}},
		{Name: "rule", Default: string(AllAgree), About: "when an attribute can be seen in a picture", Values: Rules},
		{Name: "min_score", Default: "4", About: "least score that counts as agreement, 1 to 5"},
	}
	modeOption  = metrics.Option{Name: "mode", Default: string(Compat), About: "compat counts \"none of the above\" as a random attribute, as the paper's tables do; clean leaves it out", Values: []string{string(Compat), string(Clean)}}
	drawsOption = metrics.Option{Name: "draws", Default: "1000", About: "bootstrap draws of pictures; 0 = no intervals"}
	leastOption = metrics.Option{Name: "min_attributes", Default: "2", About: "least number of visual stereotypes shown for an identity to be listed"}
)

func with(base []metrics.Option, more ...metrics.Option) []metrics.Option {
	return append(append([]metrics.Option(nil), base...), more...)
}

// number reads an option that is a number.
func number(call metrics.Call, name string) (float64, error) {
	x, err := strconv.ParseFloat(call.Options[name], 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("option %s=%q is not a number", name, call.Options[name])
	}
	return x, nil
}

// stereotypes says for every row of a frame whether its pair is in St(id).
func stereotypes(call metrics.Call, f *client.Frame) ([]bool, error) {
	atLeast, err := number(call, "min_stereo")
	if err != nil {
		return nil, err
	}
	agrees, err := number(call, "min_score")
	if err != nil {
		return nil, err
	}
	counts, err := f.Need(call.Options["stereo_column"], client.Number)
	if err != nil {
		return nil, err
	}
	a, e, n := f.Numbers("score_asia"), f.Numbers("score_europe"), f.Numbers("score_na")
	out := make([]bool, f.Len())
	for i := range out {
		visual, err := Visual([3]float64{a[i], e[i], n[i]}, Rule(call.Options["rule"]), agrees)
		if err != nil {
			return nil, err
		}
		out[i] = visual && counts.Numbers[i] >= atLeast
	}
	return out, nil
}

// tendencies reads the rows of the "in" table and scores them.
func tendencies(call metrics.Call, mode Mode) ([]Tendency, error) {
	if len(call.By) > 0 && !(len(call.By) == 1 && call.By[0] == "identity") {
		return nil, fmt.Errorf("ViSAGe's scores are by identity; there is no grouping by %v", call.By)
	}
	f := call.Inputs["in"]
	stereo, err := stereotypes(call, f)
	if err != nil {
		return nil, err
	}
	identities, attributes, pictures, selected := f.Texts("identity"), f.Texts("attribute"), f.Numbers("picture"), f.Numbers("selected")
	rows := make([]Showing, f.Len())
	for i := range rows {
		if selected[i] != 0 && selected[i] != 1 {
			return nil, client.BadRow{Row: i + 1, Column: "selected", Reason: fmt.Sprintf("%g is neither 0 nor 1", selected[i])}
		}
		if pictures[i] != math.Trunc(pictures[i]) {
			return nil, client.BadRow{Row: i + 1, Column: "picture", Reason: fmt.Sprintf("%g is not a whole number", pictures[i])}
		}
		rows[i] = Showing{identities[i], int(pictures[i]), attributes[i], selected[i] == 1, stereo[i]}
	}
	draws := 0.0
	if call.Options["draws"] != "" {
		if draws, err = number(call, "draws"); err != nil {
			return nil, err
		}
	}
	return Association(rows, Options{Mode: mode, Draws: int(draws), Seed: call.Seed})
}

// listed keeps the tendencies with enough stereotypes.
func listed(call metrics.Call, ts []Tendency) ([]Tendency, error) {
	least, err := number(call, "min_attributes")
	if err != nil {
		return nil, err
	}
	var out []Tendency
	for _, t := range ts {
		if t.Stereotypes >= int(least) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no identity has %g visual stereotypes among the rows; lower min_attributes, or check the columns na_stereo and score_…", least)
	}
	return out, nil
}

// builder collects columns row by row.
type builder struct {
	columns []client.Column
	at      map[string]int
}

func (b *builder) text(name, v string) {
	c := b.column(name, client.Text)
	c.Texts = append(c.Texts, v)
}

func (b *builder) number(name string, v float64) {
	c := b.column(name, client.Number)
	c.Numbers = append(c.Numbers, v)
}

func (b *builder) column(name string, kind client.Kind) *client.Column {
	at, known := b.at[name]
	if !known {
		if b.at == nil {
			b.at = map[string]int{}
		}
		at = len(b.columns)
		b.at[name] = at
		b.columns = append(b.columns, client.Column{ColumnSpec: client.ColumnSpec{Name: name, Kind: kind}})
	}
	return &b.columns[at]
}

func (b *builder) frame() *client.Frame { return &client.Frame{Columns: b.columns} }

// columns makes a metric's Columns function from names; "=" before a name marks text.
func columns(names ...string) func(metrics.Args) []client.ColumnSpec {
	var specs []client.ColumnSpec
	for _, n := range names {
		kind := client.Number
		if n[0] == '=' {
			n, kind = n[1:], client.Text
		}
		specs = append(specs, client.ColumnSpec{Name: n, Kind: kind})
	}
	return func(metrics.Args) []client.ColumnSpec { return specs }
}

type compute = func(ctx context.Context, call metrics.Call) (*client.Frame, error)
