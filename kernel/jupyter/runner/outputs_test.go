package runner

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/kernel/jupyter"
	"antipode/kernel/jupyter/notebook"
)

// message makes a message of a type.
func message(t *testing.T, kind string, content any) jupyter.Message {
	t.Helper()
	raw := must.Get(json.Marshal(content))(t)
	return jupyter.Message{Header: jupyter.Header{Type: kind}, Content: raw}
}

type fields = map[string]any

func stream(name, text string) fields { return fields{"name": name, "text": text} }

func show(id, html string) fields {
	return fields{"data": fields{"text/html": html}, "metadata": fields{}, "transient": fields{"display_id": id}}
}

// collected applies messages, given as pairs of type and content, to a cell.
func collected(t *testing.T, shown displays, pairs ...any) *notebook.Cell {
	t.Helper()
	c := &collector{cell: &notebook.Cell{Type: notebook.Code}, displays: shown}
	for i := 0; i < len(pairs); i += 2 {
		c.take(message(t, pairs[i].(string), pairs[i+1]))
	}
	c.finish()
	return c.cell
}

// summary is each output as "type:content".
func summary(c *notebook.Cell) []string {
	var all []string
	for _, o := range c.Outputs {
		switch o.Type {
		case notebook.Stream:
			all = append(all, o.Name+":"+o.Text)
		case notebook.Error:
			all = append(all, "error:"+o.ErrorValue)
		default:
			html, _ := o.Data["text/html"].(string)
			text, _ := o.Data["text/plain"].(string)
			all = append(all, o.Type+":"+cmp.Or(html, text))
		}
	}
	return all
}

func TestCollector(t *testing.T) {
	for _, test := range []struct {
		name  string
		pairs []any
		want  []string
	}{
		{"adjacent streams merge", []any{"stream", stream("stdout", "a"), "stream", stream("stdout", "b\n"), "stream",
			stream("stderr", "c"), "stream", stream("stdout", "d")},
			[]string{"stdout:ab\n", "stderr:c", "stdout:d"}},
		{"a display is updated in place", []any{"display_data", show("x", "1"), "stream", stream("stdout", "a"),
			"update_display_data", show("x", "2"), "update_display_data", show("other", "3")},
			[]string{"display_data:2", "stdout:a"}},
		{"a display that ends empty is dropped", []any{"display_data", show("x", "1"), "update_display_data",
			show("x", "")}, nil},
		{"clear at once", []any{"stream", stream("stdout", "a"), "clear_output", fields{"wait": false}, "stream",
			stream("stdout", "b")}, []string{"stdout:b"}},
		{"clear with the next output", []any{"stream", stream("stdout", "a"), "clear_output", fields{"wait": true},
			"display_data", show("", "b")}, []string{"display_data:b"}},
		{"clear with no next output", []any{"stream", stream("stdout", "a"), "clear_output", fields{"wait": true}},
			[]string{"stdout:a"}},
	} {
		got := summary(collected(t, displays{}, test.pairs...))
		must.True(t, reflect.DeepEqual(got, test.want), "%s: got %q, want %q", test.name, got, test.want)
	}
}

// A later cell updates an earlier one's display.
func TestUpdateAcrossCells(t *testing.T) {
	shown := displays{}
	first := collected(t, shown, "display_data", show("x", "1"))
	second := collected(t, shown, "update_display_data", show("x", "2"))
	if got := summary(first); len(got) != 1 || got[0] != "display_data:2" || len(second.Outputs) != 0 {
		t.Errorf("outputs are %q and %q", got, summary(second))
	}
}

// Progress goes to the terminal and never into the notebook.
func TestProgressIsNotOutput(t *testing.T) {
	var said []string
	c := &collector{cell: &notebook.Cell{}, displays: displays{}, progress: func(s string) { said = append(said, s) }}
	bar := fields{"data": fields{"text/html": "<progress>", "text/plain": "embed: 3 of 9"},
		"metadata": fields{progressMark: true}, "transient": fields{"display_id": "p"}}
	c.take(message(t, "display_data", bar))
	c.take(message(t, "update_display_data", bar))
	c.finish()
	want := []string{"embed: 3 of 9", "embed: 3 of 9", ""}
	must.True(t, reflect.DeepEqual(said, want) && len(c.cell.Outputs) == 0,
		"said %q, outputs %q", said, summary(c.cell))
}

// What a cell prints is kept up to a bound, and the rest counted.
func TestBoundedOutput(t *testing.T) {
	c := &collector{cell: &notebook.Cell{}, displays: displays{}}
	chunk := strings.Repeat("é", 1000)
	for range 2000 {
		c.take(message(t, "stream", stream("stdout", chunk)))
	}
	c.finish()
	got := c.cell.Outputs
	if len(got) != 2 || len(got[0].Text) > maxText || len(got[0].Text) < maxText-2 ||
		!strings.Contains(got[1].Text, "2951424 more bytes") {
		t.Errorf("%d outputs, %d bytes, then %q", len(got), len(got[0].Text), got[len(got)-1].Text)
	}
	content := strings.Repeat("a", maxDisplay/2)
	c = &collector{cell: &notebook.Cell{}, displays: displays{}}
	for range 3 {
		c.display(notebook.DisplayData, jupyter.DisplayContent{Data: map[string]any{"image/png": content}})
	}
	if c.finish(); len(c.cell.Outputs) != 3 || c.cell.Outputs[2].Type != notebook.Stream {
		t.Errorf("got %d outputs", len(c.cell.Outputs))
	}
}
