package stereotypes

import (
	"bytes"
	"encoding/csv"
	"maps"
	"reflect"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	data "antipode/datasets/visage"
	"antipode/metrics/internal/tabulartest"
)

// cellsOf is a frame as rows of text, with its head.
func cellsOf(f *table.Frame) [][]string {
	out := [][]string{nil}
	for i := range f.Columns {
		out[0] = append(out[0], f.Columns[i].Name)
	}
	for row := range f.Len() {
		var line []string
		for i := range f.Columns {
			line = append(line, f.Columns[i].Cell(row))
		}
		out = append(out, line)
	}
	return out
}

// TestOptionsRoundTrip: the column options of a table saved as CSV recomputes the table, cell for cell.
func TestOptionsRoundTrip(t *testing.T) {
	clips, clipAttributes := clipTables()
	for name, c := range map[string]struct {
		inputs  map[string]*table.Frame
		options map[string]string
	}{
		"visage-salience": {map[string]*table.Frame{"in": captionFrame(), "attributes": pairFrame()},
			map[string]string{"alpha": "0.5", "idf": "smooth", "resamples": "30", "top": "2"}},
		"visage-captions": {map[string]*table.Frame{"in": captionFrame(), "attributes": pairFrame()},
			map[string]string{"match": "substring", "resamples": "30"}},
		"visage-ngrams": {map[string]*table.Frame{"in": captionFrame(), "attributes": pairFrame()},
			map[string]string{"stop": "a the + &=", "min_captions": "1", "resamples": "0"}},
		"visage-clip-attributes": {map[string]*table.Frame{"in": clips, "attributes": clipAttributes},
			map[string]string{"method": "cosine", "threshold": "0.7"}},
		"visage-pull-count": {map[string]*table.Frame{"in": tabulartest.Released(t, data.Name, "visage-printed-pull",
			nil)}, nil},
	} {
		options := maps.Clone(c.options)
		if options == nil {
			options = map[string]string{}
		}
		if name != "visage-clip-attributes" { // it has no seed
			options["seed"] = "-7"
		}
		first, err := tabulartest.RunOn(name, c.inputs, options)
		if err != nil || first.Len() == 0 {
			t.Fatal(name, err)
		}
		var file bytes.Buffer
		if err := csv.NewWriter(&file).WriteAll(cellsOf(first)); err != nil {
			t.Fatal(err)
		}
		read, err := csv.NewReader(&file).ReadAll()
		if err != nil || read[0][len(read[0])-1] != "options" {
			t.Fatal(name, read[0], err)
		}
		op, given, err := parse(read[1][len(read[1])-1])
		if err != nil {
			t.Fatal(name, err)
		}
		if len(given) != len(options) {
			t.Errorf("%s: %+v", name, given)
		}
		again, err := tabulartest.RunOn(op.Name, c.inputs, given)
		if err != nil || !reflect.DeepEqual(cellsOf(again), read) {
			t.Errorf("%s: the repeated table differs (%v)", name, err)
		}
		tables := map[string]datasets.Table{}
		for role, f := range c.inputs {
			tables[role] = datasets.FromFrame(f)
		}
		if err := Repeat(read[1][len(read[1])-1], tables).Err(); err != nil {
			t.Error(err)
		}
	}
	for text, want := range map[string]string{"": "no options", "visage-none/2 seed=0": "no metric",
		"visage-salience/0 seed=0": "version 0", "visage-salience/3 seed": "NAME=VALUE",
		"visage-salience/3 seed=x": "not an integer", "visage-salience/3 stop=%zz": "NAME=VALUE"} {
		if err := Repeat(text, nil).Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v does not say %q", text, err, want)
		}
	}
}

// TestTablesHaveOptions: every table of the package ends with the column options.
func TestTablesHaveOptions(t *testing.T) {
	n := 0
	for _, name := range append(operation.Names(true), operation.Names(false)...) {
		if !strings.HasPrefix(name, "visage-") || name == "visage-set-prompts" { // datasets/visage: prompts, no table
			continue
		}
		n++
		columns := operation.Find(name).Results
		if last := columns[len(columns)-1].Name; last != "options" {
			t.Errorf("%s ends with %s", name, last)
		}
	}
	if n < 16 {
		t.Errorf("%d operations", n)
	}
}
