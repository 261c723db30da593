package entigen

import (
	"fmt"
	"maps"
	"slices"

	"antipode/datasets/manifest"
)

// Name is the data set's name, as `antipode data pull` takes it.
const Name = "entigen"

const (
	commit  = "3c634bac898d220268278414a5bd1a79a5b9c71f"
	base    = "https://raw.githubusercontent.com/Hritikbansal/entigen_emnlp/" + commit + "/"
	ratings = "ratings" // the set of files whose identifiers are replaced together
)

// Files are the rating sheets, in the order in which labels are assigned.
var Files = []string{
	"annotated_data/geo_results.csv", "annotated_data/mindalle_gender_skin_color_results.csv",
	"annotated_data/minidalle_gender_skin_color_results.csv",
	"annotated_data/stablediff_gender_skin_color_results.csv", "annotated_data/stablediff_geo_results.csv",
}

func init() {
	person := []string{"Input.occu", "Input.url", "Answer.Description_0", "Answer.Description_1",
		"Answer.Description_2", "Answer.Description_3"}
	sheet := func(i int, upstream, normal string, rows int, columns []string) manifest.File {
		return manifest.File{Path: Files[i], URL: base + Files[i], Commit: commit, SHA256: upstream, Normal: normal,
			Set: ratings, Rows: rows, Columns: columns}
	}
	manifest.Register(manifest.Manifest{
		Name: Name, Title: "ENTIGEN: ethical natural language interventions in text-to-image generation, human ratings",
		Origin: "https://github.com/Hritikbansal/entigen_emnlp", Version: "commit " + commit[:7] + " (2023-08-16)",
		License: "MIT, (c) 2022 Hritikbansal", Citation: "Bansal et al., EMNLP 2022",
		Warning:   "labels are raters' perceptions of generated images, in two groups per axis",
		Normalize: normalize,
		Files: []manifest.File{
			sheet(0, "2a72e703aff065ecead5366b73447351b847fa38ff0fb1c1fd9d59b9ef917473",
				"7cd96214be8ddb29964ebffc4b0689652ef78fdeca97bbf3f97af80546a2b4ac", 972, person[:4]),
			sheet(1, "f7d0e5e2ef338b6c8cdc5b30d3b25aac77db77e1ca5ba94c9602f7362a85b7c2",
				"2563e01ff919e03c948b0d92b6a4ef7561e6d4ae3a338d2c9ce7f944a2eaee24", 1377, person),
			sheet(2, "fdc2e008e53b899769530e15042be8bd817cca058e11bc42f4262b0191bd16ec",
				"265ea409e146c313f24d3ff6a98f8166383c3061069dee618e422b929b5f94cf", 1377, person),
			sheet(3, "96125757f65b7fc6654fa7b667871743b02e242b5f4a3825800c9c97be98a1a7",
				"e7cb7b30283bdcf515a43f2deef99f0b3070b2c1220b08d216c1810cb9cb657e", 702, person),
			sheet(4, "0c3b9371299f4c2a3db42edc7f6d877bc91c8f2d17c7345d75feca311f4e261d",
				"93abe2d15a7cadde2e602c0a3c6bc73bbb7c29dfa7bf3990f43314debae6b6a0", 405, person[:4]),
			{Path: "prompt.csv", URL: base + "prompt.csv", Commit: commit,
				SHA256: "6137cdf3dc7f8bd39a911ef2e6528e5799dc6bda9b0ea7746b804fae101cc40d", Rows: 246,
				Columns: []string{"Category", "Type", "Attribute", "Sentence"}},
			{Path: "LICENSE", URL: base + "LICENSE", Commit: commit,
				SHA256: "0e35ef052730d52d9bae823554b8f2d60f8db6126abd4eb72f238528042baa88"},
		},
	})
}

// labeled are the columns whose identifiers become labels, with the letter the labels start with; blanked are emptied.
var (
	labeled = map[string]string{"WorkerId": "w", "AssignmentId": "a", "HITId": "h"}
	blanked = []string{"RequesterAnnotation", "LifetimeApprovalRate", "Last30DaysApprovalRate",
		"Last7DaysApprovalRate"}
)

// normalize is the manifest's Normalize: identifiers become labels w00001, a00001, h00001 … in the order of their first
// appearance over all files of the set, one label per identifier; approval rates and batch annotations become empty.
func normalize(_ string, files map[string][]byte) (map[string][]byte, error) {
	labels := map[string]map[string]string{}
	for column := range labeled {
		labels[column] = map[string]string{}
	}
	out := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		s, err := manifest.ReadSheet(name, files[name], "WorkerId", "AssignmentId", "HITId")
		if err != nil {
			return nil, err
		}
		for _, row := range s.Rows {
			for i, column := range s.Header {
				letter, isID := labeled[column]
				switch {
				case slices.Contains(blanked, column):
					row[i] = ""
				case isID && row[i] != "":
					known := labels[column]
					if known[row[i]] == "" {
						known[row[i]] = fmt.Sprintf("%s%05d", letter, len(known)+1)
					}
					row[i] = known[row[i]]
				}
			}
		}
		if out[name], err = manifest.WriteCSV(append([][]string{s.Header}, s.Rows...)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
