package view

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"antipode/datasets/table"
	"antipode/metrics/clipscore"
	"antipode/plots/browse"
)

// Options are the options of [New].
type Options struct {
	Title   string
	Compare *table.Frame // a table whose images are shown next to those of the first
	On      []string     // columns that identify a row in both; see table.Match
	Vector  string       // of Compare: the vector whose cosine distance is computed; "" = the first that both have

	Real    *table.Frame // reference images, of which the large view shows the nearest by Vector
	Spheres *table.Frame // of Real and the rows: a result of disparity.Hyperspheres by By and Vector
	By      []string     // columns of the groups of Spheres, and of the table of groups above a comparison
}

// Gallery is the content of a page.
type Gallery struct {
	*browse.Gallery
	real   *reference // nil = none
	vector string     // of real
}

// Names of the columns that a comparison adds; the second image, and what differs in it, have the suffix.
const (
	changed  = "changed"
	same     = "same"
	distance = "distance"
	second   = "_b"
)

// balls is the name of the column that reference images add: the number of their balls that contain the image.
const balls = "n_balls"

// New returns the gallery of the rows of a table with an image column. Errors: no image column, a column of the
// comparison that is missing, or a key with two rows.
func New(rows *table.Frame, o Options) (*Gallery, error) {
	var image string // of both
	if o.Compare != nil {
		pairs, _, err := table.Match(rows, o.Compare, o.On)
		if err == nil {
			rows, image, err = joined(rows.Shown(), o.Compare.Shown(), pairs, o.Vector)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, c := range rows.Columns {
		if c.Kind == table.KindVector {
			rows = rows.With(components(c)...)
		}
	}
	out := &Gallery{vector: o.Vector}
	var err error
	if o.Real != nil {
		if out.real, err = newReference(o.Real, o.Spheres, o.By); err != nil {
			return nil, err
		}
		rows = rows.With(out.real.counts(rows))
	}
	out.Gallery, err = browse.New(cmp.Or(o.Title, "Images"), rows)
	if err == nil && o.Compare != nil {
		out.Images = []string{image, image + second}
		if len(o.By) > 0 {
			out.Figure, err = groups(rows.Shown(), o.By)
		}
	}
	return out, err
}

// fitted is the number of vectors that principal components are computed from.
const fitted = 2000

// components are the first two principal components of vectors as number columns; none for fewer than three vectors,
// or for vectors of several lengths.
func components(c table.Column) []table.Column {
	var known []int
	for i, v := range c.Vectors {
		if len(v) > 0 {
			known = append(known, i)
		}
	}
	if len(known) < 3 || len(c.Vectors[known[0]]) < 2 {
		return nil
	}
	width := len(c.Vectors[known[0]])
	for _, i := range known {
		if len(c.Vectors[i]) != width {
			return nil
		}
	}
	step := max(1, len(known)/fitted)
	sample := mat.NewDense((len(known)+step-1)/step, width, nil)
	for k := 0; k < len(known); k += step {
		for j, x := range c.Vectors[known[k]] {
			sample.Set(k/step, j, float64(x))
		}
	}
	var pc stat.PC
	if !pc.PrincipalComponents(sample, nil) {
		return nil
	}
	var axes mat.Dense
	pc.VectorsTo(&axes)
	if _, n := axes.Dims(); n < 2 {
		return nil
	}
	mean := make([]float64, width)
	for j := range mean {
		mean[j] = stat.Mean(mat.Col(nil, j, sample), nil)
	}
	var out []table.Column
	for k := range 2 {
		values := make([]float64, len(c.Vectors))
		for i, v := range c.Vectors {
			if values[i] = math.NaN(); len(v) > 0 {
				values[i] = 0
				for j, x := range v {
					values[i] += (float64(x) - mean[j]) * axes.At(j, k)
				}
			}
		}
		out = append(out, table.NumberColumn(fmt.Sprintf("%s, component %d", c.Name, k+1), values))
	}
	return out
}

// joined is the table of pairs of rows, and the name of its first image column: the columns of a, filled from b where a
// has no row; the images of b; texts and numbers of b where one differs; changed; and the distance of a vector that
// both have.
func joined(a, b *table.Frame, pairs [][2]int, vector string) (out *table.Frame, image string, err error) {
	out = table.NewFrame(a.Specs())
	var images, others []string
	for i, c := range a.Columns {
		other := b.Column(c.Name)
		if other != nil && other.Kind != c.Kind {
			return nil, "", fmt.Errorf("the column %q holds %s in one table and %s in the other", c.Name, c.Kind,
				other.Kind)
		}
		for _, p := range pairs {
			switch {
			case p[0] >= 0:
				out.Columns[i].AddAny(c.Any(p[0]))
			case other != nil && c.Kind != table.KindImage:
				out.Columns[i].AddAny(other.Any(p[1]))
			default:
				out.Columns[i].AddAny(nil)
			}
		}
		switch {
		case other == nil:
		case c.Kind == table.KindImage:
			images = append(images, c.Name)
		case c.Kind == table.KindNumber, c.Kind == table.KindText:
			others = append(others, c.Name)
		case c.Kind == table.KindVector && vector == "":
			vector = c.Name
		}
	}
	if len(images) == 0 {
		return nil, "", errors.New("the tables have no column of images in common")
	}
	if a.Has(changed) {
		return nil, "", fmt.Errorf("the table has a column %q, which a comparison adds: rename it", changed)
	}
	of := make([]int, len(pairs)) // rows of b
	for i, p := range pairs {
		of[i] = p[1]
	}
	var more []table.Column
	for _, name := range append(images[:1:1], others...) {
		x, y := a.Column(name), b.Column(name)
		c := y.Pick(of)
		c.Name += second
		differs := c.Kind == table.KindImage || slices.ContainsFunc(pairs, func(p [2]int) bool {
			return p[0] >= 0 && p[1] >= 0 && x.Exact(p[0]) != y.Exact(p[1])
		})
		if differs {
			more = append(more, c)
		}
	}
	states := make([]string, len(pairs))
	for i, p := range pairs {
		switch {
		case p[1] < 0:
			states[i] = "only in the first"
		case p[0] < 0:
			states[i] = "only in the second"
		case a.Images(images[0])[p[0]].SHA256 == b.Images(images[0])[p[1]].SHA256:
			states[i] = same
		default:
			states[i] = changed
		}
	}
	more = append(more, table.TextColumn(changed, states))
	if vector != "" {
		d, err := distances(a, b, pairs, vector)
		if err != nil {
			return nil, "", err
		}
		name := distance
		if a.Has(name) {
			name = vector + " " + distance
		}
		more = append(more, table.NumberColumn(name, d))
	}
	return out.With(more...), images[0], nil
}

// groups is the table above a comparison, whose rows select those of a group: how many images are in both tables, how
// many of them changed, and the means of the distance and of the numbers before and after.
func groups(rows *table.Frame, by []string) (*browse.Figure, error) {
	f := &browse.Figure{Text: "before and after", Head: append(slices.Clone(by), "in both", changed)}
	for _, name := range by {
		if _, err := rows.Need(name, table.KindText); err != nil {
			return nil, fmt.Errorf("--by: %w", err)
		}
	}
	var means []string
	if rows.Has(distance) {
		means = append(means, distance)
	}
	for _, c := range rows.Columns {
		if rows.Numbers(c.Name+second) != nil {
			means = append(means, c.Name, c.Name+second)
		}
	}
	for _, name := range means {
		f.Head = append(f.Head, "mean "+name)
	}
	var order []string
	of := map[string][]int{} // rows in both tables
	for i, state := range rows.Texts(changed) {
		if key := rows.Key(i, by...); state == changed || state == same {
			if of[key] == nil {
				order = append(order, key)
			}
			of[key] = append(of[key], i)
		}
	}
	for _, key := range order {
		var m browse.Mark
		var cells []string
		for _, name := range by {
			value := rows.Texts(name)[of[key][0]]
			m.Select(name, []string{value})
			cells = append(cells, value)
		}
		n := 0
		values := make([][]float64, len(means))
		for _, i := range of[key] {
			if rows.Texts(changed)[i] == changed {
				n++
			}
			for k, name := range means {
				if x := rows.Numbers(name)[i]; !math.IsNaN(x) {
					values[k] = append(values[k], x)
				}
			}
		}
		cells = append(cells, fmt.Sprint(len(of[key])), fmt.Sprint(n))
		for _, v := range values {
			cell := ""
			if len(v) > 0 {
				cell = fmt.Sprintf("%.4g", stat.Mean(v, nil))
			}
			cells = append(cells, cell)
		}
		f.Marks, f.Cells = append(f.Marks, m), append(f.Cells, cells)
	}
	return f, nil
}

// Moved returns the n rows of both tables whose vectors are farthest apart: the columns that identify them, and
// distance, one less the cosine. Rows are matched as [table.Match] does; vector "" is the first column of vectors that
// both have, and without one there are no rows.
func Moved(a, b *table.Frame, on []string, vector string, n int) (*table.Frame, error) {
	for _, c := range a.Columns {
		if vector == "" && c.Kind == table.KindVector && b.Vectors(c.Name) != nil {
			vector = c.Name
		}
	}
	if vector == "" {
		return &table.Frame{}, nil
	}
	pairs, by, err := table.Match(a, b, on)
	if err != nil {
		return nil, err
	}
	d, err := distances(a, b, pairs, vector)
	if err != nil {
		return nil, err
	}
	var rows []int
	for i := range pairs {
		if !math.IsNaN(d[i]) {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(i, k int) int { return cmp.Compare(d[k], d[i]) })
	rows = rows[:min(n, len(rows))]
	values, at := make([]float64, len(rows)), make([]int, len(rows))
	for i, row := range rows {
		values[i], at[i] = d[row], pairs[row][0]
	}
	out := &table.Frame{}
	for _, name := range by {
		out.Columns = append(out.Columns, *a.Column(name))
	}
	return out.Pick(at).With(table.NumberColumn(vector+" distance", values)), nil
}

// distances are those of the vectors of pairs of rows; NaN where there is none.
func distances(a, b *table.Frame, pairs [][2]int, vector string) ([]float64, error) {
	x, y := a.Vectors(vector), b.Vectors(vector)
	if x == nil || y == nil {
		return nil, fmt.Errorf("--vector %s: both tables need that column of vectors", vector)
	}
	d := make([]float64, len(pairs))
	for i, p := range pairs {
		if d[i] = math.NaN(); p[0] >= 0 && p[1] >= 0 {
			d[i] = cosineDistance(x[p[0]], y[p[1]])
		}
	}
	return d, nil
}

// cosineDistance is one less the cosine; NaN where there is none.
func cosineDistance(x, y []float32) float64 {
	cosine, err := clipscore.Cosine(x, y)
	if err != nil {
		return math.NaN()
	}
	return 1 - cosine
}

type neighbor struct {
	Row      int     `json:"row"`
	Distance float64 `json:"distance"`
}

// near returns the n rows whose vectors are nearest to that of a row, nearest first.
func (g *Gallery) near(row int, vector string, n int) []neighbor {
	vectors := g.Rows.Vectors(vector)
	if vectors == nil || row < 0 || row >= len(vectors) {
		return nil
	}
	var out []neighbor
	for i, v := range vectors {
		if d := cosineDistance(vectors[row], v); i != row && !math.IsNaN(d) {
			out = append(out, neighbor{i, d})
		}
	}
	slices.SortFunc(out, func(a, b neighbor) int { return cmp.Or(cmp.Compare(a.Distance, b.Distance), a.Row-b.Row) })
	return out[:min(n, len(out))]
}
