package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"antipode/datasets/client"
	"antipode/kernel/jupyter"
)

// cellsBenchmark measures notebook cells by wall clock, from the request to the cell's reply: a warm cell that embeds
// already embedded images with a resident model, scores them and draws a plot; a cell that prints a line; and a cell of
// plain GoNB and GoMLX that does the same work: it loads the weights, compiles, embeds, scores and draws.
var cellsBenchmark = benchmark{
	about: "notebook cells: warm, hello world, and the same work with plain GoNB and GoMLX; needs -model and -table",
	ints:  map[string]int{"n": 20, "repeat": 3},
	texts: map[string]string{"model": "", "table": ""},
	run:   timeCells,
}

const planCell = `
var all = gomlxmodels.Embed(%q, datasets.CSV(%q))
var sets = metrics.Sets{Real: all.Where("source", "==", "real"), Generated: all.Where("source", "==", "generated")}
var scores = disparity.PrecisionCoverage(sets, disparity.PrecisionCoverageOptions{By: metrics.By("region"),
	Comparison: disparity.Comparison{K: 1}})
`

// Each run has another text, as when a person edits a cell: otherwise the build cache would be measured.
const warmCell = "%%%%\nplots.Show(plots.Bars{Table: scores, Y: \"coverage\", X: \"region\", Title: \"run %d\"})\n"
const helloCell = "%%%%\nfmt.Println(\"hello %d\")\n"

//go:embed plain_cell.txt
var plainCell string // with %q for the table and %q for the model

// timeCells runs n warm cells, n cells that print, and -repeat plain cells.
func timeCells(s *session) error {
	module := must(os.Getwd())
	home := must(client.Home())
	binary := must(client.Binary(home))
	model := must(filepath.Abs(s.text("model")))
	table := must(filepath.Abs(s.text("table")))
	ctx := context.Background()
	k := must(jupyter.Start(ctx, jupyter.Options{ModuleDir: module, Home: home, Binary: binary}))
	defer k.Close()
	cell := func(code string) (float64, error) {
		start := time.Now()
		var printed strings.Builder
		reply, err := k.Run(ctx, jupyter.Cell{Source: code}, func(m jupyter.Message) {
			if m.Header.Type == "stream" || m.Header.Type == "error" {
				printed.Write(m.Content)
			}
		})
		if err == nil && reply.Status != "ok" {
			err = fmt.Errorf("a cell failed: %s", printed.String())
		}
		return time.Since(start).Seconds(), err
	}
	must(cell(fmt.Sprintf(planCell, model, table)))
	for _, kind := range []struct {
		name string
		n    int
		code func(run int) string
	}{
		{"first cell: backend starts, model loads, compiles, embeds", 1,
			func(int) string { return fmt.Sprintf(warmCell, 0) }},
		{"warm cell: embedded images, scores, plot", s.int("n"),
			func(run int) string { return fmt.Sprintf(warmCell, run) }},
		{"hello world", s.int("n"), func(run int) string { return fmt.Sprintf(helloCell, run) }},
		{"the same as a cell of plain GoNB and GoMLX", s.int("repeat"), func(run int) string {
			return fmt.Sprintf(plainCell, table, model) + fmt.Sprintf("// run %d\n", run)
		}},
	} {
		line := row{name: "antipode"}
		for run := range kind.n {
			seconds, err := cell(kind.code(run + 1))
			if err != nil {
				return fmt.Errorf("%s: %w", kind.name, err)
			}
			line.seconds = append(line.seconds, seconds)
		}
		printTable(part{kind.name, "cells", 1}, []row{line})
	}
	return nil
}
