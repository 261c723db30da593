package visage

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/datasets/seegull"
	"antipode/kernel/client"
)

// Options of the tables; the zero value reads the newest version there is and masks.
type Options struct {
	Dir           string `json:"dir,omitempty"`            // folder of ViSAGe; "" = found, see [manifest.Find]
	SeeGULL       string `json:"seegull,omitempty"`        // folder of SeeGULL; "" = found
	Version       string `json:"version,omitempty"`        // [AnyVersion], [CurrentVersion] or [WorkbookOnly]
	ShowOffensive bool   `json:"show_offensive,omitempty"` // name the attributes that package seegull would mask
}

func (o Options) here() Options {
	o.Dir, o.SeeGULL = manifest.Here(Name, o.Dir), manifest.Here(seegull.Name, o.SeeGULL)
	return o
}

func texts(names ...string) (specs []client.ColumnSpec) {
	for _, n := range names {
		specs = append(specs, client.ColumnSpec{Name: n, Kind: client.Text})
	}
	return specs
}

func numbers(names ...string) (specs []client.ColumnSpec) {
	for _, n := range names {
		specs = append(specs, client.ColumnSpec{Name: n, Kind: client.Number})
	}
	return specs
}

// pairColumns are what an attribute's ratings and SeeGULL's counts add to a row; no value = the pair or attribute is not there.
var pairColumns = []string{"na_stereo", "region_stereo", "offensiveness", "score_asia", "score_europe", "score_na"}

// Annotations is the table of the annotation rows, each with what the other two files say about its pair: id, task, batch,
// identity, picture (number within the identity), attribute (masked by default), selected (1 or 0), box_left box_top
// box_right box_bottom (pixels of a 512×512 picture; no value where there is no box), na_stereo and region_stereo (annotators who
// call the pair a stereotype), offensiveness (mean in [-1, 4]; no value = not rated or no pair of SeeGULL) and score_asia
// score_europe score_na (1 to 5: can the attribute be seen in a picture).
func Annotations(o Options) datasets.Table {
	specs := append(texts("id", "task", "batch", "identity", "attribute"), numbers("picture", "selected", "box_left", "box_top", "box_right", "box_bottom")...)
	return datasets.New("visage-annotations", o.here(), append(specs, numbers(pairColumns...)...)).Named("ViSAGe annotations")
}

// Ratings is the table of the attributes' ratings, one row each: id, attribute, score_asia score_europe score_na (1 to 5).
// An attribute alone, without an identity, is no stereotype and is not masked.
func Ratings(o Options) datasets.Table {
	return datasets.New("visage-ratings", o.here(), append(texts("id", "attribute"), numbers("score_asia", "score_europe", "score_na")...)).Named("ViSAGe attribute ratings")
}

// Pairs is the table of SeeGULL's pairs with the ratings of their attributes: id, identity, attribute (masked by default) and the
// columns that [Annotations] adds to a row. It is what the visual stereotypes of an identity are counted in.
func Pairs(o Options) datasets.Table {
	return datasets.New("visage-pairs", o.here(), append(texts("id", "identity", "attribute"), numbers(pairColumns...)...)).Named("SeeGULL pairs with ViSAGe ratings")
}

// Files is the table of the files that the other tables read: file, form ("upstream" or "normalised"), rows kept, left_out,
// and a remark: which version of the annotations it is, what was left out and why.
func Files(o Options) datasets.Table {
	specs := append(texts("file", "form"), numbers("rows", "left_out")...)
	return datasets.New("visage-files", o.here(), append(specs, texts("remark")...)).Named("ViSAGe files")
}

func init() {
	manifest.RegisterTable("visage-annotations", func() datasets.Table { return Annotations(Options{}) })
	manifest.RegisterTable("visage-ratings", func() datasets.Table { return Ratings(Options{}) })
	manifest.RegisterTable("visage-pairs", func() datasets.Table { return Pairs(Options{}) })
	datasets.RegisterSource("visage-annotations", source(annotationFrame))
	datasets.RegisterSource("visage-ratings", source(ratingFrame))
	datasets.RegisterSource("visage-pairs", source(pairFrame))
	datasets.RegisterSource("visage-files", source(fileFrame))
}

func source(read func(o Options) (*datasets.Frame, error)) datasets.SourceFunc {
	return func(_ context.Context, raw json.RawMessage, env datasets.SourceEnv) (*datasets.Frame, error) {
		var o Options
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &o); err != nil {
				return nil, fmt.Errorf("visage: %w", err)
			}
		}
		var err error
		if o.Dir, err = manifest.Dir(Name, o.Dir, env.Home); err != nil {
			return nil, err
		}
		if o.SeeGULL, err = manifest.Dir(seegull.Name, o.SeeGULL, env.Home); err != nil {
			return nil, err
		}
		return read(o)
	}
}

// lookup knows, for a pair, the values of pairColumns, and the label to show.
type lookup struct {
	stereo  map[[2]string]seegull.Pair
	ratings map[string]Rating
	mask    seegull.Masker
	show    bool
	columns [][]float64
}

func newLookup(o Options) (*lookup, []seegull.Pair, error) {
	pairs, _, err := seegull.Load(os.DirFS(o.SeeGULL))
	if err != nil {
		return nil, nil, err
	}
	ratings, _, err := LoadRatings(os.DirFS(o.Dir))
	if err != nil {
		return nil, nil, err
	}
	l := &lookup{stereo: map[[2]string]seegull.Pair{}, ratings: map[string]Rating{}, show: o.ShowOffensive, columns: make([][]float64, len(pairColumns))}
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

// add appends the pair's values to the columns and returns the attribute as it may be shown.
func (l *lookup) add(identity, attribute string) string {
	none := math.NaN()
	values := [6]float64{none, none, none, none, none, none}
	if p, known := l.stereo[[2]string{identity, attribute}]; known {
		values[0], values[1], values[2] = p.NAStereo, p.RegionStereo, p.Offensiveness
	}
	if r, known := l.ratings[attribute]; known {
		values[3], values[4], values[5] = r.Asia, r.Europe, r.NA
	}
	for i, v := range values {
		l.columns[i] = append(l.columns[i], v)
	}
	if l.show || attribute == NoneOfTheAbove {
		return attribute
	}
	return l.mask.Label(identity, attribute, values[2])
}

// frame puts the columns given before those of the pairs.
func (l *lookup) frame(before ...client.Column) *datasets.Frame {
	for i, values := range l.columns {
		before = append(before, client.NumberColumn(pairColumns[i], values))
	}
	return &datasets.Frame{Columns: before}
}

func annotationFrame(o Options) (*datasets.Frame, error) {
	rows, _, err := LoadAnnotations(os.DirFS(o.Dir), o.Version)
	if err != nil {
		return nil, err
	}
	l, _, err := newLookup(o)
	if err != nil {
		return nil, err
	}
	n := len(rows)
	text, number := make([][]string, 5), make([][]float64, 6)
	for i := range text {
		text[i] = make([]string, n)
	}
	for i := range number {
		number[i] = make([]float64, n)
	}
	for i, a := range rows {
		selected := 0.0
		if a.Selected {
			selected = 1
		}
		box := []float64{a.Box.Left, a.Box.Top, a.Box.Right, a.Box.Bottom}
		if a.Box == (Box{}) {
			box = []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
		}
		for k, v := range []string{fmt.Sprintf("v%06d", a.Line), a.Task, a.Batch, a.Identity, l.add(a.Identity, a.Attribute)} {
			text[k][i] = v
		}
		for k, v := range append([]float64{float64(a.Picture), selected}, box...) {
			number[k][i] = v
		}
	}
	var columns []client.Column
	for k, name := range []string{"id", "task", "batch", "identity", "attribute"} {
		columns = append(columns, client.TextColumn(name, text[k]))
	}
	for k, name := range []string{"picture", "selected", "box_left", "box_top", "box_right", "box_bottom"} {
		columns = append(columns, client.NumberColumn(name, number[k]))
	}
	return l.frame(columns...), nil
}

func pairFrame(o Options) (*datasets.Frame, error) {
	l, pairs, err := newLookup(o)
	if err != nil {
		return nil, err
	}
	var ids, identities, attributes []string
	for i, p := range pairs {
		ids, identities = append(ids, fmt.Sprintf("s%05d", i+1)), append(identities, p.Identity)
		attributes = append(attributes, l.add(p.Identity, p.Attribute))
	}
	return l.frame(client.TextColumn("id", ids), client.TextColumn("identity", identities), client.TextColumn("attribute", attributes)), nil
}

func ratingFrame(o Options) (*datasets.Frame, error) {
	ratings, _, err := LoadRatings(os.DirFS(o.Dir))
	if err != nil {
		return nil, err
	}
	var ids, attributes []string
	var scores [3][]float64
	for i, r := range ratings {
		ids, attributes = append(ids, fmt.Sprintf("r%04d", i+1)), append(attributes, r.Attribute)
		for k, v := range []float64{r.Asia, r.Europe, r.NA} {
			scores[k] = append(scores[k], v)
		}
	}
	return &datasets.Frame{Columns: []client.Column{client.TextColumn("id", ids), client.TextColumn("attribute", attributes),
		client.NumberColumn("score_asia", scores[0]), client.NumberColumn("score_europe", scores[1]), client.NumberColumn("score_na", scores[2])}}, nil
}

func fileFrame(o Options) (*datasets.Frame, error) {
	_, annotations, err := LoadAnnotations(os.DirFS(o.Dir), o.Version)
	if err != nil {
		return nil, err
	}
	_, ratings, err := LoadRatings(os.DirFS(o.Dir))
	if err != nil {
		return nil, err
	}
	_, pairs, err := seegull.Load(os.DirFS(o.SeeGULL))
	if err != nil {
		return nil, err
	}
	used := []manifest.Used{annotations.Used, ratings.Used, pairs.Used}
	f := &datasets.Frame{Columns: []client.Column{client.TextColumn("file", nil), client.TextColumn("form", nil),
		client.NumberColumn("rows", []float64{float64(annotations.Rows), float64(ratings.Rows), float64(pairs.Rows)}),
		client.NumberColumn("left_out", []float64{float64(annotations.Dropped), 0, 0}),
		client.TextColumn("remark", []string{annotations.Remark(), ratings.Remark(), pairs.Remark()})}}
	for _, u := range used {
		f.Columns[0].Texts = append(f.Columns[0].Texts, u.Path)
		f.Columns[1].Texts = append(f.Columns[1].Texts, string(u.Form))
	}
	return f, nil
}
