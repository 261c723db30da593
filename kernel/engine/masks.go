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
	"antipode/internal/objecturl"
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
	find, err := r.filesIn(a.Dir)
	if err != nil {
		return nil, fmt.Errorf("the folder of the masks, %s: %w", a.Dir, plain(err))
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
	var broken broken
	spread(n, origin{dir: a.Dir}.workers(), func(row int) {
		if broken.is() {
			return
		}
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
			file, err := find(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if broken.set(err) {
				return
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
	if broken.is() {
		return nil, fmt.Errorf("the folder of the masks: %w", broken.err)
	}
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

// filesIn returns a function that returns the file of a name in a folder, or a copy of the object below the URL of a
// prefix.
func (r *run) filesIn(dir string) (find func(name string) (string, error), err error) {
	if !objecturl.IsRemote(dir) {
		if info, err := os.Stat(dir); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, errors.New("it is a file")
		}
		return func(name string) (string, error) { return inside(dir, dir, name, r.store.Dir()) }, nil
	}
	u, err := objecturl.Parse(dir)
	if err != nil {
		return nil, err
	}
	present, err := r.e.objects.List(r.ctx, u)
	if err == nil && len(present) == 0 {
		err = errors.New("there are no objects below it")
	}
	return func(name string) (string, error) {
		if _, there := present[name]; !there {
			return "", fs.ErrNotExist
		}
		object, err := u.Prefix().At(name)
		if err != nil {
			return "", err
		}
		file, _, err := r.e.objects.Fetch(r.ctx, object)
		return file, err
	}, err
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
