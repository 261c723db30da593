package disparity

import (
	"slices"
	"testing"

	"antipode/datasets/digin"
)

// The profile has the classes and the regions of the prompt lists.
func TestPrompts(t *testing.T) {
	if !slices.Equal(digin.Objects24(), Paper().Classes) {
		t.Errorf("the profile has the classes %q, the prompt lists %q", Paper().Classes, digin.Objects24())
	}
	for i, r := range digin.GeoDERegions() {
		if r.Key != Paper().Regions[i] {
			t.Errorf("region %d is %q, the profile has %q", i, r.Key, Paper().Regions[i])
		}
	}
}
