package digin

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/datasets/manifest/manifesttest"
	"antipode/datasets/operation"
	"antipode/internal/must"
)

func run(t *testing.T, op string, o any) (*datasets.Frame, error) {
	t.Helper()
	raw := must.Get(json.Marshal(o))(t)
	f, err := operation.EvaluatorOf(op)(context.Background(), datasets.Call{Home: t.TempDir(), Note: t.Logf}, raw, nil)
	if err == nil {
		must.Do(t, f.Check())
	}
	return f, err
}

func TestPromptsOfThePapers(t *testing.T) {
	for template, want := range map[string][]string{
		Plain: {"bag"},
		InRegion: {"bag in Africa", "bag in the Americas", "bag in East Asia", "bag in Europe",
			"bag in Southeast Asia", "bag in West Asia"},
		Adjectival: {"African bag", "American bag", "East Asian bag", "European bag", "Southeast Asian bag",
			"West Asian bag"},
		InCountry: {"bag in Nigeria", "bag in South Africa", "bag in Egypt", "bag in Colombia", "bag in Argentina",
			"bag in Mexico", "bag in Japan", "bag in South Korea",
			"bag in China", "bag in Italy", "bag in Spain", "bag in the United Kingdom", "bag in Indonesia",
			"bag in the Philippines", "bag in Thailand",
			"bag in Turkey", "bag in the United Arab Emirates", "bag in Saudi Arabia"},
	} {
		prompts := must.Get(Build(template, []string{"bag"}, GeoDERegions(), 3))(t)
		var got []string
		for _, p := range prompts {
			if !slices.Contains(got, p.Text) {
				got = append(got, p.Text)
			}
		}
		must.EqualSlices(t, got, want, template, "prompts")
		must.Equal(t, len(prompts), 18, template, "prompts")
	}
}

// Every template has equally many images of an object: 24 × 6 × 170 in Decomposed-DIG, 180 or 1080 an object
// in DIG In's code.
func TestCounts(t *testing.T) {
	used := map[string]bool{}
	for _, template := range []string{Plain, InRegion, InCountry, Adjectival} {
		f := must.Get(run(t, "digin-prompts", PromptOptions{Template: template, N: 170, Seed: 5}))(t)
		cells, ids, countries := map[[2]string]int{}, map[string]bool{}, map[string]int{}
		for i, id := range f.Texts("id") {
			if used[id] {
				t.Fatalf("%s: the id %q is that of another template", template, id)
			}
			ids[id] = true
			cells[[2]string{f.Texts("object")[i], f.Texts("region")[i]}]++
			countries[f.Texts("country")[i]]++
		}
		maps.Copy(used, ids)
		wantCells, each, wantCountries := 24*6, 170, 1
		if template == Plain {
			wantCells, each = 24, 1020
		}
		if template == InCountry {
			wantCountries = 18
		}
		if f.Len() != 24480 || len(ids) != 24480 || len(cells) != wantCells || len(countries) != wantCountries {
			t.Errorf("%s: %d rows, %d ids, %d cells, %d countries", template, f.Len(), len(ids), len(cells),
				len(countries))
		}
		for cell, n := range cells {
			must.Equal(t, n, each, template, cell, "has")
		}
		for country, n := range countries { // 170 = 57 + 57 + 56 for each of 24 objects
			if template == InCountry && n != 24*57 && n != 24*56 {
				t.Errorf("%s has %d images", country, n)
			}
		}
		if seeds := f.Numbers("seed"); seeds[0] != 5 || seeds[len(seeds)-1] != 5+24479 {
			t.Errorf("seeds from %v to %v", seeds[0], seeds[len(seeds)-1])
		}
	}
	f, err := run(t, "digin-prompts", PromptOptions{})
	if err != nil || f.Len() != 144 || f.Texts("prompt")[0] != "tree in Africa" ||
		f.Texts("id")[1] != "object in region/tree/Americas/0" {
		t.Errorf("default: %v, %v", f, err)
	}
	for i, c := range Prompts().Columns() {
		must.Equal(t, f.Columns[i].ColumnSpec, c, "column", i, "declared")
	}
}

func TestObjects(t *testing.T) {
	if a, b, c := Objects24(), Objects27(), Objects40(); len(a) != 24 || len(b) != 27 || len(c) != 40 ||
		!slices.Equal(c[:27], b) || !slices.Equal(b[:24], a) {
		t.Errorf("%d, %d, %d objects", len(a), len(b), len(c))
	}
	Objects24()[0] = "changed"
	must.Equal(t, Objects24()[0], "tree", "a caller changed the list")
}

func TestPromptsThatCannotBeBuilt(t *testing.T) {
	regions := GeoDERegions()
	for _, c := range map[string]struct {
		template string
		objects  []string
		regions  []Region
		n        int
		want     string
	}{
		"no object slot": {"in {region}", []string{"bag"}, regions, 1, "no {object}"},
		"unknown slot":   {"{object} in {city}", []string{"bag"}, regions, 1, "unknown slot"},
		"no images":      {InRegion, []string{"bag"}, regions, 0, "1 or more"},
		"no objects":     {InRegion, nil, regions, 1, "0 objects"},
		"no regions":     {InRegion, []string{"bag"}, nil, 1, "0 regions"},
		"object twice":   {InRegion, []string{"bag", "bag"}, regions, 1, `"bag" occurs twice`},
		"region twice":   {InRegion, []string{"bag"}, append(GeoDERegions(), regions[0]), 1, `"Africa" occurs twice`},
		"no adjective": {Adjectival, []string{"bag"}, []Region{{Key: "Moon", Place: "the Moon"}}, 1,
			`"Moon" has no adjective`},
		"no countries": {InCountry, []string{"bag"}, []Region{{Key: "Moon", Place: "the Moon"}}, 1,
			`"Moon" has no countries`},
		"negative number": {InRegion, []string{"bag"}, regions, -1, "1 or more"},
	} {
		must.Fail(Build(c.template, c.objects, c.regions, c.n))(t, c.want)
	}
	must.Equal(t, must.Get(Build(InRegion, []string{"बैग"}, []Region{{Key: "x", Place: "भारत"}}, 1))(t)[0].Text,
		"बैग in भारत")
}

const countries = ",prompt,region,object,country,img_id\n0,stall in Italy,Europe,stall,Italy,0\n1,bag in the " +
	"Philippines,Southeast Asia,bag,the Philippines,1\n"

func TestParse(t *testing.T) {
	f := must.Get(parsed("c.csv", []byte(countries), GeoDECountries))(t)
	must.EqualSlices(t, f.Texts("region"), []string{"Europe", "SouthEastAsia"})
	must.EqualSlices(t, f.Texts("template"), []string{InCountry, InCountry})
	f = must.Get(parsed("c.csv", []byte(countries), GeoDEPlaces))(t)
	must.EqualSlices(t, f.Texts("prompt"), []string{"stall", "bag", "stall in Europe", "bag in Southeast Asia"})
	must.EqualSlices(t, f.Texts("id"), []string{"0", "1", "2", "3"})
	f = must.Get(parsed("d.csv", []byte("prompt,region,object,img_id,geode_df_path\nbed in "+
		"Asia,Asia,bed,7,/some/where/bed in Asia__9.png\nbed,,bed,8,\n"), DollarStreetPlaces))(t)
	must.EqualSlices(t, f.Texts("reuses"), []string{"bed in Asia__9.png", ""})
	must.EqualSlices(t, f.Texts("template"), []string{InRegion, Plain})
	for _, c := range map[string][2]string{
		"column": {strings.Replace(countries, "img_id", "id", 1), `c.csv, line 1: no column "img_id"`},
		"region": {strings.Replace(countries, "Southeast Asia", "Mars", 1),
			`c.csv, line 3, column region: "Mars" is no region`},
		"id": {strings.Replace(countries, "Philippines,1", "Philippines,0", 1),
			`c.csv, line 3, column img_id: the id "0" is in line 2`},
		"prompt": {strings.Replace(countries, "bag in", "a bag in", 1),
			`c.csv, line 3, column prompt: "a bag in the Philippines" is not "bag in the Philippines"`},
	} {
		must.Fail(parsed("c.csv", []byte(c[0]), GeoDECountries))(t, c[1])
	}
	must.Fail(addReleased(os.DirFS(t.TempDir()), "other.csv", released.Frame()))(t, GeoDEPlaces)
}

func TestReleasedLists(t *testing.T) {
	dir := manifesttest.Dir(t, Name)
	frames := map[string]*datasets.Frame{}
	// regions and countries count ""
	for list, want := range map[string]struct{ rows, objects, regions, countries int }{
		GeoDECountries: {57095, 40, 6, 18}, GeoDEPlaces: {114190, 40, 7, 1},
		DollarStreetCountries: {21861, 110, 4, 16},
		DollarStreetPlaces:    {43722, 110, 5, 1},
	} {
		f := must.Get(run(t, "digin-released", ReleasedOptions{Dir: dir, List: list}))(t)
		frames[list] = f
		if o, r, c := distinct(f, "object"), distinct(f, "region"), distinct(f, "country"); f.Len() != want.rows ||
			len(o) != want.objects || len(r) != want.regions || len(c) != want.countries {
			t.Errorf("%s: %d rows, %d objects, %d regions, %d countries, want %+v", list, f.Len(), len(o), len(r),
				len(c), want)
		}
	}
	// The regions and countries of this package are those of the lists.
	for list, regions := range map[string][]Region{GeoDECountries: GeoDERegions(),
		DollarStreetCountries: DollarStreetRegions()} {
		f := frames[list]
		for i, country := range f.Texts("country") {
			at := slices.IndexFunc(regions, func(r Region) bool { return r.Key == f.Texts("region")[i] })
			if at < 0 || !slices.Contains(regions[at].Countries, country) {
				t.Fatalf("%s, row %d: %s, %s", list, i+1, f.Texts("region")[i], country)
			}
		}
	}
	// Objects27 are the objects with at least 170 rows in every region, the paper's threshold; Objects40
	// are all.
	counts := map[[2]string]int{}
	f := frames[GeoDECountries]
	for i, object := range f.Texts("object") {
		counts[[2]string{object, f.Texts("region")[i]}]++
	}
	for object := range distinct(f, "object") {
		enough := !slices.ContainsFunc(GeoDERegions(),
			func(r Region) bool { return counts[[2]string{object, r.Key}] < 170 })
		if enough != slices.Contains(Objects27(), object) || !slices.Contains(Objects40(), object) {
			t.Errorf("%s: enough images %v", object, enough)
		}
	}
	// The rebuilt list contains what the DollarStreet list reuses from the GeoDE list, under the same prompt and id.
	places := map[string]bool{}
	for i, id := range frames[GeoDEPlaces].Texts("id") {
		places[frames[GeoDEPlaces].Texts("prompt")[i]+"__"+id+".png"] = true
	}
	reused := 0
	for _, name := range frames[DollarStreetPlaces].Texts("reuses") {
		if name != "" {
			reused++
			if !places[name] {
				t.Fatalf("%s is not in the rebuilt list", name)
			}
		}
	}
	must.Equal(t, reused, 3872, "generations reused")
}

func distinct(f *datasets.Frame, column string) map[string]bool {
	out := map[string]bool{}
	for _, v := range f.Texts(column) {
		out[v] = true
	}
	return out
}

// TestManifest: every recorded file exists with its rows.
func TestManifest(t *testing.T) {
	dir := manifesttest.Dir(t, Name)
	m := must.Get(manifest.Get(Name))(t)
	for _, f := range m.Files {
		data, used, err := m.Read(os.DirFS(dir), f.Path)
		if err != nil || used.Form != manifest.AsUpstream {
			t.Errorf("%s: %v, %v", f.Path, used, err)
			continue
		}
		if f.Rows == 0 {
			continue
		}
		must.Equal(t, must.Get(manifest.ReadSheet(f.Path, data, f.Columns...))(t).Len(), f.Rows, f.Path)
	}
}

func TestTablesAreKnownByName(t *testing.T) {
	for _, name := range []string{"digin-prompts", "digin-geode-regions", "digin-geode-countries",
		"digin-dollarstreet-regions", "digin-dollarstreet-countries"} {
		if table, known := manifest.Table(name); !known || table.Err() != nil {
			t.Errorf("%s: known %v, %v", name, known, table.Err())
		}
	}
}

func parsed(name string, data []byte, list string) (*datasets.Frame, error) {
	f := released.Frame()
	return f, parse(name, data, list, f)
}
