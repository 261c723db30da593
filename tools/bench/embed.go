package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/device"
	_ "antipode/gomlxmodels/stage/embed" // the stage
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
	"antipode/metrics/prdc"

	"github.com/gomlx/compute"
)

// embedBenchmark measures embedding of JPEG files with a small network, from files to a table of vectors.
var embedBenchmark = benchmark{
	about: "embedding JPEG images of 1024×768 pixels with a small network (vit_tiny of two blocks), from files to " +
		"vectors, against timm with torch's loader",
	ints: map[string]int{"n": 100, "repeat": 3, "seed": 1},
	run: func(s *session) error {
		n, runs := s.int("n"), s.int("repeat")+1 // a run has its own images; the first warms up
		check(s.begin(n, runs, 1024, 768))
		items := must(store.Open(filepath.Join(s.dir, "store")))
		client.Register(engine.New(items, engine.Options{OpenDevice: func(context.Context) (engine.Device, error) {
			return stageDevice{s.device}, nil
		}}))
		fmt.Println(s.peer.name)
		rows := []row{{name: "antipode"}, {name: "workers=0"}, {name: "workers=1"}, {name: "workers=2"}}
		for run := range runs {
			begin := time.Now()
			vectors := embedFolder(filepath.Join(s.dir, "model"), filepath.Join(s.dir, fmt.Sprint(run)))
			seconds := time.Since(begin).Seconds()
			for workers := -1; workers < len(rows)-1; workers++ {
				if workers >= 0 {
					r := must(s.peer.do("run", run, workers))
					seconds = r.Seconds[0]
				}
				if run > 0 {
					rows[workers+1].seconds = append(rows[workers+1].seconds, seconds)
				}
			}
			check(s.same(vectors, 1e-3))
		}
		printTable(part{"embedding JPEG files, 1024×768, vit_tiny of two blocks", "images", n}, rows)
		return nil
	},
}

// stageDevice is the session's device as the engine knows it.
type stageDevice struct{ device *device.Device }

func (d stageDevice) Kind() string             { return d.device.Kind }
func (d stageDevice) Backend() compute.Backend { return d.device.Backend }
func (d stageDevice) Close()                   {} // the session does

func (d stageDevice) Neighbors(func(context.Context, func() error) error) prdc.Neighbors { return nil }

// embedFolder embeds the images of a folder and returns their vectors.
func embedFolder(model, folder string) [][]float32 {
	f := must(gomlxmodels.Embed(model, datasets.Images(folder)).Rows(context.Background()))
	return must(f.Need("full", table.KindVector)).Vectors
}
