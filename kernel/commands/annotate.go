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
	"antipode/internal/objecturl"
	"antipode/kernel/annotate"
)

const (
	annotateArgs     = "make … | collect DIR …"
	annotateMakeArgs = "--task visage|visual|entigen|failures|tags|translations|question --in TABLE --out DIR " +
		"[--raters N] [--tags A,B] …"
)

func annotateCommand(ctx context.Context, args []string) error {
	return subcommands{"make": annotateMake, "collect": annotateCollect}.run(ctx, "annotate", annotateArgs, args)
}

// makeOptions are the options of annotate make.
type makeOptions struct {
	Task          string   `json:"task" kind:"TASK" help:"the TASK: visage (which attributes an image shows), visual (whether an attribute can be seen in an image), entigen (perceived groups), failures (how the images of a concept fail), tags, translations, question (the column question, with the choices A|B|… in the column choices)"`
	In            string   `json:"in" kind:"TABLE" help:"the TABLE of images: .csv, .parquet, or a folder; for visual a table of attributes"`
	Root          string   `json:"root" kind:"DIR" help:"a parent DIR that images may be in"`
	Out           string   `json:"out" kind:"DIR" help:"the new DIR: pages/ for the raters, key.json, answers/"`
	Raters        int      `json:"raters" default:"3" min:"1" help:"raters of each item"`
	PerPage       int      `json:"per_page" default:"50" min:"1" help:"images of a page"`
	Seed          int64    `json:"seed" help:"the seed of the orders, and of the attributes that are not stereotypes"`
	Attributes    string   `json:"attributes" kind:"TABLE" help:"of visage: a TABLE of pairs of identity and attribute; default visage-pairs, from 'antipode data pull visage' and seegull"`
	ShowOffensive bool     `json:"show_offensive" help:"of visage: also ask about attributes that SeeGULL rates offensive for the identity, or that were not rated"`
	Axes          string   `json:"axes" kind:"COLUMN=GROUP/GROUP, …" help:"of entigen: COLUMN=GROUP/GROUP, … in place of the paper's axes"`
	Tags          []string `json:"tags" help:"of tags: the tags to choose from, A,B,…"`
}

func annotateMake(ctx context.Context, args []string) error {
	var own makeOptions
	fs := flags("annotate make", annotateMakeArgs)
	addOwn(fs, &own)
	if err := noArguments(fs, args); err != nil {
		return err
	}
	o := annotate.Options{Task: own.Task, Raters: own.Raters, PerPage: own.PerPage, Seed: own.Seed,
		ShowOffensive: own.ShowOffensive, Axes: own.Axes, Tags: own.Tags}
	if o.Task == "" || own.In == "" || own.Out == "" {
		return usage("give --task TASK, --in TABLE and --out DIR")
	}
	if !slices.Contains(annotate.Tasks, o.Task) {
		return usage("annotate make: no task %q; tasks: %s%s", o.Task, strings.Join(annotate.Tasks, ", "),
			table.Hint(o.Task, annotate.Tasks))
	}
	images, err := rows(ctx, own.In, own.Root)
	if err != nil {
		return err
	}
	switch {
	case o.Task != annotate.Visage:
	case own.Attributes != "":
		o.Attributes, err = rows(ctx, own.Attributes, own.Root)
	default:
		o.Attributes, err = evaluated(ctx, visage.Pairs(visage.Options{ShowOffensive: true}))
	}
	if err != nil {
		return err
	}
	made, err := annotate.Make(images, own.Out, o)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d items for %d raters, %d pages, the largest %.1f MB\n", own.Out, made.Items, o.Raters, made.Pages,
		float64(made.Largest)/1e6)
	for _, n := range made.Notes {
		fmt.Println(n)
	}
	fmt.Printf("Send the files of %s to the raters; a person answers pages of one rater's number only. Do not send "+
		"them %s. Put the files that they return into %s, then run: antipode annotate collect %s --out TABLE\n",
		filepath.Join(own.Out, annotate.PagesDir), filepath.Join(own.Out, annotate.KeyFile),
		filepath.Join(own.Out, annotate.AnswersDir), own.Out)
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
	if one, err := objecturl.Resolve(s.out); err == nil && ratings.out != "" {
		if two, err := objecturl.Resolve(ratings.out); err == nil && one == two {
			return usage("annotate collect: --out and --ratings are one file")
		}
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
