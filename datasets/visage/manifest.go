package visage

import "antipode/datasets/manifest"

// Name is the data set's name, as `antipode data pull` takes it.
const Name = "visage"

// The data set's files, as stored.
const (
	currentFile  = "ImageAnnotations.csv"  // the repository's current annotations
	workbookFile = "image_annotations.csv" // CSV form of the withdrawn workbook "Image Annotations.xlsx"
	ratingsFile  = "visual_attributes.csv" // CSV form of "Visual Attributes_.xlsx"
)

const (
	current  = "9ee4e45bd210102d133df72b13bda60aa71bfeee"
	february = "722980e5274479321caa758c84c33e6487a03416"
	raw      = "https://raw.githubusercontent.com/google-research-datasets/visage/"
)

func init() {
	annotationColumns := []string{"worker_id", "img_path", "attribute", "present", "coords"}
	manifest.Register(manifest.Manifest{
		Name: Name, Title: "ViSAGe: visual stereotypes around the globe",
		Origin: "https://github.com/google-research-datasets/visage", Version: "commit " + current[:7] +
			" (2024-08-13)",
		License: "Apache-2.0", Citation: "Jha et al., ACL 2024, arXiv 2401.06310",
		Warning:   "offensive stereotypes about real groups of people",
		Normalize: normalize,
		Files: []manifest.File{
			{Path: ratingsFile, Upstream: "Visual Attributes_.xlsx", URL: raw + current + "/Visual%20Attributes_.xlsx",
				Commit: current,
				SHA256: "ddb7ad24d32b27d5df0138b95ab8843c0ece9a5a91fa23d39aa4dd67af25fa46",
				Normal: "7eadf781098f3c1507dc7ae1230e6e222a9dc155d45ceaa0f03549ee6bfcc54c", Set: "ratings", Rows: 1994,
				Columns: []string{"attribute", "rating_asia", "score_asia", "rating_emea", "score_emea", "rating_na",
					"score_na", "mean"}},
			{Path: "LICENSE", URL: raw + current + "/LICENSE", Commit: current,
				SHA256: "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"},
			{Path: workbookFile, Upstream: "Image Annotations.xlsx", URL: raw + february + "/Image%20Annotations.xlsx",
				Commit: february,
				SHA256: "74a28f47969d8125e1742bf8789d901668dec81dad4026db3b7df4f6a89affb1",
				Normal: "24c1ff41c8cab66729b593147f595f60b381a400f6bafeaf7b41374c28f2c423", Set: "workbook",
				Rows: 122675, Columns: annotationColumns,
				Optional: "withdrawn by the maintainers on 2024-07-16; the paper's Tables 1 and 2 come out of it"},
			{Path: currentFile, URL: raw + current + "/ImageAnnotations.csv", Commit: current,
				GitBlob: "0bd78729ec3029168ec8542e4309d7aaadc50d30", Set: "current", Columns: annotationColumns},
		},
	})
}
