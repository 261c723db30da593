package record

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
)

// Result is a score or a saved table of a run: its run record, without what differs between runs of one plan.
type Result struct {
	store.Record
	Columns []table.ColumnSpec `json:"columns"`

	Name  string       `json:"-"` // of its files in results/, without extension
	table *table.Frame // as its CSV file holds it
}

func (r *Result) file(ext string) string { return path.Join("results", r.Name+ext) }

// newResult returns the record of rows that a run record describes; hide changes paths in its JSON.
func newResult(name string, plan *table.Plan, rec store.Record, f *table.Frame,
	hide func(text string) string) (*Result, error) {
	digest, err := store.FrameDigest(f)
	if err == nil && digest != rec.Result {
		err = fmt.Errorf("%s changed while it was recorded; run it again", name)
	}
	rec.Plan, rec.Computed, rec.Found, rec.Uses, rec.Finished = plan, 0, 0, nil, time.Time{}
	if len(rec.Models) == 0 {
		rec.Device = "" // networks ran on none
	}
	rec, err2 := rewritten(rec, hide)
	if err = cmp.Or(err, err2); err != nil {
		return nil, err
	}
	for p := range rec.Plan.All() {
		p.Line = "" // of the program that made it, which differs between runs
	}
	rec.ID = engine.ResultID(rec.Plan, rec.Inputs)
	return &Result{Record: rec, Columns: f.Specs(), Name: name, table: plain(f)}, nil
}

// rewritten returns a record whose JSON is changed, such as its paths.
func rewritten(rec store.Record, change func(text string) string) (out store.Record, err error) {
	data, err := json.Marshal(rec)
	if err == nil {
		err = json.Unmarshal([]byte(change(string(data))), &out)
	}
	return out, err
}

// plain returns the columns of a frame that a CSV file holds: texts, numbers, and images as their SHA-256.
func plain(f *table.Frame) *table.Frame {
	out := &table.Frame{}
	for _, c := range f.Columns {
		switch c.Kind {
		case table.KindNumber:
			c.Texts = nil
		case table.KindImage:
			digests := make([]string, len(c.Images))
			for i, img := range c.Images {
				digests[i] = img.SHA256
			}
			c = table.TextColumn(c.Name, digests)
		case table.KindVector, table.KindMask:
			continue
		}
		out.Columns = append(out.Columns, c)
	}
	return out
}

// encode returns a frame as CSV.
func encode(f *table.Frame) ([]byte, error) {
	var b bytes.Buffer
	err := engine.EncodeTable(&b, ".csv", f)
	return b.Bytes(), err
}

// decode reads a frame with these columns that [encode] wrote.
func decode(data []byte, columns []table.ColumnSpec) (*table.Frame, error) {
	f := plain(table.NewFrame(columns))
	in := csv.NewReader(bytes.NewReader(data))
	in.FieldsPerRecord = len(f.Columns)
	lines, err := in.ReadAll()
	if err == nil && len(lines) == 0 && len(f.Columns) > 0 {
		err = errors.New("it has no line")
	}
	if err != nil {
		return nil, err
	}
	for i := range f.Columns {
		c := &f.Columns[i]
		if is := lines[0][i]; is != c.Name {
			return nil, fmt.Errorf("column %d is %q instead of %q", i+1, is, c.Name)
		}
		texts := table.TextColumn(c.Name, nil)
		for _, line := range lines[1:] {
			texts.Texts = append(texts.Texts, line[i])
		}
		as, err := texts.As(c.Kind)
		if err != nil {
			return nil, err
		}
		*c = *as
	}
	return plain(f), nil // without the spelling of numbers
}

// readResult reads a result and its rows, and checks that they fit together.
func readResult(name string, data, rows []byte) (*Result, error) {
	r := &Result{Name: name}
	var b bytes.Buffer // without the spaces of indentation, on which the plan's identity would depend
	err := json.Compact(&b, data)
	if err == nil {
		err = json.Unmarshal(b.Bytes(), r)
	}
	if err != nil {
		return nil, err
	}
	if r.Plan == nil || r.Plan.Check() != nil || engine.ResultID(r.Plan, r.Inputs) != r.ID {
		return nil, fmt.Errorf("its plan and inputs have not the id %.12s", r.ID)
	}
	if r.table, err = decode(rows, r.Columns); err == nil && r.table.Len() != r.Rows {
		err = fmt.Errorf("%d lines for %d rows", r.table.Len(), r.Rows)
	}
	return r, err
}

// conclusions returns the verdicts of a result's table, whose rows have these names, with the signs of the gaps that
// they flag.
func conclusions(result string, f *table.Frame, names []string) *table.Frame {
	out := table.NewFrame(datasets.Columns("result:text", "row:text", "column:text", "value:text"))
	for row, name := range names {
		for _, c := range f.Columns {
			if !isVerdict(c.ColumnSpec) || c.Texts[row] == "" {
				continue
			}
			value := c.Texts[row]
			if gap := f.Numbers(strings.Replace(c.Name, "flagged", "gap", 1)); value == "yes" && gap != nil {
				value += map[bool]string{true: ", below 0", false: ", above 0"}[gap[row] < 0]
			}
			out.Add([]string{result, name, c.Name, value})
		}
	}
	return out
}

// isVerdict reports whether a column says what follows from the numbers of a row.
func isVerdict(c table.ColumnSpec) bool {
	return c.Kind == table.KindText && slices.ContainsFunc(strings.Split(c.Name, "_"), func(word string) bool {
		return slices.Contains([]string{"verdict", "holds", "found", "missed", "flagged"}, word)
	})
}

// rowNames names the rows of a table by its first texts that differ between rows.
func rowNames(f *table.Frame) []string {
	out, seen := make([]string, f.Len()), map[string]int{}
	for row := range out {
		var cells []string
		for _, c := range f.Columns {
			if c.Kind == table.KindText && !isVerdict(c.ColumnSpec) && len(cells) < 4 && c.Texts[row] != "" &&
				slices.ContainsFunc(c.Texts, func(s string) bool { return s != c.Texts[0] || len(c.Texts) == 1 }) {
				cells = append(cells, c.Texts[row])
			}
		}
		name := strings.Join(cells, ", ")
		for out[row] = name; seen[out[row]] > 0; out[row] = fmt.Sprintf("%s (%d)", name, seen[name]) {
			seen[name]++
		}
		seen[out[row]]++
	}
	return out
}

// conclusionsOf returns the conclusions of results.
func conclusionsOf(results []*Result) *table.Frame {
	all := conclusions("", nil, nil)
	for _, r := range results {
		all.Append(conclusions(r.Name, r.table, rowNames(r.table)))
	}
	return all
}
