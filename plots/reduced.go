package plots

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"

	"antipode/internal/thumb"
	"antipode/kernel/cell"
)

// SaveReduced writes the images shown into a folder, for publication: as JPEG files of at most side × side pixels,
// without metadata, named after the rows' ids. It fails as [Figure].Show does.
func (f Grid) SaveReduced(folder string, side int) {
	inCell(func(ctx context.Context) error {
		n, err := f.SaveReducedE(ctx, folder, side)
		if err == nil {
			cell.Print(fmt.Sprintf("%d images of at most %d × %d pixels written to %s\n", n, side, side, folder))
		}
		return err
	})
}

// SaveReducedE is SaveReduced for programs: it returns the number of files.
func (f Grid) SaveReducedE(ctx context.Context, folder string, side int) (int, error) {
	if side < 1 {
		return 0, fmt.Errorf("SaveReduced: side %d: it must be at least 1", side)
	}
	return f.figure().copyImages(ctx, folder, func(path string) ([]byte, string, error) {
		img, err := thumb.Load(path)
		if err != nil {
			return nil, "", err
		}
		var out bytes.Buffer
		err = jpeg.Encode(&out, thumb.Within(img, float64(side)), nil)
		return out.Bytes(), ".jpg", err
	})
}
