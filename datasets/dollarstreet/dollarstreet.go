// Package dollarstreet reads the Dollar Street dataset (Gaviria Rojas et al., NeurIPS 2022 Datasets and Benchmarks):
// 38,479 photos of household items in homes of 63 countries, with the household's income: the second set of reference
// images of DIG In.
//
// # Getting the data set
//
// The archive has about 100 GB and is offered on [Page]; this module does not download it. Unpack it so that a folder
// contains
//
//	images_v2.csv     id, country.name, country.id, region.id, topics, place, income, imageRelPath, …
//	assets/…          the photos; imageRelPath is relative to the folder of images_v2.csv
//
// or the folder dataset_dollarstreet with both. If images_v2.csv is missing, images_v2_imagenet_train.csv and
// images_v2_imagenet_test.csv are read, which have the same columns and cover the photos of ImageNet's classes. Name
// the folder in [Options], or set ANTIPODE_DATA to the folder that contains it under the name dollarstreet.
//
// Not yet tested on the archive itself: the files and columns are those that several public readers of it use. Other
// columns are ignored; id, country.name and income may be missing; region.id may be
// the region's name, and topics may be a list as Python or JSON write it or one plain topic.
//
// The licenses are reported as CC BY and CC BY-SA 4.0, which was not verified; read the page.
package dollarstreet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/check"
	"antipode/datasets/digin"
	"antipode/datasets/manifest"
)

const (
	// Name is the data set's name, and that of its table.
	Name = "dollarstreet"
	// Page offers the archive.
	Page = "https://mlcommons.org/datasets/dollar-street/"
	// Citation of the data set.
	Citation = "Gaviria Rojas et al., NeurIPS 2022 Datasets and Benchmarks, The Dollar Street Dataset: Images " +
		"Representing the Geographic and Socioeconomic Diversity of the World"
)

// Options are the options of [Photos].
type Options = digin.PhotoOptions

// regionIDs are the index's codes.
var regionIDs = map[string]string{"af": "Africa", "am": "Americas", "as": "Asia", "eu": "Europe"}

var layout = digin.Archive{
	Name: Name, Page: Page, Shape: "images_v2.csv next to the folder assets",
	Indexes: [][]string{
		{"images_v2.csv"}, {"dataset_dollarstreet/images_v2.csv"},
		{"images_v2_imagenet_train.csv", "images_v2_imagenet_test.csv"},
		{"dataset_dollarstreet/images_v2_imagenet_train.csv", "dataset_dollarstreet/images_v2_imagenet_test.csv"},
	},
	Folders: []string{"."}, Path: "imageRelPath", Need: []string{"region.id", "topics"}, Income: true, Photos: photos,
	Published: digin.Published{Images: 38_479, Regions: digin.Keys(digin.DollarStreetRegions()), Countries: 63},
}

// photos returns a row for each topic of a photo.
func photos(s *manifest.Sheet, row int) ([]digin.Photo, error) {
	region, err := regionOf(s, row)
	if err != nil {
		return nil, err
	}
	p := digin.Photo{ID: s.Cell(row, "id"), Path: s.Cell(row, "imageRelPath"), Region: region,
		Country: s.Cell(row, "country.name"), Income: math.NaN()}
	p.ID = cmp.Or(p.ID, p.Path)
	if at := s.Column("income"); at >= 0 {
		if p.Income, err = s.Number(row, at); err != nil {
			return nil, err
		}
	}
	at := s.Column("topics")
	topics, err := list(s.Rows[row][at])
	if err != nil {
		return nil, s.Errorf(row, at, "%v", err)
	}
	var out []digin.Photo
	for _, topic := range topics {
		one := p
		if one.Object = digin.Words(topic); one.Object == "" {
			return nil, s.Errorf(row, at, "a topic is empty")
		}
		if len(topics) > 1 {
			one.ID += "/" + one.Object
		}
		if !slices.ContainsFunc(out, func(p digin.Photo) bool { return p.Object == one.Object }) {
			out = append(out, one)
		}
	}
	return out, nil
}

// regionOf returns the key of the row's region, given by its code (as) or its name (Asia).
func regionOf(s *manifest.Sheet, row int) (string, error) {
	at := s.Column("region.id")
	name := strings.TrimPrefix(digin.Words(s.Rows[row][at]), "the ")
	if key, known := regionIDs[name]; known {
		return key, nil
	}
	for _, r := range digin.DollarStreetRegions() {
		if strings.EqualFold(name, r.Key) {
			return r.Key, nil
		}
	}
	return "", s.Errorf(row, at, "%q is not a region of Dollar Street; the regions are af (Africa), am (Americas), as "+
		"(Asia), eu (Europe)", s.Rows[row][at])
}

// list parses a list of texts as Python or JSON write it, ['a', "b"], or a plain text, which is a list of one.
func list(text string) ([]string, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "[") {
		return []string{text}, nil
	}
	var texts []string
	if json.Unmarshal([]byte(text), &texts) == nil {
		return texts, nil
	}
	bad := fmt.Errorf("%q is not a list such as ['Cups', 'Plates']", text)
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
			if r, _, tail, err := strconv.UnquoteChar(rest[end:], rest[0]); err == nil && rest[end] == '\\' {
				word.WriteRune(r)
				end = len(rest) - len(tail) - 1
				continue
			}
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

// Photos returns the reference images with a row for each topic of each photo: id (the index's id, followed by /TOPIC
// if the photo has several topics), image, object (the topic in lower case, as in DIG In's prompts: "stove/hob"),
// region ("Africa", "Americas", "Asia", "Europe"), country, outcome (ok, or failed where the image is missing), reason
// and income (of the household, US dollars a month, purchasing power parity), in the index's order. Select the rows
// with outcome ok before sampling.
func Photos(options ...Options) datasets.Table { return layout.Table(options...) }

// CheckOptions are the options of [Check].
type CheckOptions = digin.CheckOptions

// Check compares an unpacked archive with what [Photos] expects; see [digin.Archive.Check].
func Check(dir string, o CheckOptions) (*check.Report, error) { return layout.Check(dir, o) }

func init() {
	manifest.Register(manifest.Manifest{
		Name: Name, Title: "The Dollar Street dataset, photos of household items with country and income", Origin: Page,
		Version: "images_v2, as offered on the page",
		License: "CC BY and CC BY-SA 4.0 (see the page)", Citation: Citation,
		Warning: "not downloaded: get it from " + Page + " and unpack it into a folder named " + Name + " (" +
			layout.Shape + "), then set ANTIPODE_DATA to the folder above",
		Files: []manifest.File{
			{Path: "images_v2.csv", Columns: []string{"id", "country.name", "region.id", "topics", "income",
				"imageRelPath"}, Optional: "comes with the photos from " + Page},
			{Path: "dataset_dollarstreet/images_v2.csv", Optional: "the same, one folder down"},
			{Path: "images_v2_imagenet_train.csv", Optional: "part of the same archive"},
			{Path: "images_v2_imagenet_test.csv", Optional: "part of the same archive"},
		},
	})
	layout.Register()
}
