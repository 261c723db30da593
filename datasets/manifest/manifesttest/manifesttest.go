// Package manifesttest helps tests that read the released files of a data set.
package manifesttest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/manifest"
)

// Dir is the folder of a data set's released files. Where they are not on this machine the test is skipped by name, or fails where the
// environment variable REQUIRE lists "data".
func Dir(t testing.TB, dataSet string) string {
	t.Helper()
	dir, err := manifest.Find(dataSet, manifest.Where{})
	switch {
	case err == nil:
	case errors.Is(err, manifest.ErrNotFound) && !slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), "data"):
		t.Skipf("missing: the released files of %s (%v)", dataSet, err)
	default:
		t.Fatal(err)
	}
	return dir
}
