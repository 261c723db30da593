package metrics

import (
	"cmp"
	"math"

	"antipode/datasets"
	"antipode/metrics/interval"
)

// ValueRow is a row of the tables Values of the packages below this one: our value of what a paper prints, for
// [Ledger].
type ValueRow struct {
	Item  string  `column:"item" help:"as in the printed table"`
	Holds string  `column:"holds" help:"yes, no or undecided, of a claim; blank for a number"`
	Same  string  `column:"same" help:"yes or no, where the paper does not round: as printed; blank otherwise"`
	Value float64 `column:"value"`
	Low   float64 `column:"value_low"`
	High  float64 `column:"value_high"`
	N     float64 `column:"n" unit:"images"`
}

// ValueRows collects values.
type ValueRows []ValueRow

// Add adds a value with its interval and number of images; NaN = none.
func (v *ValueRows) Add(item string, e Estimate, n float64) {
	*v = append(*v, ValueRow{Item: item, Value: e.Value, Low: e.Low, High: e.High, N: n})
}

// AddClaim adds whether a claim holds.
func (v *ValueRows) AddClaim(item string, holds bool) {
	v.Add(item, Exact(math.NaN()), math.NaN())
	(*v)[len(*v)-1].Holds = "no"
	if holds {
		(*v)[len(*v)-1].Holds = "yes"
	}
}

// AddVerdict adds a claim with a verdict of interval.Bounded: pass, FAIL or undecided.
func (v *ValueRows) AddVerdict(item, verdict string) {
	v.AddClaim(item, verdict == interval.Pass)
	if verdict == interval.Undecided {
		(*v)[len(*v)-1].Holds = verdict
	}
}

// ItemValue says where the value of a printed item is in the input tables: in the first row with some texts.
type ItemValue struct {
	Item   string
	Role   string            // the table; if it is missing or empty, there is no value
	Where  map[string]string // texts of the row, by column
	Column string            // number column, with COLUMN_low and COLUMN_high; "" = the number of such rows
	N      string            // number column of images; "" = not known
	Scale  float64           // factor of the value; 0 = 1
}

// AddItems adds the values of items that the tables have.
func (v *ValueRows) AddItems(call *Call, items ...ItemValue) {
	for _, i := range items {
		f := call.Inputs[i.Role]
		if f == nil || f.Len() == 0 {
			continue
		}
		first, rows := -1, 0
		for row := range f.Len() {
			if i.matches(f, row) {
				if rows++; first < 0 {
					first = row
				}
			}
		}
		at := func(column string) float64 {
			if c := f.Numbers(column); c != nil {
				return c[first]
			}
			return math.NaN()
		}
		scale := cmp.Or(i.Scale, 1)
		switch {
		case i.Column == "":
			v.Add(i.Item, Exact(float64(rows)), math.NaN())
		case first >= 0:
			v.Add(i.Item, Estimate{Value: scale * at(i.Column), Low: scale * at(i.Column+"_low"),
				High: scale * at(i.Column+"_high")}, at(i.N))
		}
	}
}

func (i ItemValue) matches(f *datasets.Frame, row int) bool {
	for column, text := range i.Where {
		if texts := f.Texts(column); texts == nil || texts[row] != text {
			return false
		}
	}
	return true
}
