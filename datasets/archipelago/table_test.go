package archipelago_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/kernel/client"
)

// run makes a table of the world without its pictures, and looks that each row has one where the table declares them.
func run(t *testing.T, table datasets.Table) *datasets.Frame {
	t.Helper()
	p, err := table.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var a datasets.ArchipelagoArgs
	if err := json.Unmarshal(p.Args, &a); err != nil {
		t.Fatal(err)
	}
	f, pictures, ok := archipelago.New(archipelago.Options{Seed: a.Seed, Planted: a.Planted, PerCell: a.PerCell, Size: a.Size}).Table(a.Set)
	if !ok {
		t.Fatalf("no table %q", a.Set)
	}
	if drawn := slices.ContainsFunc(table.Columns(), func(c client.ColumnSpec) bool { return c.Name == "image" }); drawn != (pictures != nil) || drawn && len(pictures) != f.Len() {
		t.Errorf("%s: %d rows, %d pictures, declared: %v", a.Set, f.Len(), len(pictures), drawn)
	}
	return f
}

// undrawn are a table's columns but image and mask.
func undrawn(columns []client.ColumnSpec) []client.ColumnSpec {
	return slices.DeleteFunc(slices.Clone(columns), func(c client.ColumnSpec) bool { return c.Name == "image" || c.Name == "mask" })
}

func allTables(w datasets.World) map[string]datasets.Table {
	return map[string]datasets.Table{"concepts": w.Concepts(), "words": w.Words(), "captions": w.Captions(), "references": w.References(), "peoples": w.Peoples(), "stereotypes": w.Stereotypes(),
		"annotations": w.Annotations(), "occupations": w.Occupations(), "plants": w.AuditPlants(), "lexicon": w.Lexicon()}
}

func TestTablesHoldWhatTheyDeclare(t *testing.T) {
	for _, planted := range []bool{true, false} {
		for name, table := range allTables(datasets.Archipelago(datasets.Seed(7), datasets.PerCell(1), datasets.Size(32), datasets.Planted(planted))) {
			f := run(t, table)
			if !slices.Equal(f.Specs(), undrawn(table.Columns())) {
				t.Errorf("%s: the frame has %v, the table declares %v", name, f.Specs(), table.Columns())
			}
			if err := f.Check(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if none := f.Len() == 0; none != (name == "plants" && !planted) {
				t.Errorf("%s, planted %v: %d rows", name, planted, f.Len())
			}
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
	f := run(t, datasets.Archipelago(datasets.PerCell(2), datasets.Size(16)).Occupations())
	for _, axis := range strings.Split(datasets.ArchipelagoAxes, ", ") {
		column, groups, _ := strings.Cut(axis, "=")
		found := slices.Clone(f.Texts(column))
		slices.Sort(found)
		want := strings.Split(groups, "/")
		slices.Sort(want)
		if found = slices.Compact(found); !slices.Equal(found, want) {
			t.Errorf("column %s holds %q, the constant says %q", column, found, want)
		}
		if kind := "EI: " + strings.ReplaceAll(column, "_", " "); !slices.Contains(f.Texts("kind"), kind) {
			t.Errorf("no row is of kind %q", kind)
		}
	}
}

func TestTableErrors(t *testing.T) {
	if _, _, ok := archipelago.New(archipelago.Options{}).Table("nothing"); ok {
		t.Error("there is a table of nothing")
	}
	if bad := datasets.Archipelago(datasets.PerCell(0)).Concepts(); bad.Err() == nil {
		t.Error("PerCell(0) is no error")
	}
}

// In the column traits the people that carries the plant has the largest pull to its stereotypes: mean cosine of default and stereotypical pictures, less that of default and
// other pictures.
func TestTraitsShowThePull(t *testing.T) {
	for seed := range 4 {
		w := datasets.Archipelago(datasets.Seed(seed), datasets.Size(16))
		plants, f := run(t, w.AuditPlants()), run(t, w.Peoples())
		carrier := plants.Texts("carrier")[slices.Index(plants.Texts("audit"), "visage")]
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
				t.Errorf("seed %d: %s is pulled by %.3f, the carrier %s by %.3f", seed, people, pull(people), carrier, pull(carrier))
			}
		}
	}
}
