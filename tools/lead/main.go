// Command lead writes the figure at the top of README.md: from a prompt to the gaps by island, in the built-in world.
//
//	go run ./tools/lead docs/readme.png
//
// It needs a backend, as a notebook does. The images of the pool are those of notebooks/truth_test.ipynb.
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"

	"antipode/audits/truth"
	"antipode/datasets"
	models "antipode/gomlxmodels"
	"antipode/metrics"
	"antipode/metrics/disparity"
	"antipode/plots"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: lead FILE.png")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "lead:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	steps, err := decode(plots.Render(segments(), "png"))
	if err != nil {
		return err
	}
	result, err := decode(plots.Render(gaps(), "png"))
	if err != nil {
		return err
	}
	size := image.Rect(0, 0, max(steps.Bounds().Dx(), result.Bounds().Dx()), steps.Bounds().Dy()+result.Bounds().Dy())
	out := image.NewRGBA(size)
	draw.Draw(out, size, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, steps.Bounds(), steps, image.Point{}, draw.Over)
	draw.Draw(out, result.Bounds().Add(image.Pt(0, steps.Bounds().Dy())), result, image.Point{}, draw.Over)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func decode(data []byte, err error) (image.Image, error) {
	if err != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(data))
}

// segments shows generated images with their prompts, split by their masks.
func segments() plots.Segments {
	test := truth.Test{}
	images := models.Segment("archipelago-clipseg", test.RegionImages(true, 1))
	rows := images.Where("outcome", "==", "ok").Where("object", "in", []string{"boat", "umbrella"}).
		Where("region", "in", []string{"Velmora", "Brackwyn"}).Sort("prompt")
	return plots.Segments{Table: rows, Captions: []string{"prompt"}, Limit: 2,
		Title: "Prompt → generated image → object and background"}
}

// gaps compares the coverage of each island with that of the control islands.
func gaps() plots.Forest {
	test := truth.Test{Quick: true, Pools: "notebooks/truth_pools"}
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, Injected: true})
	sets := metrics.Sets{Real: models.Embed(models.ArchipelagoViT, world.Reference()),
		Generated: test.Pool("regions", true)}
	// The objects of Ondulay that CLIPSeg does not recognize remain in its backgrounds.
	of := func(vector, carrier, implied string) datasets.Table {
		t := disparity.GapsToControls(sets, world.InjectedDisparities(), disparity.GapsOptions{By: metrics.By("region"),
			Vector: vector, Scores: []string{"coverage"}, Intervals: metrics.Intervals{Level: 0.975}})
		return t.Where("region", "==", carrier).With("disparity", "injected").
			Concat(t.Where("region", "==", implied).With("disparity", "follows from missing masks"),
				t.Where("region", "!=", carrier).Where("region", "!=", implied).
					With("disparity", "no injected disparity"))
	}
	return plots.Forest{Table: of("object_only", "Ondulay", "").Concat(of("background_only", "Brackwyn", "Ondulay")),
		X: "gap",
		Y: "region", Panels: "vector", Series: "disparity",
		Order: plots.Order{"region": {"Brackwyn", "Ilvanar", "Ondulay", "Quessin", "Tarrish", "Velmora"},
			"disparity": {"injected", "follows from missing masks", "no injected disparity"}},
		References: []plots.Mark{{At: 0, Name: "no gap"}}, Title: "Coverage minus the mean of the control islands",
		XLabel: "gap in coverage",
		Note: "Control islands: those without an injected disparity. Images without a mask (103 of 768): the object " +
			"counts as missed, the background is compared by the whole image, as in the paper."}
}
