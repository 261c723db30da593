//go:build seeds

package all

import (
	"context"
	"fmt"
	"os"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/metrics/disparity"
)

// TestInjectedGaps runs the analysis of notebooks/decomposed_dig.ipynb for 20 seeds, with and without injected
// disparities:
//
//	go test -tags seeds -run InjectedGaps -timeout 60m -v ./kernel/backend/all
//
// ANTIPODE_FIRST_SEED sets the first seed; with ANTIPODE_HOME set, embeddings are cached for the next run.
func TestInjectedGaps(t *testing.T) {
	home := os.Getenv("ANTIPODE_HOME")
	if home == "" {
		home = t.TempDir()
	}
	must.Do(t, Use(home))
	first := 100
	if s := os.Getenv("ANTIPODE_FIRST_SEED"); s != "" {
		_ = must.Get(fmt.Sscan(s, &first))(t)
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
		t.Logf("seed %d: injected gaps missed %d, controls flagged %d; without injected disparities %d flagged", seed,
			missed, alarms, without)
	}
	t.Logf("%d seeds: injected gaps found in %d, a control flagged in %d, nothing flagged without them in %d",
		seeds, found, falseAlarms, quiet)
	must.True(t, found >= 19 && falseAlarms <= 2 && quiet >= 18, "wanted at least 19, at most 2, at least 18")
}

// verdicts runs the notebook's plan for a world and counts the injected gaps missed and the controls flagged.
func verdicts(t *testing.T, seed int, injected bool) (missed, alarms int) {
	t.Helper()
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: seed, Injected: injected})
	sets := metrics.Sets{Real: gomlxmodels.Embed("archipelago-vit", world.Reference()),
		Generated: gomlxmodels.Embed("archipelago-vit", world.Sampled())}
	background := disparity.GapsToControls(sets, world.InjectedDisparities(), disparity.GapsOptions{
		Vector: "background_only", Scores: []string{"coverage"}, By: metrics.By("region"),
		Intervals: metrics.Intervals{Level: 0.975}})
	object := disparity.GapsToControls(sets, world.InjectedDisparities(), disparity.GapsOptions{
		Vector: "object_only", Scores: []string{"coverage"}, By: metrics.By("region"),
		Intervals: metrics.Intervals{Level: 0.975}})
	f := must.Get(disparity.InjectedVerdicts(background.Concat(object), world.InjectedDisparities()).
		Rows(context.Background()))(t)
	for i, v := range f.Texts("verdict") {
		switch v {
		case "missed":
			missed++
		case "flagged by mistake":
			alarms++
		}
		if v != "not flagged" {
			t.Logf("  seed %d, injected %v: %s %s %s %s: gap %.3f [%.3f, %.3f]", seed, injected, f.Texts("region")[i],
				f.Texts("vector")[i], f.Texts("score")[i], v,
				f.Numbers("gap")[i], f.Numbers("gap_low")[i], f.Numbers("gap_high")[i])
		}
	}
	return missed, alarms
}

// TestMarkedGaps runs the sensitivity of notebooks/segmentation.ipynb for the worlds of seeds 1 to 5, with and without
// injected disparities. A gap is true if it is flagged with the exact masks too: none of these may be marked as one
// that errors of the segmentation can explain, all others must be.
//
//	go test -tags seeds -run MarkedGaps -timeout 60m -v ./kernel/backend/all
func TestMarkedGaps(t *testing.T) {
	home := os.Getenv("ANTIPODE_HOME")
	if home == "" {
		home = t.TempDir()
	}
	must.Do(t, Use(home))
	right, marked := 0, 0
	for seed := 1; seed <= 5; seed++ {
		for _, injected := range []bool{true, false} {
			exact, sensitivity := sensitivities(t, seed, injected)
			for i, verdict := range sensitivity.Texts("verdict") {
				if verdict != "holds" && verdict != disparity.Explained {
					continue
				}
				gap := sensitivity.Numbers("gap")[i]
				truth := exact.Texts("flagged")[i] == "yes" && exact.Numbers("gap")[i]*gap > 0
				t.Logf("seed %d, injected %v: %s %s: gap %.3f, with exact masks %.3f, masked %.3f (%v images); %s %s",
					seed, injected, sensitivity.Texts("region")[i], sensitivity.Texts("vector")[i], gap,
					exact.Numbers("gap")[i], sensitivity.Numbers("gap_masked")[i],
					sensitivity.Numbers("n_masked")[i], verdict, sensitivity.Texts("gone_with")[i])
				if truth == (verdict == "holds") {
					right++
				} else {
					t.Errorf("a wrong verdict")
				}
				if verdict == disparity.Explained {
					marked++
				}
			}
		}
	}
	t.Logf("%d right verdicts on significant gaps, %d of them marked", right, marked)
	must.True(t, right >= 15 && marked >= 5, "wanted at least 15 right verdicts, and 5 marked gaps")
}

// sensitivities returns the gaps of a world with exact masks and, in the same order, the sensitivity of those with the
// masks of archipelago-clipseg.
func sensitivities(t *testing.T, seed int, injected bool) (exact, sensitivity *datasets.Frame) {
	t.Helper()
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: seed, Injected: injected})
	gapsOf := func(masks func(datasets.Table) datasets.Table, o disparity.GapsOptions) datasets.Table {
		sets := metrics.Sets{Real: gomlxmodels.Embed("archipelago-vit", masks(world.Reference())),
			Generated: gomlxmodels.Embed("archipelago-vit", masks(world.Sampled()))}
		o.By, o.Scores, o.Level = metrics.By("region"), []string{"coverage"}, 0.975
		o.Vector = "background_only"
		background := disparity.GapsToControls(sets, world.InjectedDisparities(), o)
		o.Vector = "object_only"
		return background.Concat(disparity.GapsToControls(sets, world.InjectedDisparities(), o))
	}
	named := func(images datasets.Table) datasets.Table { return gomlxmodels.Segment("archipelago-clipseg", images) }
	grown := func(pixels float64) func(datasets.Table) datasets.Table {
		return func(images datasets.Table) datasets.Table { return named(images).GrowMasks(pixels) }
	}
	other := func(images datasets.Table) datasets.Table {
		return gomlxmodels.Segment("archipelago-clipseg", images.With("word", "object"),
			gomlxmodels.SegmentOptions{Text: "word"})
	}
	var all disparity.GapsOptions
	rows := func(table datasets.Table) *datasets.Frame {
		return must.Get(table.Rows(context.Background()))(t)
	}
	exact = rows(gapsOf(func(images datasets.Table) datasets.Table { return images }, all))
	sensitivity = rows(disparity.GapSensitivity(gapsOf(named, all), disparity.GapVariants{Eroded: gapsOf(grown(-2),
		all),
		Dilated: gapsOf(grown(2), all), Other: gapsOf(other, all),
		Masked: gapsOf(other, disparity.GapsOptions{Balance: true,
			Comparison: disparity.Comparison{Unmasked: "drop"}})}))
	for i, region := range exact.Texts("region") {
		if region != sensitivity.Texts("region")[i] || exact.Texts("vector")[i] != sensitivity.Texts("vector")[i] {
			t.Fatalf("row %d is of another gap", i)
		}
	}
	return exact, sensitivity
}
