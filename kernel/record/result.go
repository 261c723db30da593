package record

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/table"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
)

// Result is a score or a saved table of a run.
type Result struct {
	ID        string            `json:"id"` // digest of the plan's operation and arguments, and of Inputs
	Operation string            `json:"operation"`
	Saved     string            `json:"saved,omitempty"` // the file of a saved table
	Plan      *table.Plan       `json:"plan"`
	Inputs    []string          `json:"inputs"` // digests of the rows that the operation reads
	Rows      int               `json:"rows"`
	Digest    string            `json:"digest"` // of the rows, from Columns
	Columns   []Column          `json:"columns"`
	Models    map[string]string `json:"models,omitempty"`  // SHA-256 by name
	Sources   map[string]string `json:"sources,omitempty"` // OWNER/NAME@COMMIT by name
	Device    string            `json:"device,omitempty"`  // that the models ran on, "xla:cpu", …
	Versions  map[string]string `json:"versions"`
	Notes     []string          `json:"notes,omitempty"`
	Readings  []table.Reading   `json:"readings,omitempty"`
	Bad       []table.BadRow    `json:"bad,omitempty"`

	name  string       // of its files in results/, without extension
	table *table.Frame // as its CSV file holds it
}

// Column is a column of a result.
type Column struct {
	table.ColumnSpec
	SHA256 string `json:"sha256"` // of its values
	// Table is the SHA-256 of the values in the CSV file where the other one covers more, such as how a number was
	// spelled; "" = the same. Vectors and masks are not in the file.
	Table string `json:"table_sha256,omitempty"`
}

// isLeftOut reports whether a column is not in the CSV file.
func (c Column) isLeftOut() bool { return c.Kind == table.KindVector || c.Kind == table.KindMask }

// modelled reports whether networks computed a part of the result.
func (r *Result) modelled() bool { return len(r.Models) > 0 }

// Name returns the name of the result's files, without their extensions.
func (r *Result) Name() string { return r.name }

// file returns the name of the result's file with an extension.
func (r *Result) file(ext string) string { return path.Join("results", r.name+ext) }

// newResult returns the record of rows that a run record describes.
func newResult(name string, plan *table.Plan, rec *store.Record, f *table.Frame) (*Result, error) {
	h := store.NewFrameHash(f.Specs())
	if err := h.Add(f); err != nil {
		return nil, err
	}
	if h.Sum() != rec.Result {
		return nil, fmt.Errorf("%s changed while it was recorded; run it again", name)
	}
	r := &Result{Operation: plan.Op, Saved: rec.Saved, Plan: withoutLines(plan), Inputs: rec.Inputs, Rows: f.Len(),
		Digest: h.Sum(), Models: rec.Models, Sources: rec.Sources, Versions: rec.Versions, Notes: rec.Notes,
		Readings: rec.Readings, Bad: rec.Bad, name: name}
	if r.modelled() {
		r.Device = rec.Device
	}
	for i, sum := range h.Columns() {
		r.Columns = append(r.Columns, Column{ColumnSpec: f.Columns[i].ColumnSpec, SHA256: sum})
	}
	data, err := encode(plainFrame(f))
	if err != nil {
		return nil, err
	}
	if err := r.read(data); err != nil {
		return nil, err
	}
	for i, sum := range r.sums() {
		if sum != r.Columns[i].SHA256 {
			r.Columns[i].Table = sum
		}
	}
	return r, nil
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

// plainFrame returns the texts and numbers of a frame; an image is its SHA-256.
func plainFrame(f *table.Frame) *table.Frame {
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

// read sets the table of the result from its CSV file.
func (r *Result) read(data []byte) error {
	f := &table.Frame{}
	for _, c := range r.Columns {
		if c.Kind == table.KindImage {
			c.Kind = table.KindText
		}
		if !c.isLeftOut() {
			f.Columns = append(f.Columns, table.Column{ColumnSpec: c.ColumnSpec})
		}
	}
	in := csv.NewReader(bytes.NewReader(data))
	in.FieldsPerRecord = len(f.Columns)
	for row := -1; len(f.Columns) > 0; row++ {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.file(".csv"), err)
		}
		for i := range f.Columns {
			c := &f.Columns[i]
			switch {
			case row < 0 && cells[i] != c.Name:
				return fmt.Errorf("%s: column %d is %q instead of %q", r.file(".csv"), i+1, cells[i], c.Name)
			case row < 0:
			case c.Kind == table.KindText:
				c.Texts = append(c.Texts, cells[i])
			default:
				x, err := strconv.ParseFloat(cmp.Or(cells[i], "NaN"), 64)
				if err != nil {
					return fmt.Errorf("%s, row %d, %s: %w", r.file(".csv"), row+1, c.Name, err)
				}
				c.Numbers = append(c.Numbers, x)
			}
		}
	}
	r.table = f
	if n := f.Len(); n != r.Rows && len(f.Columns) > 0 {
		return fmt.Errorf("%s: %d rows instead of %d", r.file(".csv"), n, r.Rows)
	}
	return nil
}

// sums returns the SHA-256 of the columns: of those in the CSV file as it is, and of others as they are recorded.
func (r *Result) sums() []string {
	h := store.NewFrameHash(r.table.Specs())
	read := []string{}
	if h.Add(r.table) == nil {
		read = h.Columns()
	}
	out := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		if out[i] = c.SHA256; !c.isLeftOut() && len(read) > 0 {
			out[i], read = read[0], read[1:]
		}
	}
	return out
}

// check returns what does not fit together: the identity, the digest and the columns.
func (r *Result) check() (problems []string) {
	say := func(format string, args ...any) {
		problems = append(problems, r.file(".json")+": "+fmt.Sprintf(format, args...))
	}
	if id := engine.ResultID(r.Plan, r.Inputs); id != r.ID || r.Plan.Op != r.Operation {
		say("the plan and its inputs have the id %.12s, not %.12s", id, r.ID)
	}
	var specs []table.ColumnSpec
	var sums []string
	for i, sum := range r.sums() {
		c := r.Columns[i]
		specs, sums = append(specs, c.ColumnSpec), append(sums, c.SHA256)
		if want := c.SHA256; sum != want && sum != c.Table {
			say("the column %q of the CSV file has another digest", c.Name)
		}
	}
	if digest, err := store.DigestOf(r.Rows, specs, sums); err != nil || digest != r.Digest {
		say("its columns have the digest %.12s, not %.12s", digest, r.Digest)
	}
	return problems
}

// conclusions returns the verdicts of a result, and the signs of the gaps that they flag: the text columns named
// verdict, holds, found, missed or flagged, or whose name has such a word, with a row for each cell that is not empty.
// key is the row's other texts, and its number if they do not identify it.
func (r *Result) conclusions(f *table.Frame) (rows []conclusion) {
	for row, key := range keys(f) {
		for i := range f.Columns {
			c := &f.Columns[i]
			if !isVerdict(c.ColumnSpec) || c.Texts[row] == "" {
				continue
			}
			value := c.Texts[row]
			if gap := f.Column(strings.Replace(c.Name, "flagged", "gap", 1)); value == "yes" && gap != nil &&
				gap.Kind == table.KindNumber {
				value += map[bool]string{true: ", below 0", false: ", above 0"}[gap.Numbers[row] < 0]
			}
			rows = append(rows, conclusion{r.name, key, c.Name, value})
		}
	}
	return rows
}

// conclusion is a verdict: the value of a column in a row of a result.
type conclusion struct{ result, row, column, value string }

// isVerdict reports whether a column says what follows from the numbers beside it.
func isVerdict(c table.ColumnSpec) bool {
	return c.Kind == table.KindText && slices.ContainsFunc(strings.Split(c.Name, "_"), func(word string) bool {
		return slices.Contains([]string{"verdict", "holds", "found", "missed", "flagged"}, word)
	})
}

// keys returns for each row of a table its texts that identify it: those of columns whose values differ.
func keys(f *table.Frame) []string {
	out, seen := make([]string, f.Len()), map[string]int{}
	var columns []table.Column
	for _, c := range f.Columns {
		if c.Kind == table.KindText && !isVerdict(c.ColumnSpec) && len(columns) < maxKey &&
			slices.ContainsFunc(c.Texts, func(text string) bool { return text != c.Texts[0] || len(c.Texts) == 1 }) {
			columns = append(columns, c)
		}
	}
	for row := range out {
		var cells []string
		for _, c := range columns {
			if c.Texts[row] != "" {
				cells = append(cells, c.Texts[row])
			}
		}
		key := strings.Join(cells, ", ")
		if seen[key]++; seen[key] > 1 {
			key += " (" + strconv.Itoa(seen[key]) + ")"
		}
		out[row] = key
	}
	return out
}

// maxKey is the number of texts by which a row is named.
const maxKey = 4

// marshal returns a value as indented JSON, with < and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	to.SetIndent("", " ")
	err := to.Encode(v)
	return b.Bytes(), err
}

// identify sets the identity of a result. Its plan must name places.
func (r *Result) identify() error {
	err := compacted(r.Plan)
	r.ID = engine.ResultID(r.Plan, r.Inputs)
	return err
}
