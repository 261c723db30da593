package digin

import (
	"cmp"
	"fmt"
	"strings"

	"antipode/datasets"
	"antipode/datasets/internal/source"
)

// The templates of the papers.
const (
	Plain      = "{object}"
	InRegion   = "{object} in {region}"
	InCountry  = "{object} in {country}"
	Adjectival = "{adjective} {object}"
)

// Prompt is one image to generate.
type Prompt struct {
	Text     string
	Template string
	Object   string
	Region   string // key; "" if the template names no place
	Country  string // as in the prompt; "" if the template names none
	Number   int    // index of the image for its object and region, from 0
}

// ID returns the prompt's id in tables, which distinguishes templates: TEMPLATE/OBJECT/REGION/NUMBER, such as
// "object in region/bag/Africa/0", or TEMPLATE/OBJECT/NUMBER without a region.
func (p Prompt) ID() string {
	id := strings.NewReplacer("{", "", "}", "").Replace(p.Template) + "/" + p.Object
	if p.Region != "" {
		id += "/" + p.Region
	}
	return fmt.Sprintf("%s/%d", id, p.Number)
}

// Build fills a template for every object in every region, with n images for each pair, ordered by object, then
// region, as given. The slots are {object}, {region}, {country} and {adjective}. {country} cycles through the
// region's countries, so each pair still has n images. With a template that names no place an object has n images for
// every region, numbered consecutively: as many as with the other templates.
func Build(template string, objects []string, regions []Region, n int) ([]Prompt, error) {
	if !strings.Contains(template, "{object}") {
		return nil, fmt.Errorf("digin: the template %q has no {object}", template)
	}
	if n < 1 {
		return nil, fmt.Errorf("digin: %d images of each object and region; set N to 1 or more", n)
	}
	if len(objects) == 0 || len(regions) == 0 {
		return nil, fmt.Errorf("digin: %d objects and %d regions; at least one of each is required", len(objects),
			len(regions))
	}
	if name, twice := repeated(objects, regions); twice {
		return nil, fmt.Errorf("digin: %q occurs twice in the objects or regions; name each once", name)
	}
	byCountry := strings.Contains(template, "{country}")
	placed := byCountry || strings.Contains(template, "{region}") || strings.Contains(template, "{adjective}")
	var out []Prompt
	for _, object := range objects {
		for at, r := range regions {
			if r.Adjective == "" && strings.Contains(template, "{adjective}") {
				return nil, fmt.Errorf("digin: region %q has no adjective, which the template %q needs", r.Key,
					template)
			}
			if byCountry && len(r.Countries) == 0 {
				return nil, fmt.Errorf("digin: region %q has no countries, which the template %q needs", r.Key,
					template)
			}
			for i := range n {
				p := Prompt{Template: template, Object: object, Number: at*n + i}
				if placed {
					p.Region, p.Number = r.Key, i
				}
				if byCountry {
					p.Country = r.Countries[i%len(r.Countries)]
				}
				p.Text = strings.NewReplacer("{object}", object, "{region}", r.Place, "{country}", p.Country,
					"{adjective}", r.Adjective).Replace(template)
				if strings.ContainsAny(p.Text, "{}") {
					return nil, fmt.Errorf("digin: the template %q has an unknown slot; the slots are {object}, "+
						"{region}, {country} and {adjective}", template)
				}
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// repeated returns a name that occurs twice.
func repeated(objects []string, regions []Region) (string, bool) {
	names := append([]string{}, objects...)
	for _, r := range regions {
		names = append(names, "region "+r.Key)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return strings.TrimPrefix(name, "region "), true
		}
		seen[name] = true
	}
	return "", false
}

// PromptOptions are the options of [Prompts]. The zero value is Decomposed-DIG's first list: 24 objects, GeoDE's
// regions, "{object} in {region}", one image each.
type PromptOptions struct {
	Template string   `json:"template,omitempty" help:"empty = {object} in {region}; slots {object}, {region}, {country}, {adjective}"`
	Objects  []string `json:"objects,omitempty" help:"none = Decomposed-DIG's 24"`
	Regions  []Region `json:"regions,omitempty" help:"{key, place, adjective, countries}; none = those of GeoDE"`
	N        int      `json:"per_cell,omitempty" help:"images of each object and region; 0 = 1 (170 in Decomposed-DIG, 180 in DIG In)"`
	Seed     int64    `json:"seed,omitempty" help:"of the first image; it increases by 1 from row to row"`
}

var prompts = source.Define(source.Definition[PromptOptions]{
	Name: "digin-prompts", Title: "DIG In prompts", Listed: true,
	Example: `{"template":"{adjective} {object}","objects":["bag","car"],"per_cell":2}`,
	Columns: "id:text prompt:text template:text object:text region:text country:text number:number seed:number",
	Read: func(o PromptOptions, _ *datasets.Call, f *datasets.Frame) error {
		o.Template = cmp.Or(o.Template, InRegion)
		if len(o.Objects) == 0 {
			o.Objects = Objects24()
		}
		if len(o.Regions) == 0 {
			o.Regions = GeoDERegions()
		}
		prompts, err := Build(o.Template, o.Objects, o.Regions, cmp.Or(o.N, 1))
		for i, p := range prompts {
			f.Add([]string{p.ID(), p.Text, o.Template, p.Object, p.Region, p.Country}, float64(p.Number),
				float64(o.Seed+int64(i)))
		}
		return err
	}})

// Prompts returns a balanced prompt list, see [Build]: id, prompt, template, object, region (the key, as in
// the tables of reference images; "" with [Plain]), country, number (from 0) and seed (of the image).
func Prompts(options ...PromptOptions) datasets.Table { return prompts.Table(options...) }
