package disparity

import (
	"testing"

	"antipode/datasets/digin"
	"antipode/internal/must"
)

// The profile has the classes and the regions of the prompt lists.
func TestPrompts(t *testing.T) {
	must.EqualSlices(t, digin.Objects24(), Paper().Classes, "the profile has the classes", "the prompt lists")
	for i, r := range digin.GeoDERegions() {
		must.Equal(t, r.Key, Paper().Regions[i], "region", i, "the profile has")
	}
}
