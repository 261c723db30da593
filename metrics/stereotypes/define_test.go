package stereotypes

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	data "antipode/datasets/visage"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

// TestOptionsRoundTrip: the column options of a table says how to compute it again, cell for cell.
func TestOptionsRoundTrip(t *testing.T) {
	captions := map[string]*table.Frame{"in": captionFrame(), "attributes": pairFrame()}
	for name, c := range map[string]struct {
		inputs  map[string]*table.Frame
		options map[string]string
	}{
		"visage-salience": {captions, map[string]string{"alpha": "0.5", "idf": "smooth", "resamples": "30",
			"top": "2"}},
		"visage-captions": {captions, map[string]string{"match": "substring", "image": "a the + &=",
			"resamples": "30"}},
		"visage-pull-count": {map[string]*table.Frame{"in": tabulartest.Released(t, data.Name, "visage-printed-pull",
			nil)}, nil},
	} {
		options := map[string]string{"seed": "-7"}
		maps.Copy(options, c.options)
		inputs := maps.Clone(c.inputs)
		if image, set := options["image"]; set {
			inputs["in"] = inputs["in"].With(table.TextColumn(image, inputs["in"].Texts("image_id")))
		}
		first, err := tabulartest.RunOn(name, inputs, options)
		if err != nil || first.Len() == 0 {
			t.Fatal(name, err)
		}
		text := first.Texts("options")[0]
		fields, given := strings.Fields(text), map[string]string{}
		for _, f := range fields[1:] {
			option, value, _ := strings.Cut(f, "=")
			if given[option], err = url.QueryUnescape(value); err != nil {
				t.Fatal(text, err)
			}
		}
		if want := fmt.Sprintf("%s/%d", name, operation.Find(name).Version); fields[0] != want || !maps.Equal(given,
			options) {
			t.Errorf("%s: %q, want %s and %v", name, text, want, options)
		}
		again, err := tabulartest.RunOn(name, inputs, given)
		if err != nil || !cmp.Equal(again, first, cmpopts.EquateNaNs()) {
			t.Errorf("%s: the repeated table differs (%v)", name, err)
		}
	}
}

// TestTablesHaveOptions: every table of the package ends with the column options.
func TestTablesHaveOptions(t *testing.T) {
	n := 0
	for _, name := range append(operation.Names(true), operation.Names(false)...) {
		if !strings.HasPrefix(name, "visage-") || name == "visage-set-prompts" { // datasets/visage: prompts, no table
			continue
		}
		n++
		columns := operation.Find(name).Results
		must.Equal(t, columns[len(columns)-1].Name, "options", name, "ends with")
	}
	if n < 12 {
		t.Errorf("%d operations", n)
	}
}
