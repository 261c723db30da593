package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ErrFormat is wrapped by the errors of a file that is not a notebook of format 4.
var ErrFormat = errors.New("not a Jupyter notebook of format 4")

// Read reads a notebook from a file.
func Read(path string) (*Notebook, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("notebook: %w", err)
	}
	nb, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("notebook: %s: %w", path, err)
	}
	return nb, nil
}

// parse reads a notebook from its bytes.
func parse(data []byte) (*Notebook, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: data after the notebook's closing brace", ErrFormat)
	}
	f := reader{fields: fields, where: "the notebook"}
	if major := f.integer("nbformat"); f.err == nil && major != 4 {
		return nil, fmt.Errorf("%w: it is format %d; open it in Jupyter and save it again", ErrFormat, major)
	}
	nb := &Notebook{Minor: f.integer("nbformat_minor"), Metadata: f.object("metadata")}
	cells := f.list("cells")
	if f.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, f.err)
	}
	nb.extra = f.fields
	for _, transient := range []string{"orig_nbformat", "orig_nbformat_minor", "signature"} {
		delete(nb.Metadata, transient)
	}
	seen := map[string]bool{}
	for i, raw := range cells {
		c, err := readCell(raw, fmt.Sprintf("cell %d", i+1))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		if c.ID != "" && seen[c.ID] {
			return nil, fmt.Errorf("%w: cell %d has the id %q of an earlier cell", ErrFormat, i+1, c.ID)
		}
		seen[c.ID] = true
		nb.Cells = append(nb.Cells, c)
	}
	return nb, nil
}

func readCell(raw any, where string) (*Cell, error) {
	fields, ok := raw.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", where)
	}
	f := reader{fields: fields, where: where}
	c := &Cell{Type: f.text("cell_type", true), ID: f.text("id", false), Source: f.lines("source"),
		Metadata: f.object("metadata")}
	delete(c.Metadata, "trusted")
	if c.Type == Code {
		c.ExecutionCount = f.count("execution_count")
		for i, o := range f.list("outputs") {
			out, err := readOutput(o, fmt.Sprintf("%s, output %d", where, i+1))
			if err != nil {
				return nil, err
			}
			c.Outputs = append(c.Outputs, out)
		}
	}
	if f.err == nil && c.Type != Code && c.Type != Markdown && c.Type != Raw {
		return nil, fmt.Errorf("%s: cell_type %q is not code, markdown or raw", where, c.Type)
	}
	if attachments, ok := fields["attachments"].(map[string]any); ok {
		for _, bundle := range attachments {
			if b, ok := bundle.(map[string]any); ok {
				joinBundle(b)
			}
		}
	}
	c.extra = f.fields
	return c, f.err
}

func readOutput(raw any, where string) (*Output, error) {
	fields, ok := raw.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", where)
	}
	f := reader{fields: fields, where: where}
	o := &Output{Type: f.text("output_type", true)}
	switch o.Type {
	case Stream:
		o.Name, o.Text = f.text("name", true), f.lines("text")
	case DisplayData, ExecuteResult:
		o.Data, o.Metadata = f.object("data"), f.object("metadata")
		joinBundle(o.Data)
		if o.Type == ExecuteResult {
			o.ExecutionCount = f.count("execution_count")
		}
	case Error:
		o.ErrorName, o.ErrorValue = f.text("ename", true), f.text("evalue", true)
		for _, line := range f.list("traceback") {
			s, _ := line.(string)
			o.Traceback = append(o.Traceback, s)
		}
	default:
		if f.err == nil {
			return nil, fmt.Errorf("%s: output_type %q is not known", where, o.Type)
		}
	}
	o.extra = f.fields
	return o, f.err
}

// joinBundle joins the lists of lines in a MIME bundle; JSON types do not change.
func joinBundle(data map[string]any) {
	for mime, value := range data {
		if isJSON(mime) {
			continue
		}
		if s, ok := joined(value); ok {
			data[mime] = s
		}
	}
}

func isJSON(mime string) bool {
	return mime == "application/json" || strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}

// joined returns a text that is stored as a string or a list of strings.
func joined(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case []any:
		var b strings.Builder
		for _, line := range v {
			s, ok := line.(string)
			if !ok {
				return "", false
			}
			b.WriteString(s)
		}
		return b.String(), true
	}
	return "", false
}

// reader removes known fields from a JSON object; the rest is unknown. err is the first error.
type reader struct {
	fields map[string]any
	where  string
	err    error
}

func (r *reader) take(name string) (any, bool) {
	v, ok := r.fields[name]
	delete(r.fields, name)
	return v, ok
}

func (r *reader) fail(name, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %s is missing or not %s", r.where, name, want)
	}
}

func (r *reader) text(name string, required bool) string {
	v, found := r.take(name)
	s, ok := v.(string)
	if !ok && (found || required) {
		r.fail(name, "text")
	}
	return s
}

func (r *reader) lines(name string) string {
	v, _ := r.take(name)
	s, ok := joined(v)
	if !ok {
		r.fail(name, "text or a list of lines")
	}
	return s
}

func (r *reader) integer(name string) int {
	v, _ := r.take(name)
	n, ok := v.(json.Number)
	i, err := n.Int64()
	if !ok || err != nil {
		r.fail(name, "a whole number")
	}
	return int(i)
}

// count reads a whole number or null (0).
func (r *reader) count(name string) int {
	if v, found := r.fields[name]; !found || v == nil {
		delete(r.fields, name)
		return 0
	}
	return r.integer(name)
}

func (r *reader) object(name string) map[string]any {
	v, _ := r.take(name)
	m, ok := v.(map[string]any)
	if !ok {
		r.fail(name, "an object")
	}
	return m
}

func (r *reader) list(name string) []any {
	v, _ := r.take(name)
	l, ok := v.([]any)
	if !ok {
		r.fail(name, "a list")
	}
	return l
}
