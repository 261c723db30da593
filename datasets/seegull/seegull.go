package seegull

import (
	"fmt"
	"io/fs"
	"math"
	"os"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
)

// Name is the data set's name, as `antipode data pull` takes it.
const Name = "seegull"

// File is the file this package reads: version 2, nationalities.
const File = "stereotypes_global_v2.csv"

// Pair is one identity with one attribute.
type Pair struct {
	Identity, Attribute string

	RegionStereo, RegionNot, RegionUnsure float64 // annotators of the region itself: stereotype, not, unsure
	NAStereo, NANot, NAUnsure             float64 // annotators in North America

	Ratings       [3]float64 // offensiveness, -1 (not offensive) to 4; NaN = not rated
	Offensiveness float64    // their mean as published; NaN = not rated
}

// Report describes what a load read.
type Report struct {
	Used       manifest.Used
	Rows       int
	Identities int
	Unrated    int // pairs without ratings, published with a mean of 0
	// rated pairs whose published mean differs from the mean of the three ratings; the published one is used
	MeanOff int
}

// Remark describes in a sentence the file that was read.
func (r Report) Remark() string {
	return fmt.Sprintf("%d identities; %d pairs were never rated (published as mean 0) and have no offensiveness; "+
		"in %d the published mean is not that of the three ratings, and is kept", r.Identities, r.Unrated, r.MeanOff)
}

// Load reads the data set from its folder and checks it against the manifest.
func Load(fsys fs.FS) ([]Pair, Report, error) {
	m, err := manifest.Get(Name)
	if err != nil {
		return nil, Report{}, err
	}
	data, used, err := m.Read(fsys, File)
	if err != nil {
		return nil, Report{}, err
	}
	pairs, report, err := Read(used.Path, data)
	report.Used = used
	return pairs, report, err
}

// Read parses the CSV text of version 2. name is the file name in errors, which state line and column.
func Read(name string, data []byte) ([]Pair, Report, error) {
	texts := []string{"identity", "attribute"}
	numbers := []string{"region_stereo", "region_nonstereo", "region_unsure", "NA_stereo", "NA_nonstereo",
		"NA_unsure",
		"Annotation1", "Annotation2", "Annotation3", "mean offensiveness_score"}
	s, err := manifest.ReadSheet(name, data, append(texts, numbers...)...)
	if err != nil {
		return nil, Report{}, err
	}
	var report Report
	identities := map[string]bool{}
	seen := map[[2]string]bool{}
	pairs := make([]Pair, s.Len())
	for row := range pairs {
		p := &pairs[row]
		p.Identity, p.Attribute = s.Rows[row][s.Column("identity")], s.Rows[row][s.Column("attribute")]
		if key := [2]string{p.Identity, p.Attribute}; seen[key] {
			return nil, report, s.Errorf(row, s.Column("attribute"), "the pair %q, %q occurs twice", p.Identity,
				p.Attribute)
		} else {
			seen[key] = true
		}
		identities[p.Identity] = true
		for i, into := range []*float64{&p.RegionStereo, &p.RegionNot, &p.RegionUnsure, &p.NAStereo, &p.NANot,
			&p.NAUnsure, &p.Ratings[0], &p.Ratings[1], &p.Ratings[2], &p.Offensiveness} {
			column := s.Column(numbers[i])
			if *into, err = s.Number(row, column); err != nil {
				return nil, report, err
			}
			if i < 6 && math.IsNaN(*into) {
				return nil, report, s.Errorf(row, column, "the count is missing")
			}
		}
		mean := (p.Ratings[0] + p.Ratings[1] + p.Ratings[2]) / 3
		switch {
		case math.IsNaN(mean):
			p.Offensiveness = math.NaN()
			report.Unrated++
		case math.Abs(mean-p.Offensiveness) > 0.005:
			report.MeanOff++
		}
	}
	report.Rows, report.Identities = len(pairs), len(identities)
	return pairs, report, nil
}

// Options are the options of [Stereotypes]. The zero value masks.
type Options struct {
	Dir           string `json:"dir,omitempty" help:"folder of the data set; empty = found in ANTIPODE_DATA or the store"`
	ShowOffensive bool   `json:"show_offensive,omitempty" help:"show offensive and unrated attributes"`
}

var stereotypes = source.Define(source.Definition[Options]{
	Name: "seegull-stereotypes", Title: "SeeGULL", Listed: true,
	Columns: "id:text identity:text attribute:text na_stereo:number na_nonstereo:number na_unsure:number " +
		"region_stereo:number region_nonstereo:number region_unsure:number offensiveness:number",
	Complete: func(o Options) Options {
		o.Dir = manifest.Here(Name, o.Dir)
		return o
	},
	Read: func(o Options, call *datasets.Call, f *datasets.Frame) error {
		dir, err := manifest.Dir(Name, o.Dir, call.Home)
		if err != nil {
			return err
		}
		pairs, _, err := Load(os.DirFS(dir))
		add(f, pairs, o)
		return err
	}})

// Stereotypes is the table of SeeGULL's pairs: id, identity, attribute (masked by default), the annotators' counts
// (na_… in North America, region_… in the identity's own region) and offensiveness (mean in [-1, 4]; no value = never
// rated).
func Stereotypes(options ...Options) datasets.Table { return stereotypes.Table(options...) }

func init() {
	manifest.Register(manifest.Manifest{
		Name: Name, Title: "SeeGULL: a stereotype benchmark with broad geo-cultural coverage",
		Origin: "https://github.com/google-research-datasets/seegull", Version: "version 2, commit " + commit[:7] +
			" (2023-09-25)",
		License:  "CC BY 4.0 (LICENSE of the repository); its data card says Apache-2.0: attribute under both",
		Citation: "Jha et al., ACL 2023, arXiv 2305.11840",
		Warning:  "offensive stereotypes about real groups of people",
		Files: []manifest.File{
			{Path: File, URL: base + "dataset/" + File, Commit: commit,
				SHA256:   "0262db0b96c402e9340c88ee3e176af3591ff9f33fbf81541d35afbb7a81157d",
				Upstream: "dataset/" + File, Rows: 6781,
				Columns: []string{"identity", "attribute", "region_stereo", "region_nonstereo", "region_unsure",
					"NA_stereo", "NA_nonstereo", "NA_unsure", "Annotation1", "Annotation2", "Annotation3",
					"mean offensiveness_score"}},
			{Path: "LICENSE", URL: base + "LICENSE", Commit: commit,
				SHA256: "7e7170e3cebf88a9f60c7b8421418323c09304da1af4d5e90f4da1dc1c8a2661"},
		},
	})
}

const (
	commit = "0dc4db9f69217aff072375e20e72609b9707a873"
	base   = "https://raw.githubusercontent.com/google-research-datasets/seegull/" + commit + "/"
)

// add adds the rows of [Stereotypes].
func add(f *datasets.Frame, pairs []Pair, o Options) {
	var mask Masker
	for i, p := range pairs {
		attribute := p.Attribute
		if !o.ShowOffensive {
			attribute = mask.Label(p.Identity, attribute, p.Offensiveness)
		}
		f.Add([]string{fmt.Sprintf("s%05d", i+1), p.Identity, attribute}, p.NAStereo, p.NANot, p.NAUnsure,
			p.RegionStereo, p.RegionNot, p.RegionUnsure, p.Offensiveness)
	}
}
