package metrics

import (
	"antipode/internal/must"
	"fmt"
	"testing"
)

// Many groups are counted beyond the first six; rows without groups have none to name.
func TestGroupNotes(t *testing.T) {
	var notes GroupNotes
	for i := range 9 {
		notes.Add("%d of %d images", fmt.Sprint("g", i), 1, 10)
	}
	notes.Add("100% sure", "")
	var told []string
	notes.AddTo(&Call{Note: func(format string, a ...any) { told = append(told, fmt.Sprintf(format, a...)) }},
		"region")
	must.EqualSlices(t, told, []string{"9 of 90 images; by region: g0, g1, g2, g3, g4, g5 and 3 more", "100% sure"},
		"told")
}
