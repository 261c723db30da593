package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"antipode/datasets/check"
	"antipode/datasets/dollarstreet"
	"antipode/datasets/geode"
	"antipode/datasets/indictti"
	"antipode/datasets/table"
	"antipode/gomlxmodels/preprocess"
	"antipode/kernel/backend/parquet"
)

// captionData is the name of the caption data set in package manifest.
const captionData = "laion_coco_nllb"

// checkData runs `antipode data check`: it compares an unpacked archive with what its loader expects.
func checkData(ctx context.Context, args []string) error {
	const checkable = geode.Name + ", " + dollarstreet.Name + ", " + captionData
	fs := flags("data check", "NAME DIR; names: "+checkable+"\n"+
		"  Compares an unpacked archive with what its loader expects, and prints the differences. Exit status 1\n"+
		"  if the loader needs something that is missing or damaged.")
	n := fs.Int("n", 200, "images, or rows of each file of captions, to read, evenly spaced")
	all := fs.Bool("all", false, "read all of them")
	rest, err := parseN(fs, args, 2, "antipode data check NAME DIR; names: "+checkable)
	switch {
	case err != nil:
		return err
	case *n < 1:
		return usage("data check: --n %d: must be positive", *n)
	case *all:
		*n = 0
	}
	name, dir := rest[0], rest[1]
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		tried, _ := filepath.Abs(dir) // only for the message
		return fmt.Errorf("%s: %s is not a folder (%s); name the folder of the unpacked archive", name, dir, tried)
	}
	var report *check.Report
	decode := func(data []byte) error {
		if ctx.Err() != nil { // the rest is only read
			return ctx.Err()
		}
		_, err := preprocess.Decode(data)
		return err
	}
	switch name {
	case geode.Name:
		report, err = geode.Check(dir, geode.CheckOptions{N: *n, Decode: decode})
	case dollarstreet.Name:
		report, err = dollarstreet.Check(dir, dollarstreet.CheckOptions{N: *n, Decode: decode})
	case captionData:
		report, err = checkCaptions(dir, *n)
	default:
		return usage("data check: no data set %q with a check; names: %s", name, checkable)
	}
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	if err := report.Write(os.Stdout); err != nil {
		return err
	}
	if err := report.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// captionRows is the number of rows that are in memory at a time.
const captionRows = 2000

// checkCaptions checks the files of LAION-COCO-NLLB in a folder or its subfolder data: n evenly spaced rows of each, or
// all.
func checkCaptions(dir string, n int) (*check.Report, error) {
	c := indictti.NewReleaseCheck()
	files, err := parquetFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := filepath.Base(file)
		if err := checkCaptionFile(c, file, n); err != nil {
			c.Broken(name, err)
		}
	}
	return c.Report(), nil
}

// parquetFiles lists the Parquet files of a folder, or else of its subfolder data.
func parquetFiles(dir string) ([]string, error) {
	for _, folder := range []string{dir, filepath.Join(dir, "data")} {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		var files []string
		for _, e := range entries {
			if !e.IsDir() && filepath.Ext(e.Name()) == ".parquet" {
				files = append(files, filepath.Join(folder, e.Name()))
			}
		}
		if len(files) > 0 {
			return files, nil
		}
	}
	return nil, nil
}

// checkCaptionFile checks a file. Of n rows, it reads ten parts of the file.
func checkCaptionFile(c *indictti.ReleaseCheck, file string, n int) error {
	read := func(first, n int) (*parquet.Table, error) {
		return parquet.Read(file, parquet.Options{Kind: table.KindByName, First: first, N: n})
	}
	head, err := read(0, 1)
	if err != nil {
		return err
	}
	name, rows := filepath.Base(file), head.Rows
	c.File(name, head.Frame.Specs(), rows)
	parts, size := (rows+captionRows-1)/captionRows, captionRows
	if n > 0 && n < rows {
		parts = min(n, 10)
		size = (n + parts - 1) / parts
	}
	for i := range parts {
		first, next := i*rows/parts, (i+1)*rows/parts
		part, err := read(first, min(size, next-first))
		if err != nil {
			return err
		}
		c.Rows(name, first+1, part.Frame)
	}
	return nil
}
