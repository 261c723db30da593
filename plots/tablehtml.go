package plots

import (
	"context"
	"fmt"
	"strings"

	"antipode/internal/plaintext"
	"antipode/plots/internal/letters"

	"github.com/rivo/uniseg"
)

// span is a common label over columns [from, to).
type span struct {
	name     string
	from, to int
}

// groups returns the common labels, with an empty one for each column without.
func (t *body) groups() []span {
	var out []span
	for i, name := range t.spans {
		if last := len(out) - 1; last >= 0 && name != "" && out[last].name == name {
			out[last].to = i + 1
			continue
		}
		out = append(out, span{name, i, i + 1})
	}
	return out
}

func (v Table) html(ctx context.Context) (string, error) {
	bodies, err := v.bodies(ctx, v.limit())
	if err != nil {
		return "", err
	}
	th := DefaultTheme()
	var b strings.Builder
	for i, t := range bodies {
		gap := ""
		if i > 0 {
			gap = ";margin-top:10px"
			b.WriteByte('\n')
		}
		style := "border-collapse:collapse;margin-left:0;font-variant-numeric:tabular-nums"
		fmt.Fprintf(&b, `<table style="%s;font-family:%s;font-size:%spx%s">`+"\n", style, escape(th.Fonts),
			num(th.Text), gap)
		if v.Title != "" && i == 0 {
			fmt.Fprintf(&b, `<caption style="text-align:left;font-weight:bold;font-size:%spx;color:inherit;padding:0 0 6px 0">%s</caption>`+"\n",
				num(th.Title), text(v.Title))
		}
		t.html(&b)
		b.WriteString("</table>")
	}
	if note := bodies[len(bodies)-1].note(); note != "" {
		fmt.Fprintf(&b, "\n"+`<div style="font-family:%s;font-size:%spx;%s">%s</div>`, escape(th.Fonts), num(th.Small),
			muted, text(note))
	}
	return b.String(), nil
}

// html writes a block.
func (t *body) html(b *strings.Builder) {
	align := func(i int) string {
		if t.number[i] {
			return "right"
		}
		return "left"
	}
	b.WriteString("<thead>")
	if t.spans != nil {
		b.WriteString("<tr>")
		for _, g := range t.groups() {
			style := "text-align:center;padding:3px 10px"
			if g.name != "" {
				style += ";border-bottom:" + rule
			}
			fmt.Fprintf(b, `<th colspan="%d" style="%s">%s</th>`, g.to-g.from, style, text(g.name))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString(`<tr style="border-bottom:1px solid">`)
	for i, h := range t.labels {
		fmt.Fprintf(b, `<th style="text-align:%s;padding:3px 10px">%s</th>`, align(i), text(h))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.cells {
		b.WriteString(`<tr style="border-bottom:` + rule + `">`)
		for i, c := range row {
			style := "text-align:" + align(i) + ";padding:3px 10px"
			if t.number[i] && strings.Contains(c, " ") {
				style += ";white-space:nowrap"
			}
			if c == "no data" && t.number[i] {
				style += ";" + muted
			}
			fmt.Fprintf(b, `<td style="%s">%s</td>`, style, text(c))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>")
}

func (v Table) text(ctx context.Context) (string, error) {
	bodies, err := v.bodies(ctx, v.limit())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if v.Title != "" {
		b.WriteString(letters.OneLine(v.Title) + "\n")
	}
	for i, t := range bodies {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.text(&b)
	}
	if note := bodies[len(bodies)-1].note(); note != "" {
		fmt.Fprintln(&b, note)
	}
	return b.String(), nil
}

func (t *body) text(b *strings.Builder) {
	for _, row := range append([][]string{t.labels, t.spans}, t.cells...) {
		for i := range row {
			row[i] = plaintext.OneLine(row[i])
		}
	}
	widths := make([]int, len(t.labels))
	for _, row := range append([][]string{t.labels}, t.cells...) {
		for i, c := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(c))
		}
	}
	if t.spans != nil {
		line := ""
		for _, g := range t.groups() {
			wide := 2 * (g.to - g.from - 1)
			for _, w := range widths[g.from:g.to] {
				wide += w
			}
			if more := uniseg.StringWidth(g.name) - wide; more > 0 {
				widths[g.to-1] += more
				wide += more
			}
			pad := wide - uniseg.StringWidth(g.name)
			line += strings.Repeat(" ", pad/2) + g.name + strings.Repeat(" ", pad-pad/2) + "  "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, row := range append([][]string{t.labels}, t.cells...) {
		line := ""
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-uniseg.StringWidth(c))
			if t.number[i] {
				line += pad + c + "  "
			} else {
				line += c + pad + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
