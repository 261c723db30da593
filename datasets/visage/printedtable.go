package visage

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
)

//go:embed printed_similarity.csv
var printedSimilarityCSV []byte

//go:embed regions.csv
var regionsCSV []byte

// PrintedSimilarityRow is one row of Tables 3 to 5 of the paper.
type PrintedSimilarityRow struct {
	Table               int
	Identity            string // key of the identity in the data
	DS, DNS, SNS, MeanS float64
}

// PrintedSimilarity returns the 135 rows of the paper's Tables 3 to 5, in their order: values to four decimals.
func PrintedSimilarity() []PrintedSimilarityRow {
	s, err := manifest.ReadSheet("printed_similarity.csv", printedSimilarityCSV, "table", "identity", "s_d_s", "s_d_ns",
		"s_s_ns", "mean_sim")
	if err != nil {
		return nil // cannot happen: the file is part of the program, and a test reads it
	}
	out := make([]PrintedSimilarityRow, s.Len())
	for i, v := range s.Rows {
		r := &out[i]
		r.Table, _ = strconv.Atoi(v[0])
		if r.Identity = v[1]; r.Identity == "United Kingdom" {
			r.Identity = "United KingdomUK"
		}
		for k, into := range []*float64{&r.DS, &r.DNS, &r.SNS, &r.MeanS} {
			*into, _ = strconv.ParseFloat(v[2+k], 64)
		}
	}
	return out
}

var (
	printedPull = source.Define(source.Definition[datasets.ReadFileArgs]{
		Name: "visage-printed-pull", Title: "ViSAGe Tables 3 to 5 as printed", Listed: true,
		Columns: "identity:text region:text table:number s_d_s:number s_d_ns:number s_s_ns:number mean_sim:number " +
			"pull:number mean_recomputed:number",
		Read: func(a datasets.ReadFileArgs, _ *datasets.Call, f *datasets.Frame) error {
			all := regions.Frame()
			err := addRegions(a, all)
			of := map[string]string{}
			for i, id := range all.Texts("identity") {
				of[id] = all.Texts("region")[i]
			}
			for _, r := range PrintedSimilarity() {
				f.Add([]string{DisplayName(r.Identity), of[r.Identity]}, float64(r.Table), r.DS, r.DNS, r.SNS, r.MeanS,
					r.DS-r.DNS, (r.DS+r.DNS+r.SNS)/3)
			}
			return err
		}})
	printed = source.Define(source.Definition[struct{}]{
		Name: "visage-printed", Title: "ViSAGe Tables 1 and 2 as printed", Listed: true,
		Columns: "identity:text label:text table:number l_stereo:number l_random:number theta:number theta_text:text",
		Read: func(_ struct{}, _ *datasets.Call, f *datasets.Frame) error {
			for _, r := range PrintedTables() {
				f.Add([]string{DisplayName(r.Identity), r.Label, r.ThetaText}, float64(r.Table), r.Stereo, r.Random,
					r.Theta)
			}
			return nil
		}})
	regions = source.Define(source.Definition[datasets.ReadFileArgs]{
		Name: "visage-regions", Title: "ViSAGe regions", Listed: true,
		Columns: "identity:text name:text region:text country:text iso3:text part:text",
		Read: func(a datasets.ReadFileArgs, _ *datasets.Call, f *datasets.Frame) error {
			return addRegions(a, f)
		}})
)

// PrintedPull is the table of the paper's Tables 3 to 5, one identity a row: identity, region (of
// [Regions] with that path), table, s_d_s, s_d_ns, s_s_ns and mean_sim as printed, and computed from these: pull =
// s_d_s − s_d_ns, which is above 0 for 121 identities, and mean_recomputed, the mean of the three, which differs from
// mean_sim only by rounding.
func PrintedPull(path string) datasets.Table {
	return fromFile(printedPull, path)
}

// fromFile returns the table of a source with an absolute path, or without one.
func fromFile(s source.Source[datasets.ReadFileArgs], path string) datasets.Table {
	if path != "" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return datasets.Failed(err)
		}
		path = abs
	}
	return s.Table(datasets.ReadFileArgs{Path: path})
}

// Printed is the table of the paper's Tables 1 and 2, one identity a row: identity, label (as printed), table,
// l_stereo, l_random, theta (no value for N/A) and theta_text.
func Printed() datasets.Table { return printed.Table() }

// Parts of the world in the table of [Regions].
const (
	GlobalSouth = "Global South"
	GlobalNorth = "Global North"
)

// part returns the part of the world of a country, as UNCTAD's statistics divide it: the Global North is Europe, North
// America, Australia and New Zealand, Cyprus, Israel, Japan and South Korea.
func part(region, iso3 string) string {
	switch iso3 {
	case "CYP", "ISR", "JPN", "KOR":
		return GlobalNorth
	case "ARM", "AZE", "GEO":
		return GlobalSouth
	}
	switch region {
	case "Europe", "North America", "Australia":
		return GlobalNorth
	}
	return GlobalSouth
}

// Regions is the table of SeeGULL's 176 identities with their region: identity (the key), name, region, country, iso3
// (ISO 3166-1 alpha-3; blank where there is none) and part, GlobalSouth or GlobalNorth. The regions are the eight of
// SeeGULL's data card, which does not map identities to them; the mapping is this project's (South East and Central
// Asia belong to East Asia, North Africa and Turkey to the Middle East, the Caucasus to Europe, Mexico to Latin
// America). path is a CSV file with the columns identity, region, country and iso3 to read instead, and part if it
// divides the world otherwise; "" = the project's. Join it to a score by identity, for bars or a map by country. An
// identity that scores show under another name (United Kingdom) has a second row with that name.
func Regions(path string) datasets.Table { return fromFile(regions, path) }

// addRegions reads the mapping of identities to regions.
func addRegions(a datasets.ReadFileArgs, f *datasets.Frame) error {
	name, text := "regions.csv", regionsCSV
	if a.Path != "" {
		var err error
		if text, err = os.ReadFile(a.Path); err != nil {
			return fmt.Errorf("visage: %w", err)
		}
		name = a.Path
	}
	s, err := manifest.ReadSheet(name, text, "identity", "region", "country", "iso3")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for row := range s.Rows {
		id, region := s.Cell(row, "identity"), s.Cell(row, "region")
		if id == "" || seen[id] {
			return s.Errorf(row, s.Column("identity"), "%q is blank or occurs twice", id)
		}
		if region == "" {
			return s.Errorf(row, s.Column("region"), "%s has no region", id)
		}
		seen[id] = true
		place := []string{region, s.Cell(row, "country"), s.Cell(row, "iso3"), s.Cell(row, "part")}
		if s.Column("part") < 0 {
			place[3] = part(region, place[2])
		}
		f.Add(append([]string{id, DisplayName(id)}, place...))
		if shown := DisplayName(id); shown != id && !seen[shown] {
			seen[shown] = true
			f.Add(append([]string{shown, shown}, place...))
		}
	}
	return nil
}
