// Command cells times notebook cells: a warm Antipode cell that embeds already embedded pictures with a resident model, scores them
// and draws a plot, beside a plain GoNB cell that does the same with GoMLX itself (loads the weights, compiles, embeds, scores).
//
//	go run ./internal/bench/cells -model DIR -table images.csv [-n 20] [-plain 3]
//
// The table needs the columns id, image and region; every second row counts as generated. Times are wall clock, from
// the request to the cell's reply, on an otherwise idle machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"antipode/kernel/client"
	"antipode/kernel/jupyter"
)

const plan = `
var all = gomlxmodels.Embed(%q, datasets.CSV(%q))
var sets = metrics.Sets{Real: all.Where("source", "==", "real"), Generated: all.Where("source", "==", "generated")}
var scores = metrics.PrecisionCoverage(sets, metrics.By("region"), metrics.K(1))
`

// Each run of a cell is another text, as when a person edits it: else the build cache would answer.
const warm = "%%%%\nplots.Bars(scores, \"coverage\", plots.X(\"region\"), plots.Title(\"run %d\")).Show()\n"
const hello = "%%%%\nfmt.Println(\"hello %d\")\n"

const plain = `
import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/metrics/prdc"

	"github.com/janpfeifer/gonb/gonbui"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

%%%%
table := %q
f, err := os.Open(table)
check(err)
rows, err := csv.NewReader(f).ReadAll()
check(err)
dev, err := device.Open("", "")
check(err)
m, err := vit.Open(%q)
check(err)
enc, err := vit.NewEncoder(dev.Backend, m, vit.Options{})
check(err)
var pictures []*vit.Prepared
for _, row := range rows[1:] {
	data, err := os.ReadFile(filepath.Join(filepath.Dir(table), row[1]))
	check(err)
	img, err := preprocess.Decode(data)
	check(err)
	p, err := m.Prepare(img, nil, vit.PrepareOptions{})
	check(err)
	pictures = append(pictures, p)
}
out, err := enc.Encode(context.Background(), pictures)
check(err)
values := plotter.Values{}
for _, region := range []string{"north", "south"} {
	var real, generated [][]float32
	for i, row := range rows[1:] {
		switch {
		case row[2] != region:
		case row[3] == "real":
			real = append(real, out[i].Full)
		default:
			generated = append(generated, out[i].Full)
		}
	}
	r, err := prdc.Compute(context.Background(), prdc.Sets{Real: real, Generated: generated}, prdc.Options{K: 1}, nil)
	check(err)
	values = append(values, r.Coverage)
}
p := plot.New()
bars, err := plotter.NewBarChart(values, vg.Points(20))
check(err)
p.Add(bars)
w, err := p.WriterTo(300, 200, "svg")
check(err)
var svg strings.Builder
_, err = w.WriteTo(&svg)
check(err)
gonbui.DisplaySvg(svg.String())
gonbui.Sync()
`

func main() {
	model := flag.String("model", "", "the model's folder")
	table := flag.String("table", "", "a CSV with id,image,region,source in this order")
	n := flag.Int("n", 20, "warm cells")
	plains := flag.Int("plain", 3, "plain cells")
	flag.Parse()
	if err := run(*model, *table, *n, *plains); err != nil {
		log.Fatal(err)
	}
}

func run(model, table string, n, plains int) error {
	module, err := os.Getwd()
	if err != nil {
		return err
	}
	home, err := client.Home()
	if err != nil {
		return err
	}
	binary, err := client.Binary(home)
	if err != nil {
		return err
	}
	if model, err = filepath.Abs(model); err != nil {
		return err
	}
	if table, err = filepath.Abs(table); err != nil {
		return err
	}
	ctx := context.Background()
	k, err := jupyter.Start(ctx, jupyter.Options{ModuleDir: module, Home: home, Binary: binary})
	if err != nil {
		return err
	}
	defer k.Close()
	cell := func(code string) (time.Duration, error) {
		start := time.Now()
		var said strings.Builder
		reply, err := k.Run(ctx, jupyter.Cell{Source: code}, func(m jupyter.Message) {
			if m.Header.Type == "stream" || m.Header.Type == "error" {
				said.Write(m.Content)
			}
		})
		if err == nil && reply.Status != "ok" {
			err = fmt.Errorf("a cell failed: %s", said.String())
		}
		return time.Since(start), err
	}
	if _, err := cell(fmt.Sprintf(plan, model, table)); err != nil {
		return err
	}
	cold, err := cell(fmt.Sprintf(warm, 0))
	if err != nil {
		return err
	}
	fmt.Printf("first cell (backend starts, model loads, compiles, embeds)  %6.2f s\n", cold.Seconds())
	if err := repeat("warm cell: embedded pictures, scores, plot", n, func(i int) (time.Duration, error) { return cell(fmt.Sprintf(warm, i)) }); err != nil {
		return err
	}
	if err := repeat("hello world", n, func(i int) (time.Duration, error) { return cell(fmt.Sprintf(hello, i)) }); err != nil {
		return err
	}
	return repeat("the same as a plain GoNB + GoMLX cell", plains, func(i int) (time.Duration, error) {
		return cell(fmt.Sprintf(plain, table, model) + fmt.Sprintf("// run %d\n", i))
	})
}

func repeat(name string, n int, f func(i int) (time.Duration, error)) error {
	var times []float64
	for i := range n {
		d, err := f(i + 1)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		times = append(times, d.Seconds())
	}
	if n == 0 {
		return nil
	}
	slices.Sort(times)
	at := func(q float64) float64 { return times[min(int(q*float64(n)), n-1)] }
	fmt.Printf("%-58s  median %.2f s  p5 %.2f  p95 %.2f  (n = %d)\n", name, at(0.5), at(0.05), at(0.95), n)
	return nil
}
