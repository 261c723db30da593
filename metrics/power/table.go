package power

import (
	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/chain"
)

// Pools are the tables that [Curve] reads.
type Pools struct {
	Pool     datasets.Table // a row for each image, many in each cell, with all columns that the audit reads
	Other    datasets.Table // a pool of the same cells without disparities, for Shares below 1; zero = none
	Injected datasets.Table // injected disparities: size, and the columns of Subject (or subject); zero = not known
}

// Options are the options of [Curve] and [Findings]. Cells or Unit depend on the pool; Sizes, Subject and Value are
// required. Without P a finding is a row whose interval (VALUE_low, VALUE_high) excludes Null.
type Options struct {
	Audit     string    `json:"audit,omitempty" required:"true" help:"METRIC option=value … | … ; …"`
	Cells     []string  `json:"cells,omitempty" help:"columns that divide the pool into cells; empty = one cell"`
	Unit      string    `json:"unit,omitempty" help:"column of what is sampled in a cell, e.g. prompt_id; empty = rows"`
	Sizes     []int     `json:"sizes,omitempty" required:"true" help:"how many rows (units) to sample from each cell"`
	Shares    []float64 `json:"shares,omitempty" default:"1" help:"share of each sample that comes from the pool"`
	Exchange  string    `json:"exchange,omitempty" help:"column whose values are permuted: findings are false alarms"`
	Within    []string  `json:"within,omitempty" help:"columns in whose groups they are permuted; empty = all rows"`
	Resamples int       `json:"resamples,omitempty" default:"200" min:"1" help:"samples of each size"`
	Subject   []string  `json:"subject,omitempty" required:"true" help:"columns of the result that identify a row"`
	Value     string    `json:"value,omitempty" required:"true" help:"column of the result with the estimate"`
	Sign      string    `json:"sign,omitempty" default:"both" values:"both,below,above" help:"side of null"`
	Null      float64   `json:"null,omitempty" help:"value without a disparity"`
	Least     float64   `json:"least,omitempty" help:"least distance of a finding from null"`
	P         string    `json:"p,omitempty" help:"column of p-values; empty = intervals that exclude null"`
	Correct   string    `json:"correct,omitempty" default:"holm" values:"holm,bh,none" help:"correction of p-values"`
	Alpha     float64   `json:"alpha,omitempty" default:"0.05" min:">0" max:"<1" help:"largest p of a finding"`
	Name      string    `json:"name,omitempty" help:"name of the audit, for the column audit"`
	Seed      int64     `json:"seed,omitempty" help:"seed of the samples and of the audits"`
}

// Row is a row of [Curve].
type Row struct {
	Audit     string           `column:"audit"`
	Kind      string           `column:"kind" help:"injected, control, subject or family"`
	Subject   string           `column:"subject"`
	Share     float64          `column:"share" range:"[0, 1]" help:"share of each sample from the pool"`
	N         int              `column:"n" help:"rows or units sampled from each cell"`
	Found     metrics.Estimate `column:"found" unit:"share of resamples" range:"[0, 1]"`
	Injected  float64          `column:"injected" help:"size of the injected disparity"`
	Estimate  metrics.Estimate `column:"estimate" help:"mean over resamples, and their middle 95 %"`
	NFound    int              `column:"n_found" unit:"resamples"`
	Resamples int              `column:"n_resamples" unit:"resamples"`
	Rows      float64          `column:"n_rows" unit:"rows" help:"rows of a sample"`
	Cells     int              `column:"n_cells" unit:"cells"`
	Pool      int              `column:"n_pool" help:"rows or units of the smallest cell"`
	Unit      string           `column:"unit" help:"what n counts"`
	Interval  string           `column:"interval"`
}

// findingRow is a row of [Findings].
type findingRow struct {
	Audit    string           `column:"audit"`
	Kind     string           `column:"kind" help:"injected, control or subject"`
	Subject  string           `column:"subject"`
	Share    float64          `column:"share" range:"[0, 1]" help:"share of each sample from the pool"`
	N        int              `column:"n" help:"rows or units sampled from each cell"`
	Resample int              `column:"resample" help:"number of the sample, from 1"`
	Found    bool             `column:"found"`
	Injected float64          `column:"injected" help:"size of the injected disparity"`
	Estimate metrics.Estimate `column:"estimate" help:"with the audit's interval"`
	P        float64          `column:"p" unit:"probability" range:"[0, 1]" help:"corrected"`
	Rows     float64          `column:"n_rows" unit:"rows" help:"rows of a sample"`
}

var inputs = chain.Inputs(
	metrics.Input{Role: "in",
		About: "the pool: a row for each image, many in each cell, with all columns that the audit reads"},
	metrics.Input{Role: "other", Optional: true,
		About: "a pool of the same cells without disparities, for shares below 1"},
	metrics.Input{Role: "injected", Optional: true, Columns: datasets.Columns("size:number"),
		About: "injected disparities: size, and the columns of subject (or subject, values joined by commas)"})

var curve = metrics.Define(metrics.Definition[Options, Row]{
	Name: "power", Title: "how often an audit detects something in samples of n images per cell from a pool",
	Version: 3, // 2 had no row of a subject that no sample of a size names
	Unit:    "share of resamples", Range: "[0, 1]",
	Direction: "higher is better if there is a disparity; at most alpha if there is none",
	Citation:  "Wilson 1927, of the intervals; see package metrics/power", Inputs: inputs, Compute: computeCurve,
})

var findings = datasets.Define(datasets.Operation[Options, findingRow]{
	Name: "power-findings", Title: "what an audit finds in each sample of n images per cell from a pool",
	Version: 1, Citation: "package metrics/power", Inputs: inputs, Compute: computeFindings,
})

// Curve is the metric power: how often the audit finds something in samples of n images per cell, a row for each
// share, size and subject of the audit's result:
//
//	found = n_found / n_resamples    in [0, 1], with Wilson's 95 % interval over resamples of this pool
//
// kind is injected or control according to [Pools.Injected], or subject without it. A row of kind family has the share
// of samples with at least one finding that is not injected: the family-wise rate of false alarms. estimate is the mean
// of the audit's values over samples, estimate_low and estimate_high contain their middle 95 %.
//
// With Shares, only that share of each sample comes from the pool and the rest from [Pools.Other], the image at the
// same position of the same cell: if half of a language's images are wrong, share 0.5 corresponds to a quarter.
//
// Exchange permutes the values of a column, for example language, within the groups of Within, for example the prompt
// and the number of its image. The column then has no effect and every finding is a false alarm. This assumes that
// without a disparity the rows of a group are exchangeable; regions with reference images of their own are not.
//
// audit is called once, with a table that represents the pool; it may use metrics, table operations and the verbs of
// tables. A subject without a value in a sample counts as not found.
//
// Errors: a cell with fewer images than are to be sampled; an audit that does not read the pool, or that runs a model.
func Curve(p Pools, audit func(pool datasets.Table) datasets.Table, options ...Options) datasets.Table {
	return apply(curve, p, audit, options)
}

// Findings returns what the audit finds in each sample of [Curve], a row for each share, size, sample and subject.
func Findings(p Pools, audit func(pool datasets.Table) datasets.Table, options ...Options) datasets.Table {
	return apply(findings, p, audit, options)
}

func apply(op datasets.Defined[Options], p Pools, audit func(pool datasets.Table) datasets.Table,
	options []Options) datasets.Table {
	tables := map[string]datasets.Table{"in": p.Pool, "other": p.Other, "injected": p.Injected}
	return chain.Apply(op, tables, "in", audit, options, func(o *Options, plan string) { o.Audit = plan })
}
