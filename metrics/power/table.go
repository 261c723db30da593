package power

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Pools are the tables that [Curve] reads.
type Pools struct {
	Pool    datasets.Table // a row for each picture, many in each cell, with all that the audit reads
	Other   datasets.Table // another pool of the same cells, where nothing is wrong, for [Shares] under 1; the zero Table = none
	Planted datasets.Table // what is wrong in the pool, where that is known: size, and the columns of [Subject] (or subject); the zero Table = not known
}

// Cells names the columns that divide the pool into cells; n rows are drawn from each.
func Cells(columns ...string) metrics.Setting {
	return tabular.Set("cells", strings.Join(columns, ","))
}

// Unit names the column whose rows are drawn together within a cell, for example prompt_id: n is then of these. The default is every row.
func Unit(column string) metrics.Setting { return tabular.Set("unit", column) }

// Sizes are how many rows (units, see [Unit]) are drawn from each cell.
func Sizes(n ...int) metrics.Setting {
	var texts []string
	for _, x := range n {
		texts = append(texts, strconv.Itoa(x))
	}
	return tabular.Set("sizes", strings.Join(texts, ","))
}

// Shares are the parts of each draw that come from the pool, in [0, 1]; the rest comes from [Pools.Other], the picture at the same place of the same cell. Where half of a language's pictures are
// wrong, share 0.5 is as if a quarter were. The default is 1.
func Shares(s ...float64) metrics.Setting {
	var texts []string
	for _, x := range s {
		texts = append(texts, format(x))
	}
	return tabular.Set("shares", strings.Join(texts, ","))
}

// Exchanged makes the rows of each draw exchange their values of a column, for example language, within the groups of others, for example the prompt and the number of its picture. Then the column says nothing,
// and what is found is a false alarm: a rate for pools in which something may be wrong, where there is none to compare with. It takes for granted that without a difference the rows of a group
// could stand for each other; island and island, with photos of their own, could not.
func Exchanged(column string, within ...string) metrics.Setting {
	return func(a *metrics.Args) {
		tabular.Set("exchange", column)(a)
		tabular.Set("within", strings.Join(within, ","))(a)
	}
}

// Resamples is the number of draws of each size; 200 by default.
func Resamples(n int) metrics.Setting { return tabular.Set("resamples", strconv.Itoa(n)) }

// Subject names the columns of the audit's result that say what a row is about; a subject is their values, joined by ", ".
func Subject(columns ...string) metrics.Setting {
	return tabular.Set("subject", strings.Join(columns, ","))
}

// Estimate names the column of the audit's result that says how large the effect is. Without [P] a finding is a row whose interval (COLUMN_low, COLUMN_high) excludes 0.
func Estimate(column string) metrics.Setting { return tabular.Set("value", column) }

// Below counts only what lies below a value that says "nothing there" (0 where neither Below nor [Above] is given).
func Below(null float64) metrics.Setting { return side("below", null) }

// Above counts only what lies above.
func Above(null float64) metrics.Setting { return side("above", null) }

func side(sign string, null float64) metrics.Setting {
	return func(a *metrics.Args) {
		tabular.Set("sign", sign)(a)
		tabular.Set("null", format(null))(a)
	}
}

// AtLeast counts only values that lie at least this far from the one that says "nothing there": the smallest difference that matters. Choose it before you look.
func AtLeast(difference float64) metrics.Setting { return tabular.Set("least", format(difference)) }

// P makes findings those rows whose p-value, in this column and corrected over all rows of the draw ([Correct]), is at most [Alpha].
func P(column string) metrics.Setting { return tabular.Set("p", column) }

// Correct says how p-values are corrected: "holm" (the default), "bh", "none".
func Correct(how string) metrics.Setting { return tabular.Set("correct", how) }

// Alpha is the largest corrected p-value of a finding; 0.05 by default.
func Alpha(a float64) metrics.Setting { return tabular.Set("alpha", format(a)) }

// Name names the audit in the column audit.
func Name(name string) metrics.Setting { return tabular.Set("name", name) }

func format(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Curve is the metric power: how often the audit finds something in draws of n images per cell, a row for each share ([Shares]), size ([Sizes]) and subject of the audit's result:
//
//	found = n_found / n_resamples    in [0, 1], with Wilson's 95 % interval (found_low, found_high) over resamples of this pool
//
// kind is planted or control, as [Pools.Planted] says (subject, where it is not given); a row of kind family holds the share of draws with at least one finding that is not planted: the family-wise rate of
// false alarms where nothing is wrong. planted is the size given; estimate is the mean of the audit's values over draws, estimate_low and estimate_high hold their middle 95 %. n_rows rows are drawn in
// all from n_cells cells, n_pool is what the smallest cell holds, drawn says what n counts (rows, or the column of [Unit]).
//
// The audit is called once, on a table that stands for the pool; it may use scores and the verbs of tables. A subject that lacks a value in a draw is not found there. Settings: [Cells], [Sizes], [Subject] and
// [Estimate] must be given; [Unit], [Shares], [Exchanged], [Resamples], [Below], [Above], [AtLeast], [P], [Correct], [Alpha], [Name], [metrics.SeedOf].
//
// Errors: a cell with fewer pictures than are to be drawn; an audit that does not read the pool, or embeds or draws pictures itself.
func Curve(p Pools, audit func(pool datasets.Table) datasets.Table, settings ...metrics.Setting) datasets.Table {
	return of("power", p, audit, settings)
}

// Findings is the metric power-findings: what the audit finds in each draw, a row for each share, size, draw (resample, from 1) and subject: found (yes or no), estimate with the audit's own
// interval and p, corrected, where it has them. It draws what [Curve] draws, and takes the same settings.
func Findings(p Pools, audit func(pool datasets.Table) datasets.Table, settings ...metrics.Setting) datasets.Table {
	return of("power-findings", p, audit, settings)
}

func of(metric string, p Pools, audit func(pool datasets.Table) datasets.Table, settings []metrics.Setting) datasets.Table {
	if err := p.Pool.Err(); err != nil {
		return p.Pool
	}
	stand := datasets.New(poolOp, nil, p.Pool.Columns())
	if p.Pool.IsOpen() {
		stand = stand.Open()
	}
	result := audit(stand)
	plan, err := result.Plan()
	if err != nil {
		return result.Fail(err)
	}
	l, err := lift(plan)
	if err != nil {
		return result.Fail(err)
	}
	text, err := json.Marshal(l.plan)
	if err != nil {
		return result.Fail(fmt.Errorf("power: %w", err))
	}
	inputs := map[string]datasets.Table{"in": p.Pool}
	for role, t := range map[string]datasets.Table{"other": p.Other, "planted": p.Planted} {
		if len(t.Columns()) > 0 || t.IsOpen() || t.Err() != nil {
			inputs[role] = t
		}
	}
	for i := range l.fixed {
		inputs[fixedRole(i)] = datasets.New(fixedOp, i, nil).Open()
	}
	out := tabular.Table(metric, inputs, append(settings[:len(settings):len(settings)], tabular.Set("audit", string(text))))
	if err := put(out, l.fixed); err != nil {
		return out.Fail(err)
	}
	return out
}

// put replaces the stand-ins of a new table's plan by what they stand for; nil = done. No other table reads that plan yet.
func put(t datasets.Table, fixed []*client.Plan) error {
	plan, err := t.Plan()
	if err != nil {
		return err
	}
	for i, in := range plan.Inputs {
		if in.Op != fixedOp {
			continue
		}
		var at int
		if err := json.Unmarshal(in.Args, &at); err != nil {
			return err
		}
		plan.Inputs[i] = fixed[at]
	}
	return nil
}
