package visage

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	data "antipode/datasets/visage"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

// cellsOf is a frame as rows of text, with its head.
func cellsOf(f *client.Frame) [][]string {
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

// TestSettingsRoundTrip: a table written as CSV is made again from what its last column says, cell for cell.
func TestSettingsRoundTrip(t *testing.T) {
	clips, clipAttributes := clipTables()
	for name, c := range map[string]struct {
		roles   []string
		inputs  []*client.Frame
		options map[string]string
	}{
		"visage-salience":        {[]string{"in", "attributes"}, []*client.Frame{captionFrame(), pairFrame()}, map[string]string{"alpha": "0.5", "idf": "smooth", "draws": "30", "top": "2"}},
		"visage-captions":        {[]string{"in", "attributes"}, []*client.Frame{captionFrame(), pairFrame()}, map[string]string{"match": "substring", "draws": "30"}},
		"visage-ngrams":          {[]string{"in", "attributes"}, []*client.Frame{captionFrame(), pairFrame()}, map[string]string{"stop": "a the + &=", "min_captions": "1", "draws": "0"}},
		"visage-clip-attributes": {[]string{"in", "attributes"}, []*client.Frame{clips, clipAttributes}, map[string]string{"found_by": "cosine", "threshold": "0.7"}},
		"visage-pull-count":      {[]string{"in"}, []*client.Frame{tabulartest.Released(t, data.Name, "visage-printed-pull", nil)}, nil},
	} {
		raw, err := json.Marshal(metrics.Args{Metric: name, Roles: c.roles, Options: c.options, Seed: -7})
		if err != nil {
			t.Fatal(err)
		}
		first, err := metrics.Evaluate(context.Background(), raw, c.inputs, metrics.Call{})
		if err != nil || first.Len() == 0 {
			t.Fatal(name, err)
		}
		var file bytes.Buffer
		if err := csv.NewWriter(&file).WriteAll(cellsOf(first)); err != nil {
			t.Fatal(err)
		}
		read, err := csv.NewReader(&file).ReadAll()
		if err != nil || read[0][len(read[0])-1] != "settings" {
			t.Fatal(name, read[0], err)
		}
		args, err := ParseSettings(read[1][len(read[1])-1])
		if err != nil {
			t.Fatal(name, err)
		}
		if args.Roles = c.roles; args.Seed != -7 || len(args.Options) != len(c.options) {
			t.Errorf("%s: %+v", name, args)
		}
		if raw, err = json.Marshal(args); err != nil {
			t.Fatal(err)
		}
		again, err := metrics.Evaluate(context.Background(), raw, c.inputs, metrics.Call{})
		if err != nil || !reflect.DeepEqual(cellsOf(again), read) {
			t.Errorf("%s: the table made again differs (%v)", name, err)
		}
	}
	for text, want := range map[string]string{"": "no settings", "visage-none/2 seed=0": "no metric", "visage-salience/0 seed=0": "version 0", "visage-salience/2 seed": "NAME=VALUE", "visage-salience/2 seed=x": "whole number", "visage-salience/2 stop=%zz": "NAME=VALUE"} {
		if _, err := ParseSettings(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v does not say %q", text, err, want)
		}
	}
}

// TestTablesSayTheirSettings: every table of the package ends with them.
func TestTablesSayTheirSettings(t *testing.T) {
	n := 0
	for _, name := range metrics.Names() {
		if !strings.HasPrefix(name, "visage-") {
			continue
		}
		n++
		m, err := metrics.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		columns := m.Columns(metrics.Args{})
		if columns[len(columns)-1].Name != "settings" {
			t.Errorf("%s ends with %s", name, columns[len(columns)-1].Name)
		}
	}
	if n < 16 {
		t.Errorf("%d metrics", n)
	}
}
