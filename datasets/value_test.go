package datasets

import (
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
)

func TestValue(t *testing.T) {
	tab := FromFrame(&Frame{Columns: []Column{table.TextColumn("id", []string{"a", "b"}),
		table.NumberColumn("n", []float64{1, 20}), table.VectorColumn("full", [][]float32{{1}, {2}})}})
	one := FromFrame(tab.MustRows().Pick([]int{1}))
	if one.Value("id") != "b" || one.Value("n") != 20.0 || one.Number("n") != 20 || one.Text("id") != "b" ||
		one.Text("n") != "20" ||
		one.Value("full").([]float32)[0] != 2 || tab.Sum("n") != 21 || tab.MustRows().Len() != 2 {
		t.Error(one.MustRows(), tab.Sum("n"))
	}
	for want, work := range map[string]func(){
		"the table has 2 rows":                     func() { tab.Value("n") },
		`no such column: "m"`:                      func() { one.Number("m") },
		`holds text, not numbers: row 1 holds "b"`: func() { one.Number("id") },
		"holds vector values, not te":              func() { one.Text("full") },
	} {
		must.Fail(failure(work))(t, want)
	}
}

// failure returns the error that work panics with.
func failure(work func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	work()
	return nil
}

func TestTwoOptions(t *testing.T) {
	for name, tab := range map[string]Table{
		"CSV":         CSV("x.csv", FileOptions{}, FileOptions{}),
		"Images":      Images("x", ImagesOptions{}, ImagesOptions{}),
		"Imported":    Imported("x", ImportOptions{}, ImportOptions{}),
		"Archipelago": Archipelago(ArchipelagoOptions{}, ArchipelagoOptions{}).Reference(),
	} {
		must.Fail(tab.Err())(t, name+": 2 values of type datasets.")
	}
}
