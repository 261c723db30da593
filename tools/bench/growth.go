package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// growthBenchmark measures how time and memory of the command grow with the size of its inputs, each command with a
// backend of its own. The exponent e of a line says that the time grew from the size before as n^e.
var growthBenchmark = benchmark{
	about: "time and memory of commands with 1,000, 10,000, … rows up to -n, vectors up to -vectors, images up to " +
		"-images",
	ints: map[string]int{"n": 1_000_000, "vectors": 100_000, "images": 10_000, "size": 64, "seed": 1},
	run:  runGrowth,
}

// grown is a command whose inputs grow.
type grown struct {
	title, what string // what grows: n, vectors or images
	args        string
	most        int // the command takes no more; 0: any
}

var growths = []grown{
	{"embed, archipelago-vit, 32 pixels", "images",
		"embed --model archipelago-vit --in images.csv --out e.parquet", 0},
	{"the same again, found in the store", "images",
		"embed --model archipelago-vit --in images.csv --out e.parquet", 0},
	{"gallery as one page", "images", "view images.csv --export page.html", 20_000},
	{"precision and coverage, 6 groups", "vectors",
		"score --metric precision-coverage --real real.csv --gen generated.csv --vector full --by region " +
			"--out o.csv", 0},
	{"gaps, 6 groups, 200 resamples", "vectors",
		"score --metric region-gaps --cells none --real real.csv --gen generated.csv --by region --out o.csv", 0},
	{"tokens of texts, into the store", "n",
		"tokenize --model archipelago-diffusion --in rows.csv --out t.parquet", 0},
	{"the same again, found in the store", "n",
		"tokenize --model archipelago-diffusion --in rows.csv --out t.parquet", 0},
	{"store ls", "n", "store ls", 0},
	{"store compact", "n", "store compact", 0},
	{"store gc", "n", "store gc", 0},
	{"CSV to Parquet", "n", "table --in rows.csv --out rows.parquet", 0},
	{"CSV, sorted, and counted by group", "n", "table --in rows.csv --sort score --count region,even", 0},
}

func runGrowth(s *session) error {
	l := must(newLarge(s))
	fmt.Printf("%-40s %9s %9s %12s %12s %5s\n", "", "n", "seconds", "command MiB", "backend MiB", "e")
	for _, g := range growths {
		last := 0.
		for n := 1000; n <= s.int(g.what) && (g.most == 0 || n <= g.most); n *= 10 {
			l.store = filepath.Join(l.dir, fmt.Sprint(g.what, n)) // with what the commands before stored of this size
			check(l.grow(g.what, n))
			m, err := l.measure(strings.Fields(g.args))
			if err != nil {
				return fmt.Errorf("%s: %w", g.title, err)
			}
			exponent := ""
			if last > 0 {
				exponent = fmt.Sprintf("%.2f", math.Log10(m.seconds/last))
			}
			fmt.Printf("%-40s %9d %9.1f %12.0f %12.0f %5s\n", g.title, n, m.seconds, m.command, m.backend, exponent)
			last = m.seconds
		}
	}
	return nil
}

// grow writes the inputs of a size.
func (l *large) grow(what string, n int) error {
	switch what {
	case "vectors":
		return l.vectors(n)
	case "n":
		return l.file("rows.csv", func(w io.Writer) error { return l.rowsTo(w, n) })
	}
	check(os.MkdirAll(filepath.Join(l.dir, "img"), 0o700))
	var table strings.Builder
	table.WriteString("id,image\n")
	for i := range n {
		name := fmt.Sprintf("img/%d.png", i)
		fmt.Fprintf(&table, "%d,%s\n", i, name)
		if _, err := os.Stat(filepath.Join(l.dir, name)); err == nil {
			continue // of a smaller size
		}
		img := image.NewRGBA(image.Rect(0, 0, 32, 32))
		for p := range 32 * 32 {
			img.SetRGBA(p%32, p/32, color.RGBA{uint8(i), uint8(i >> 8), uint8(p + i>>16), 255}) // all differ
		}
		check(l.file(name, func(w io.Writer) error { return png.Encode(w, img) }))
	}
	return os.WriteFile(filepath.Join(l.dir, "images.csv"), []byte(table.String()), 0o600)
}
