package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/objecturl"
)

func importImages(ctx context.Context, args []string) error {
	s := stageFlags{all: true}
	var o datasets.ImportOptions
	var dir string
	var midjourney bool
	fs := flags("import", "")
	fs.StringVar(&dir, "dir", "", "the `DIR` with the images, in it or below it "+
		"(.jpg .jpeg .jfif .png .gif .webp .tif .tiff .bmp)")
	addOptions(fs, &o)
	fs.BoolVar(&midjourney, "midjourney", false, "the patterns of Midjourney's exports: prompt, job and variant")
	s.addOut(fs)
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if dir == "" || s.out == "" {
		return usage("give --dir DIR and --out TABLE")
	}
	if err := tableName(s.out); err != nil {
		return err
	}
	if midjourney {
		o.Names = append(o.Names, datasets.MidjourneyNames...)
	}
	if o.Sidecar != "" {
		if _, err := os.Stat(o.Sidecar); err == nil {
			if o.Sidecar, err = filepath.Abs(o.Sidecar); err != nil {
				return err
			}
		}
	}
	images := datasets.Imported(dir, o)
	if !s.skipBad {
		var err error
		if s.computed, err = readable(ctx, images); err != nil {
			return err
		}
	}
	if err := s.save(ctx, images.Good()); err != nil {
		return err
	}
	if away, err := outside(dir, s.out); err != nil || !away || o.Grid > 1 {
		return err // images that were split are next to the table
	}
	fmt.Printf("the images stay in %s: pass --root %[1]s to commands that read %s\n", dir, s.out)
	return nil
}

// readable reports images that cannot be used, and how many items it computed to find them.
func readable(ctx context.Context, t datasets.Table) (computed int, err error) {
	plan, err := t.Bad().Plan()
	if err != nil {
		return 0, err
	}
	res, err := request(ctx, client.Request{Plan: plan})
	if err != nil {
		return 0, err
	}
	ids, reasons := res.Frame.Texts("id"), res.Frame.Texts("reason")
	if len(ids) == 0 {
		return res.Computed, nil
	}
	const most = 5
	var list []string
	for i := range ids[:min(most, len(ids))] {
		list = append(list, fmt.Sprintf("%q (%s)", ids[i], reasons[i]))
	}
	more := ""
	if len(ids) > most {
		more = fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return 0, fmt.Errorf("%d images cannot be used: %s%s; --skip-bad leaves them out", len(ids),
		strings.Join(list, ", "), more)
}

// outside reports whether a folder is neither the folder of a table nor below it: its images are then named by absolute
// paths.
func outside(dir, table string) (bool, error) {
	if objecturl.IsRemote(table) {
		return false, nil // the images become objects below the table's prefix
	}
	table, err := objecturl.Local(table)
	if err != nil {
		return false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	if table, err = filepath.Abs(table); err != nil {
		return false, err
	}
	rel, err := filepath.Rel(filepath.Dir(table), dir)
	return err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)), nil
}
