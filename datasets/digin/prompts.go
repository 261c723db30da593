package digin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/kernel/client"
)

// The templates of the papers.
const (
	Plain      = "{object}"
	InRegion   = "{object} in {region}"
	InCountry  = "{object} in {country}"
	Adjectival = "{adjective} {object}"
)

// Prompt is one picture to generate.
type Prompt struct {
	Text    string
	Object  string
	Region  string // key; "" where the template names no place
	Country string // as the prompt has it; "" where the template names none
	Number  int    // of the picture among those of its object and region, from 0
}

// ID is the prompt's id in tables: OBJECT/REGION/NUMBER, without REGION where there is none.
func (p Prompt) ID() string {
	if p.Region == "" {
		return fmt.Sprintf("%s/%d", p.Object, p.Number)
	}
	return fmt.Sprintf("%s/%s/%d", p.Object, p.Region, p.Number)
}

// Build fills a template for every object, in every region, with n pictures for each pair: by object, then region, in the order given.
// The slots are {object}, {region}, {country} and {adjective}. With {country} a region's countries take turns, so that the
// pair still has n pictures. A template that names no place gives an object n pictures for every region, in one row of numbers: as many
// as the other templates.
func Build(template string, objects []string, regions []Region, n int) ([]Prompt, error) {
	if !strings.Contains(template, "{object}") {
		return nil, fmt.Errorf("digin: the template %q has no {object}", template)
	}
	if n < 1 {
		return nil, fmt.Errorf("digin: %d pictures of every object and region: give 1 or more", n)
	}
	if len(objects) == 0 || len(regions) == 0 {
		return nil, fmt.Errorf("digin: %d objects and %d regions: give at least one of each", len(objects), len(regions))
	}
	if name, twice := repeated(objects, regions); twice {
		return nil, fmt.Errorf("digin: %q stands twice in the objects or regions; name each once", name)
	}
	byCountry := strings.Contains(template, "{country}")
	placed := byCountry || strings.Contains(template, "{region}") || strings.Contains(template, "{adjective}")
	var out []Prompt
	for _, object := range objects {
		for at, r := range regions {
			if r.Adjective == "" && strings.Contains(template, "{adjective}") {
				return nil, fmt.Errorf("digin: region %q has no adjective, which the template %q asks for", r.Key, template)
			}
			if byCountry && len(r.Countries) == 0 {
				return nil, fmt.Errorf("digin: region %q has no countries, which the template %q asks for", r.Key, template)
			}
			for i := range n {
				p := Prompt{Object: object, Number: at*n + i}
				if placed {
					p.Region, p.Number = r.Key, i
				}
				if byCountry {
					p.Country = r.Countries[i%len(r.Countries)]
				}
				p.Text = strings.NewReplacer("{object}", object, "{region}", r.Place, "{country}", p.Country, "{adjective}", r.Adjective).Replace(template)
				if strings.ContainsAny(p.Text, "{}") {
					return nil, fmt.Errorf("digin: the template %q has a slot that is not known; there are {object}, {region}, {country} and {adjective}", template)
				}
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// repeated is a name that stands twice.
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

// Options of [Prompts]. The zero value is Decomposed-DIG's first list: 24 objects, GeoDE's regions, "{object} in {region}", one picture each.
type Options struct {
	Template string   `json:"template,omitempty"` // "" = [InRegion]
	Objects  []string `json:"objects,omitempty"`  // none = [Objects24]
	Regions  []Region `json:"regions,omitempty"`  // none = [GeoDERegions]
	PerCell  int      `json:"per_cell,omitempty"` // pictures of every object and region; 0 = 1 (170 in Decomposed-DIG, 180 in DIG In)
	Seed     int64    `json:"seed,omitempty"`     // of the first picture; the others count up through the table
}

var promptColumns = datasets.Columns("id:text", "prompt:text", "template:text", "object:text", "region:text", "country:text", "number:number", "seed:number")

// Prompts is the table of a balanced prompt list, see [Build]: id, prompt, template, object, region (the key, as in the tables of the
// photos; "" with [Plain]), country, number (from 0) and seed (of the picture's noise).
func Prompts(o Options) datasets.Table {
	return datasets.New("digin-prompts", o, promptColumns).Named("DIG In prompts")
}

func promptFrame(o Options) (*datasets.Frame, error) {
	if o.Template == "" {
		o.Template = InRegion
	}
	if len(o.Objects) == 0 {
		o.Objects = Objects24()
	}
	if len(o.Regions) == 0 {
		o.Regions = GeoDERegions()
	}
	if o.PerCell == 0 {
		o.PerCell = 1
	}
	prompts, err := Build(o.Template, o.Objects, o.Regions, o.PerCell)
	if err != nil {
		return nil, err
	}
	f := client.NewFrame(promptColumns)
	for i, p := range prompts {
		f.Add([]string{p.ID(), p.Text, o.Template, p.Object, p.Region, p.Country}, float64(p.Number), float64(o.Seed+int64(i)))
	}
	return f, nil
}

func init() {
	manifest.RegisterTable("digin-prompts", func() datasets.Table { return Prompts(Options{}) })
	datasets.RegisterSource("digin-prompts", func(_ context.Context, raw json.RawMessage, _ datasets.SourceEnv) (*datasets.Frame, error) {
		var o Options
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, fmt.Errorf("digin: %w", err)
		}
		return promptFrame(o)
	})
}
