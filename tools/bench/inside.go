package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	gobenchmarks "github.com/janpfeifer/go-benchmarks"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/archipelago/weights"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/neighbors"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/vit"
	"antipode/kernel/backend/store"
	"antipode/metrics/prdc"
	"antipode/plots"
	_ "antipode/plots/paint" // in this process
)

// insideBenchmark times what happens inside one process, with go-benchmarks: mean, median and quantiles of each call.
var insideBenchmark = benchmark{
	about: "one call of what happens inside one process: decoding, resizing, tokens, an encoder, precision and " +
		"coverage, a plan, the store, a figure; each for -n seconds, without a peer",
	ints: map[string]int{"n": 3, "seed": 1},
	run: func(s *session) (err error) {
		s.device = must(device.Open(device.XLACPU, ""))
		calls := inside(s)
		var named []gobenchmarks.NamedFunction
		for _, c := range calls {
			if err := c.do(); err != nil { // compiles
				return fmt.Errorf("%s: %w", c.name, err)
			}
			named = append(named, gobenchmarks.NamedFunction{Name: c.name, Func: func() {
				if e := c.do(); e != nil && err == nil {
					err = fmt.Errorf("%s: %w", c.name, e)
				}
			}})
		}
		gobenchmarks.New(named...).WithDuration(time.Duration(s.int("n")) * time.Second).WithColumnSize(12).Done()
		return err
	},
}

// call is something that is timed.
type call struct {
	name string
	do   func() error
}

// inside prepares the calls. What they open stays open until the process ends.
func inside(s *session) []call {
	r := rand.New(rand.NewPCG(uint64(s.int("seed")), 1))
	var photo bytes.Buffer
	noisy := image.NewNRGBA(image.Rect(0, 0, 1024, 768))
	for i := range noisy.Pix {
		noisy.Pix[i] = byte(i/7 + r.IntN(16))
	}
	check(jpeg.Encode(&photo, noisy, nil))
	rgb := must(preprocess.Decode(photo.Bytes()))
	models := filepath.Join(s.dir, "models")
	check(os.CopyFS(models, weights.FS()))
	tokenizer := must(tokenizers.Open(filepath.Join(models, "archipelago-clip")))
	network := must(vit.Open(filepath.Join(models, weights.ViT)))
	encoder := must(vit.NewEncoder(s.device.Backend, network, vit.Options{Batch: 8}))
	prepared := must(network.Prepare(rgb, nil, vit.PrepareOptions{}))
	finder := neighbors.New(s.device.Backend, neighbors.Options{})
	sets := twoSets(s, 1000, 768)
	kept := must(store.Open(filepath.Join(s.dir, "store")))
	scores := datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("region", []string{"Velmora", "Tarrish", "Ondulay"}),
		table.NumberColumn("coverage", []float64{0.4, 0.6, 0.5}),
		table.NumberColumn("coverage_low", []float64{0.3, 0.5, 0.4}),
		table.NumberColumn("coverage_high", []float64{0.5, 0.7, 0.6})}})
	text := "a photo of a boat with a striped sail in the harbor of Velmora, in the rain"
	number := 0
	return []call{
		{"decode a JPEG, 1024×768", func() error { _, err := preprocess.Decode(photo.Bytes()); return err }},
		{"resize it to 224×224", func() error { preprocess.Resize(rgb, 224, 224, preprocess.Bicubic); return nil }},
		{"tokens of 16 words", func() error { _, err := tokenizer.Encode(text, -1); return err }},
		{"archipelago-vit, 8 images", func() error {
			batch := []*vit.Prepared{prepared, prepared, prepared, prepared, prepared, prepared, prepared, prepared}
			_, err := encoder.Encode(context.Background(), batch)
			return err
		}},
		{"precision and coverage, 1,000 × 768", func() error {
			_, err := prdc.Compute(context.Background(), sets, prdc.Options{}, finder)
			return err
		}},
		{"plan of three stages, as JSON", func() error {
			prompts := datasets.Archipelago(datasets.ArchipelagoOptions{PerCell: 1}).Prompts()
			images := gomlxmodels.Generate("archipelago-diffusion", prompts, gomlxmodels.GenerateOptions{})
			masked := gomlxmodels.Segment("archipelago-clipseg", images, gomlxmodels.SegmentOptions{})
			plan, err := gomlxmodels.Embed("archipelago-vit", masked, gomlxmodels.EmbedOptions{}).Plan()
			if err == nil {
				_, err = json.Marshal(plan)
			}
			return err
		}},
		{"store and read an image of 240 kB", func() error {
			number++
			img, err := kept.PutBlob(fmt.Appendf(photo.Bytes(), "%d", number), ".jpg")
			if err == nil {
				_, err = kept.Blob(img)
			}
			return err
		}},
		{"bars as SVG", func() error {
			_, err := plots.Render(plots.Bars{Table: scores, Y: "coverage"}, "svg")
			return err
		}},
	}
}
