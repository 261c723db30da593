package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Encode writes the notebook as Jupyter does: keys sorted, one space of indent, text as lists of lines, a newline at the end.
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
	encode(&b, fields, 0)
	b.WriteByte('\n')
	return b.Bytes()
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

// Save writes the notebook to a file, which is either the old one or the new one at every moment.
func (nb *Notebook) Save(path string) error { return save(path, nb.Encode()) }

// save writes a temporary file beside path, syncs it and renames it.
func save(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("notebook: saving %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			err = fmt.Errorf("notebook: saving %s: %w", path, err)
		}
	}()
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
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

// splitBundle is a MIME bundle with its text as lists of lines.
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

// lines splits text after every line boundary, of which Jupyter knows more than the line feed.
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

// encode writes a JSON value as Python's json.dumps(indent=1, sort_keys=True, ensure_ascii=False) does.
func encode(b *bytes.Buffer, value any, depth int) {
	newline := func(depth int) {
		b.WriteByte('\n')
		for range depth {
			b.WriteByte(' ')
		}
	}
	switch v := value.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int:
		b.WriteString(strconv.Itoa(v))
	case json.Number:
		b.WriteString(v.String())
	case string:
		encodeString(b, v)
	case []any:
		if len(v) == 0 {
			b.WriteString("[]")
			return
		}
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			newline(depth + 1)
			encode(b, item, depth+1)
		}
		newline(depth)
		b.WriteByte(']')
	case map[string]any:
		if len(v) == 0 {
			b.WriteString("{}")
			return
		}
		b.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteByte(',')
			}
			newline(depth + 1)
			encodeString(b, key)
			b.WriteString(": ")
			encode(b, v[key], depth+1)
		}
		newline(depth)
		b.WriteByte('}')
	default: // a Go value a caller put there: through encoding/json to one of the above
		data, err := json.Marshal(v)
		if err != nil {
			b.WriteString("null")
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		var generic any
		_ = decoder.Decode(&generic) // just encoded: it decodes
		encode(b, generic, depth)
	}
}

func encodeString(b *bytes.Buffer, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"':
			b.WriteString(`\"`)
		case '\\':
			b.WriteString(`\\`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		default:
			if r < 0x20 {
				fmt.Fprintf(b, `\u%04x`, r)
			} else {
				b.WriteRune(r)
			}
		}
	}
	b.WriteByte('"')
}
