// Package dollarstreet reads the Dollar Street dataset (Gaviria Rojas et al., NeurIPS 2022 Datasets and Benchmarks): 38,479 photos of
// household items in homes of 63 countries, with the household's income; the second reference set of DIG In.
//
// # Getting it
//
// The archive has about 100 GB and is offered on [Page], which leads to where it is stored, so nothing is fetched. Unpack it so that a folder holds
//
//	images_v2.csv     id, country.name, country.id, region.id, topics, place, income, imageRelPath, …
//	assets/…          the photos; imageRelPath is relative to the folder of images_v2.csv
//
// or the folder dataset_dollarstreet with both. Where images_v2.csv is not there, images_v2_imagenet_train.csv and
// images_v2_imagenet_test.csv are read, which have the same columns and cover the photos of ImageNet's classes. Name the folder
// in [Options], or set ANTIPODE_DATA to the folder that holds it under the name dollarstreet.
//
// The files and columns are those that several public readers of the archive use; the archive itself was not seen when this was
// written, so other columns are ignored, id, country.name and income may be missing, region.id may be the region's name,
// and topics may be a list as Python or JSON write it or one plain topic.
//
// The licences are given as CC BY and CC BY-SA 4.0, which could not be checked when this was written; read the page.
package dollarstreet

import (
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/digin"
	"antipode/datasets/digin/archive"
	"antipode/datasets/manifest"
)

const (
	// Name is the data set's name, and that of its table.
	Name = "dollarstreet"
	// Page is where the archive is offered.
	Page = "https://mlcommons.org/datasets/dollar-street/"
	// Citation of the data set.
	Citation = "Gaviria Rojas et al., NeurIPS 2022 Datasets and Benchmarks, The Dollar Street Dataset: Images Representing the Geographic and Socioeconomic Diversity of the World"
)

// Options say where the unpacked archive is; the zero value finds it, see [manifest.Find].
type Options = archive.Options

// regionIDs are the index's codes.
var regionIDs = map[string]string{"af": "Africa", "am": "Americas", "as": "Asia", "eu": "Europe"}

var layout = archive.Layout{
	Name: Name, Page: Page, Shape: "images_v2.csv beside the folder assets",
	Indexes: [][]string{
		{"images_v2.csv"}, {"dataset_dollarstreet/images_v2.csv"},
		{"images_v2_imagenet_train.csv", "images_v2_imagenet_test.csv"},
		{"dataset_dollarstreet/images_v2_imagenet_train.csv", "dataset_dollarstreet/images_v2_imagenet_test.csv"},
	},
	Folders: []string{"."}, Path: "imageRelPath", Need: []string{"region.id", "topics"}, Income: true, Photos: photos,
}

// photos are the rows for a photo: one for each of its topics.
func photos(s *manifest.Sheet, row int) ([]archive.Photo, error) {
	region, err := regionOf(s, row)
	if err != nil {
		return nil, err
	}
	p := archive.Photo{ID: archive.Cell(s, row, "id"), Path: archive.Cell(s, row, "imageRelPath"), Region: region, Country: archive.Cell(s, row, "country.name")}
	if p.ID == "" {
		p.ID = p.Path
	}
	if p.Income, err = archive.Number(s, row, "income"); err != nil {
		return nil, err
	}
	at := s.Column("topics")
	topics, err := list(s.Rows[row][at])
	if err != nil {
		return nil, s.Errorf(row, at, "%v", err)
	}
	var out []archive.Photo
	for _, topic := range topics {
		one := p
		if one.Object = archive.Words(topic); one.Object == "" {
			return nil, s.Errorf(row, at, "a topic is empty")
		}
		if len(topics) > 1 {
			one.ID += "/" + one.Object
		}
		if !slices.ContainsFunc(out, func(p archive.Photo) bool { return p.Object == one.Object }) {
			out = append(out, one)
		}
	}
	return out, nil
}

// regionOf is the key of the region that a row names, by its code (as) or its name (Asia).
func regionOf(s *manifest.Sheet, row int) (string, error) {
	at := s.Column("region.id")
	name := strings.TrimPrefix(archive.Words(s.Rows[row][at]), "the ")
	if key, known := regionIDs[name]; known {
		return key, nil
	}
	for _, r := range digin.DollarStreetRegions() {
		if strings.EqualFold(name, r.Key) {
			return r.Key, nil
		}
	}
	return "", s.Errorf(row, at, "%q is none of Dollar Street's regions; they are af (Africa), am (Americas), as (Asia), eu (Europe)", s.Rows[row][at])
}

// list reads a list of texts as Python or JSON write it, ['a', "b"], or a plain text, which is a list of one.
func list(text string) ([]string, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "[") {
		return []string{text}, nil
	}
	bad := fmt.Errorf("%q is no list such as ['Cups', 'Plates']", text)
	rest := strings.TrimSpace(text[1:])
	if rest == "]" {
		return nil, nil
	}
	var out []string
	for {
		if rest == "" || rest[0] != '\'' && rest[0] != '"' {
			return nil, bad
		}
		var word strings.Builder
		end := 1
		for ; end < len(rest) && rest[end] != rest[0]; end++ {
			if rest[end] == '\\' && end+1 < len(rest) {
				end++
			}
			word.WriteByte(rest[end])
		}
		if end >= len(rest) {
			return nil, bad
		}
		out = append(out, word.String())
		rest = strings.TrimSpace(rest[end+1:])
		if rest == "]" {
			return out, nil
		}
		if !strings.HasPrefix(rest, ",") {
			return nil, bad
		}
		rest = strings.TrimSpace(rest[1:])
	}
}

// Photos is the table of the photos and what is on them: id (the index's id; with /TOPIC where a photo has several topics, each
// of which is a row), image, object (the topic in lower case, as DIG In's prompts have it: "stove/hob"), region ("Africa", "Americas",
// "Asia", "Europe"), country and income (of the household, US dollars a month by purchasing power). Rows are in the index's order.
func Photos(o Options) datasets.Table { return layout.Table(o) }

func init() {
	manifest.Register(manifest.Manifest{
		Name: Name, Title: "The Dollar Street dataset, photos of household items with country and income", Origin: Page, Version: "images_v2, as offered on the page",
		Licence: "CC BY and CC BY-SA 4.0 (see the page)", Citation: Citation,
		Warning: "not fetched: get it from " + Page + " and unpack it into a folder called " + Name + " (" + layout.Shape + "), then set ANTIPODE_DATA to the folder above",
		Files: []manifest.File{
			{Path: "images_v2.csv", Columns: []string{"id", "country.name", "region.id", "topics", "income", "imageRelPath"}, Optional: "comes with the photos from " + Page},
			{Path: "dataset_dollarstreet/images_v2.csv", Optional: "the same, one folder down"},
			{Path: "images_v2_imagenet_train.csv", Optional: "part of the same archive"},
			{Path: "images_v2_imagenet_test.csv", Optional: "part of the same archive"},
		},
	})
	layout.Register()
}
