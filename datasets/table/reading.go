package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Reading is one way in which values were read that lost or guessed something, such as a mask with soft edges or a text
// that is longer than its encoder's context, with the number of such values by group. A run prints each as one line
// ([Reading.Line]) and keeps it in its record.
type Reading struct {
	Source string         `json:"source"`           // the file or stage that read the values
	Column string         `json:"column,omitempty"` // of the values
	What   string         `json:"what"`             // what is true of them: "images are gray"
	Fix    string         `json:"fix,omitempty"`    // the option that changes it, or what the user can do
	N      int            `json:"n"`                // such values
	Of     int            `json:"of"`               // all values that were read
	By     string         `json:"by,omitempty"`     // the column that the groups are of, "" = no groups
	Groups []ReadingGroup `json:"groups,omitempty"` // the groups with such values
	First  string         `json:"first,omitempty"`  // more about the first such value

	// What a run does not print and only has in its record: where nothing is lost; what is true of at most half of the
	// values, and of each group.
	Quiet    bool `json:"quiet,omitempty"`
	Majority bool `json:"majority,omitempty"`

	// Once says that several operations of a run may read the same values: of their counts the largest is kept.
	Once bool `json:"once,omitempty"`
}

// ReadingGroup is one group of a [Reading].
type ReadingGroup struct {
	Name string `json:"name"`
	N    int    `json:"n"`
	Of   int    `json:"of"`
}

// readingColumns are the columns of the column contract that readings are counted by: the first one that a table has.
var readingColumns = []string{"region", "country", "group", "language", "axis", "object", "folder"}

// Count sets the counts of a reading from the rows of a table. is reports whether a row has a value that was read
// (counts) and whether it is one of the reading (hit).
func (x Reading) Count(f *Frame, is func(row int) (hit, counts bool)) Reading {
	x.By = ""
	var names []string
	for _, by := range readingColumns {
		if names = f.Texts(by); slices.ContainsFunc(names, func(v string) bool { return v != "" }) {
			x.By = by
			break
		}
	}
	at := map[string]int{}
	for row := range f.Len() {
		hit, counts := is(row)
		if !counts {
			continue
		}
		g := -1
		if x.By != "" {
			known := false
			if g, known = at[names[row]]; !known {
				g = len(x.Groups)
				at[names[row]] = g
				x.Groups = append(x.Groups, ReadingGroup{Name: names[row]})
			}
			x.Groups[g].Of++
		}
		x.Of++
		if hit {
			x.N++
			if g >= 0 {
				x.Groups[g].N++
			}
		}
	}
	return x
}

// Same reports whether two readings are of one kind, which [Reading.Add] adds up.
func (x Reading) Same(y Reading) bool {
	return x.Source == y.Source && x.Column == y.Column && x.What == y.What && x.Fix == y.Fix && x.By == y.By &&
		x.Quiet == y.Quiet && x.Majority == y.Majority
}

// Empty returns the reading without counts.
func (x Reading) Empty() Reading {
	x.N, x.Of, x.Groups = 0, 0, nil
	return x
}

// Add returns the reading with the counts of another part of the same table.
func (x Reading) Add(y Reading) Reading {
	x.N, x.Of, x.Groups, x.First = x.N+y.N, x.Of+y.Of, slices.Clone(x.Groups), cmp.Or(x.First, y.First)
	x.By = cmp.Or(x.By, y.By)
	for _, g := range y.Groups {
		at := slices.IndexFunc(x.Groups, func(o ReadingGroup) bool { return o.Name == g.Name })
		if at < 0 {
			x.Groups = append(x.Groups, g)
			continue
		}
		x.Groups[at].N += g.N
		x.Groups[at].Of += g.Of
	}
	return x
}

// Noted reports whether a run prints the reading.
func (x Reading) Noted() bool {
	most := 2*x.N > x.Of || slices.ContainsFunc(x.Groups, func(g ReadingGroup) bool { return 2*g.N > g.Of })
	return x.N > 0 && !x.Quiet && (most || !x.Majority)
}

// readingGroups is the number of groups that a line names.
const readingGroups = 6

// Line returns the reading as one line, such as `photos.csv: 3 of 9 images have a color profile other than sRGB
// (region: Ilvanar 2 of 4, Sorrel 1 of 5); Color: "srgb" converts them`.
func (x Reading) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %d %s", x.Source, x.N, x.Of, x.What)
	var groups []string
	for _, g := range x.Groups {
		if g.N > 0 {
			groups = append(groups, fmt.Sprintf("%s %d of %d", cmp.Or(g.Name, "(blank)"), g.N, g.Of))
		}
	}
	if more := len(groups) - readingGroups; more > 0 {
		groups = append(groups[:readingGroups], fmt.Sprintf("and %d more", more))
	}
	if len(groups) > 0 {
		fmt.Fprintf(&b, " (%s: %s)", x.By, strings.Join(groups, ", "))
	}
	for _, more := range []string{x.First, x.Fix} {
		if more != "" {
			b.WriteString("; " + more)
		}
	}
	return b.String()
}

// ReadingsFrame returns readings as a table, a row for each group: source, column, reading, fix, by, name_of_group, n,
// of.
func ReadingsFrame(readings []Reading) *Frame {
	f := NewFrame([]ColumnSpec{{"source", KindText}, {"column", KindText}, {"reading", KindText}, {"fix", KindText},
		{"by", KindText}, {"name_of_group", KindText}, {"n", KindNumber}, {"of", KindNumber}})
	for _, x := range readings {
		f.Add([]string{x.Source, x.Column, x.What, x.Fix, "", ""}, float64(x.N), float64(x.Of))
		for _, g := range x.Groups {
			f.Add([]string{x.Source, x.Column, x.What, x.Fix, x.By, g.Name}, float64(g.N), float64(g.Of))
		}
	}
	return f
}
