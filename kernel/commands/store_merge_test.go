package commands

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// TestStoreMerge merges stores from the command line: the line at the end, its repetition, --strict and --remove, and
// wrong arguments.
func TestStoreMerge(t *testing.T) {
	home := t.TempDir()
	t.Setenv(client.HomeVar, home)
	run := inProcess(t)
	var folders []string
	// 1 and the next float32
	for i, payload := range []string{"\x04\x00\x00\x00\x00\x00\x80\x3f", "\x04\x00\x00\x00\x01\x00\x80\x3f"} {
		s := must.Get(store.Open(t.TempDir()))(t)
		items := must.Get(s.Items("embed-v1", "abc"))(t)
		items.Columns(datasets.Columns("full:vector"))
		keys := []store.Key{store.KeyOf("both"), store.KeyOf(payload)}
		must.Do(t, errors.Join(items.Put(keys, [][]byte{[]byte(payload), []byte(payload)}), s.Close()))
		if folders = append(folders, s.Dir()); i == 0 {
			_ = must.Get(s.PutBlob([]byte("an image"), ".png"))(t)
		}
	}
	merge := func(args ...string) (string, error) {
		return run(append(append([]string{"store", "merge"}, args...), folders...)...)
	}
	const difference = "; 1 items twice, 1 of them differ (vectors by at most 1.2e-07 of the largest value, " +
		"0 in other values); 0 damaged files left out\n"
	for _, c := range []struct{ flag, want string }{
		{"--into=" + home, "merged 2 stores: 2 packs with 4 items, 1 images and 0 results copied, 0 files found"},
		{"--strict=false", "merged 2 stores: 0 packs with 0 items, 0 images and 0 results copied, 3 files found"},
	} {
		printed, err := merge(c.flag)
		want := c.want + difference
		must.True(t, err == nil && printed == want, "%s: %q, want %q, %v", c.flag, printed, want, err)
	}
	must.Has(t, must.Get(merge("--strict"))(t), "1 of them differ") // --strict
	must.Equal(t, must.Get(run("store", "compact"))(t), "2 files of items are now 1\n", "compact")
	must.Get(merge("--remove"))(t)
	for _, folder := range folders {
		must.Fail(os.Stat(folder))(t)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"merge"}, "name the folders"}, {[]string{"merge", filepath.Join(home, "none")}, "no such file"},
		{[]string{"merge", home}, "is the store to merge into"}, {[]string{"merge", "--stict", home}, "--strict"},
		{[]string{"compact", "x"}, "unexpected argument"},
	} {
		_, err := run(append([]string{"store"}, c.args...)...)
		must.Err(t, err, c.want)
	}
}
