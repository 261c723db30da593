package digin

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
)

// Name is the data set's name in `antipode data pull`.
const Name = "dig_in"

// The files of the published lists.
const (
	GeoDECountries        = "geode_prompts_countries_fulldataset.csv"
	DollarStreetCountries = "ds_prompts_countries_fulldataset.csv"
	DollarStreetPlaces    = "ds_prompts_regions_fulldataset.csv"
)

// GeoDEPlaces is the list of plain objects and of objects in regions. Its file was not available here; the list is
// rebuilt from [GeoDECountries]: first the plain object of every row, then the object in the region of every row,
// with ids in that order. All 3872 images that [DollarStreetPlaces] reuses from it are in the rebuilt list.
const GeoDEPlaces = "geode_prompts_regions_fulldataset.csv"

// Lists returns the names of the published lists.
func Lists() []string {
	return []string{GeoDEPlaces, GeoDECountries, DollarStreetPlaces, DollarStreetCountries}
}

const (
	commit = "ce46b28f0fa3b926deddb60be98ce477556f8108"
	base   = "https://raw.githubusercontent.com/facebookresearch/DIG-In/" + commit + "/"
)

// Citation of the lists.
const Citation = "Hall et al. 2023, DIG In: Evaluating Disparities in Image Generations with Indicators for " +
	"Geographic Diversity, arXiv 2308.06198"

// ReleasedOptions are the options of [Released].
type ReleasedOptions struct {
	Dir  string `json:"dir,omitempty"`  // folder of the data set; "" = found, see [manifest.Find]
	List string `json:"list,omitempty"` // one of [Lists]; "" = [GeoDEPlaces]
}

var released = source.Define(source.Definition[ReleasedOptions]{
	Name: "digin-released", Title: "DIG In published prompts",
	Columns: "id:text prompt:text template:text object:text region:text country:text reuses:text",
	Complete: func(o ReleasedOptions) ReleasedOptions {
		o.Dir = manifest.Here(Name, o.Dir)
		return o
	},
	Read: func(o ReleasedOptions, call *datasets.Call, f *datasets.Frame) error {
		dir, err := manifest.Dir(Name, o.Dir, call.Home)
		if err != nil {
			return err
		}
		return addReleased(os.DirFS(dir), o.List, f)
	}})

// Released returns a published list with a row for each image to generate: id (the list's img_id, its row number from
// 0), prompt, template, object, region (the key, as in the tables of reference images; "" for a plain object),
// country (as in the prompt) and reuses (of a DollarStreet list: the image of the GeoDE list to use for the row,
// PROMPT__ID.png; "" = generate it). Published images are named PROMPT__ID.png.
func Released(options ...ReleasedOptions) datasets.Table { return released.Table(options...) }

// key returns the region's key for its name in a list.
func key(place string) (string, bool) {
	for _, r := range append(GeoDERegions(), DollarStreetRegions()...) {
		if r.Place == place {
			return r.Key, true
		}
	}
	return "", place == ""
}

func addReleased(fsys fs.FS, list string, f *datasets.Frame) error {
	list = cmp.Or(list, GeoDEPlaces)
	if !slices.Contains(Lists(), list) {
		return fmt.Errorf("digin: no list %q; the lists are %s", list, strings.Join(Lists(), ", "))
	}
	file := list
	if list == GeoDEPlaces {
		file = GeoDECountries
	}
	m, err := manifest.Get(Name)
	if err != nil {
		return err
	}
	data, used, err := m.Read(fsys, file)
	if err != nil {
		return err
	}
	return parse(used.Path, data, list, f)
}

// parse adds the rows of a list. name is the file's, for errors.
func parse(name string, data []byte, list string, f *datasets.Frame) error {
	s, err := manifest.ReadSheet(name, data, "prompt", "region", "object", "img_id")
	if err != nil {
		return fmt.Errorf("digin: %w", err)
	}
	var placed [][]string
	seen := map[string]int{}
	for row := range s.Len() {
		id, object, place := s.Cell(row, "img_id"), s.Cell(row, "object"), s.Cell(row, "region")
		country, text := s.Cell(row, "country"), s.Cell(row, "prompt")
		region, known := key(place)
		if !known {
			return fmt.Errorf("digin: %w",
				s.Errorf(row, s.Column("region"), "%q is no region of GeoDE or DollarStreet", place))
		}
		if first, twice := seen[id]; twice {
			return fmt.Errorf("digin: %w", s.Errorf(row, s.Column("img_id"), "the id %q is in line %d already",
				id, first))
		}
		seen[id] = s.Line(row)
		template := Plain
		if country != "" {
			template = InCountry
		} else if place != "" {
			template = InRegion
		}
		if want := strings.NewReplacer("{object}", object, "{region}", place, "{country}",
			country).Replace(template); text != want {
			return fmt.Errorf("digin: %w", s.Errorf(row, s.Column("prompt"), "%q is not %q", text, want))
		}
		if list == GeoDEPlaces {
			f.Add([]string{fmt.Sprint(row), object, Plain, object, "", "", ""})
			placed = append(placed, []string{fmt.Sprint(s.Len() + row), object + " in " + place, InRegion, object,
				region, "", ""})
			continue
		}
		reuses := s.Cell(row, "geode_df_path")
		if reuses != "" {
			reuses = path.Base(reuses)
		}
		f.Add([]string{id, text, template, object, region, country, reuses})
	}
	for _, row := range placed {
		f.Add(row)
	}
	return nil
}

func init() {
	file := func(name, sum string, rows int, columns ...string) manifest.File {
		return manifest.File{Path: name, URL: base + name, Commit: commit, SHA256: sum, Rows: rows, Columns: columns}
	}
	list := []string{"prompt", "region", "object", "country", "img_id"}
	manifest.Register(manifest.Manifest{
		Name: Name, Title: "DIG In: prompt lists for GeoDE and DollarStreet, and people's judgements of GeoDE photos",
		Origin: "https://github.com/facebookresearch/DIG-In", Version: "commit " + commit[:7] + " (2024-06-03)",
		License: "CC BY-NC 4.0: not for commercial use", Citation: Citation,
		Warning: "task2_geode.csv is of Hall et al. 2024, Towards Geographic Inclusion in the Evaluation of " +
			"Text-to-Image Models, arXiv 2405.04457",
		Files: []manifest.File{
			file(GeoDECountries, "7ed74e308b83fe94e92269a34a676a2e3afd2b15db094ad1587c7a600160f12d", 57095, list...),
			file(DollarStreetCountries, "bfc1e9d89e16ba9fc4d0c6a562aec97cadb269de28d8eb87f0ee28f96dd74270", 21861,
				append(slices.Clone(list), "geode_df_path")...),
			file(DollarStreetPlaces, "f7f35091c8f372f1d1e9b6c0891a96302925d4f4489b6526ddc3a99e67c87abf", 43722,
				"prompt", "region", "object", "img_id", "geode_df_path"),
			file("class_pivot_all_reasonable_classes.csv",
				"f6fee1bee0bc56caa7fd3086f95a4b4374268b1560bf901ef95a0f835131e011", 199, "topics", "Include?"),
			file("task2_geode.csv", "7c1b8b2fca67232a5af6ebef2fbbe9246e85fc0ba884418f1beea29c9842bf3a", 5378,
				"img_path", "object", "region", "annotator_id", "annotator_loc", "annotation_result"),
			file("LICENSE", "bc8f60ee50544b2dd70b4bc90e22de503aa23b317d284046a479811f2e06f396", 0),
		},
	})
	for _, l := range Lists() {
		name := map[string]string{GeoDEPlaces: "digin-geode-regions", GeoDECountries: "digin-geode-countries",
			DollarStreetPlaces: "digin-dollarstreet-regions", DollarStreetCountries: "digin-dollarstreet-countries"}[l]
		manifest.RegisterTable(name, func() datasets.Table { return Released(ReleasedOptions{List: l}) })
	}
}
