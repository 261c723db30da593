package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

func init() {
	operation.Register("rows", rowsInMemory)
	operation.Verb("where", where)
	operation.Verb("select", selectColumns)
	operation.Verb("with", with)
	operation.Verb("join", join)
	operation.Verb("concat", concat)
	operation.Verb("cast", cast)
	operation.Verb("prefix-ids", prefixIDs)
	operation.Verb("sort", sortRows)
	operation.Verb("head", head)
	operation.Verb("sample", sample)
	operation.Verb("rename", rename)
	operation.Verb("remove-prefix", removePrefix)
	operation.Verb("repeat", repeat)
	operation.Verb("seed-by", seedBy)
	operation.Verb("grow-masks", growMasks)
	operation.Verb("digest", digestRows)
}

// rowsInMemory evaluates the rows that a plan carries.
func rowsInMemory(_ context.Context, _ Call, raw json.RawMessage, _ []*Frame) (*Frame, error) {
	var a RowsArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	return table.Decode(bytes.NewReader(a.Frame))
}

func where(call *Call, a WhereArgs, in []*Frame) (*Frame, error) {
	f := in[0]
	c, err := f.Need(a.Column, "")
	if err != nil {
		return nil, err
	}
	keep, err := condition(a, c)
	if err != nil {
		return nil, err
	}
	var rows []int
	for i := range f.Len() {
		if keep(i) {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 && a.Op == "==" && len(a.Text) == 1 && f.Len() > 0 &&
		(a.Number == nil || c.Kind == table.KindText) {
		if near := nearValue(c, a.Text[0]); near != "" {
			call.Notef("Where: no row has %q in column %q%s", a.Text[0], a.Column, near)
		}
	}
	return f.Pick(rows), nil
}

// condition returns a function that reports whether a row satisfies a Where.
func condition(a WhereArgs, c *table.Column) (func(int) bool, error) {
	switch a.Op {
	case "missing":
		return func(i int) bool { return isMissing(c, i) }, nil
	case "present":
		return func(i int) bool { return !isMissing(c, i) }, nil
	}
	ordered := !slices.Contains([]string{"==", "!=", "in", "contains"}, a.Op)
	if len(a.Text) == 1 && c.Kind == table.KindNumber && a.Op != "in" && a.Op != "contains" {
		// A value that a number would round equals no number of the column.
		if _, why := (table.NumberFormat{}).ParseNumbers(a.Text); why != nil && a.Number != nil {
			if ordered {
				return nil, fmt.Errorf("Where: %s cannot be compared (%s) with numbers: it has more digits than they "+
					"keep", a.Text[0], a.Op)
			}
			return func(int) bool { return a.Op == "!=" }, nil
		}
	}
	switch {
	case a.Number != nil && math.IsNaN(*a.Number):
		return nil, fmt.Errorf("Where: NaN is no value; Where(%q, \"missing\", nil) keeps the rows without one",
			a.Column)
	case a.Number != nil && (len(a.Text) == 0 || ordered || c.Kind == table.KindNumber):
		c, err := c.As(table.KindNumber)
		if err != nil {
			return nil, fmt.Errorf("Where: %w", err)
		}
		ok, err := comparison(a.Op)
		return func(i int) bool {
			v := c.Numbers[i]
			switch {
			case math.IsNaN(v):
				return a.Op == "!="
			case v < *a.Number:
				return ok(-1)
			case v > *a.Number:
				return ok(1)
			}
			return ok(0)
		}, err
	case c.Kind == table.KindText || c.Kind == table.KindNumber && !ordered:
		values := make([]string, len(a.Text))
		for i, text := range a.Text {
			values[i] = labelLike(c, text)
		}
		if err := textOrder(c, ordered); err != nil {
			return nil, err
		}
		switch {
		case a.Op == "in":
			return func(i int) bool { return slices.Contains(values, operation.LabelOf(c, i)) }, nil
		case len(a.Text) == 1 && a.Op == "contains":
			return func(i int) bool { return strings.Contains(c.Text(i), a.Text[0]) }, nil
		case len(a.Text) == 1:
			ok, err := comparison(a.Op)
			return func(i int) bool { return ok(strings.Compare(operation.LabelOf(c, i), values[0])) }, err
		}
	}
	return nil, fmt.Errorf("Where: column %q holds %s values; they cannot be compared (%s) with the given value",
		a.Column, c.Kind, a.Op)
}

func comparison(op string) (func(int) bool, error) {
	switch op {
	case "==":
		return func(c int) bool { return c == 0 }, nil
	case "!=":
		return func(c int) bool { return c != 0 }, nil
	case "<":
		return func(c int) bool { return c < 0 }, nil
	case "<=":
		return func(c int) bool { return c <= 0 }, nil
	case ">":
		return func(c int) bool { return c > 0 }, nil
	case ">=":
		return func(c int) bool { return c >= 0 }, nil
	}
	return nil, fmt.Errorf("no comparison %q", op)
}

func isMissing(c *table.Column, i int) bool {
	switch c.Kind {
	case table.KindText:
		return c.Texts[i] == ""
	case table.KindNumber:
		return math.IsNaN(c.Numbers[i])
	case table.KindImage:
		return c.Images[i].Path == ""
	case table.KindMask:
		return c.Masks[i].Counts == ""
	default:
		return c.Vectors[i] == nil
	}
}

func selectColumns(_ *Call, a columnsArgs, in []*Frame) (*Frame, error) {
	out := &Frame{}
	for _, name := range table.WithShown(a.Columns, in[0].Has) {
		c, err := in[0].Need(name, "")
		if err != nil {
			return nil, err
		}
		out.Columns = append(out.Columns, *c)
	}
	return out, nil
}

func with(_ *Call, a withArgs, in []*Frame) (*Frame, error) {
	n := in[0].Len()
	if a.Text != nil {
		return in[0].With(table.TextColumn(a.Column, slices.Repeat([]string{*a.Text}, n))), nil
	}
	if a.Number == nil {
		return nil, errors.New("With: no value")
	}
	return in[0].With(table.NumberColumn(a.Column, slices.Repeat([]float64{*a.Number}, n))), nil
}

func sortRows(_ *Call, a sortArgs, in []*Frame) (*Frame, error) {
	c, err := in[0].Need(a.Column, a.As)
	if err == nil && c.Kind != table.KindText && c.Kind != table.KindNumber {
		err = fmt.Errorf("column %q is not a text or number column", a.Column)
	}
	if err == nil && a.As == "" {
		err = mostlyNumbers(c)
	}
	if err != nil {
		return nil, fmt.Errorf("Sort: %w", err)
	}
	rows := make([]int, in[0].Len())
	for i := range rows {
		rows[i] = i
	}
	sort.SliceStable(rows, func(x, y int) bool {
		i, j := rows[x], rows[y]
		if mi, mj := isMissing(c, i), isMissing(c, j); mi || mj {
			return !mi && mj
		}
		if a.Descending {
			i, j = j, i
		}
		if c.Kind == table.KindText {
			return c.Texts[i] < c.Texts[j]
		}
		return c.Numbers[i] < c.Numbers[j]
	})
	return in[0].Pick(rows), nil
}

// textOrder returns an error for a column of dates whose order as text, by the day of the month, is not that of the
// dates, if its values are ordered.
func textOrder(c *table.Column, ordered bool) error {
	other := func(text string) bool { return text != "" && !table.IsDayFirst(text) }
	if !ordered || c.Kind != table.KindText || table.IsBlank(c.Texts) || slices.ContainsFunc(c.Texts, other) {
		return nil
	}
	return fmt.Errorf("column %q holds dates such as %s, whose order as text is not that of the days: write them as "+
		"2026-03-29", c.Name, firstValue(c.Texts))
}

// mostlyNumbers returns an error for a text column more than half of whose values are numbers: its order as text, in
// which 10 comes before 9, is not what its user expects.
func mostlyNumbers(c *Column) error {
	if c.Kind != table.KindText || KindByName(c.Name) == table.KindText {
		return nil
	}
	if err := textOrder(c, true); err != nil {
		return fmt.Errorf("%w, and SortOptions{As: \"text\"} (--sort %s --as text) sorts them as they are", err, c.Name)
	}
	values, numbers := 0, 0
	for _, text := range c.Texts {
		if text != "" {
			values++
			if table.LooksNumeric(text) {
				numbers++
			}
		}
	}
	_, err := c.As(table.KindNumber)
	if err == nil || 2*numbers <= values {
		return nil
	}
	return fmt.Errorf("%w, and SortOptions{As: \"text\"} (--sort %s --as text) sorts them as text", err, c.Name)
}

func head(_ *Call, a headArgs, in []*Frame) (*Frame, error) {
	if a.N < 0 {
		return nil, &table.Error{Code: table.CodeUsage,
			Message: fmt.Sprintf("Head(%d): the number of rows is negative", a.N)}
	}
	rows := make([]int, min(a.N, in[0].Len()))
	for i := range rows {
		rows[i] = i
	}
	return in[0].Pick(rows), nil
}

func sample(call *Call, a sampleArgs, in []*Frame) (*Frame, error) {
	if a.N <= 0 {
		return nil, &table.Error{Code: table.CodeUsage,
			Message: fmt.Sprintf("Sample(%d, …): sample at least one row", a.N)}
	}
	by := SplitColumns(a.By)
	names, members, err := groups(call, in[0], by)
	if err != nil {
		return nil, err
	}
	var chosen []int
	for g, rows := range members {
		if len(rows) < a.N {
			return nil, fmt.Errorf("Sample: %d rows requested from each group, but %s has %d", a.N,
				groupName(by, names[g]), len(rows))
		}
		type ranked struct {
			row  int
			rank [32]byte
		}
		order := make([]ranked, len(rows))
		for i, row := range rows {
			name := fmt.Sprint(row)
			if ids := in[0].Texts("id"); ids != nil && ids[row] != "" {
				name = ids[row]
			}
			var seed [8]byte
			binary.LittleEndian.PutUint64(seed[:], uint64(a.Seed))
			order[i] = ranked{row, sha256.Sum256(append(seed[:], name...))}
		}
		slices.SortStableFunc(order, func(x, y ranked) int { return slices.Compare(x.rank[:], y.rank[:]) })
		for _, o := range order[:a.N] {
			chosen = append(chosen, o.row)
		}
	}
	slices.Sort(chosen)
	return in[0].Pick(chosen), nil
}

func rename(_ *Call, a RenameArgs, in []*Frame) (*Frame, error) {
	out := &Frame{Columns: slices.Clone(in[0].Columns)}
	c, err := out.Need(a.From, "")
	if err != nil {
		return nil, err
	}
	if out.Has(a.To) {
		return nil, fmt.Errorf("Rename(%q, %q): there is a column %q already", a.From, a.To, a.To)
	}
	c.Name = a.To
	if shown := out.Column(a.From + table.ShownSuffix); shown != nil {
		shown.Name = a.To + table.ShownSuffix
	}
	return out, nil
}

func removePrefix(_ *Call, a removePrefixArgs, in []*Frame) (*Frame, error) {
	c, err := in[0].Need(a.Column, table.KindText)
	if err != nil {
		return nil, err
	}
	texts := slices.Clone(c.Texts)
	for i, t := range texts {
		if rest, found := strings.CutPrefix(t, a.Prefix); found {
			texts[i] = strings.TrimLeft(rest, " \t\n")
		}
	}
	return in[0].With(table.TextColumn(a.Column, texts)), nil
}

// repeat evaluates Table.Repeat.
func repeat(_ *Call, a RepeatArgs, in []*Frame) (*Frame, error) {
	f := in[0]
	ids, err := f.Need("id", table.KindText)
	if err != nil {
		return nil, err
	}
	if a.N < 1 || a.N > MaxRepeat {
		return nil, fmt.Errorf("repeat: %d copies are not between 1 and %d", a.N, MaxRepeat)
	}
	own := f.Column("seed")
	var rows []int
	var id, of, seeds []string
	for i, name := range ids.Texts {
		first := uint64(a.Seed)
		if own != nil && own.Text(i) != "" {
			if first, err = Seed(f, i); err == nil && first > math.MaxUint64-MaxRepeat {
				err = fmt.Errorf("the seed %d is larger than 2^64 − %d", first, MaxRepeat)
			}
			if err != nil {
				return nil, fmt.Errorf("row %d, column seed: %w", i+1, err)
			}
		}
		for k := range a.N {
			rows, of = append(rows, i), append(of, name)
			seeds = append(seeds, strconv.FormatUint(first+uint64(k), 10))
			id = append(id, fmt.Sprintf("%s#%d", name, k+1))
		}
	}
	return f.Pick(rows).With(table.TextColumn("id", id), table.TextColumn(a.Of, of),
		table.CellColumn("seed", seeds, table.NumberFormat{})), nil
}

// Seed returns the value of a row's column seed, a whole number from 0 to 2^64−1: a number, or text where numbers would
// round one of the table's seeds.
func Seed(f *Frame, row int) (uint64, error) {
	c := f.Column("seed")
	if c == nil {
		return 0, table.NoColumn("seed", f.Specs())
	}
	seed, err := strconv.ParseUint(strings.TrimSpace(c.Text(row)), 10, 64)
	if err != nil {
		seed, err = wholeSeed(c, row)
	}
	return seed, err
}

// wholeSeed returns a seed that is not written as an integer, such as 7.0.
func wholeSeed(c *Column, row int) (uint64, error) {
	if c.Kind == table.KindNumber {
		if v := c.Numbers[row]; v >= 0 && v <= 1<<53 && v == math.Trunc(v) {
			return uint64(v), nil
		}
	}
	return 0, fmt.Errorf("the seed %s is no whole number from 0 to 2^64−1", c.Text(row))
}

func seedBy(_ *Call, a columnsArgs, in []*Frame) (*Frame, error) {
	f := in[0]
	columns := make([][]string, len(a.Columns))
	for i, name := range a.Columns {
		c, err := f.Need(name, table.KindText)
		if err != nil {
			return nil, err
		}
		columns[i] = c.Texts
	}
	seeds := make([]float64, f.Len())
	for row := range seeds {
		h := sha256.New()
		for _, texts := range columns {
			fmt.Fprintf(h, "%d:%s", len(texts[row]), texts[row])
		}
		seeds[row] = float64(binary.LittleEndian.Uint32(h.Sum(nil)) >> 1)
	}
	return f.With(table.NumberColumn("seed", seeds)), nil
}
