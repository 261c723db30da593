package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/kernel/backend/store"
)

// The statuses of results.
const (
	Identical     = "identical"      // to the last bit
	Equal         = "equal"          // within the tolerance
	Different     = "different"      // beyond it, or with another conclusion
	NotVerifiable = "not verifiable" // an input is missing or another one
)

// Report is what a verification found.
type Report struct {
	// Results has the status of each result, the least number of digits that agree, and its conclusions.
	Results *table.Frame
	// Digits are the number columns that differ: the digits that agree, and the largest difference and the tolerance,
	// relative to the largest value of the column.
	Digits  *table.Frame
	Changes *table.Frame   // the conclusions that are others now
	Reasons []string       // what else differs, and why results are not verifiable
	Count   map[string]int // of results, by status
}

func newReport() *Report {
	frame := func(columns ...string) *table.Frame { return table.NewFrame(datasets.Columns(columns...)) }
	return &Report{Count: map[string]int{},
		Results: frame("result:text", "rows:number", "status:text", "digits:text", "conclusions:number",
			"changed:number"),
		Digits:  frame("result:text", "column:text", "digits:number", "difference:number", "tolerance:number"),
		Changes: frame("result:text", "row:text", "column:text", "was:text", "is:text")}
}

func (p *Report) add(r *Result, status, digits string, conclusions, changed int, why ...string) {
	p.Results.Add([]string{r.Name, status, digits}, float64(r.Rows), float64(conclusions), float64(changed))
	p.Count[status]++
	if len(why) > 0 {
		p.Reasons = append(p.Reasons, r.Name+": "+strings.Join(why, "; "))
	}
}

// tolerance returns that of numbers, relative to the largest value of their column, and whether texts and images must
// be equal: without networks, on the same kind of device, on another one, and with bfloat16 on one side.
func tolerance(recorded, here string) (float64, bool) {
	switch {
	case recorded == "":
		return 1e-9, true
	case recorded == here:
		return 1e-5, true
	case strings.Contains(recorded+here, "cuda"):
		return 2e-2, false
	}
	return 1e-3, false
}

// compare compares a result with its recomputed rows.
func (p *Report) compare(r *Result, f *table.Frame, device string) error {
	digest, err := store.FrameDigest(f)
	if err != nil {
		return err
	}
	a, b := r.table, plain(f)
	allowed, same := tolerance(r.Device, device)
	var beyond, others []string
	names, agree, before := rowNames(b), math.MaxInt, p.Digits.Len()
	if !slices.Equal(a.Specs(), b.Specs()) || a.Len() != b.Len() {
		beyond = append(beyond, fmt.Sprintf("%d rows of %s instead of %d of %s", b.Len(), table.NameList(b.Specs()),
			a.Len(), table.NameList(a.Specs())))
	} else {
		names = rowNames(a)
		for i := range a.Columns {
			x := &a.Columns[i]
			by, n := apart(x, &b.Columns[i])
			if by > 0 {
				digits := int(max(0, math.Floor(-math.Log10(by))))
				agree = min(agree, digits)
				p.Digits.Add([]string{r.Name, x.Name}, float64(digits), by, allowed)
			}
			what := fmt.Sprintf("%s differs in %d of %d rows", x.Name, n, x.Len())
			switch {
			case by > allowed:
				beyond = append(beyond, fmt.Sprintf("%s differs by %.1e, more than %.0e", x.Name, by, allowed))
			case n == 0 || isVerdict(x.ColumnSpec): // these are listed one by one
			case same || x.Kind == table.KindNumber:
				beyond = append(beyond, what)
			default:
				others = append(others, what)
			}
		}
	}
	concluded, changed := p.changes(r, b, names)
	status, digits, equal := Equal, "all", p.Digits.Len() == before && len(others) == 0
	if p.Digits.Len() > before {
		digits = fmt.Sprint(agree)
	}
	if len(beyond)+changed > 0 {
		status = Different
	} else if equal && digest == r.Result {
		status = Identical
	} else if equal {
		others = append(others, "vectors, masks or how numbers are spelled differ, by how much is not recorded")
	}
	p.add(r, status, digits, concluded, changed, append(beyond, others...)...)
	return nil
}

// apart returns the largest difference of the numbers of two columns relative to the largest value of the first, and in
// how many rows another value differs.
func apart(x, y *table.Column) (by float64, n int) {
	largest := 0.0
	for row, text := range x.Texts {
		if strings.ReplaceAll(y.Texts[row], "\r\n", "\n") != text { // as a CSV file is read
			n++
		}
	}
	for row, a := range x.Numbers {
		b := y.Numbers[row]
		switch {
		case a == b || math.IsNaN(a) && math.IsNaN(b):
		case math.IsNaN(a-b) || math.IsInf(a-b, 0):
			n++
		default:
			by = max(by, math.Abs(a-b))
		}
		if math.Abs(a) > largest && !math.IsInf(a, 0) {
			largest = math.Abs(a)
		}
	}
	if by > 0 {
		by /= largest // +Inf where all were 0
	}
	return by, n
}

// changes compares the conclusions of a result with those of its recomputed rows. It adds those that differ, and
// returns how many there were, and how many differ.
func (p *Report) changes(r *Result, is *table.Frame, names []string) (n, changed int) {
	was, now := conclusions(r.Name, r.table, rowNames(r.table)), conclusions(r.Name, is, names)
	pairs, by, _ := table.Match(was, now, []string{"row", "column"}) // rows have names of their own
	for _, at := range pairs {
		before, after := was.Pick(at[:1]), now.Pick(at[1:])
		cells := []string{r.Name}
		for _, name := range by {
			cells = append(cells, cmp.Or(before.Texts(name)[0], after.Texts(name)[0]))
		}
		if a, b := before.Texts("value")[0], after.Texts("value")[0]; a != b {
			p.Changes.Add(append(cells, a, b))
			changed++
		}
	}
	return was.Len(), changed
}
