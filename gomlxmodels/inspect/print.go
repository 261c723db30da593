package inspect

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// some is how many names of a list are printed.
const some = 5

// Print writes a report as text, one fact per line.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	class := cmp.Or(r.Class, "class not stated")
	fmt.Fprintf(&b, "%s: %s\n", r.Name, class)
	row := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "  %-10s %s\n", label, fmt.Sprintf(format, args...))
	}
	for _, f := range r.Files {
		row("file", "%s, %s", f.Name, unit(float64(f.Bytes), "B"))
	}
	for _, n := range r.Networks {
		name := ""
		if n.Name != "" {
			name = n.Name + ": "
		}
		total := n.Tensors + len(n.Unread)
		row("weights", "%s%d of %d tensors, %s parameters, %s", name, n.Tensors, total, unit(float64(n.Parameters), ""),
			n.dtypes())
		if len(n.Unread) > 0 {
			row("not loaded", "%s%s", name, join(n.Unread))
		}
	}
	if len(r.Networks) > 0 {
		row("memory", "%s in float32, %s in bfloat16, of the weights", unit(float64(r.Memory.Float32), "B"),
			unit(float64(r.Memory.BFloat16), "B"))
	}
	if t := r.Tokenizer; t != nil {
		t.print(row)
	}
	for _, note := range r.Notes {
		row("note", "%s", note)
	}
	for _, list := range []struct {
		label string
		names []string
	}{{"missing", r.Missing}, {"unknown", r.Unknown}, {"shape", r.Shapes}} {
		for _, name := range list.names {
			row(list.label, "%s", name)
		}
	}
	if r.Problem == "" {
		row("result", "ok")
	} else {
		row("result", "failed: %s", r.Problem)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Tokenizer) print(row func(label, format string, args ...any)) {
	limit, class := "", ""
	if t.Class != "" {
		class = t.Class + ", "
	}
	if t.Limit > 0 {
		limit = fmt.Sprintf(", texts of up to %d", t.Limit)
	}
	count := map[string]int{}
	for _, l := range t.Lines {
		count[l.Outcome]++
	}
	row("tokenizer", "%s%d tokens%s; of %d lines %d decode to the same text, %d but for case and spaces, %d to another",
		class, t.Size, limit, len(t.Lines), count[Same], count[Folded], count[Changed])
	for _, l := range t.Lines {
		if l.Outcome == Changed {
			row("", "%q decodes to %q, %d of %d tokens unknown", l.Text, l.Back, l.Unknown, l.Tokens)
		}
	}
}

// dtypes lists the number types, with the number of tensors where there are several.
func (n *Network) dtypes() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(n.DTypes)) {
		if len(n.DTypes) > 1 {
			name = fmt.Sprintf("%s (%d)", name, n.DTypes[name])
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

func join(names []string) string {
	if len(names) > some {
		return strings.Join(names[:some], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// unit writes a number with a decimal prefix: 1.2 MB.
func unit(v float64, of string) string {
	for _, p := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= p.size {
			return fmt.Sprintf("%.1f %s%s", v/p.size, p.name, of)
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%.0f %s", v, of))
}

func imageSize(width, height int) string {
	return fmt.Sprintf("images of %d×%d pixels (width×height) by default", width, height)
}
