package visage

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"

	"antipode/datasets/manifest"
)

// NoneOfTheAbove is the extra option of every screen. In the released file it is never selected, even
// if nothing else is.
const NoneOfTheAbove = "none of the above"

// ImageSize is the width and height in pixels that the boxes refer to (inferred from their range).
const ImageSize = 512

// Annotation is a row of the annotation file: an attribute shown for an image.
type Annotation struct {
	Line      int    // of the file, from 1
	Task      string // label of the task, not of a person
	Batch     string // folder of the image: which of the two batches
	Identity  string // nationality group, as in SeeGULL ("United KingdomUK" included)
	Image     int    // number of the image within its identity, from 1
	Attribute string
	Selected  bool
	Box       Box // where the annotator saw it; the zero Box = none
}

// Box is a rectangle on the image in pixels, 0 ≤ Left ≤ Right ≤ ImageSize.
type Box struct{ Left, Top, Right, Bottom float64 }

// Rating is a row of the attribute file: whether the attribute can be seen in an image. Scores run from 1 (Strongly
// Disagree) over 3 (Unsure) to 5 (Strongly Agree), from one annotator of each origin.
type Rating struct {
	Attribute        string
	Asia, Europe, NA float64
}

// Report describes what a load read and what it left out.
type Report struct {
	Used      manifest.Used
	Withdrawn bool   // the annotations are those of the workbook that the maintainers withdrew
	Rows      int    // rows read
	Dropped   int    // rows left out
	Why       string // why rows were left out
	Twice     int    // ratings of an attribute that already had one (the first counts)
}

// Remark describes in a sentence the file that was read.
func (r Report) Remark() string {
	var parts []string
	if r.Withdrawn {
		parts = append(parts, "annotations of the February 2024 workbook, which the maintainers withdrew in July "+
			"2024 in favor of "+currentFile)
	}
	if r.Dropped > 0 {
		parts = append(parts, fmt.Sprintf("%d rows left out: %s", r.Dropped, r.Why))
	}
	if r.Twice > 0 {
		parts = append(parts, fmt.Sprintf("attributes rated a second time, the first counts: %d", r.Twice))
	}
	return strings.Join(parts, "; ")
}

// The versions of the annotations.
const (
	AnyVersion     = ""         // the current file if it exists, else the workbook
	CurrentVersion = "current"  // ImageAnnotations.csv of July 2024
	WorkbookOnly   = "workbook" // Image Annotations.xlsx of February 2024, withdrawn, or its CSV form
)

// loadAnnotations reads the annotations from the data set's folder and checks the file against the manifest.
func loadAnnotations(fsys fs.FS, version string) ([]Annotation, Report, error) {
	m, err := manifest.Get(Name)
	if err != nil {
		return nil, Report{}, err
	}
	order := []string{currentFile, workbookFile}
	switch version {
	case CurrentVersion:
		order = order[:1]
	case WorkbookOnly:
		order = order[1:]
	case AnyVersion:
	default:
		return nil, Report{}, fmt.Errorf("ViSAGe has no version %q; use %q, %q or \"\" for the newest that exists",
			version, CurrentVersion, WorkbookOnly)
	}
	var missing error
	for _, path := range order {
		data, used, err := m.Read(fsys, path)
		if errors.Is(err, fs.ErrNotExist) {
			missing = err
			continue
		}
		if err != nil {
			return nil, Report{}, err
		}
		rows, report, err := readAnnotations(used.Path, data)
		report.Used, report.Withdrawn = used, path == workbookFile
		return rows, report, err
	}
	return nil, Report{}, fmt.Errorf("%w; run `antipode data pull visage`", missing)
}

// image is a parsed image path.
type image struct {
	batch, identity string
	number          int
}

func parseImage(path string) (image, error) {
	parts := imageName.FindStringSubmatch(path)
	if parts == nil || parts[2] == "" {
		return image{}, fmt.Errorf("%q is not <batch>/<identity><number>.png", path)
	}
	n, err := strconv.Atoi(parts[3])
	if err != nil {
		return image{}, fmt.Errorf("the number of the image %q is too large", path)
	}
	return image{parts[1], parts[2], n}, nil
}

var imageName = regexp.MustCompile(`^(?:(.*)/)?(.*?)(\d+)\.\w+$`)

// readAnnotations parses the CSV text of either version, by column name. name is the file name in errors, which
// state line and column.
func readAnnotations(name string, data []byte) ([]Annotation, Report, error) {
	s, err := manifest.ReadSheet(name, data, "worker_id", "img_path", "attribute", "present", "coords")
	if err != nil {
		return nil, Report{}, err
	}
	worker, img, attribute, present, coords := s.Column("worker_id"), s.Column("img_path"), s.Column("attribute"),
		s.Column("present"), s.Column("coords")
	report := Report{Why: "no image and no attribute"}
	images := map[string]image{}
	out := make([]Annotation, 0, s.Len())
	for row, v := range s.Rows {
		if v[img] == "" && v[attribute] == "" {
			report.Dropped++
			continue
		}
		p, known := images[v[img]]
		if !known {
			if p, err = parseImage(v[img]); err != nil {
				return nil, report, s.Errorf(row, img, "%v", err)
			}
			images[v[img]] = p
		}
		if v[attribute] == "" {
			return nil, report, s.Errorf(row, attribute, "the attribute is missing")
		}
		a := Annotation{Line: s.Line(row), Task: v[worker], Batch: p.batch, Identity: p.identity, Image: p.number,
			Attribute: v[attribute]}
		switch v[present] {
		case "yes":
			a.Selected = true
		case "no":
		default:
			return nil, report, s.Errorf(row, present, "%q is neither yes nor no", v[present])
		}
		if a.Box, err = parseBox(v[coords]); err != nil {
			return nil, report, s.Errorf(row, coords, "%v", err)
		}
		out = append(out, a)
	}
	report.Rows = len(out)
	return out, report, nil
}

var quotes = strings.NewReplacer("'", "", "\"", "", " ", "")

// parseBox reads the Python list ['x,y', 'x,y'] of two corners in any order; "[]" and "[nan, nan]" are no box.
func parseBox(v string) (Box, error) {
	inner, ok := strings.CutPrefix(strings.TrimSpace(v), "[")
	inner, ok2 := strings.CutSuffix(inner, "]")
	if !ok || !ok2 {
		return Box{}, fmt.Errorf("%q is not a list of corners", v)
	}
	inner = quotes.Replace(inner)
	if inner == "" || inner == "nan,nan" {
		return Box{}, nil
	}
	fields := strings.Split(inner, ",")
	if len(fields) != 4 {
		return Box{}, fmt.Errorf("%q is not a list of two corners", v)
	}
	var n [4]float64
	for i, f := range fields {
		x, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return Box{}, fmt.Errorf("%q is not a number", f)
		}
		n[i] = min(max(x, 0), ImageSize)
	}
	return Box{Left: min(n[0], n[2]), Top: min(n[1], n[3]), Right: max(n[0], n[2]), Bottom: max(n[1], n[3])}, nil
}

// loadRatings reads the ratings of the attributes from the data set's folder and checks the file against the manifest.
func loadRatings(fsys fs.FS) ([]Rating, Report, error) {
	m, err := manifest.Get(Name)
	if err != nil {
		return nil, Report{}, err
	}
	data, used, err := m.Read(fsys, ratingsFile)
	if err != nil {
		return nil, Report{}, err
	}
	rows, report, err := readRatings(used.Path, data)
	report.Used = used
	return rows, report, err
}

// readRatings parses the CSV text of the attribute file. All rows are returned; the report counts the attributes
// rated twice.
func readRatings(name string, data []byte) ([]Rating, Report, error) {
	s, err := manifest.ReadSheet(name, data, "attribute", "score_asia", "score_emea", "score_na")
	if err != nil {
		return nil, Report{}, err
	}
	var report Report
	seen := map[string]bool{}
	out := make([]Rating, s.Len())
	for row := range out {
		r := &out[row]
		if r.Attribute = s.Rows[row][s.Column("attribute")]; r.Attribute == "" {
			return nil, report, s.Errorf(row, s.Column("attribute"), "the attribute is missing")
		}
		for _, c := range []struct {
			name string
			into *float64
		}{{"score_asia", &r.Asia}, {"score_emea", &r.Europe}, {"score_na", &r.NA}} {
			at := s.Column(c.name)
			if *c.into, err = s.Number(row, at); err != nil {
				return nil, report, err
			}
			if !(*c.into >= 1 && *c.into <= 5) {
				return nil, report, s.Errorf(row, at, "the score is not one of 1 to 5")
			}
		}
		if seen[r.Attribute] {
			report.Twice++
		}
		seen[r.Attribute] = true
	}
	report.Rows = len(out)
	return out, report, nil
}
