package engine

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/remote/remotetest"
)

// TestFoldersOfObjects reads a folder of images and one of masks under URLs: the rows are those of the same files on a
// disk.
func TestFoldersOfObjects(t *testing.T) {
	s, dir := remotetest.New(t), t.TempDir()
	both := func(name, content string) {
		must.Write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
		put(t, s, "set/"+name, content)
	}
	for i, name := range []string{"b.png", "b/1.png", "b/अ 2.jpg", "a.JPG", "a/b/c.png", "a-b/1.png", "notes.txt",
		".hidden/x.png", "a/.x.png"} {
		both("photos/"+name, strings.Repeat("x", i+1))
	}
	gray := image.NewGray(image.Rect(0, 0, 4, 4))
	gray.Set(1, 2, color.White)
	var mask bytes.Buffer
	must.Do(t, png.Encode(&mask, gray))
	both("masks/b.png", mask.String())         // by the name of the image
	both("masks/a/b/c.png.png", mask.String()) // by the id
	both("masks/other.png", "not read")
	near := datasets.Folder(filepath.Join(dir, "photos"))
	far := datasets.Images(s.Object("set/photos/"))
	want, got := allRows(t, newEngine(t), near), allRows(t, newEngine(t), far)
	must.True(t, want.Len() == 6 && digestOf(t, want) == digestOf(t, got),
		"%q, want those of the folder: %q", got.Texts("id"), want.Texts("id"))
	want = allRows(t, newEngine(t), near.MasksFrom(filepath.Join(dir, "masks")))
	for _, masks := range []string{"set/masks", "set/masks/"} {
		got := allRows(t, newEngine(t), far.MasksFrom(s.Object(masks)))
		if digestOf(t, want) != digestOf(t, got) || strings.Join(got.Texts("outcome"), " ") !=
			"ok unmasked unmasked unmasked unmasked ok" {
			t.Errorf("%s: outcomes %q, want %q", masks, got.Texts("outcome"), want.Texts("outcome"))
		}
	}
	grouped := allRows(t, newEngine(t), datasets.Images(s.Object("set/photos/"), datasets.ImagesOptions{By: "region"}))
	must.Equal(t, strings.Join(grouped.Texts("region"), ","), "a,a-b,,b,b,", "groups")
	for _, c := range []struct {
		table datasets.Table
		want  string
	}{
		{datasets.Folder(s.Object("set/none/")), "no images"},
		{far.MasksFrom(s.Object("set/none")), "there are no objects below it"},
	} {
		must.Fail(run1(t, newEngine(t), c.table, client.Request{}))(t, c.want)
	}
	must.Err(t, datasets.Folder(s.Object("set/photos")).Err(), "the URL of a folder ends in a slash")
	s.Faults(func(_ int64, r *http.Request) remotetest.Fault {
		if strings.Contains(r.URL.Path, "/masks/") {
			return remotetest.Unavailable
		}
		return remotetest.None
	})
	_, err := run1(t, newEngine(t), far.MasksFrom(s.Object("set/masks")), client.Request{SkipBad: true})
	must.Is(err)(t, remote.ErrUnreachable)
}
