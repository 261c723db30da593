package commands

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/cell"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/webimages"
)

// The columns that `antipode data images` adds.
const (
	imageColumn   = "image"
	digestColumn  = "sha256"
	outcomeColumn = "outcome"
	reasonColumn  = "reason"
)

// imagesOptions are the options of data images.
type imagesOptions struct {
	In   string `json:"in" kind:"TABLE" help:"the TABLE with the URLs: .csv, .parquet, or a table by name"`
	Root string `json:"root" kind:"DIR" help:"a parent DIR that masks of the table may be in"`
	URL  string `json:"url" kind:"COLUMN" help:"the text COLUMN with the URLs"`
	webimages.Limits
}

// dataImages runs `antipode data images`: it fetches the images that a column of a table names by URL.
func dataImages(ctx context.Context, args []string) error {
	s := stageFlags{all: true}
	var own imagesOptions
	fs := flags("data images", "--in TABLE --url COLUMN --out TABLE [--rate R] [--max-bytes N] [--retry] …\n"+
		"  Fetches images by URL into NAME.images next to the table NAME. A later call with the same --out continues.")
	addOwn(fs, &own)
	s.addOut(fs)
	if err := noArguments(fs, args); err != nil {
		return err
	}
	s.in, s.read.Root = own.In, own.Root
	if own.URL == "" {
		return usage("give --url COLUMN, the column with the URLs")
	}
	if s.out == pipe {
		return usage("--out -: the images are written next to the table; give --out NAME.csv")
	}
	t, err := s.table(ctx)
	if err != nil {
		return err
	}
	plan, err := t.Plan()
	if err != nil {
		return err
	}
	res, err := request(ctx, client.Request{Plan: plan, SkipBad: s.skipBad})
	if err != nil {
		return err
	}
	for _, b := range res.Bad {
		fmt.Println("left out: " + oneLine(b))
	}
	rows, err := urlRows(res.Frame, own.URL)
	if err != nil {
		return err
	}
	place := objecturl.Base(s.out) // of an object: in the working folder
	if !objecturl.IsRemote(s.out) {
		if place, err = objecturl.Local(s.out); err != nil {
			return err
		}
	}
	o := webimages.Options{Dir: strings.TrimSuffix(place, filepath.Ext(place)) + ".images", Limits: own.Limits,
		Expected: map[string]string{}}
	bar := cell.NewProgress()
	o.Progress = func(done, found, total int) {
		bar.Update(table.Progress{Stage: "fetch images", Done: done, Total: total, Computed: done - found,
			Found: found})
	}
	var urls []string
	digests := res.Frame.Texts(digestColumn)
	for _, row := range rows {
		urls = append(urls, res.Frame.Texts(own.URL)[row])
		if digests != nil {
			o.Expected[strings.TrimSpace(urls[len(urls)-1])] = strings.ToLower(strings.TrimSpace(digests[row]))
		}
	}
	results, err := webimages.Fetch(ctx, urls, o)
	bar.Close()
	if err != nil {
		return err
	}
	out := withImages(res.Frame, rows, results)
	if err := s.save(ctx, datasets.FromFrame(out)); err != nil {
		return err
	}
	printFetched(results, out, rows)
	return nil
}

// urlRows returns the rows whose image is to be fetched: those that no earlier stage has given up.
func urlRows(f *table.Frame, column string) ([]int, error) {
	if _, err := f.Need(column, table.KindText); err != nil {
		return nil, err
	}
	if f.Has(imageColumn) {
		return nil, fmt.Errorf("the table has a column %q already; leave it out with antipode table --select",
			imageColumn)
	}
	for _, name := range []string{digestColumn, outcomeColumn, reasonColumn} {
		if f.Has(name) {
			if _, err := f.Need(name, table.KindText); err != nil {
				return nil, err
			}
		}
	}
	outcomes := f.Texts(outcomeColumn)
	var rows []int
	for row := range f.Len() {
		if outcomes == nil || outcomes[row] == "" || outcomes[row] == "ok" {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// withImages returns the table with the columns image, sha256, outcome and reason. A SHA-256 that the table has already
// is that of the expected image.
func withImages(f *table.Frame, rows []int, results []webimages.Result) *table.Frame {
	n := f.Len()
	out := &table.Frame{Columns: slices.Clone(f.Columns)}
	texts := func(name string) []string {
		values := make([]string, n)
		copy(values, f.Texts(name))
		if at := slices.IndexFunc(out.Columns, func(c table.Column) bool { return c.Name == name }); at >= 0 {
			out.Columns[at] = table.TextColumn(name, values)
		} else {
			out.Columns = append(out.Columns, table.TextColumn(name, values))
		}
		return values
	}
	images := make([]table.Image, n)
	out.Columns = append(out.Columns, table.ImageColumn(imageColumn, images))
	digests, outcomes, reasons := texts(digestColumn), texts(outcomeColumn), texts(reasonColumn)
	for i, row := range rows {
		r := results[i]
		outcomes[row], reasons[row] = "ok", ""
		switch want := strings.ToLower(strings.TrimSpace(digests[row])); {
		case r.Reason != "":
			outcomes[row], reasons[row] = "failed", r.Reason
		case want != "" && want != r.SHA256:
			outcomes[row] = "failed"
			reasons[row] = fmt.Sprintf("another image than expected: its SHA-256 is %s", r.SHA256)
		default:
			images[row], digests[row] = table.Image{SHA256: r.SHA256, Path: r.File}, r.SHA256
		}
	}
	return out
}

// printFetched prints how many images there are, and why others are missing.
func printFetched(results []webimages.Result, f *table.Frame, rows []int) {
	const most = 5
	found, ok := 0, 0
	counts := map[string]int{}
	for i, row := range rows {
		if results[i].Found {
			found++
		}
		if reason := f.Texts(reasonColumn)[row]; reason != "" {
			counts[reason]++
		} else {
			ok++
		}
	}
	fmt.Printf("%d of %d images, %d rows from an earlier call\n", ok, len(rows), found)
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	for i, reason := range reasons {
		if i == most {
			fmt.Printf("  and %d other reasons; see the column reason\n", len(reasons)-most)
			break
		}
		fmt.Printf("  %d: %s\n", counts[reason], oneLine(fmt.Errorf("%s", reason)))
	}
	if len(reasons) > 0 {
		fmt.Println("  --retry requests them again")
	}
}
