package record

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
)

// Result is a score or a saved table of a run.
type Result struct {
	ID       string             `json:"id"`              // [engine.ResultID] of Plan and Inputs
	Saved    string             `json:"saved,omitempty"` // the file of a saved table
	Plan     *table.Plan        `json:"plan"`
	Inputs   []string           `json:"inputs"` // digests of the rows that the operation reads
	Rows     int                `json:"rows"`
	Columns  []table.ColumnSpec `json:"columns"`
	Digest   string             `json:"digest"`            // [store.FrameDigest] of the rows
	Models   map[string]string  `json:"models,omitempty"`  // SHA-256 by name
	Sources  map[string]string  `json:"sources,omitempty"` // OWNER/NAME@COMMIT by name
	Device   string             `json:"device,omitempty"`  // that networks ran on, "xla:cpu", …
	Versions map[string]string  `json:"versions"`
	Notes    []string           `json:"notes,omitempty"`
	Readings []table.Reading    `json:"readings,omitempty"`
	Bad      []table.BadRow     `json:"bad,omitempty"`

	Name  string       `json:"-"` // of its files in results/, without extension
	table *table.Frame // as its CSV file holds it
}

func (r *Result) file(ext string) string { return path.Join("results", r.Name+ext) }

// newResult returns the record of rows that a run record describes.
func newResult(name string, plan *table.Plan, rec *store.Record, f *table.Frame) (*Result, error) {
	digest, err := store.FrameDigest(f)
	if err == nil && digest != rec.Result {
		err = fmt.Errorf("%s changed while it was recorded; run it again", name)
	}
	r := &Result{Saved: rec.Saved, Plan: withoutLines(plan), Inputs: rec.Inputs, Rows: f.Len(), Columns: f.Specs(),
		Digest: digest, Models: rec.Models, Sources: rec.Sources, Versions: rec.Versions, Notes: rec.Notes,
		Readings: rec.Readings, Bad: rec.Bad, Name: name, table: plain(f)}
	if len(r.Models) > 0 {
		r.Device = rec.Device
	}
	return r, err
}

// withoutLines returns a plan without the lines of the program that made it, which differ between runs.
func withoutLines(p *table.Plan) *table.Plan {
	out := *p
	out.Line, out.Inputs = "", slices.Clone(p.Inputs)
	for i, in := range out.Inputs {
		out.Inputs[i] = withoutLines(in)
	}
	return &out
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
	r.table = plain(table.NewFrame(r.Columns))
	in := csv.NewReader(bytes.NewReader(rows))
	in.FieldsPerRecord = len(r.table.Columns)
	lines, err := in.ReadAll()
	if err == nil && len(lines) != r.Rows+min(1, len(r.table.Columns)) {
		err = fmt.Errorf("%d lines for %d rows", len(lines), r.Rows)
	}
	for i := range r.table.Columns {
		c := &r.table.Columns[i]
		cells := make([]string, len(lines))
		for row, line := range lines {
			cells[row] = line[i]
		}
		if err == nil && cells[0] != c.Name {
			err = fmt.Errorf("column %d is %q instead of %q", i+1, cells[0], c.Name)
		}
		if err != nil {
			return nil, err
		}
		texts := table.TextColumn(c.Name, cells[1:])
		as, asErr := texts.As(c.Kind)
		if err = asErr; err == nil {
			c.Texts, c.Numbers = as.Texts, as.Numbers
		}
	}
	r.table = plain(r.table) // without the spelling of numbers
	return r, err
}

// conclusion is a verdict: the value of a column in a row.
type conclusion struct{ row, column, value string }

// conclusions returns the verdicts of a table whose rows have these names, and the signs of the gaps that they flag.
func conclusions(f *table.Frame, names []string) (all []conclusion) {
	for row, name := range names {
		for _, c := range f.Columns {
			if !isVerdict(c.ColumnSpec) || c.Texts[row] == "" {
				continue
			}
			value := c.Texts[row]
			if gap := f.Numbers(strings.Replace(c.Name, "flagged", "gap", 1)); value == "yes" && gap != nil {
				value += map[bool]string{true: ", below 0", false: ", above 0"}[gap[row] < 0]
			}
			all = append(all, conclusion{name, c.Name, value})
		}
	}
	return all
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
		out[row] = strings.Join(cells, ", ")
		if seen[out[row]]++; seen[out[row]] > 1 {
			out[row] += fmt.Sprintf(" (%d)", seen[out[row]])
		}
	}
	return out
}

// listed returns the conclusions of results as a CSV file.
func listed(results []*Result) ([]byte, error) {
	all := table.NewFrame(datasets.Columns("result:text", "row:text", "column:text", "value:text"))
	for _, r := range results {
		for _, c := range conclusions(r.table, rowNames(r.table)) {
			all.Add([]string{r.Name, c.row, c.column, c.value})
		}
	}
	return encode(all)
}
