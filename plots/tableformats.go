package plots

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/table"
	"antipode/plots/internal/letters"
)

func (v Table) markdown(ctx context.Context) (string, error) {
	bodies, err := v.bodies(ctx, 0)
	if err != nil {
		return "", err
	}
	clean := strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", `\*`, "_", `\_`,
		"`", "\\`", "[", `\[`, "]", `\]`, "!", `\!`, "$", `\$`, "~", `\~`)
	var b strings.Builder
	if v.Title != "" {
		b.WriteString("**" + clean.Replace(letters.OneLine(v.Title)) + "**\n\n")
	}
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + c + " ")
		}
		b.WriteString("|\n")
	}
	escaped := func(cells []string) []string {
		out := make([]string, len(cells))
		for i, c := range cells {
			out[i] = clean.Replace(c)
		}
		return out
	}
	for i, t := range bodies {
		if i > 0 {
			b.WriteByte('\n')
		}
		line(escaped(t.full))
		rule := make([]string, len(t.full))
		for i := range rule {
			rule[i] = map[bool]string{true: "---:", false: "---"}[t.number[i]]
		}
		line(rule)
		for _, row := range t.cells {
			line(escaped(row))
		}
	}
	if notes := bodies[len(bodies)-1].notes; notes != nil {
		b.WriteString("\n" + clean.Replace(strings.Join(notes, "; ")) + "\n")
	}
	return b.String(), nil
}

var latexEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\{`, "}", `\}`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`)

func (v Table) latex(ctx context.Context) (string, error) {
	bodies, err := v.bodies(ctx, 0)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs}\n")
	if v.Title != "" {
		b.WriteString("% " + letters.OneLine(v.Title) + "\n")
	}
	for i, t := range bodies {
		if i > 0 {
			b.WriteString("\\par\\medskip\n")
		}
		t.latex(&b)
	}
	for _, note := range bodies[len(bodies)-1].notes {
		b.WriteString("% " + note + "\n")
	}
	return b.String(), nil
}

func (t *body) latex(b *strings.Builder) {
	b.WriteString(`\begin{tabular}{`)
	for _, isNumber := range t.number {
		b.WriteString(map[bool]string{true: "r", false: "l"}[isNumber])
	}
	b.WriteString("}\n\\toprule\n")
	line := func(cells []string) {
		for i, c := range cells {
			if i > 0 {
				b.WriteString(" & ")
			}
			if c = latexEscapes.Replace(c); i == 0 && strings.IndexAny(c, "[*") == 0 {
				c = "{}" + c // after \\ a bracket would be read as a length, a star as one of its own
			}
			b.WriteString(c)
		}
		b.WriteString(" \\\\\n")
	}
	if t.spans != nil {
		var labels, rules []string
		for _, g := range t.groups() {
			label := latexEscapes.Replace(g.name)
			if g.name != "" {
				label = fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, g.to-g.from, label)
				rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, g.from+1, g.to))
			}
			labels = append(labels, label)
		}
		b.WriteString(strings.Join(labels, " & ") + " \\\\\n" + strings.Join(rules, " ") + "\n")
	}
	line(t.labels)
	b.WriteString("\\midrule\n")
	for _, row := range t.cells {
		line(row)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
}

// data returns the table's rows and the columns of CSV and JSON: those printed, those below the table, and the ends of
// intervals.
func (v Table) data(ctx context.Context) (f *table.Frame, full []string, err error) {
	f, columns, err := v.frame(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range v.below(f, columns) {
		if f.Has(name) && !slices.Contains(columns, name) {
			columns = append(slices.Clip(columns), name)
		}
	}
	for _, name := range columns {
		full = append(full, name)
		if f.Numbers(name) != nil && hasInterval(f, name) {
			for _, end := range []string{name + "_low", name + "_high"} {
				if !slices.Contains(columns, end) {
					full = append(full, end)
				}
			}
		}
	}
	return f, full, nil
}

// json returns an array with an object for each row; a number without a value is null.
func (v Table) json(ctx context.Context) (string, error) {
	f, full, err := v.data(ctx)
	if err != nil {
		return "", err
	}
	rows := make([]map[string]any, f.Len())
	for r := range rows {
		rows[r] = map[string]any{}
		for _, name := range full {
			switch c := f.Column(name); {
			case c.Kind != table.KindNumber:
				rows[r][name] = c.Cell(r)
			case math.IsNaN(c.Numbers[r]) || math.IsInf(c.Numbers[r], 0):
				rows[r][name] = nil
			default:
				rows[r][name] = c.Numbers[r]
			}
		}
	}
	out, err := json.MarshalIndent(rows, "", " ")
	return string(out) + "\n", err
}

func (v Table) csv(ctx context.Context) (string, error) {
	f, full, err := v.data(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	rows := [][]string{full}
	for r := range f.Len() {
		row := make([]string, len(full))
		for i, name := range full {
			c := f.Column(name)
			row[i] = c.Cell(r)
			if c.Kind == table.KindNumber && row[i] != "" {
				row[i] = strconv.FormatFloat(c.Numbers[r], 'g', -1, 64)
			}
		}
		rows = append(rows, row)
	}
	if err := w.WriteAll(rows); err != nil {
		return "", fmt.Errorf("table: %w", err)
	}
	return b.String(), nil
}
