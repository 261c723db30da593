package visage

import (
	"fmt"
	"math"
	"os"
	"slices"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
	"antipode/datasets/seegull"
)

// Options are the options of the tables. The zero value reads the newest version that exists and masks attributes.
type Options struct {
	Dir           string `json:"dir,omitempty" help:"folder of ViSAGe; empty = found in ANTIPODE_DATA or the store"`
	SeeGULL       string `json:"seegull,omitempty" help:"folder of SeeGULL; empty = found in ANTIPODE_DATA or the store"`
	Version       string `json:"version,omitempty" help:"empty = the current file, else the workbook; current; workbook"`
	ShowOffensive bool   `json:"show_offensive,omitempty" help:"show offensive and unrated attributes"`
}

func (o Options) here() Options {
	o.Dir, o.SeeGULL = manifest.Here(Name, o.Dir), manifest.Here(seegull.Name, o.SeeGULL)
	return o
}

// found completes the folders from the backend's store.
func (o Options) found(home string) (Options, error) {
	dir, err := manifest.Dir(Name, o.Dir, home)
	if err != nil {
		return o, err
	}
	o.Dir = dir
	o.SeeGULL, err = manifest.Dir(seegull.Name, o.SeeGULL, home)
	return o, err
}

// pairColumns are the columns that the attribute's ratings and SeeGULL's counts add to a row; no value = the pair or
// the attribute is missing there.
const pairColumns = " na_stereo:number region_stereo:number offensiveness:number score_asia:number " +
	"score_europe:number score_na:number"

// define defines a source whose rows are read with the folders found.
func define(name, title, columns string, read func(o Options, f *datasets.Frame) error) source.Source[Options] {
	return source.Define(source.Definition[Options]{Name: name, Title: title, Columns: columns,
		Listed: name != "visage-files", Complete: Options.here,
		Read: func(o Options, call *datasets.Call, f *datasets.Frame) error {
			o, err := o.found(call.Home)
			if err != nil {
				return err
			}
			return read(o, f)
		}})
}

var (
	annotations = define("visage-annotations", "ViSAGe annotations", "id:text task:text batch:text identity:text "+
		"attribute:text image_number:number selected:number box_left:number box_top:number box_right:number "+
		"box_bottom:number"+pairColumns, addAnnotations)
	ratings = define("visage-ratings", "ViSAGe attribute ratings", "id:text attribute:text score_asia:number "+
		"score_europe:number score_na:number", addRatings)
	pairs = define("visage-pairs", "SeeGULL pairs with ViSAGe ratings", "id:text identity:text attribute:text"+
		pairColumns, addPairs)
	files = define("visage-files", "ViSAGe files", "file:text form:text rows:number left_out:number remark:text",
		addFiles)
)

// Annotations is the table of the annotations with the ratings and SeeGULL's counts of each pair: id, task,
// batch, identity, image (number within the identity), attribute (masked by default), selected (1 or 0), box_left
// box_top box_right box_bottom (pixels of a 512×512 image; no value without a box), na_stereo and
// region_stereo (annotators who call the pair a stereotype), offensiveness (mean in [-1, 4]; no value = not rated or
// no pair of SeeGULL) and score_asia score_europe score_na (1 to 5: whether the attribute can be seen in an image).
func Annotations(options ...Options) datasets.Table { return annotations.Table(options...) }

// Ratings is the table of the attributes' ratings, one row each: id, attribute, score_asia score_europe score_na (1
// to 5). An attribute alone, without an identity, is no stereotype and is not masked.
func Ratings(options ...Options) datasets.Table { return ratings.Table(options...) }

// Pairs is the table of SeeGULL's pairs with the ratings of their attributes: id, identity, attribute (masked by
// default) and the columns that [Annotations] adds to a row. The visual stereotypes of an identity are counted in it.
func Pairs(options ...Options) datasets.Table { return pairs.Table(options...) }

// Files is the table of the files that the other tables read: file, form ("upstream" or "normalized"), rows read,
// rows left_out, and a remark: the version of the annotations, and why rows were left out.
func Files(options ...Options) datasets.Table { return files.Table(options...) }

// lookup has the values of pairColumns and the label of a pair.
type lookup struct {
	stereo  map[[2]string]seegull.Pair
	ratings map[string]Rating
	mask    seegull.Masker
	show    bool
}

func newLookup(o Options) (*lookup, []seegull.Pair, error) {
	pairs, _, err := seegull.Load(os.DirFS(o.SeeGULL))
	if err != nil {
		return nil, nil, err
	}
	ratings, _, err := loadRatings(os.DirFS(o.Dir))
	if err != nil {
		return nil, nil, err
	}
	l := &lookup{stereo: map[[2]string]seegull.Pair{}, ratings: map[string]Rating{}, show: o.ShowOffensive}
	for _, p := range pairs {
		l.stereo[[2]string{p.Identity, p.Attribute}] = p
	}
	for _, r := range ratings {
		if _, known := l.ratings[r.Attribute]; !known {
			l.ratings[r.Attribute] = r
		}
	}
	return l, pairs, nil
}

// of returns the attribute as it may be shown next to the identity, and the values of pairColumns.
func (l *lookup) of(identity, attribute string) (label string, values []float64) {
	none := math.NaN()
	values = []float64{none, none, none, none, none, none}
	if p, known := l.stereo[[2]string{identity, attribute}]; known {
		values[0], values[1], values[2] = p.NAStereo, p.RegionStereo, p.Offensiveness
	}
	if r, known := l.ratings[attribute]; known {
		values[3], values[4], values[5] = r.Asia, r.Europe, r.NA
	}
	if l.show || attribute == NoneOfTheAbove {
		return attribute, values
	}
	return l.mask.Label(identity, attribute, values[2]), values
}

func addAnnotations(o Options, f *datasets.Frame) error {
	rows, _, err := loadAnnotations(os.DirFS(o.Dir), o.Version)
	if err != nil {
		return err
	}
	l, _, err := newLookup(o)
	if err != nil {
		return err
	}
	for _, a := range rows {
		numbers := []float64{float64(a.Image), 0, a.Box.Left, a.Box.Top, a.Box.Right, a.Box.Bottom}
		if a.Selected {
			numbers[1] = 1
		}
		if a.Box == (Box{}) {
			copy(numbers[2:], slices.Repeat([]float64{math.NaN()}, 4))
		}
		label, values := l.of(a.Identity, a.Attribute)
		f.Add([]string{fmt.Sprintf("v%06d", a.Line), a.Task, a.Batch, a.Identity, label}, append(numbers, values...)...)
	}
	return nil
}

func addPairs(o Options, f *datasets.Frame) error {
	l, pairs, err := newLookup(o)
	for i, p := range pairs {
		label, values := l.of(p.Identity, p.Attribute)
		f.Add([]string{fmt.Sprintf("s%05d", i+1), p.Identity, label}, values...)
	}
	return err
}

func addRatings(o Options, f *datasets.Frame) error {
	ratings, _, err := loadRatings(os.DirFS(o.Dir))
	for i, r := range ratings {
		f.Add([]string{fmt.Sprintf("r%04d", i+1), r.Attribute}, r.Asia, r.Europe, r.NA)
	}
	return err
}

func addFiles(o Options, f *datasets.Frame) error {
	_, annotations, err := loadAnnotations(os.DirFS(o.Dir), o.Version)
	if err != nil {
		return err
	}
	_, ratings, err := loadRatings(os.DirFS(o.Dir))
	if err != nil {
		return err
	}
	_, pairs, err := seegull.Load(os.DirFS(o.SeeGULL))
	if err != nil {
		return err
	}
	add := func(u manifest.Used, remark string, rows, leftOut int) {
		f.Add([]string{u.Path, string(u.Form), remark}, float64(rows), float64(leftOut))
	}
	add(annotations.Used, annotations.Remark(), annotations.Rows, annotations.Dropped)
	add(ratings.Used, ratings.Remark(), ratings.Rows, 0)
	add(pairs.Used, pairs.Remark(), pairs.Rows, 0)
	return nil
}
