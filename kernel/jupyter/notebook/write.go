package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"antipode/internal/atomicfile"
)

// Encode returns the notebook as Jupyter writes it: sorted keys, an indent of one space, text as lists of lines, a
// newline at the end.
func (nb *Notebook) Encode() []byte {
	fields := cloned(nb.extra)
	fields["nbformat"], fields["nbformat_minor"] = 4, nb.Minor
	fields["metadata"] = object(nb.Metadata)
	cells := make([]any, len(nb.Cells))
	for i, c := range nb.Cells {
		cells[i] = c.fields(nb.Minor)
	}
	fields["cells"] = cells
	var b bytes.Buffer
	encoder := json.NewEncoder(&b) // as Python's json.dumps(indent=1, sort_keys=True, ensure_ascii=False)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	_ = encoder.Encode(fields) // JSON values and text only
	return []byte(separators.Replace(b.String()))
}

func (c *Cell) fields(minor int) map[string]any {
	fields := cloned(c.extra)
	fields["cell_type"], fields["metadata"], fields["source"] = c.Type, object(c.Metadata), lines(c.Source)
	if c.ID != "" && minor >= 5 {
		fields["id"] = c.ID
	}
	if attachments, ok := fields["attachments"].(map[string]any); ok {
		split := map[string]any{}
		for name, bundle := range attachments {
			if b, ok := bundle.(map[string]any); ok {
				bundle = splitBundle(b)
			}
			split[name] = bundle
		}
		fields["attachments"] = split
	}
	if c.Type == Code {
		fields["execution_count"] = count(c.ExecutionCount)
		outputs := make([]any, len(c.Outputs))
		for i, o := range c.Outputs {
			outputs[i] = o.fields()
		}
		fields["outputs"] = outputs
	}
	return fields
}

func (o *Output) fields() map[string]any {
	fields := cloned(o.extra)
	fields["output_type"] = o.Type
	switch o.Type {
	case Stream:
		fields["name"], fields["text"] = o.Name, lines(o.Text)
	case DisplayData, ExecuteResult:
		fields["data"], fields["metadata"] = splitBundle(o.Data), object(o.Metadata)
		if o.Type == ExecuteResult {
			fields["execution_count"] = count(o.ExecutionCount)
		}
	case Error:
		fields["ename"], fields["evalue"] = o.ErrorName, o.ErrorValue
		traceback := make([]any, len(o.Traceback))
		for i, line := range o.Traceback {
			traceback[i] = line
		}
		fields["traceback"] = traceback
	}
	return fields
}

// Save writes the notebook to a file atomically.
func (nb *Notebook) Save(path string) error { return save(path, nb.Encode()) }

// save writes a file atomically, that of a symbolic link where it leads, and preserves its permissions.
func save(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	err := atomicfile.Replace(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return fmt.Errorf("notebook: saving %s: %w", path, err)
	}
	return nil
}

func cloned(m map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, m)
	return out
}

func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func count(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// splitBundle returns a MIME bundle with text as lists of lines.
func splitBundle(data map[string]any) map[string]any {
	out := map[string]any{}
	for mime, value := range data {
		s, text := value.(string)
		if text && (strings.HasPrefix(mime, "text/") || mime == "application/javascript" || mime == "image/svg+xml") {
			value = lines(s)
		}
		out[mime] = value
	}
	return out
}

// lines splits text after every line boundary that Jupyter recognizes, which are more than the line feed.
func lines(s string) []any {
	out := []any{}
	for start, i := 0, 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r {
		case '\n', '\v', '\f', '\x1c', '\x1d', '\x1e', '\u0085', '\u2028', '\u2029':
		case '\r':
			if i < len(s) && s[i] == '\n' {
				i++
			}
		default:
			if i < len(s) {
				continue
			}
		}
		out = append(out, s[start:i])
		start = i
	}
	return out
}

// separators are U+2028 and U+2029, which package json always escapes. The pair of backslashes is a text's own.
var separators = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")
