package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/imagefile"
)

func init() {
	register("masks", func(r *run, p *table.Plan, in []*table.Frame) (*table.Frame, error) {
		if len(in) != 1 {
			return nil, fmt.Errorf("masks: %d tables are given, not 1", len(in))
		}
		return r.masksFrom(p.Args, in[0])
	})
}

// masksFrom adds the masks of a folder to a table with images.
func (r *run) masksFrom(raw json.RawMessage, f *table.Frame) (*table.Frame, error) {
	var a datasets.MasksArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	if info, err := os.Stat(a.Dir); err != nil {
		return nil, fmt.Errorf("the folder of the masks, %s: %w", a.Dir, plain(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("the folder of the masks: %s is a file", a.Dir)
	}
	ids, err := f.Need("id", table.KindText)
	if err != nil {
		return nil, err
	}
	images, err := f.Need("image", table.KindImage)
	if err != nil {
		return nil, err
	}
	n, from := f.Len(), f
	masks, outcome, reason, failed := make([]table.Mask, n), make([]string, n), make([]string, n), make([]error, n)
	parallel(n, func(row int) {
		earlier := stage.Row{Frame: f, Index: row}
		outcome[row], reason[row] = earlier.Text("outcome"), earlier.Text("reason")
		if stage.Absent(earlier) {
			return
		}
		stem := filepath.Base(images.Images[row].Path)
		stem = strings.TrimSuffix(stem, filepath.Ext(stem))
		if outcome[row] != "unmasked" {
			outcome[row], reason[row] = "unmasked", fmt.Sprintf("no mask file %s.png or %s.png", ids.Texts[row], stem)
		}
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
			if n, err := mask.Area(masks[row]); err == nil && n == 0 {
				masks[row], outcome[row], reason[row] = table.Mask{}, "unmasked", name+" has no object pixel"
			}
			return
		}
	})
	var good []int
	for row, err := range failed {
		if err == nil {
			good = append(good, row)
		} else if err := r.report(table.BadRow{Row: r.rowNumber(from, row), ID: ids.Texts[row], Column: "mask",
			Reason: err.Error()}); err != nil {
			return nil, err
		}
	}
	for _, c := range []string{"mask", "outcome", "reason"} {
		r.added[c] = true
	}
	f = f.With(table.MaskColumn("mask", masks), table.TextColumn("outcome", outcome),
		table.TextColumn("reason", reason))
	r.numbers[f] = r.numbers[from]
	return r.keep(f, good), nil
}

// inlineMask decodes a mask from JSON.
func inlineMask(text string) (table.Mask, error) {
	var m table.Mask
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return table.Mask{}, fmt.Errorf("%.40q is neither a file nor run lengths such as "+
			"{\"size\":[2,2],\"counts\":\"04\"}", text)
	}
	if m.Counts == "" {
		return table.Mask{}, nil
	}
	if _, err := mask.Decode(m); err != nil {
		return table.Mask{}, err
	}
	return m, nil
}

// readMask reads a mask file. Prefer a lossless format, because every pixel that is not black is object.
func readMask(file string) (table.Mask, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return table.Mask{}, plain(err)
	}
	m, err := imagefile.Decode(data, func(img image.Image, _ string, _ image.Config) (table.Mask, error) {
		b, err := mask.FromImage(img)
		return mask.Encode(b), err
	})
	if err != nil {
		return table.Mask{}, fmt.Errorf("the mask cannot be read: %w", noEOF(err))
	}
	return m, nil
}
