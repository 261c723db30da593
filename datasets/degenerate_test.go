package datasets

import (
	"antipode/internal/must"
	"testing"
)

func TestDegenerate(t *testing.T) {
	for caption, want := range map[string]bool{"": false, "a red boat on a red sea": false, "very very very big": false,
		"a boat boat Boat boat": true, "the sea and the sea and the sea and the sea and": true, "नाव नाव नाव नाव": true,
		"on on on the the the": false} {
		must.Equal(t, Degenerate(caption), want, caption)
	}
}
