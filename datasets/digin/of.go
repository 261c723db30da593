package digin

import (
	"context"
	"slices"

	"antipode/datasets"
	"antipode/datasets/table"
)

// PromptsOfOptions are the options of [PromptsOf].
type PromptsOfOptions struct {
	Template string `json:"template,omitempty" default:"{object} in {region}" help:"slots {object}, {region} and {adjective}"`
	N        int    `json:"n,omitempty" default:"1" min:"1" help:"prompts of each object and region"`
}

// promptsOfRow is a row of the result of [PromptsOf].
type promptsOfRow struct {
	ID       string `column:"id"`
	Prompt   string `column:"prompt"`
	Template string `column:"template"`
	Object   string `column:"object"`
	Region   string `column:"region"`
	Number   int    `column:"number"`
}

var promptsOf = datasets.Define(datasets.Operation[PromptsOfOptions, promptsOfRow]{
	Name: "digin-prompts-of", Version: 1,
	Title:    "a prompt for each object of each region in a table of reference images",
	Citation: "Sureddy et al. 2024 (Decomposed-DIG), section 3",
	Inputs: []datasets.Input{{Role: "in", Columns: datasets.Columns("object:text", "region:text"),
		About: "reference images"}},
	Compute: computePromptsOf,
})

// PromptsOf returns prompts for the objects and regions of reference images: every object that a region has images of,
// ordered by object, then region. A region is written as in GeoDE's or DollarStreet's prompts if it is one of theirs
// ("Southeast Asia", "Southeast Asian"), else as the table has it, in both slots.
func PromptsOf(images datasets.Table, options ...PromptsOfOptions) datasets.Table {
	return promptsOf.Of(images, options...)
}

func computePromptsOf(_ context.Context, call *datasets.Call, o PromptsOfOptions) (out []promptsOfRow, err error) {
	in := call.Inputs["in"]
	objects, err := in.Need("object", table.KindText)
	if err != nil {
		return nil, err
	}
	regions, err := in.Need("region", table.KindText)
	if err != nil {
		return nil, err
	}
	var pairs [][2]string
	blank := 0
	for i, object := range objects.Texts {
		if object == "" || regions.Texts[i] == "" {
			blank++
			continue
		}
		pairs = append(pairs, [2]string{object, regions.Texts[i]})
	}
	if blank > 0 {
		call.Notef("prompts: %d of %d reference images have no object or no region and are left out", blank, in.Len())
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	known := append(GeoDERegions(), DollarStreetRegions()...)
	for _, pair := range slices.Compact(pairs) {
		region := Region{Key: pair[1], Place: pair[1], Adjective: pair[1]}
		if at := slices.IndexFunc(known, func(r Region) bool { return r.Key == pair[1] }); at >= 0 {
			region = known[at]
		}
		prompts, err := Build(o.Template, pair[:1], []Region{region}, o.N)
		if err != nil {
			return nil, err
		}
		for _, p := range prompts {
			out = append(out, promptsOfRow{p.ID(), p.Text, o.Template, p.Object, p.Region, p.Number})
		}
	}
	return out, nil
}
