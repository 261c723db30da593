// Package geode reads GeoDE (Ramaswamy et al., NeurIPS 2023 Datasets and Benchmarks, arXiv 2301.02560): 61,940 photos of 40 objects,
// taken for the data set by people in six regions of the world; the reference set of DIG In and Decomposed-DIG.
//
// # Getting it
//
// The archive is large and its authors ask visitors to come to [Page], so nothing is fetched. Unpack it so that a folder holds
//
//	index.csv           file_path, object, region, ip_country, …
//	images/…            the photos; file_path is relative to this folder
//
// or, where the regions were fetched one by one, so that it holds a folder like that for each (geode_africa/index.csv, geode_africa/images/…).
// Paths relative to the folder of index.csv are read too. Name the folder in [Options], or set ANTIPODE_DATA to the folder
// that holds it under the name geode.
//
// The columns and the two layouts are those that several public readers of the archive use; the archive itself was not seen when
// this was written, so other columns are ignored, ip_country may be called country or be missing, and regions may be written with spaces.
//
// The licence is given as CC BY 4.0, which could not be checked when this was written; read the page.
package geode

import (
	"math"
	"strings"

	"antipode/datasets"
	"antipode/datasets/digin"
	"antipode/datasets/digin/archive"
	"antipode/datasets/manifest"
)

const (
	// Name is the data set's name, and that of its table.
	Name = "geode"
	// Page is where the archive is offered.
	Page = "https://geodiverse-data-collection.cs.princeton.edu/"
	// Citation of the data set.
	Citation = "Ramaswamy et al., NeurIPS 2023 Datasets and Benchmarks, GeoDE: a Geographically Diverse Evaluation Dataset for Object Recognition, arXiv 2301.02560"
)

// Options say where the unpacked archive is; the zero value finds it, see [manifest.Find].
type Options = archive.Options

var layout = archive.Layout{
	Name: Name, Page: Page, Shape: "index.csv beside the folder images, or a folder with both for each region",
	Indexes: [][]string{{"index.csv"}, {"*/index.csv"}}, Folders: []string{"images", "."},
	Path: "file_path", Need: []string{"object", "region"},
	Photos: func(s *manifest.Sheet, row int) ([]archive.Photo, error) {
		file, object := archive.Cell(s, row, "file_path"), archive.Words(archive.Cell(s, row, "object"))
		if object == "" {
			return nil, s.Errorf(row, s.Column("object"), "the object is empty")
		}
		region, err := regionOf(s, row)
		if err != nil {
			return nil, err
		}
		country := archive.Cell(s, row, "ip_country")
		if country == "" {
			country = archive.Cell(s, row, "country")
		}
		return []archive.Photo{{ID: file, Path: file, Object: object, Region: region, Country: strings.ReplaceAll(country, "_", " "), Income: math.NaN()}}, nil
	},
}

// regionOf is the key of the region that a row names, in GeoDE's writing (SouthEastAsia) or in a prompt's (Southeast Asia).
func regionOf(s *manifest.Sheet, row int) (string, error) {
	at := s.Column("region")
	name := strings.TrimPrefix(archive.Words(s.Rows[row][at]), "the ")
	var keys []string
	for _, r := range digin.GeoDERegions() {
		if strings.EqualFold(strings.ReplaceAll(name, " ", ""), r.Key) {
			return r.Key, nil
		}
		keys = append(keys, r.Key)
	}
	return "", s.Errorf(row, at, "%q is none of GeoDE's regions; they are %s", s.Rows[row][at], strings.Join(keys, ", "))
}

// Photos is the table of the photos: id (the index's file_path), image, object (with spaces: "plate of food"), region (the
// key: "SouthEastAsia") and country (of the photographer's address; "" where the index has none). Rows are in the index's order.
func Photos(o Options) datasets.Table { return layout.Table(o) }

func init() {
	manifest.Register(manifest.Manifest{
		Name: Name, Title: "GeoDE: a geographically diverse evaluation dataset for object recognition", Origin: Page, Version: "as offered on the page",
		Licence: "CC BY 4.0 (see the page)", Citation: Citation,
		Warning: "not fetched: get it from " + Page + " and unpack it into a folder called " + Name + " (" + layout.Shape + "), then set ANTIPODE_DATA to the folder above",
		Files: []manifest.File{
			{Path: "index.csv", Columns: []string{"file_path", "object", "region", "ip_country"}, Optional: "comes with the photos from " + Page},
			{Path: "geode_africa/index.csv", Optional: "the same, for one region"},
		},
	})
	layout.Register()
}
