package view

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	measure "antipode/internal/distance"
	"antipode/plots/browse"
)

// reference is the reference images next to which the large view shows an image, with their balls.
type reference struct {
	*browse.Gallery
	by        []string         // columns of the groups
	balls     map[string][]int // rows of the reference images, by group
	radius    []float64        // by row
	inside    []int            // generated images in the ball, by row
	generated map[string]int   // balls that contain an image, by group and id
}

// newReference reads the result of disparity.Hyperspheres by some columns.
func newReference(real, spheres *table.Frame, by []string) (*reference, error) {
	g, err := browse.New("reference images", real)
	if err != nil {
		return nil, err
	}
	r := &reference{g, by, map[string][]int{}, make([]float64, real.Len()), make([]int, real.Len()), map[string]int{}}
	rows := map[string]int{}
	for i, id := range real.Texts("id") {
		rows[id] = i
	}
	source, ids, n := spheres.Texts("source"), spheres.Texts("id"), spheres.Numbers("n_inside")
	for i, id := range ids {
		key := labels(spheres, i, by)
		row, known := rows[id]
		switch {
		case source[i] != "real":
			r.generated[key+id] = int(n[i])
		case known:
			r.balls[key] = append(r.balls[key], row)
			r.radius[row], r.inside[row] = spheres.Numbers("radius")[i], int(n[i])
		}
	}
	return r, nil
}

// labels returns the groups of a row in some columns, as metrics name them.
func labels(f *table.Frame, row int, by []string) (key string) {
	for _, name := range by {
		if c := f.Column(name); c != nil {
			key += operation.LabelOf(c, row)
		}
		key += "\x00"
	}
	return key
}

// counts is the column of the number of balls that contain each row; NaN where it was not compared.
func (r *reference) counts(rows *table.Frame) table.Column {
	n, ids := make([]float64, rows.Len()), rows.Texts("id")
	for i := range n {
		n[i] = math.NaN()
		if ids == nil {
			continue
		}
		if k, compared := r.generated[labels(rows, i, r.by)+ids[i]]; compared {
			n[i] = float64(k)
		}
	}
	return table.NumberColumn(balls, n)
}

// nearReference is what the large view says of an image.
type nearReference struct {
	Inside  int             `json:"inside"` // balls that contain it
	Alone   int             `json:"alone"`  // of these, those with no other image
	Of      int             `json:"of"`     // reference images of its group
	Nearest []referenceBall `json:"nearest"`
}

// referenceBall is a reference image, its distance from the image, and whether its ball contains it.
type referenceBall struct {
	Row      int     `json:"row"`
	ID       string  `json:"id"`
	Distance float64 `json:"distance"`
	Radius   float64 `json:"radius"`
	Inside   bool    `json:"inside"`
}

// nearReference returns the nearest n reference images of a row, and the balls that contain it; nil where it was not
// compared, as an image without the vector.
func (g *Gallery) nearReference(row, n int) *nearReference {
	ids, vectors := g.Rows.Texts("id"), g.Rows.Vectors(g.vector)
	if g.real == nil || row < 0 || row >= g.Len() || ids == nil || vectors == nil || len(vectors[row]) == 0 {
		return nil
	}
	key := labels(g.Rows, row, g.real.by)
	inside, compared := g.real.generated[key+ids[row]]
	if !compared {
		return nil
	}
	out := &nearReference{Inside: inside, Of: len(g.real.balls[key])}
	for _, k := range g.real.balls[key] {
		v := g.real.Rows.Vectors(g.vector)[k]
		if len(v) != len(vectors[row]) {
			continue
		}
		near := referenceBall{Row: k, ID: g.real.Rows.Texts("id")[k], Radius: g.real.radius[k],
			Distance: float64(measure.Between(v, vectors[row]))}
		if near.Inside = near.Distance < near.Radius; near.Inside && g.real.inside[k] == 1 {
			out.Alone++
		}
		out.Nearest = append(out.Nearest, near)
	}
	slices.SortStableFunc(out.Nearest, func(a, b referenceBall) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), strings.Compare(a.ID, b.ID))
	})
	out.Nearest = out.Nearest[:min(n, len(out.Nearest))]
	return out
}

func (s *server) reference(w http.ResponseWriter, r *http.Request) {
	row, err := strconv.Atoi(r.PathValue("row"))
	if err != nil {
		http.Error(w, "there is no such row", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(s.nearReference(row, 8))
}

func (s *server) referenceThumb(w http.ResponseWriter, r *http.Request) {
	row, err := strconv.Atoi(r.PathValue("row"))
	if s.real == nil || err != nil || row < 0 || row >= s.real.Len() {
		err = errors.New("there is no such image")
	}
	if err == nil {
		var data []byte
		var kind string
		if data, kind, err = s.real.Thumbnail(row, s.real.Images[0], "", 128); err == nil {
			w.Header().Set("Content-Type", kind)
			w.Write(data)
			return
		}
	}
	http.Error(w, err.Error(), http.StatusNotFound)
}
