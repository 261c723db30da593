package remote_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/remote/remotetest"
)

func cache(t *testing.T, dir string) *remote.Cache {
	c := remote.NewCache(dir)
	t.Cleanup(c.Close)
	return c
}

// put writes an object.
func put(t *testing.T, s *remotetest.Server, key string, data []byte) objecturl.URL {
	t.Helper()
	u := s.Parse(t, key)
	must.Do(t, open(t, u).Put(t.Context(), key, data))
	return u
}

// TestCache fetches an object once, and again when it or the copy has changed.
func TestCache(t *testing.T) {
	s, dir := remotetest.New(t), t.TempDir()
	u := put(t, s, "images/a b.png", []byte("first"))
	gets := 0
	s.Faults(func(_ int64, r *http.Request) remotetest.Fault {
		if r.Method == http.MethodGet {
			gets++
		}
		return remotetest.None
	})
	fetch := func(c *remote.Cache, want string, wantGets int) string {
		t.Helper()
		path, digest := must.Get2(c.Fetch(t.Context(), u))(t)
		data, err := os.ReadFile(path)
		if err != nil || string(data) != want || gets != wantGets || filepath.Base(path) != "a b.png" ||
			!c.Holds(path) || !strings.Contains(path, digest) {
			t.Fatalf("%s: %q, %v, %d downloads", path, data, err, gets)
		}
		from, known := c.URL(path)
		must.True(t, known && from == u, "%v, %v", from, known)
		return path
	}
	fetch(cache(t, dir), "first", 1)
	path := fetch(cache(t, dir), "first", 1) // another process
	must.Do(t, os.WriteFile(path, []byte("damaged"), 0o600))
	c := cache(t, dir)
	fetch(c, "first", 2)
	put(t, s, "images/a b.png", []byte("second"))
	fetch(c, "second", 3)
}

// TestEnsure provides the object of a known digest, and refuses other content.
func TestEnsure(t *testing.T) {
	s, c := remotetest.New(t), cache(t, t.TempDir())
	u := put(t, s, "a.png", []byte("content"))
	const digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73" // of content
	path := c.Path(u, digest)
	must.Fail(os.Stat(path))(t) // it is there already
	must.Do(t, c.Ensure(t.Context(), u, digest))
	must.Equal(t, string(must.Get(os.ReadFile(path))(t)), "content")
	other := strings.Repeat("0", 64)
	err := c.Ensure(t.Context(), u, other)
	must.Err(t, err, "s3://lab/a.png is not the file the table was made with")
	must.Fail(os.Stat(c.Path(u, other)))(t) // the content of another digest was kept
}

// sizeOf is the size of all files in a folder.
func sizeOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	must.Do(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, infoErr := d.Info()
			size, err = size+info.Size(), infoErr
		}
		return err
	}))
	return size
}

// TestCacheIsBounded removes what was not used for the longest time.
func TestCacheIsBounded(t *testing.T) {
	s, dir := remotetest.New(t), t.TempDir()
	c := cache(t, dir)
	remote.Limit(c, 100_000)
	var paths []string
	for i := range 20 {
		u := put(t, s, fmt.Sprintf("%d.png", i), bytes.Repeat([]byte{byte(i)}, 10_000))
		path, _ := must.Get2(c.Fetch(t.Context(), u))(t)
		paths = append(paths, path)
	}
	size := sizeOf(t, dir)
	must.True(t, size <= 100_000 && size >= 50_000, "%d bytes", size)
	must.Fail(os.Stat(paths[0]))(t) // the oldest file is still there
	must.Get(os.Stat(paths[19]))(t)
	if path, _, err := c.Fetch(t.Context(), s.Parse(t, "0.png")); err != nil || path != paths[0] {
		t.Errorf("%s, %v", path, err)
	}
}

// TestCacheOfSeveral: the bound holds for what several processes add.
func TestCacheOfSeveral(t *testing.T) {
	s, dir := remotetest.New(t), t.TempDir()
	var of [2]*remote.Cache
	for i := range of {
		of[i] = cache(t, dir)
		remote.Limit(of[i], 100_000)
	}
	for i := range 16 {
		u := put(t, s, fmt.Sprintf("%d.png", i), bytes.Repeat([]byte{byte(i)}, 10_000))
		must.Get2(of[i%len(of)].Fetch(t.Context(), u))(t)
	}
	size := sizeOf(t, dir)
	must.True(t, size > 0 && size <= 125_000, "%d bytes", size)
}
