package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
)

// TestImage: an image is found in this store by its digest, whatever its path is.
func TestImage(t *testing.T) {
	s, other := openStore(t), openStore(t)
	img := must.Get(s.PutBlob([]byte("an image"), ".png"))(t)
	foreign := must.Get(other.PutBlob([]byte("an image"), ".png"))(t)
	alone := must.Get(other.PutBlob([]byte("another image"), ".png"))(t)
	for name, c := range map[string]struct {
		in, want table.Image
		err      error
	}{
		"by its extension":     {table.Image{SHA256: img.SHA256, Path: ".png"}, img, nil},
		"by its path":          {img, img, nil},
		"of another store":     {foreign, img, nil},
		"of a removed store":   {table.Image{SHA256: img.SHA256, Path: "/none/" + img.SHA256 + ".png"}, img, nil},
		"of another one alone": {alone, table.Image{}, ErrNotFound},
		"missing":              {table.Image{SHA256: alone.SHA256, Path: ".png"}, table.Image{}, ErrNotFound},
		"no digest":            {table.Image{SHA256: "../" + img.SHA256[3:], Path: ".png"}, table.Image{}, ErrNotFound},
	} {
		got, err := s.Image(c.in)
		if !errors.Is(err, c.err) || err == nil && got != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestResultFromElsewhere: the images of a result that another store wrote are those of this store.
func TestResultFromElsewhere(t *testing.T) {
	s := openStore(t)
	img := must.Get(s.PutBlob([]byte("an image"), ".png"))(t)
	foreign := table.Image{SHA256: img.SHA256, Path: filepath.Join("/none", "blobs", filepath.Base(img.Path))}
	f := &table.Frame{Columns: []table.Column{table.ImageColumn("image", []table.Image{foreign})}}
	digest := must.Get(FrameDigest(f))(t)
	rec := &Record{ID: strings.Repeat("1", 64), Result: digest, Plan: &table.Plan{Op: "table"}}
	must.Do(t, s.PutResult(f, rec))
	got, _, err := s.Result(rec.ID)
	must.True(t, err == nil && got.Images("image")[0] == img, "%v, %v", got, err)
	os.Remove(img.Path)
	if got, _, err := s.Result(rec.ID); err != nil || got.Images("image")[0] != foreign {
		t.Errorf("without the image: %v, %v", got, err)
	}
}
