package metrics

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// LedgerOptions are the options of [Ledger].
type LedgerOptions struct {
	Why string `json:"why,omitempty" help:"why the items that are not among our values cannot be computed"`
}

// ledgerRow is a row of the result of [Ledger].
type ledgerRow struct {
	Paper   string  `column:"paper"`
	Item    string  `column:"item" help:"table, row and column, or the claim"`
	Printed string  `column:"printed" help:"as printed"`
	Verdict string  `column:"verdict" help:"same to the digit, inside our interval, differs, direction only, not computable"`
	Why     string  `column:"why" help:"of direction only: whether it holds; of not computable: the reason"`
	Ours    float64 `column:"ours"`
	Low     float64 `column:"ours_low"`
	High    float64 `column:"ours_high"`
	N       float64 `column:"n" unit:"images"`
}

// The verdicts of [Ledger].
const (
	SameDigits    = "same to the digit"
	Inside        = "inside our interval"
	Differs       = "differs"
	DirectionOnly = "direction only"
	NotComputable = "not computable"
)

var ledger = datasets.Define(datasets.Operation[LedgerOptions, ledgerRow]{
	Name: "ledger", Version: 2, // 1 rounded ties away from zero
	Title: "printed values of a paper next to ours, each with a verdict",
	Inputs: []Input{
		{Role: "printed", Columns: datasets.Columns("paper:text", "item:text", "printed:text"),
			About: "printed values and claims"},
		{Role: "ours", Columns: datasets.Columns("item:text", "value:number"), Optional: true,
			About: "our values by item; also value_low, value_high, n, and as yes or no holds (of a claim) and " +
				"same (as printed)"},
	},
	Compute: computeLedger,
})

// Ledger compares the printed values and claims of a paper with ours, by item: a row for each printed one, in their
// order. printed has the columns paper, item and printed (the text as printed, "0.423" or "52 %"); ours has item and
// value, and where known value_low and value_high (an interval), n (images) and holds ("yes", "no" or "undecided", for
// a claim that has no number). A percentage is compared with a value in percent. The verdict is
//
//	same to the digit    ours, rounded to the printed decimals (a tie either way), is the printed number
//	inside our interval  the printed number is between value_low and value_high
//	differs              neither
//	direction only       the claim has no number, or ours has none: why says whether it holds
//	not computable       ours has no value: why gives the reason, LedgerOptions.Why
//
// A zero table ours means that nothing was computed.
func Ledger(printed, ours datasets.Table, options ...LedgerOptions) datasets.Table {
	return ledger.Table(map[string]datasets.Table{"printed": printed, "ours": ours}, options...)
}

func computeLedger(_ context.Context, call *Call, o LedgerOptions) (out []ledgerRow, err error) {
	type own struct {
		value, low, high, n float64
		holds, same         string
	}
	computed := map[string]own{}
	if call.Inputs["ours"] != nil {
		in := tabular.Read(call, "ours")
		items, values := in.Texts("item"), in.Numbers("value")
		if in.Err != nil {
			return nil, in.Err
		}
		low, high, n := tabular.NumberOf(in.Frame, "value_low"), tabular.NumberOf(in.Frame, "value_high"),
			tabular.NumberOf(in.Frame, "n")
		for i, item := range items {
			if _, twice := computed[item]; twice {
				return nil, fmt.Errorf("%q has two values", item)
			}
			computed[item] = own{values[i], low(i), high(i), n(i), tabular.Text(in.Frame, "holds", i),
				tabular.Text(in.Frame, "same", i)}
		}
	}
	in := tabular.Read(call, "printed")
	papers, items, texts := in.Texts("paper"), in.Texts("item"), in.Texts("printed")
	if in.Err != nil {
		return nil, in.Err
	}
	for i, item := range items {
		v, found := computed[item]
		if !found {
			v = own{value: math.NaN(), low: math.NaN(), high: math.NaN(), n: math.NaN()}
		}
		row := ledgerRow{Paper: papers[i], Item: item, Printed: texts[i], Ours: v.value, Low: v.low, High: v.high,
			N: v.n}
		number, decimals, isNumber := printedNumber(texts[i])
		scale := math.Pow(10, float64(decimals))
		switch {
		case v.same == "yes", // a tie rounds either way
			isNumber && v.same == "" && math.Abs(v.value-number)*scale <= 0.5*(1+1e-9):
			row.Verdict = SameDigits
		case isNumber && v.low <= number && number <= v.high:
			row.Verdict = Inside
		case isNumber && !math.IsNaN(v.value):
			row.Verdict = Differs
		case v.holds == "yes":
			row.Verdict, row.Why = DirectionOnly, "holds"
		case v.holds == "no":
			row.Verdict, row.Why = DirectionOnly, "does not hold"
		case v.holds == interval.Undecided:
			row.Verdict, row.Why = DirectionOnly, "undecided: the interval of the difference allows both"
		default:
			row.Verdict, row.Why = NotComputable, o.Why
		}
		out = append(out, row)
	}
	return out, nil
}

// printedNumber reads a number as printed, "0.423", "−2 %" or "1.7x", with its decimals.
func printedNumber(text string) (number float64, decimals int, ok bool) {
	text = strings.TrimSpace(strings.TrimRight(strings.ReplaceAll(text, "−", "-"), "%x× "))
	number, err := strconv.ParseFloat(text, 64)
	_, fraction, _ := strings.Cut(text, ".")
	return number, len(fraction), err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
}
