// Package manifesttest supports tests that read the released files of a data set.
package manifesttest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/manifest"
)

// Dir returns the folder of a data set's released files. If they are not on this machine, the test is skipped,
// or fails if the environment variable REQUIRE lists "data".
func Dir(t testing.TB, dataSet string) string {
	t.Helper()
	dir, err := manifest.Find(dataSet, manifest.FindOptions{})
	switch {
	case err == nil:
	case errors.Is(err, manifest.ErrNotFound) && !slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), "data"):
		t.Skipf("missing: the released files of %s (%v)", dataSet, err)
	default:
		t.Fatal(err)
	}
	return dir
}

// Serve starts a server that answers at the paths of a data set's files with the bytes in its folder on this
// machine: the upstream form if it exists, else the normalized form, else 404. It returns the base URL for
// [pull.Options].
func Serve(t testing.TB, m manifest.Manifest, dir string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, f := range m.Files {
			u, err := url.Parse(f.URL)
			if err != nil || u.Path != r.URL.Path {
				continue
			}
			for _, name := range []string{f.Upstream, f.Path} {
				if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); name != "" && err == nil {
					if _, err := w.Write(data); err != nil {
						t.Error(err)
					}
					return
				}
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
