package metrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
)

// TestCrossed: the group whose values are higher in one of three templates is flagged over rows and not over templates;
// rows without a value and columns of one value are noted.
func TestCrossed(t *testing.T) {
	var groups, templates, raters []string
	var values []float64
	for i := range 120 {
		group, template := i%2, i/2%3
		v := math.Sin(float64(i)) // about 0, and not of group or template
		if group == 0 && template == 2 {
			v += 6
		}
		if i == 7 {
			v = math.NaN()
		}
		groups, templates = append(groups, fmt.Sprint("people ", group)), append(templates, fmt.Sprint("t", template))
		raters, values = append(raters, "one"), append(values, v)
	}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("identity", groups),
		table.TextColumn("template", templates), table.TextColumn("rater", raters),
		table.NumberColumn("value", values)}}
	options := map[string]string{"over": "template,rater"}
	gaps, notes := must.Get2(evaluate(t, ask{Metric: "crossed-gaps", By: []string{"identity"}, Options: options}, f))(t)
	got := strings.Join(gaps.Texts("over"), " ") + ": " + strings.Join(gaps.Texts("flagged"), " ")
	must.Equal(t, got, "rows template rows template: yes no yes no", "n")
	must.Equal(t, gaps.Numbers("n_used")[0], 119, "n")
	s := fmt.Sprint(notes)
	if !strings.Contains(s, "1 rows have no value") || !strings.Contains(s, "rater has one value") {
		t.Error(s)
	}
	_, notes = must.Get2(evaluate(t, ask{Metric: "crossed-gaps", By: []string{"identity"}, Options: options},
		f.With(table.TextColumn("identity", append([]string{"one"}, groups[1:]...)))))(t)
	must.Has(t, fmt.Sprint(notes), "by identity: one")
	parts, _ := must.Get2(evaluate(t, ask{Metric: "variance-components", By: []string{"identity"}, Options: options},
		f))(t)
	if got := strings.Join(parts.Texts("component"), ", "); got !=
		"identity, template, identity × template, residual" || parts.Numbers("share")[2] < 0.4 {
		t.Errorf("%s: %v", got, parts.Numbers("share"))
	}
	options["positive"] = "2" // of numbers
	codes := f.With(table.NumberColumn("value", slices.Repeat([]float64{0, 0, 2}, 40)))
	if _, notes := must.Get2(evaluate(t, ask{Metric: "crossed-gaps", By: []string{"identity"}, Options: options},
		codes))(t); strings.Contains(fmt.Sprint(notes), `is "2"`) {
		t.Error(notes)
	}
	for want, o := range map[string]map[string]string{"over": nil, "no such column": {"over": "seed"}} {
		must.Fail(evaluate(t, ask{Metric: "crossed-gaps", By: []string{"identity"}, Options: o}, f))(t, want)
	}
	values[3] = math.Inf(1)
	options = map[string]string{"over": "rater"}
	must.Fail(evaluate(t, ask{Metric: "crossed-gaps", By: []string{"identity"}, Options: options}, f))(t,
		"row 4 (id \"\"), column value: +Inf is not a finite number")
}
