//go:build seeds

package all

import (
	"context"
	"fmt"
	"os"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/metrics"
)

// TestPlantedGaps repeats what notebooks/decomposed_dig.ipynb does over 20 seeds, with and without planted disparities:
//
//	go test -tags seeds -run PlantedGaps -timeout 60m -v ./gomlxmodels/all
//
// ANTIPODE_FIRST_SEED moves the seeds; ANTIPODE_HOME keeps the embeddings for the next time.
func TestPlantedGaps(t *testing.T) {
	home := os.Getenv("ANTIPODE_HOME")
	if home == "" {
		home = t.TempDir()
	}
	if err := Use(home); err != nil {
		t.Fatal(err)
	}
	first := 100
	if s := os.Getenv("ANTIPODE_FIRST_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &first); err != nil {
			t.Fatal(err)
		}
	}
	const seeds = 20
	found, falseAlarms, quiet := 0, 0, 0
	for seed := first; seed < first+seeds; seed++ {
		missed, alarms := verdicts(t, seed, true)
		_, without := verdicts(t, seed, false)
		if missed == 0 {
			found++
		}
		if alarms > 0 {
			falseAlarms++
		}
		if without == 0 {
			quiet++
		}
		t.Logf("seed %d: planted gaps missed %d, controls flagged %d; with nothing planted %d flagged", seed, missed, alarms, without)
	}
	t.Logf("%d seeds: planted gaps found in %d, a control flagged in %d, nothing found where nothing was planted in %d", seeds, found, falseAlarms, quiet)
	if found < 19 || falseAlarms > 2 || quiet < 18 {
		t.Errorf("wanted at least 19, at most 2, at least 18")
	}
}

// verdicts runs the notebook's plan for a world and counts the planted gaps it missed and the controls it flagged.
func verdicts(t *testing.T, seed int, planted bool) (missed, alarms int) {
	t.Helper()
	world := datasets.Archipelago(datasets.Seed(seed), datasets.Planted(planted))
	sets := metrics.Sets{Real: gomlxmodels.Embed("archipelago-vit", world.Photos()), Generated: gomlxmodels.Embed("archipelago-vit", world.Sampled())}
	background := metrics.GapsToControls(sets, world.Plants(), metrics.Vector("background_only"), metrics.Of("coverage"), metrics.By("region"), metrics.Level(0.975))
	object := metrics.GapsToControls(sets, world.Plants(), metrics.Vector("object_only"), metrics.Of("coverage"), metrics.By("region"), metrics.Level(0.975))
	f, err := metrics.PlantedVerdicts(background.Concat(object), world.Plants()).Rows(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range f.Texts("verdict") {
		switch v {
		case "missed":
			missed++
		case "flagged by mistake":
			alarms++
		}
		if v != "not flagged" {
			t.Logf("  seed %d, planted %v: %s %s %s %s: gap %.3f [%.3f, %.3f]", seed, planted, f.Texts("region")[i], f.Texts("vector")[i], f.Texts("score")[i], v,
				f.Numbers("gap")[i], f.Numbers("gap_low")[i], f.Numbers("gap_high")[i])
		}
	}
	return missed, alarms
}
