// Package geode reads GeoDE (Ramaswamy et al., NeurIPS 2023 Datasets and Benchmarks, arXiv 2301.02560): 61,940 photos
// of 40 objects, taken for the data set by people in six regions of the world. They are the reference images of DIG In
// and Decomposed-DIG.
//
// # Getting the data set
//
// The archive is large and offered on [Page]; this module does not download it. Unpack it so that a folder contains
//
//	index.csv           file_path, object, region, ip_country, …
//	images/…            the photos; file_path is relative to this folder
//
// or such a folder for each region (geode_africa/index.csv, geode_africa/images/…). Paths relative to the folder of
// index.csv are accepted too. Name the folder in [Options], or set ANTIPODE_DATA to the folder that contains it under
// the name geode.
//
// Not yet tested on the archive itself: the columns and the two layouts are those that several public readers of it
// use. Other columns are ignored, ip_country may be named country or be missing, and regions may be written with
// spaces.
//
// The license is reported as CC BY 4.0, which was not verified; read the page.
package geode

import (
	"cmp"
	"math"
	"strings"

	"antipode/datasets"
	"antipode/datasets/check"
	"antipode/datasets/digin"
	"antipode/datasets/manifest"
)

const (
	// Name is the data set's name, and that of its table.
	Name = "geode"
	// Page offers the archive.
	Page = "https://geodiverse-data-collection.cs.princeton.edu/"
	// Citation of the data set.
	Citation = "Ramaswamy et al., NeurIPS 2023 Datasets and Benchmarks, GeoDE: a Geographically Diverse Evaluation " +
		"Dataset for Object Recognition, arXiv 2301.02560"
)

// Options are the options of [Photos].
type Options = digin.PhotoOptions

var layout = digin.Archive{
	Name: Name, Page: Page, Shape: "index.csv next to the folder images, or a folder with both for each region",
	Indexes: [][]string{{"index.csv"}, {"*/index.csv"}}, Folders: []string{"images", "."},
	Path: "file_path", Need: []string{"object", "region"},
	Published: digin.Published{Images: 61_940, Regions: digin.Keys(digin.GeoDERegions()),
		Objects: digin.Objects40(), Balanced: digin.Objects27(), Least: 170},
	Photos: func(s *manifest.Sheet, row int) ([]digin.Photo, error) {
		file, object := s.Cell(row, "file_path"), digin.Words(s.Cell(row, "object"))
		if object == "" {
			return nil, s.Errorf(row, s.Column("object"), "the object is empty")
		}
		region, err := regionOf(s, row)
		if err != nil {
			return nil, err
		}
		country := cmp.Or(s.Cell(row, "ip_country"), s.Cell(row, "country"))
		return []digin.Photo{{ID: file, Path: file, Object: object, Region: region,
			Country: strings.ReplaceAll(country, "_", " "), Income: math.NaN()}}, nil
	},
}

// regionOf returns the key of the row's region, which may be written as in GeoDE (SouthEastAsia) or in prompts
// (Southeast Asia).
func regionOf(s *manifest.Sheet, row int) (string, error) {
	at := s.Column("region")
	name := strings.TrimPrefix(digin.Words(s.Rows[row][at]), "the ")
	var keys []string
	for _, r := range digin.GeoDERegions() {
		if strings.EqualFold(strings.ReplaceAll(name, " ", ""), r.Key) {
			return r.Key, nil
		}
		keys = append(keys, r.Key)
	}
	return "", s.Errorf(row, at, "%q is not a region of GeoDE; the regions are %s", s.Rows[row][at],
		strings.Join(keys, ", "))
}

// Photos returns the reference images: id (the index's file_path), image, object (with spaces: "plate of food"), region
// (the key: "SouthEastAsia"), country (of the photographer's address; "" if the index has none), outcome (ok, or failed
// where the image is missing) and reason, in the index's order. Select the rows with outcome ok before sampling.
func Photos(options ...Options) datasets.Table { return layout.Table(options...) }

// CheckOptions are the options of [Check].
type CheckOptions = digin.CheckOptions

// Check compares an unpacked archive with what [Photos] expects; see [digin.Archive.Check].
func Check(dir string, o CheckOptions) (*check.Report, error) { return layout.Check(dir, o) }

func init() {
	manifest.Register(manifest.Manifest{
		Name: Name, Title: "GeoDE: a geographically diverse evaluation dataset for object recognition", Origin: Page,
		Version: "as offered on the page",
		License: "CC BY 4.0 (see the page)", Citation: Citation,
		Warning: "not downloaded: get it from " + Page + " and unpack it into a folder named " + Name + " (" +
			layout.Shape + "), then set ANTIPODE_DATA to the folder above",
		Files: []manifest.File{
			{Path: "index.csv", Columns: []string{"file_path", "object", "region", "ip_country"},
				Optional: "comes with the photos from " + Page},
			{Path: "geode_africa/index.csv", Optional: "the same, for one region"},
		},
	})
	layout.Register()
}
