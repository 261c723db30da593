package regions

import (
	"fmt"
	"strings"
)

// RegionName is how a region is called in prompts.
type RegionName struct {
	Key       string // in tables: "SouthEastAsia"
	Place     string // after "in": "Southeast Asia"
	Adjective string // before the object: "Southeast Asian"
}

// RegionNames are GeoDE's six regions. The adjectives of the Americas, East Asia and Southeast Asia are not in the
// paper; change them as you see fit.
func RegionNames() []RegionName {
	return []RegionName{
		{"Africa", "Africa", "African"}, {"Americas", "the Americas", "American"}, {"EastAsia", "East Asia", "East Asian"},
		{"Europe", "Europe", "European"}, {"SouthEastAsia", "Southeast Asia", "Southeast Asian"}, {"WestAsia", "West Asia", "West Asian"},
	}
}

// The two templates of the paper, verbatim but for the names of their slots.
const (
	TemplateOrig = "{object} in {region}"
	TemplateNew  = "{adjective} {object}"
)

// Prompt is one prompt of a list.
type Prompt struct {
	Object, Region, Template, Text string
}

// Prompts fills a template for every object in every region, by object, then region, in the given order. The slots are {object}, {region} and {adjective}.
func Prompts(template string, objects []string, regions []RegionName) ([]Prompt, error) {
	if !strings.Contains(template, "{object}") {
		return nil, fmt.Errorf("regions: template %q has no {object}", template)
	}
	var out []Prompt
	for _, object := range objects {
		for _, r := range regions {
			text := strings.NewReplacer("{object}", object, "{region}", r.Place, "{adjective}", r.Adjective).Replace(template)
			if i := strings.IndexAny(text, "{}"); i >= 0 {
				return nil, fmt.Errorf("regions: template %q has a slot that is not known; there are {object}, {region} and {adjective}", template)
			}
			out = append(out, Prompt{object, r.Key, template, text})
		}
	}
	return out, nil
}
