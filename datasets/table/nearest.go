package table

import (
	"fmt"
	"strings"
)

// Nearest returns the candidate that is most similar to name, or "" when none is similar. Case does not count.
// Similarity is the optimal string alignment distance: insertions, deletions, substitutions and swaps of neighboring
// characters. A candidate is similar up to a distance of a third of name's length, at least 1; one that begins with
// name counts as distance 1. Blanks around a candidate do not count. Of equally similar candidates the first is
// returned; name itself never is.
func Nearest(name string, candidates []string) string {
	typed := []rune(strings.ToLower(name))
	best, least := "", max(1, len(typed)/3)+1
	for _, c := range candidates {
		if c == name {
			continue
		}
		lower := strings.ToLower(strings.TrimSpace(c))
		d := editDistance(typed, []rune(lower))
		if len(typed) >= 3 && strings.HasPrefix(lower, string(typed)) {
			d = min(d, 1)
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// Hint returns the candidate that [Nearest] finds as the end of an error message, such as `; did you mean "mask"?`, or
// "".
func Hint(name string, candidates []string) string {
	if best := Nearest(name, candidates); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// editDistance is the optimal string alignment distance of two texts.
func editDistance(a, b []rune) int {
	var before []int // the row above the last
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
