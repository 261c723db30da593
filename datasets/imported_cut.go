package datasets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"

	"golang.org/x/image/webp"

	"antipode/internal/exif"
	"antipode/kernel/client"
)

// maxGrid is the largest grid decoded, in pixels: a small file can claim any size.
const maxGrid = 100_000_000

// cutter cuts grids into pictures, which it keeps in the store: the pictures among its blobs, and which they are by the grid's digest.
// (Sources lie below the packages that decode pictures for models and that own the store, so it does without them.)
type cutter struct {
	grid, margin, gap int
	home              string
}

// cells are the grid's pictures, row by row.
func (c *cutter) cells(digest string, data []byte) ([]client.Image, error) {
	if c.home == "" {
		return nil, errors.New("there is no store to keep the grid's pictures in")
	}
	index := filepath.Join(c.home, "grids", fmt.Sprintf("%s-%d-%d-%d.json", digest, c.grid, c.margin, c.gap))
	if images := c.known(index); images != nil {
		return images, nil
	}
	grid, err := decodeGrid(data)
	if err != nil {
		return nil, err
	}
	width, height, err := c.cell(grid.Bounds().Dx(), grid.Bounds().Dy())
	if err != nil {
		return nil, err
	}
	var images []client.Image
	var digests []string
	for row := range c.grid {
		for column := range c.grid {
			from := grid.Bounds().Min.Add(image.Pt(c.margin+column*(width+c.gap), c.margin+row*(height+c.gap)))
			cell := image.NewNRGBA(image.Rect(0, 0, width, height))
			draw.Draw(cell, cell.Bounds(), grid, from, draw.Src)
			var file bytes.Buffer
			if err := png.Encode(&file, cell); err != nil {
				return nil, err
			}
			sum := sha256.Sum256(file.Bytes())
			digests = append(digests, hex.EncodeToString(sum[:]))
			images = append(images, client.Image{SHA256: digests[len(digests)-1], Path: c.blob(digests[len(digests)-1])})
			if err := place(images[len(images)-1].Path, file.Bytes()); err != nil {
				return nil, fmt.Errorf("cannot keep a picture of the grid: %w", plainPathError(err))
			}
		}
	}
	text, err := json.Marshal(digests)
	if err == nil {
		err = place(index, text)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot keep which pictures are the grid's: %w", plainPathError(err))
	}
	return images, nil
}

// known are the pictures of a grid that was cut before, nil where one is gone.
func (c *cutter) known(index string) []client.Image {
	text, err := os.ReadFile(index)
	if err != nil {
		return nil
	}
	var digests []string
	if json.Unmarshal(text, &digests) != nil || len(digests) != c.grid*c.grid {
		return nil
	}
	var images []client.Image
	for _, d := range digests {
		if b, err := hex.DecodeString(d); err != nil || len(b) != sha256.Size {
			return nil
		}
		if info, err := os.Stat(c.blob(d)); err != nil || info.Size() == 0 {
			return nil
		}
		images = append(images, client.Image{SHA256: d, Path: c.blob(d)})
	}
	return images
}

// blob is where the store keeps a picture.
func (c *cutter) blob(digest string) string {
	return filepath.Join(c.home, "blobs", digest[:2], digest+".png")
}

// cell is the size of a picture of a grid of that size.
func (c *cutter) cell(width, height int) (w, h int, err error) {
	around := 2*c.margin + (c.grid-1)*c.gap
	w, h = (width-around)/c.grid, (height-around)/c.grid
	if w < 1 || h < 1 || w*c.grid+around != width || h*c.grid+around != height {
		return 0, 0, fmt.Errorf("%d×%d pixels are no grid of %d × %[3]d pictures of one size with margin %d and gap %d", width, height, c.grid, c.margin, c.gap)
	}
	return w, h, nil
}

// decodeGrid reads a picture file.
func decodeGrid(data []byte) (image.Image, error) {
	for _, f := range []struct {
		magic  string
		at     int
		config func([]byte) (image.Config, error)
		decode func([]byte) (image.Image, error)
	}{
		{"\x89PNG\r\n\x1a\n", 0, func(b []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(b)) }, func(b []byte) (image.Image, error) { return png.Decode(bytes.NewReader(b)) }},
		{"\xff\xd8", 0, func(b []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(b)) }, func(b []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(b)) }},
		{"GIF8", 0, func(b []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(b)) }, func(b []byte) (image.Image, error) { return gif.Decode(bytes.NewReader(b)) }},
		{"WEBP", 8, func(b []byte) (image.Config, error) { return webp.DecodeConfig(bytes.NewReader(b)) }, func(b []byte) (image.Image, error) { return webp.Decode(bytes.NewReader(b)) }},
	} {
		if len(data) < f.at || !bytes.HasPrefix(data[f.at:], []byte(f.magic)) {
			continue
		}
		config, err := f.config(data)
		switch {
		case err != nil:
			return nil, fmt.Errorf("not a readable picture: %w", err)
		case config.Width < 1 || config.Height < 1 || config.Width > maxGrid/config.Height:
			return nil, fmt.Errorf("%d×%d pixels are too large, or none", config.Width, config.Height)
		case exif.Orientation(data) > 1:
			return nil, errors.New("the picture is to be turned (EXIF): save it upright, then cut it")
		}
		picture, err := f.decode(data)
		if err != nil {
			return nil, fmt.Errorf("not a readable picture: %w", err)
		}
		return picture, nil
	}
	return nil, errors.New("not a picture of a known kind (PNG, JPEG, GIF, WebP)")
}

// place writes a file under a temporary name, and renames it when it is whole.
func place(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
