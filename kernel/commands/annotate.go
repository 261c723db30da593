package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/datasets/visage"
	"antipode/kernel/annotate"
)

const (
	annotateArgs     = "make … | collect DIR …"
	annotateMakeArgs = "--task visage|visual|entigen|failures|tags|translations|question --in TABLE --out DIR " +
		"[--raters N] [--tags A,B] …"
)

func annotateCommand(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "make":
			return annotateMake(ctx, args[1:])
		case "collect":
			return annotateCollect(ctx, args[1:])
		}
		return usage("antipode annotate %s%s", annotateArgs, hint("", table.Nearest(args[0],
			[]string{"make", "collect"})))
	}
	return usage("antipode annotate %s", annotateArgs)
}

func annotateMake(ctx context.Context, args []string) error {
	var o annotate.Options
	var in, root, out, tags, attributes string
	fs := flags("annotate make", annotateMakeArgs)
	fs.StringVar(&o.Task, "task", "", "the `TASK`: visage (which attributes an image shows), visual (whether an "+
		"attribute can be seen in an image), entigen (perceived groups), failures (how the images of a concept fail), "+
		"tags, translations, question (the column question, with the choices A|B|… in the column choices)")
	fs.StringVar(&in, "in", "", "the `TABLE` of images: .csv, .parquet, or a folder; for visual a table of attributes")
	fs.StringVar(&root, "root", "", "a parent `DIR` that images may be in")
	fs.StringVar(&out, "out", "", "the new `DIR`: pages/ for the raters, key.json, answers/")
	fs.IntVar(&o.Raters, "raters", 3, "raters of each item")
	fs.IntVar(&o.PerPage, "per-page", 50, "images of a page")
	fs.Int64Var(&o.Seed, "seed", 0, "the seed of the orders, and of the attributes that are not stereotypes")
	fs.StringVar(&attributes, "attributes", "", "of visage: a `TABLE` of pairs of identity and attribute; default "+
		"visage-pairs, from `antipode data pull visage` and seegull")
	fs.BoolVar(&o.ShowOffensive, "show-offensive", false, "of visage: also ask about attributes that SeeGULL rates "+
		"offensive for the identity, or that were not rated")
	fs.StringVar(&o.Axes, "axes", "", "of entigen: `COLUMN=GROUP/GROUP, …` in place of the paper's axes")
	fs.StringVar(&tags, "tags", "", "of tags: the tags to choose from, `A,B,…`")
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if o.Task == "" || in == "" || out == "" {
		return usage("give --task TASK, --in TABLE and --out DIR")
	}
	if !slices.Contains(annotate.Tasks, o.Task) {
		return usage("annotate make: no task %q; tasks: %s%s", o.Task, strings.Join(annotate.Tasks, ", "),
			table.Hint(o.Task, annotate.Tasks))
	}
	if o.Raters < 1 || o.PerPage < 1 {
		return usage("annotate make: --raters and --per-page are at least 1")
	}
	o.Tags = datasets.SplitColumns(tags)
	images, err := rows(ctx, in, root)
	if err != nil {
		return err
	}
	switch {
	case o.Task != annotate.Visage:
	case attributes != "":
		o.Attributes, err = rows(ctx, attributes, root)
	default:
		o.Attributes, err = evaluated(ctx, visage.Pairs(visage.Options{ShowOffensive: true}))
	}
	if err != nil {
		return err
	}
	made, err := annotate.Make(images, out, o)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d items for %d raters, %d pages, the largest %.1f MB\n", out, made.Items, o.Raters, made.Pages,
		float64(made.Largest)/1e6)
	for _, n := range made.Notes {
		fmt.Println(n)
	}
	fmt.Printf("Send the files of %s to the raters; a person answers pages of one rater's number only. Do not send "+
		"them %s. Put the files that they return into %s, then run: antipode annotate collect %s --out TABLE\n",
		filepath.Join(out, annotate.PagesDir), filepath.Join(out, annotate.KeyFile),
		filepath.Join(out, annotate.AnswersDir), out)
	return nil
}

// rows returns the rows of a file or folder, or of a named table.
func rows(ctx context.Context, path, root string) (*table.Frame, error) {
	t, err := open(path, root)
	if err != nil {
		return nil, err
	}
	return evaluated(ctx, t)
}

func evaluated(ctx context.Context, t datasets.Table) (*table.Frame, error) {
	plan, err := t.Plan()
	if err != nil {
		return nil, err
	}
	res, err := request(ctx, client.Request{Plan: plan})
	if err != nil {
		return nil, err
	}
	return res.Frame, nil
}

// spreadsheetSafe returns a table whose texts no spreadsheet evaluates: those that begin with = + - @, a tab or a
// carriage return get an apostrophe.
func spreadsheetSafe(f *table.Frame) *table.Frame {
	out := &table.Frame{}
	for _, c := range f.Columns {
		if c.Kind == table.KindText {
			c.Texts = slices.Clone(c.Texts)
			for i, text := range c.Texts {
				if strings.ContainsAny(text[:min(1, len(text))], "=+-@\t\r") {
					c.Texts[i] = "'" + text
				}
			}
		}
		out.Columns = append(out.Columns, c)
	}
	return out
}

// annotateCollect is `antipode annotate collect`.
func annotateCollect(ctx context.Context, args []string) error {
	var o annotate.CollectOptions
	var s, ratings stageFlags
	fs := flags("annotate collect", "DIR --out TABLE [--ratings TABLE] [--partial] [--spreadsheet]")
	fs.StringVar(&s.out, "out", "", "the `TABLE` to write, for the metrics of the task: .csv or .parquet")
	fs.StringVar(&ratings.out, "ratings", "", "a `TABLE` to write with a row for each answer, for the metric agreement")
	spreadsheet := fs.Bool("spreadsheet", false, "put an apostrophe before texts that a spreadsheet would take for "+
		"formulas")
	fs.BoolVar(&o.Partial, "partial", false, "collect the items that are answered, and list what is missing")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 || s.out == "" {
		return usage("antipode annotate collect DIR --out TABLE: give the folder that `antipode annotate make` wrote")
	}
	for _, path := range []string{s.out, ratings.out} {
		if path == "" {
			continue
		}
		if err := tableName(path); err != nil {
			return err
		}
	}
	if _, err := os.Stat(rest[0]); errors.Is(err, os.ErrNotExist) {
		return usage("annotate collect: there is no folder %s", rest[0])
	}
	c, err := annotate.Collect(rest[0], o)
	if err != nil {
		return err
	}
	for _, n := range c.Notes {
		fmt.Println(strings.TrimPrefix(n, "annotate: "))
	}
	s.all, ratings.all = true, true
	if *spreadsheet {
		c.Table, c.Ratings = spreadsheetSafe(c.Table), spreadsheetSafe(c.Ratings)
	}
	if err := s.save(ctx, datasets.FromFrame(c.Table)); err != nil || ratings.out == "" {
		return err
	}
	return ratings.save(ctx, datasets.FromFrame(c.Ratings))
}
