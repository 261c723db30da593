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
		if err := s.begin(n, runs, 1024, 768); err != nil {
			return err
		}
		items, err := store.Open(filepath.Join(s.dir, "store"))
		if err != nil {
			return err
		}
		client.Register(engine.New(items, engine.Options{OpenDevice: func(context.Context) (engine.Device, error) {
			return stageDevice{s.device}, nil
		}}))
		fmt.Println(s.peer.name)
		rows := []row{{name: "antipode"}, {name: "workers=0"}, {name: "workers=1"}, {name: "workers=2"}}
		for run := range runs {
			begin := time.Now()
			vectors, err := embedFolder(filepath.Join(s.dir, "model"), filepath.Join(s.dir, fmt.Sprint(run)))
			seconds := time.Since(begin).Seconds()
			if err != nil {
				return err
			}
			for workers := -1; workers < len(rows)-1; workers++ {
				if workers >= 0 {
					r, err := s.peer.do("run", run, workers)
					if err != nil {
						return err
					}
					seconds = r.Seconds[0]
				}
				if run > 0 {
					rows[workers+1].seconds = append(rows[workers+1].seconds, seconds)
				}
			}
			if err := s.same(vectors, 1e-3); err != nil {
				return err
			}
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
func embedFolder(model, folder string) (vectors [][]float32, err error) {
	f, err := gomlxmodels.Embed(model, datasets.Images(folder)).Rows(context.Background())
	if err != nil {
		return nil, err
	}
	c, err := f.Need("full", table.KindVector)
	if err != nil {
		return nil, err
	}
	return c.Vectors, nil
}
