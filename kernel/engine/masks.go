package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats that masks may have; lossless ones are better, since non-zero = object
	_ "image/jpeg"
	_ "image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/gomlxmodels/preprocess"
	"antipode/kernel/client"
)

// masksFrom adds masks from a folder's files to the rows of a table with images.
func (r *run) masksFrom(raw json.RawMessage, f *client.Frame) (*client.Frame, error) {
	var a datasets.MasksArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	if info, err := os.Stat(a.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the masks' folder %s cannot be read", a.Dir)
	}
	ids, err := f.Need("id", client.Text)
	if err != nil {
		return nil, err
	}
	images, err := f.Need("image", client.Picture)
	if err != nil {
		return nil, err
	}
	n, from := f.Len(), f
	masks, outcome, reason, failed := make([]client.Mask, n), make([]string, n), make([]string, n), make([]error, n)
	parallel(n, func(row int) {
		stem := filepath.Base(images.Images[row].Path)
		stem = strings.TrimSuffix(stem, filepath.Ext(stem))
		outcome[row], reason[row] = "unmasked", fmt.Sprintf("no mask file %s.png or %s.png", ids.Texts[row], stem)
		for _, name := range []string{ids.Texts[row] + ".png", stem + ".png"} {
			file, err := inside(a.Dir, a.Dir, name, r.store.Dir())
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				masks[row], err = readMask(file)
			}
			if failed[row] = err; err != nil {
				failed[row] = fmt.Errorf("%s: %w", name, err)
			}
			outcome[row], reason[row] = "ok", ""
			return
		}
	})
	var good []int
	for row, err := range failed {
		if err == nil {
			good = append(good, row)
		} else if err := r.report(client.BadRow{Row: r.rowNumber(from, row), ID: ids.Texts[row], Column: "mask", Reason: err.Error()}); err != nil {
			return nil, err
		}
	}
	for _, c := range []string{"mask", "outcome", "reason"} {
		r.added[c] = true
	}
	f = f.With(client.MaskColumn("mask", masks), client.TextColumn("outcome", outcome), client.TextColumn("reason", reason))
	r.numbers[f] = r.numbers[from]
	return r.keep(f, good), nil
}

// inlineMask reads a mask that a table holds as JSON.
func inlineMask(text string) (client.Mask, error) {
	var m client.Mask
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return client.Mask{}, fmt.Errorf("%.40q is neither a file nor run lengths such as {\"size\":[2,2],\"counts\":\"04\"}", text)
	}
	if m.Counts == "" {
		return client.Mask{}, nil
	}
	if _, err := mask.Decode(m); err != nil {
		return client.Mask{}, err
	}
	return m, nil
}

// maxMask bounds a mask file's pixels against decompression bombs.
const maxMask = 1 << 28

func readMask(file string) (client.Mask, error) {
	f, err := os.Open(file)
	if err != nil {
		return client.Mask{}, plain(err)
	}
	defer f.Close()
	cfg, _, err := image.DecodeConfig(f)
	if errors.Is(err, image.ErrFormat) {
		return client.Mask{}, maskFormat(file)
	}
	if err != nil {
		return client.Mask{}, fmt.Errorf("the mask cannot be read: %w", noEOF(err))
	}
	if cfg.Width*cfg.Height > maxMask {
		return client.Mask{}, fmt.Errorf("the mask cannot be read: %d × %d pixels are too many; scale it and its image down", cfg.Width, cfg.Height)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return client.Mask{}, err
	}
	img, _, err := image.Decode(f)
	if err != nil {
		return client.Mask{}, fmt.Errorf("the mask cannot be read: %w", noEOF(err))
	}
	return mask.Encode(mask.FromImage(img)), nil
}

// maskFormat names the format of a file that no decoder reads.
func maskFormat(file string) error {
	data, err := os.ReadFile(file)
	if err == nil {
		_, err = preprocess.Extension(data)
	}
	if err == nil {
		err = image.ErrFormat
	}
	return fmt.Errorf("the mask cannot be read: %w", plain(err))
}
