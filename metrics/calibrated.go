package metrics

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// CalibratedOptions are the options of [Calibrated] and [CalibratedGaps].
type CalibratedOptions struct {
	Value    string   `json:"value,omitempty" default:"answer" help:"column of the judge's answers, such as answer_p_yes: numbers, or texts of which --positive counts 1"`
	Positive string   `json:"positive,omitempty" help:"of columns of texts, or of numbers if it is one: the one that counts 1; every other one counts 0"`
	Label    string   `json:"label,omitempty" default:"label" help:"column of the labels, as that of the answers"`
	Item     string   `json:"item,omitempty" default:"id" help:"column of both tables with what is judged; several labels of one are averaged"`
	By       []string `json:"by,omitempty" help:"text columns that define the groups"`
	Method   string   `json:"method,omitempty" default:"adjusted" values:"adjusted,published" help:"adjusted: intervals that few labels keep valid; published: those of PPI++"`
	Margin   float64  `json:"margin,omitempty" default:"0.05" min:">0" help:"half width of an interval for which n_needed is the number of labels"`
	Level    float64  `json:"level,omitempty" default:"0.95" min:">0" max:"<1" help:"confidence level of the intervals"`
}

// calibratedRow is a row of [Calibrated].
type calibratedRow struct {
	Group      Group
	Calibrated Estimate `column:"calibrated" help:"the mean, corrected by the labels"`
	Judge      float64  `column:"judge" help:"mean of the judge's answers"`
	Labels     Estimate `column:"labels" help:"from the labels alone"`
	Bias       float64  `column:"judge_bias" help:"mean of answer − label in the labeled sample"`
	Tuning     float64  `column:"lambda" range:"[0, 1]" help:"weight of the judge; 0 = its answers are of no use"`
	Judged     int      `column:"n_judged" unit:"answers"`
	Labeled    int      `column:"n_labeled" unit:"labels"`
	Unanswered int      `column:"n_unanswered" unit:"images" help:"without an answer, which counts as the group's mean"`
	Equivalent float64  `column:"n_equivalent" unit:"labels" help:"labels that alone would have an interval as narrow"`
	Needed     float64  `column:"n_needed" unit:"labels" help:"labels for an interval of ± margin"`
	Basis      string   `column:"basis" help:"what the number rests on: judge and labels, or the judge alone"`
	Interval   string   `column:"interval"`
}

// What a number rests on.
const (
	basisLabels = "judge and labels"
	basisJudge  = "judge alone, not calibrated"
)

const calibrationCitation = "Angelopoulos et al., Science 382, 2023; arXiv 2311.01453"

var calibratedInputs = []Input{
	{Role: "in", About: "a judge's answers, a row for each image"},
	{Role: "labels", Optional: true, RepeatedIDs: true, About: "labels by people of a random sample of these images"}}

var calibrated = Define(Definition[CalibratedOptions, calibratedRow]{
	Name: "calibrated", Title: "rates and means of a judge's answers, corrected by a labeled sample", Version: 2,
	Unit: "the answers'", Range: "the answers'", Direction: "none", Citation: calibrationCitation,
	Inputs: calibratedInputs, Compute: computeCalibrated,
})

// calibratedGapRow is a row of [CalibratedGaps].
type calibratedGapRow struct {
	Group        Group
	Gap          Estimate `column:"gap" help:"calibrated rate of the group − mean of the other groups"`
	Flagged      bool     `column:"flagged" help:"the interval excludes 0"`
	JudgeGap     Estimate `column:"judge_gap" help:"the same of the judge's answers, taken for the truth"`
	JudgeFlagged bool     `column:"judge_flagged"`
	Judged       int      `column:"n_judged" unit:"answers"`
	Labeled      int      `column:"n_labeled" unit:"labels"`
	Interval     string   `column:"interval"`
}

var calibratedGaps = Define(Definition[CalibratedOptions, calibratedGapRow]{
	Name: "calibrated-gaps", Version: 3, // 1 compared with the mean of all groups
	Title: "gaps between groups in a judge's answers, corrected by a labeled sample",
	Unit:  "the answers'", Range: "the answers'", Direction: "none", Citation: calibrationCitation,
	Inputs: calibratedInputs, Compute: computeCalibratedGaps,
})

// Calibrated is the metric calibrated: the rate or mean of a judge's answers in each group of Options.By, corrected by
// labels of a random sample of each group (prediction-powered inference): a judge that errs more in one group moves no
// number by that. A group without two labels has the judge's number alone, and says so in the column basis.
//
// Each image counts as independent. An image without an answer, refused or failed, counts as the group's mean answer:
// the result is of all images, and the labels correct this, too.
func Calibrated(answers, labels datasets.Table, options ...CalibratedOptions) datasets.Table {
	return calibrated.Table(map[string]datasets.Table{"in": answers, "labels": labels}, options...)
}

// CalibratedGaps is the metric calibrated-gaps: the difference of each group to the mean of the others, corrected as in
// [Calibrated], with intervals that hold for all groups at once (Šidák). Groups without two labels are left out.
func CalibratedGaps(answers, labels datasets.Table, options ...CalibratedOptions) datasets.Table {
	return calibratedGaps.Table(map[string]datasets.Table{"in": answers, "labels": labels}, options...)
}

type judgedGroup struct {
	by                    []string
	labels, judged, rest  []float64
	unanswered            int
	mean                  float64           // of the answers
	powered, alone, judge *interval.Powered // nil = too few
	within                bool              // all values are from 0 to 1
}

func readJudged(call *Call, o CalibratedOptions) ([]*judgedGroup, error) {
	in := tabular.Read(call, "in")
	items, groups := in.Texts(o.Item), in.SortedGroups(o.By)
	answers, err := readAnswers(call, in, o.Value, o.Positive)
	if err = cmp.Or(in.Err, err); err != nil {
		return nil, err
	}
	at, err := answered(in, o.Item)
	if err != nil {
		return nil, err
	}
	labels := make([]labelsOf, len(items))
	if call.Inputs["labels"] != nil {
		other := tabular.Read(call, "labels")
		names := other.Texts(o.Item)
		values, err := readAnswers(call, other, o.Label, o.Positive)
		if err = cmp.Or(other.Err, err); err != nil {
			return nil, err
		}
		unknown := 0
		for i, name := range names {
			if row, known := at[name]; !known {
				unknown++
			} else if !math.IsNaN(values[i]) {
				labels[row].sum, labels[row].n = labels[row].sum+values[i], labels[row].n+1
			}
		}
		noteUnknown(call, unknown, len(names))
	}
	var out []*judgedGroup
	var notes GroupNotes
	for _, part := range groups {
		g := &judgedGroup{by: part.By, within: true}
		if !g.read(part.Rows, answers, labels) {
			notes.Add("no image has an answer: the group is left out", strings.Join(g.by, "/"))
			continue
		}
		if err := g.estimate(o.Method == "published"); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(g.by, ", "), err)
		}
		if g.powered == nil {
			notes.Add("fewer than two labels: the judge's number is not calibrated", strings.Join(g.by, "/"))
		}
		out = append(out, g)
	}
	notes.AddTo(call, o.By...)
	return out, nil
}

// noteUnknown notes how many of all labels are not used.
func noteUnknown(call *Call, unknown, all int) {
	if unknown > 0 {
		call.Notef("%d of %d labels are of items that are not among the answers", unknown, all)
	}
}

// labelsOf are the labels of an item.
type labelsOf struct{ sum, n float64 }

// read reads the answers and labels of rows; false if there is no answer.
func (g *judgedGroup) read(rows []int, answers []float64, labels []labelsOf) bool {
	n := 0.0
	for _, row := range rows {
		if v := answers[row]; !math.IsNaN(v) {
			g.mean, n = g.mean+v, n+1
		}
	}
	g.mean /= n
	for _, row := range rows {
		v, l := answers[row], labels[row]
		if math.IsNaN(v) {
			v = g.mean
			g.unanswered++
		}
		if g.within = g.within && v >= 0 && v <= 1; l.n > 0 {
			g.labels, g.judged = append(g.labels, l.sum/l.n), append(g.judged, v)
		} else {
			g.rest = append(g.rest, v)
		}
	}
	return n > 0
}

// answered returns the row of each item; it is an error if one occurs twice.
func answered(in *tabular.Reader, column string) (map[string]int, error) {
	at := map[string]int{}
	for row, item := range in.Texts(column) {
		if before, twice := at[item]; twice {
			return nil, tabular.BadRow(in.Frame, row, column, "%q is in row %d, too; keep the answers to one question "+
				"(Where), or name the column of the answered item (--item)", item, before+1)
		}
		at[item] = row
	}
	return at, nil
}

// readAnswers returns the numbers of a column or, of texts and where positive is a number, 1 where it is the value and
// else 0; NaN = no value.
func readAnswers(call *Call, in *tabular.Reader, column, positive string) (out []float64, err error) {
	texts, found := []string(nil), false
	if c := in.Frame.Column(column); c == nil || c.Kind != table.KindNumber {
		texts = in.Texts(column)
	} else if number, err := strconv.ParseFloat(positive, 64); err != nil {
		return c.Numbers, nil
	} else {
		positive = table.NumberText(number)
		for _, v := range c.Numbers {
			texts = append(texts, table.NumberText(v))
		}
	}
	for _, text := range texts {
		v := 0.0
		switch {
		case text == "":
			v = math.NaN()
		case positive == "":
			return nil, fmt.Errorf("the column %q holds texts such as %q: name the one that counts 1 (Positive, "+
				"--positive)", column, text)
		case text == positive:
			v, found = 1, true
		}
		out = append(out, v)
	}
	if !found && strings.Join(texts, "") != "" {
		call.Notef("no value of the column %q is %q: every rate of it is 0", column, positive)
	}
	return out, nil
}

func (g *judgedGroup) estimate(published bool) error {
	of := func(labels, judged, rest []float64) (*interval.Powered, error) {
		if len(labels) < 2 {
			return nil, nil
		}
		p, err := interval.PredictionPowered(labels, judged, rest, published)
		return &p, err
	}
	var err error
	if g.powered, err = of(g.labels, g.judged, g.rest); err != nil {
		return err
	}
	if g.alone, err = of(g.labels, make([]float64, len(g.labels)), nil); err != nil {
		return err
	}
	all := slices.Concat(g.judged, g.rest)
	g.judge, err = of(all, make([]float64, len(all)), nil)
	return err
}

// interval returns an estimate with its interval, which ends at the range of rates.
func (g *judgedGroup) interval(p *interval.Powered, o CalibratedOptions) Estimate {
	low, high := p.Interval(o.Level)
	if g.within && o.Method != "published" {
		low, high = max(low, 0), min(high, 1)
	}
	return Estimate{Value: p.Value, Low: low, High: high}
}

func (o CalibratedOptions) interval(more string) string {
	return fmt.Sprintf("%.4g %% prediction-powered interval (%s)%s", 100*o.Level, o.Method, more)
}

func computeCalibrated(_ context.Context, call *Call, o CalibratedOptions) (out []calibratedRow, err error) {
	groups, err := readJudged(call, o)
	if err != nil {
		return nil, err
	}
	none := Exact(math.NaN())
	for _, g := range groups {
		r := calibratedRow{Group: g.by, Calibrated: none, Judge: g.mean, Labels: none, Bias: math.NaN(),
			Tuning: math.NaN(), Judged: len(g.judged) + len(g.rest), Labeled: len(g.labels), Unanswered: g.unanswered,
			Equivalent: math.NaN(), Needed: math.NaN(), Basis: basisJudge}
		if g.powered != nil {
			p := g.powered
			r.Calibrated, r.Labels, r.Tuning = g.interval(p, o), g.interval(g.alone, o), p.Tuning
			r.Needed = p.Labels(o.Level, o.Margin)
			r.Basis, r.Interval = basisLabels, o.interval("")
			if v := p.Variance(); v > 0 {
				r.Equivalent = float64(len(g.labels)) * g.alone.Variance() / v
			}
			r.Bias = 0
			for i, l := range g.labels {
				r.Bias += (g.judged[i] - l) / float64(len(g.labels))
			}
		}
		out = append(out, r)
	}
	return out, nil
}

func computeCalibratedGaps(_ context.Context, call *Call, o CalibratedOptions) (out []calibratedGapRow, err error) {
	groups, err := readJudged(call, o)
	if err != nil {
		return nil, err
	}
	groups = slices.DeleteFunc(groups, func(g *judgedGroup) bool { return g.powered == nil })
	if len(o.By) == 0 || len(groups) < 2 {
		return nil, &table.Error{Code: table.CodeUsage, Message: fmt.Sprintf("calibrated-gaps compares groups (--by), "+
			"each with two labels or more; %d has them", len(groups))}
	}
	level := math.Pow(o.Level, 1/float64(len(groups)))
	var corrected, plain []interval.Powered
	for _, g := range groups {
		corrected, plain = append(corrected, *g.powered), append(plain, *g.judge)
	}
	for i, g := range groups {
		gap := func(of []interval.Powered) Estimate { return Estimated(interval.PoweredToMean(level, i, of, nil)) }
		r := calibratedGapRow{Group: g.by, Gap: gap(corrected), JudgeGap: gap(plain),
			Judged: len(g.judged) + len(g.rest), Labeled: len(g.labels),
			Interval: o.interval(", simultaneous over the groups")}
		r.Flagged, r.JudgeFlagged = r.Gap.Low > 0 || r.Gap.High < 0, r.JudgeGap.Low > 0 || r.JudgeGap.High < 0
		out = append(out, r)
	}
	return out, nil
}
