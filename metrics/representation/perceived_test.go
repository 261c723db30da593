package representation

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	_ "antipode/metrics/agreement"
	_ "antipode/metrics/concepts"
	_ "antipode/metrics/consistency"
	"antipode/metrics/internal/tabulartest"
	_ "antipode/metrics/stereotypes"
)

var trait = regexp.MustCompile(`(?i)(perceived )?\b(genders?|skin|sex|race|ethnicity)\b`)

// bareTrait is the first word of a text that speaks of a trait without "perceived" before it; "" where there is none.
// The groups' own names do not count.
func bareTrait(text string) string {
	text = strings.NewReplacer("light-skinned", "", "dark-skinned", "", "_", " ").Replace(text)
	for _, m := range trait.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			return m[0]
		}
	}
	return ""
}

func checkPerceived(t *testing.T, where, text string) {
	t.Helper()
	must.Equal(t, bareTrait(text), "", where, text, "speaks of a trait that is not perceived, one")
}

func TestBareTraits(t *testing.T) {
	for text, want := range map[string]string{
		"perceived gender": "", "perceived_gender": "", "gender": "gender", "Gender DS": "Gender",
		"by skin colour": "skin", "n_skin_colour": "skin", "perceived skin colour and gender": "gender",
		"light-skinned": "", "engender": "", "the race": "race", "essex": "", "perceived  gender": "gender",
	} {
		must.Equal(t, bareTrait(text), want, text)
	}
}

// TestInfosSayPerceived: of every metric and table operation, whatever its package, the title, unit, range,
// direction, inputs, options and their choices, and columns.
func TestInfosSayPerceived(t *testing.T) {
	names := append(operation.Names(true), operation.Names(false)...)
	if len(names) < 40 {
		t.Errorf("%d operations are inspected", len(names))
	}
	for _, name := range names {
		op := operation.Find(name)
		for _, text := range []string{op.Title, op.Unit, op.Range, op.Direction} {
			checkPerceived(t, name, text)
		}
		for _, o := range op.Options {
			for _, text := range append([]string{o.Name, o.Help}, o.Values...) {
				checkPerceived(t, name+", option "+o.Name, text)
			}
		}
		for _, in := range op.Inputs {
			checkPerceived(t, name+", input "+in.Role, in.About)
			for _, c := range in.Columns {
				checkPerceived(t, name+", input "+in.Role, c.Name)
			}
		}
		for _, r := range op.Results {
			for _, text := range []string{r.Name, r.Unit, r.Help} {
				checkPerceived(t, name+", column "+r.Name, text)
			}
		}
		for _, o := range op.Options { // a column may depend on any closed choice
			for _, v := range o.Values {
				checked, err := op.Parse(map[string]string{o.Flag: v})
				if err != nil {
					continue // another option is required
				}
				specs, _ := checked.Columns()
				for _, c := range specs {
					checkPerceived(t, name+", column", c.Name)
				}
			}
		}
	}
}

// TestTablesSayPerceived: in every cell of the tables about people a trait is a perceived one, and the last column
// says what a label is.
func TestTablesSayPerceived(t *testing.T) {
	labels := must.Get(evaluate(t, "entigen-clip-labels", [2]string{"in", "texts"}, clipImages(near.Rand(t, 44), 5),
		textFrame(), nil))(t)
	two := func(metric, second string, in, other *table.Frame) *table.Frame {
		return must.Get(evaluate(t, metric, [2]string{"in", second}, in, other, nil))(t)
	}
	frames := map[string]*table.Frame{"entigen-clip-labels": labels,
		"entigen-clip-agreement": two("entigen-clip-agreement", "ratings", labels, labels),
		"entigen-clip-confusion": two("entigen-clip-confusion", "ratings", labels, labels),
		"entigen-cells":          tabulartest.Evaluate(t, "entigen-cells", released(t), nil),
		"entigen-table": tabulartest.Evaluate(t, "entigen-table", released(t),
			map[string]string{"judges": "both"})}
	for _, name := range []string{"entigen-diversity", "entigen-bias", "entigen-quality", "entigen-interventions"} {
		frames[name] = tabulartest.Evaluate(t, name, tab(), nil)
	}
	frames["entigen-labels"] = tabulartest.Evaluate(t, "entigen-labels", tab(), nil)
	frames["entigen-controls"] = tabulartest.Evaluate(t, "entigen-controls", frames["entigen-diversity"], nil)
	// about captions, images, and the items of a ledger
	free := []string{"entigen-phrases", "entigen-contexts", "entigen-gaps", "entigen-values"}
	for _, name := range append(operation.Names(true), operation.Names(false)...) {
		if strings.HasPrefix(name, "entigen-") && frames[name] == nil && !slices.Contains(free, name) {
			t.Errorf("%s is not inspected", name)
		}
	}
	for name, f := range frames {
		if f.Len() == 0 || f.Columns[len(f.Columns)-1].Name != "note" {
			t.Errorf("%s: %d rows, last column %s", name, f.Len(), f.Columns[len(f.Columns)-1].Name)
			continue
		}
		for i := range f.Columns {
			for row := range f.Len() {
				checkPerceived(t, name+", "+f.Columns[i].Name, f.Columns[i].Cell(row))
			}
		}
		for row, n := range f.Texts("note") {
			must.Equal(t, n, Note, name, "row", row)
		}
	}
}
