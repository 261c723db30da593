package runner

import (
	"encoding/json"
	"fmt"
	"strings"

	"antipode/kernel/jupyter"
	"antipode/kernel/jupyter/notebook"
)

// Limits of the stored output of a cell in bytes, so that a cell that prints without end does not fill the disk.
const (
	maxText    = 1 << 20
	maxDisplay = 64 << 20
)

// progressMark is the metadata of a display with progress, which is shown on the terminal and not stored.
const progressMark = "antipode-progress"

// displays are the outputs by display id, of all cells: a cell may update an output of an earlier one.
type displays map[string][]*notebook.Output

// collector converts the messages of a cell's execution to its outputs.
type collector struct {
	cell     *notebook.Cell
	displays displays
	progress func(text string) // receives the progress of the running cell; "" = none

	text, shown, cut int
	clear            bool // clear before the next output
}

// take handles one message.
func (c *collector) take(m jupyter.Message) {
	switch m.Header.Type {
	case "stream":
		var s jupyter.StreamContent
		if json.Unmarshal(m.Content, &s) == nil {
			c.stream(s)
		}
	case "display_data", "execute_result":
		var d jupyter.DisplayContent
		if json.Unmarshal(m.Content, &d) == nil {
			c.display(m.Header.Type, d)
		}
	case "update_display_data":
		var d jupyter.DisplayContent
		if json.Unmarshal(m.Content, &d) == nil && !c.report(d) {
			for _, o := range c.displays[d.Transient.DisplayID] {
				o.Data, o.Metadata = d.Data, d.Metadata
			}
		}
	case "clear_output":
		var clear jupyter.ClearContent
		_ = json.Unmarshal(m.Content, &clear) // without content: at once
		if c.clear = clear.Wait; !clear.Wait {
			c.reset()
		}
	case "error":
		var e jupyter.ErrorContent
		if json.Unmarshal(m.Content, &e) == nil {
			c.add(&notebook.Output{Type: notebook.Error, ErrorName: e.Name, ErrorValue: e.Value,
				Traceback: e.Traceback})
		}
	}
}

func (c *collector) reset() {
	c.cell.Outputs, c.text, c.shown, c.cut, c.clear = nil, 0, 0, 0, false
}

func (c *collector) add(o *notebook.Output) {
	if c.clear {
		c.reset()
	}
	c.cell.Outputs = append(c.cell.Outputs, o)
}

// stream appends printed text, to the last output if that is the same stream.
func (c *collector) stream(s jupyter.StreamContent) {
	if c.clear {
		c.reset()
	}
	if room := maxText - c.text; len(s.Text) > room {
		c.cut += len(s.Text) - room
		s.Text = strings.ToValidUTF8(s.Text[:room], "")
	}
	if s.Text == "" {
		return
	}
	c.text += len(s.Text)
	if n := len(c.cell.Outputs); n > 0 {
		if last := c.cell.Outputs[n-1]; last.Type == notebook.Stream && last.Name == s.Name {
			last.Text += s.Text
			return
		}
	}
	c.add(&notebook.Output{Type: notebook.Stream, Name: s.Name, Text: s.Text})
}

// display adds a rich output.
func (c *collector) display(kind string, d jupyter.DisplayContent) {
	if c.report(d) {
		return
	}
	for _, value := range d.Data {
		if s, ok := value.(string); ok {
			c.shown += len(s)
		}
	}
	if c.shown > maxDisplay {
		c.stream(jupyter.StreamContent{Name: "stderr",
			Text: fmt.Sprintf("A display was left out: this cell shows more than %d MB; save large images "+
				"to files.\n", maxDisplay>>20)})
		return
	}
	o := &notebook.Output{Type: kind, Data: d.Data, Metadata: d.Metadata}
	if d.ExecutionCount != nil {
		o.ExecutionCount = *d.ExecutionCount
	}
	c.add(o)
	if id := d.Transient.DisplayID; id != "" {
		c.displays[id] = append(c.displays[id], o)
	}
}

// report shows a progress display on the terminal. It returns false for other displays.
func (c *collector) report(d jupyter.DisplayContent) bool {
	if _, marked := d.Metadata[progressMark]; !marked {
		return false
	}
	if text, ok := d.Data["text/plain"].(string); ok && c.progress != nil {
		c.progress(text)
	}
	return true
}

// finish reports truncated output and removes empty outputs.
func (c *collector) finish() {
	if c.cut > 0 {
		c.add(&notebook.Output{Type: notebook.Stream, Name: "stderr",
			Text: fmt.Sprintf("\nOutput cut here: %d more bytes were printed and not stored.\n", c.cut)})
		c.cut = 0
	}
	var keep []*notebook.Output
	for _, o := range c.cell.Outputs {
		if o.Type == notebook.Stream && o.Text == "" {
			continue
		}
		if (o.Type == notebook.DisplayData || o.Type == notebook.ExecuteResult) && empty(o.Data) {
			continue
		}
		keep = append(keep, o)
	}
	c.cell.Outputs = keep
	if c.progress != nil {
		c.progress("")
	}
}

func empty(data map[string]any) bool {
	for _, value := range data {
		if s, ok := value.(string); !ok || s != "" {
			return false
		}
	}
	return true
}
