// Package check reports how an unpacked archive of a data set differs from what its loader expects.
package check

import (
	"antipode/internal/plaintext"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Report is the result of a check.
type Report struct {
	Facts       []string // what the archive contains, a line each
	Counts      Counts
	Differences []Difference
}

// Difference is something that the loader or the data set's description expects otherwise.
type Difference struct {
	Text   string
	Needed bool // the loader cannot read the data set, or reads less than all of it
}

// Counts are numbers of images by object and region.
type Counts map[string]map[string]int

// Add counts an image.
func (c Counts) Add(object, region string) {
	if c[object] == nil {
		c[object] = map[string]int{}
	}
	c[object][region]++
}

// Fact adds a line.
func (r *Report) Fact(format string, args ...any) {
	r.Facts = append(r.Facts, fmt.Sprintf(format, args...))
}

// Differ adds a difference that the loader can live with.
func (r *Report) Differ(format string, args ...any) {
	r.Differences = append(r.Differences, Difference{Text: fmt.Sprintf(format, args...)})
}

// Lack adds a difference that the loader cannot live with.
func (r *Report) Lack(format string, args ...any) {
	r.Differences = append(r.Differences, Difference{fmt.Sprintf(format, args...), true})
}

// Err returns one line about what the loader needs and does not find, nil if there is nothing.
func (r *Report) Err() error {
	var needed []string
	for _, d := range r.Differences {
		if d.Needed {
			needed = append(needed, d.Text)
		}
	}
	switch len(needed) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s", needed[0])
	}
	return fmt.Errorf("%s; and %d other differences that the loader cannot live with", needed[0], len(needed)-1)
}

// Write writes the report as text: the facts, the counts, and last the differences.
func (r *Report) Write(w io.Writer) error {
	for _, f := range r.Facts {
		fmt.Fprintln(w, f)
	}
	if len(r.Counts) > 0 {
		r.Counts.write(w)
	}
	if len(r.Differences) == 0 {
		_, err := fmt.Fprintln(w, "no differences from what the loader expects")
		return err
	}
	var err error
	for _, d := range r.Differences {
		mark := "differs"
		if d.Needed {
			mark = "needed"
		}
		_, err = fmt.Fprintf(w, "%s: %s\n", mark, d.Text)
	}
	return err
}

// write writes a row for each object and a column for each region, sorted by name.
func (c Counts) write(w io.Writer) {
	all := map[string]int{}
	for _, regions := range c {
		for region, n := range regions {
			all[region] += n
		}
	}
	regions := slices.Sorted(maps.Keys(all))
	shown := make([]string, len(regions))
	for i, region := range regions {
		shown[i] = plaintext.OneLine(region)
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(object string, counts map[string]int) {
		sum := 0
		fmt.Fprint(out, "  ", plaintext.OneLine(object))
		for _, region := range regions {
			fmt.Fprint(out, "\t", counts[region])
			sum += counts[region]
		}
		fmt.Fprint(out, "\t", sum, "\n")
	}
	fmt.Fprint(out, "  object\t", strings.Join(shown, "\t"), "\tall\n")
	for _, object := range slices.Sorted(maps.Keys(c)) {
		line(object, c[object])
	}
	line("all", all)
	out.Flush()
}

// First returns the number of some texts and the first of them: "12: a, b, c and 9 more".
func First(texts []string) string {
	const most = 3
	list := strings.Join(texts[:min(most, len(texts))], ", ")
	if len(texts) > most {
		list += fmt.Sprintf(" and %d more", len(texts)-most)
	}
	return fmt.Sprintf("%d: %s", len(texts), list)
}

// Spread returns n indices of total, evenly spaced, or all if there are fewer or n is 0.
func Spread(total, n int) []int {
	if n <= 0 || n > total {
		n = total
	}
	out := make([]int, n)
	for i := range out {
		out[i] = i * total / n
	}
	return out
}
