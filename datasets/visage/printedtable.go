package visage

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/kernel/client"
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
	s, err := manifest.ReadSheet("printed_similarity.csv", printedSimilarityCSV, "table", "identity", "s_d_s", "s_d_ns", "s_s_ns", "mean_sim")
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
	similarityColumns = datasets.Columns("identity:text", "region:text", "table:number", "s_d_s:number", "s_d_ns:number", "s_s_ns:number", "mean_sim:number", "pull:number", "mean_recomputed:number")
	printedColumns    = datasets.Columns("identity:text", "label:text", "table:number", "l_stereo:number", "l_random:number", "theta:number", "theta_text:text")
	regionColumns     = datasets.Columns("identity:text", "name:text", "region:text", "country:text", "iso3:text")
)

// PrintedPull is the table of the paper's Tables 3 to 5, one identity a row: identity, region (of [Regions] from that file; "" = the project's), table, s_d_s, s_d_ns, s_s_ns and mean_sim as printed, and what follows
// from them: pull = s_d_s − s_d_ns, mean_recomputed = the mean of the three, which differs from mean_sim by rounding alone. pull counts 121 identities above 0.
func PrintedPull(regions string) datasets.Table {
	return fromFile("visage-printed-pull", regions, similarityColumns).Named("ViSAGe Tables 3 to 5 as printed")
}

// fromFile is the table of a source that may read a file in place of the project's.
func fromFile(op, path string, columns []client.ColumnSpec) datasets.Table {
	if path != "" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return datasets.Table{}.Fail(err)
		}
		path = abs
	}
	return datasets.New(op, datasets.ReadFileArgs{Path: path}, columns)
}

// Printed is the table of the paper's Tables 1 and 2, one identity a row: identity, label (as printed), table, l_stereo, l_random, theta (no value for N/A) and theta_text.
func Printed() datasets.Table {
	return datasets.New("visage-printed", nil, printedColumns).Named("ViSAGe Tables 1 and 2 as printed")
}

// Regions is the table of SeeGULL's 176 identities with their region: identity (the key), name, region, country and iso3 (ISO 3166-1 alpha-3; blank where there is none). The regions are the
// eight of SeeGULL's data card, which maps no identity: this mapping is the project's own (South East and Central Asia stand with East Asia, North Africa and Turkey with the Middle
// East, the Caucasus with Europe, Mexico with Latin America). path is a CSV file of the same columns in its place; "" = the project's. Join it to a score by
// identity, for bars or a map by country: an identity that scores show under another name (United Kingdom) has a second row under that.
func Regions(path string) datasets.Table {
	return fromFile("visage-regions", path, regionColumns).Named("ViSAGe regions")
}

func init() {
	manifest.RegisterTable("visage-printed", Printed)
	manifest.RegisterTable("visage-printed-pull", func() datasets.Table { return PrintedPull("") })
	manifest.RegisterTable("visage-regions", func() datasets.Table { return Regions("") })
	regions := func(raw json.RawMessage) (*datasets.Frame, error) {
		var a datasets.ReadFileArgs
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &a); err != nil {
				return nil, fmt.Errorf("visage: %w", err)
			}
		}
		return regionFrame(a.Path)
	}
	datasets.RegisterSource("visage-regions", func(_ context.Context, raw json.RawMessage, _ datasets.SourceEnv) (*datasets.Frame, error) {
		return regions(raw)
	})
	datasets.RegisterSource("visage-printed-pull", func(_ context.Context, raw json.RawMessage, _ datasets.SourceEnv) (*datasets.Frame, error) {
		regions, err := regions(raw)
		if err != nil {
			return nil, err
		}
		of := map[string]string{}
		for i, id := range regions.Texts("identity") {
			of[id] = regions.Texts("region")[i]
		}
		f := client.NewFrame(similarityColumns)
		for _, r := range PrintedSimilarity() {
			f.Add([]string{DisplayName(r.Identity), of[r.Identity]}, float64(r.Table), r.DS, r.DNS, r.SNS, r.MeanS, r.DS-r.DNS, (r.DS+r.DNS+r.SNS)/3)
		}
		return f, nil
	})
	datasets.RegisterSource("visage-printed", func(context.Context, json.RawMessage, datasets.SourceEnv) (*datasets.Frame, error) {
		f := client.NewFrame(printedColumns)
		for _, r := range PrintedTables() {
			f.Add([]string{DisplayName(r.Identity), r.Label, r.ThetaText}, float64(r.Table), r.Stereo, r.Random, r.Theta)
		}
		return f, nil
	})
}

// regionFrame reads the mapping of identities to regions.
func regionFrame(path string) (*datasets.Frame, error) {
	name, text := "regions.csv", regionsCSV
	if path != "" {
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("visage: %w", err)
		}
		name = path
	}
	s, err := manifest.ReadSheet(name, text, "identity", "region", "country", "iso3")
	if err != nil {
		return nil, err
	}
	f := client.NewFrame(regionColumns)
	seen := map[string]bool{}
	for row, v := range s.Rows {
		id, region := v[s.Column("identity")], v[s.Column("region")]
		if id == "" || seen[id] {
			return nil, s.Errorf(row, s.Column("identity"), "%q is blank or stands twice", id)
		}
		if region == "" {
			return nil, s.Errorf(row, s.Column("region"), "%s has no region", id)
		}
		seen[id] = true
		f.Add([]string{id, DisplayName(id), region, v[s.Column("country")], v[s.Column("iso3")]})
		if shown := DisplayName(id); shown != id && !seen[shown] {
			seen[shown] = true
			f.Add([]string{shown, shown, region, v[s.Column("country")], v[s.Column("iso3")]})
		}
	}
	return f, nil
}
