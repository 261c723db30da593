package archipelago_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// run makes a table of the world without its images, and checks that each row has one if the table declares them.
func run(t *testing.T, tab datasets.Table) *datasets.Frame {
	t.Helper()
	p := must.Get(tab.Plan())(t)
	var a datasets.ArchipelagoArgs
	must.Do(t, json.Unmarshal(p.Args, &a))
	f, images, ok := archipelago.New(archipelago.Options{Seed: a.Seed, Injected: a.Injected, PerCell: a.PerCell,
		Size: a.Size}).Table(a.Set)
	if !ok {
		t.Fatalf("no table %q", a.Set)
	}
	if drawn := slices.ContainsFunc(tab.Columns(),
		func(c table.ColumnSpec) bool { return c.Name == "image" }); drawn != (images != nil) || drawn &&
		len(images) != f.Len() {
		t.Errorf("%s: %d rows, %d images, declared: %v", a.Set, f.Len(), len(images), drawn)
	}
	return f
}

// undrawn are a table's columns but image and mask.
func undrawn(columns []table.ColumnSpec) []table.ColumnSpec {
	return slices.DeleteFunc(slices.Clone(columns), func(c table.ColumnSpec) bool {
		return c.Name == "image" ||
			c.Name == "mask"
	})
}

func allTables(w datasets.World) map[string]datasets.Table {
	return map[string]datasets.Table{"concepts": w.Concepts(), "words": w.Words(), "captions": w.Captions(),
		"references": w.CaptionReferences(), "peoples": w.Peoples(), "stereotypes": w.Stereotypes(),
		"annotations": w.Annotations(), "occupations": w.Occupations(), "disparities": w.AuditDisparities(),
		"lexicon": w.Lexicon(), "creative": w.CreativePrompts()}
}

func TestTablesHoldWhatTheyDeclare(t *testing.T) {
	for _, injected := range []bool{true, false} {
		for name, tab := range allTables(datasets.Archipelago(
			datasets.ArchipelagoOptions{Seed: 7, PerCell: 1, Size: 32, Injected: injected})) {
			f := run(t, tab)
			must.EqualSlices(t, f.Specs(), undrawn(tab.Columns()), name, "the frame has")
			if err := f.Check(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			must.Equal(t, f.Len() == 0, name == "disparities" && !injected, name, "injected", injected, f.Len(), "rows")
			seen := map[string]bool{}
			for _, id := range f.Texts("id") {
				if id == "" || seen[id] {
					t.Errorf("%s: id %q is blank or not unique", name, id)
				}
				seen[id] = true
			}
		}
	}
}

// The axes that the constant names are the table's: each column holds both groups and nothing else.
func TestAxes(t *testing.T) {
	f := run(t, datasets.Archipelago(datasets.ArchipelagoOptions{PerCell: 2, Size: 16}).Occupations())
	for _, axis := range strings.Split(datasets.ArchipelagoAxes, ", ") {
		column, groups, _ := strings.Cut(axis, "=")
		found := slices.Clone(f.Texts(column))
		slices.Sort(found)
		want := strings.Split(groups, "/")
		slices.Sort(want)
		if found = slices.Compact(found); !slices.Equal(found, want) {
			t.Errorf("column %s holds %q, the constant lists %q", column, found, want)
		}
		if kind := "EI: " + strings.ReplaceAll(column, "_", " "); !slices.Contains(f.Texts("kind"), kind) {
			t.Errorf("no row is of kind %q", kind)
		}
	}
}

func TestTableErrors(t *testing.T) {
	if _, _, ok := archipelago.New(archipelago.Options{}).Table("nothing"); ok {
		t.Error("Table returns a table for an unknown name")
	}
	if bad := datasets.Archipelago(datasets.ArchipelagoOptions{PerCell: -1}).Concepts(); bad.Err() == nil {
		t.Error("PerCell -1 is no error")
	}
}

// In the column traits the affected people has the largest pull to its stereotypes: mean cosine of
// default and stereotypical images, less that of default and other images.
func TestTraitsShowThePull(t *testing.T) {
	for seed := range 4 {
		w := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: seed, Size: 16, Injected: true})
		disparities, f := run(t, w.AuditDisparities()), run(t, w.Peoples())
		carrier := disparities.Texts("carrier")[slices.Index(disparities.Texts("audit"), "visage")]
		rows := map[[2]string][][]float32{}
		for i, people := range f.Texts("identity") {
			key := [2]string{people, f.Texts("set")[i]}
			rows[key] = append(rows[key], f.Vectors("traits")[i])
		}
		mean := func(people, other string) (sum float64) {
			for _, x := range rows[[2]string{people, "d"}] {
				for _, y := range rows[[2]string{people, other}] {
					xy, xx, yy := 0.0, 0.0, 0.0
					for k := range x {
						xy, xx, yy = xy+float64(x[k]*y[k]), xx+float64(x[k]*x[k]), yy+float64(y[k]*y[k])
					}
					sum += xy / math.Sqrt(xx*yy)
				}
			}
			return sum / float64(len(rows[[2]string{people, "d"}])*len(rows[[2]string{people, other}]))
		}
		pull := func(people string) float64 { return mean(people, "s") - mean(people, "ns") }
		for _, people := range archipelago.PeopleNames() {
			if people != carrier && pull(people) >= pull(carrier) || people == carrier && pull(people) < 0.1 {
				t.Errorf("seed %d: %s is pulled by %.3f, the carrier %s by %.3f", seed, people, pull(people), carrier,
					pull(carrier))
			}
		}
	}
}
