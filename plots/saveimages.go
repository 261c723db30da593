package plots

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets/cell"
	"antipode/datasets/table"
	"antipode/internal/thumb"
)

// ImageOptions are the options of [SaveImages].
type ImageOptions struct {
	// Side reduces the images, for publication: to JPEG files of at most Side × Side pixels, without metadata. Default
	// 0: the originals are copied.
	Side int
}

// SaveImages writes the images of a [Grid], [Gallery] or [Segments] into a folder, which it creates if missing. A file
// is named after its row's id; an existing one is replaced. It fails as [Show] does.
func SaveImages(f Figure, folder string, options ...ImageOptions) {
	inCell(func(ctx context.Context) error {
		n, err := SaveImagesE(ctx, f, folder, options...)
		if err == nil {
			cell.Print(fmt.Sprintf("%d images written to %s\n", n, folder))
		}
		return err
	})
}

// SaveImagesE is [SaveImages] for programs: it returns the number of files.
func SaveImagesE(ctx context.Context, f Figure, folder string, options ...ImageOptions) (int, error) {
	o, err := table.One(options)
	if err == nil && o.Side < 0 {
		err = fmt.Errorf("a side of %d pixels is not positive", o.Side)
	}
	if err != nil {
		return 0, fmt.Errorf("SaveImages: %w", err)
	}
	var d drawing
	if f, drawn := f.figure().(figure); drawn {
		if d, err = f.draw(ctx); err != nil {
			return 0, err
		}
	}
	s, images := d.(*sheet)
	if !images {
		return 0, errors.New("SaveImages: this figure has no images; give a Grid, a Gallery or Segments")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return 0, fmt.Errorf("cannot create the folder for images: %w", err)
	}
	var errs []error
	done, taken := map[string]bool{}, map[string]bool{} // ids, and names of files
	s.each(func(t *thumbnail) {
		if t.full == nil || done[t.id] {
			return
		}
		data, extension, err := imageFile(t.source.Path, o.Side)
		name := fileName(t.id) + extension
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d%s", fileName(t.id), n, extension)
		}
		done[t.id], taken[name] = true, true
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), data, 0o644)
		}
		errs = append(errs, err)
	})
	return len(done), errors.Join(errs...)
}

// imageFile returns the content of an image's file and its extension; reduced if side is not 0.
func imageFile(path string, side int) ([]byte, string, error) {
	if side == 0 {
		data, err := os.ReadFile(path)
		return data, strings.ToLower(filepath.Ext(path)), err
	}
	img, err := thumb.Load(path)
	if err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	err = jpeg.Encode(&out, thumb.Within(img, float64(side)), nil)
	return out.Bytes(), ".jpg", err
}
