package gomlxmodels

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// published has a line of the fields of [Model], in their order and separated by tabs, for each known model: those that
// are part of Antipode, then encoders, segmenters, captioners and generators.
//
//go:embed published.tsv
var published string

var known = sync.OnceValue(func() (out []Model) {
	_, models, _ := strings.Cut(published, "\n")
	for line := range strings.Lines(models) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		size, _ := strconv.ParseInt(f[8], 10, 64) // "" = not known
		out = append(out, Model{
			Name:          f[0],
			Hub:           f[1],
			Formerly:      f[2],
			With:          f[3],
			Commit:        f[4],
			Status:        Status(f[5]),
			Architecture:  f[6],
			Parameters:    f[7],
			Bytes:         size,
			License:       f[9],
			NonCommercial: f[10] == "yes",
			About:         f[11],
			Columns:       f[12],
		})
	}
	return out
})
