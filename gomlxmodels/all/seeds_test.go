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

// TestInjectedGaps runs the analysis of notebooks/decomposed_dig.ipynb for 20 seeds, with and without injected
// disparities:
//
//	go test -tags seeds -run InjectedGaps -timeout 60m -v ./gomlxmodels/all
//
// ANTIPODE_FIRST_SEED sets the first seed; with ANTIPODE_HOME set, embeddings are cached for the next run.
func TestInjectedGaps(t *testing.T) {
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
		t.Logf("seed %d: injected gaps missed %d, controls flagged %d; without injected disparities %d flagged", seed,
			missed, alarms, without)
	}
	t.Logf("%d seeds: injected gaps found in %d, a control flagged in %d, nothing flagged without them in %d",
		seeds, found, falseAlarms, quiet)
	if found < 19 || falseAlarms > 2 || quiet < 18 {
		t.Errorf("wanted at least 19, at most 2, at least 18")
	}
}

// verdicts runs the notebook's plan for a world and counts the injected gaps missed and the controls flagged.
func verdicts(t *testing.T, seed int, injected bool) (missed, alarms int) {
	t.Helper()
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: seed, Injected: injected})
	sets := metrics.Sets{Real: gomlxmodels.Embed("archipelago-vit", world.Reference()),
		Generated: gomlxmodels.Embed("archipelago-vit", world.Sampled())}
	background := metrics.GapsToControls(sets, world.InjectedDisparities(), metrics.GapsOptions{
		Vector: "background_only", Scores: []string{"coverage"}, By: metrics.By("region"), Level: 0.975})
	object := metrics.GapsToControls(sets, world.InjectedDisparities(), metrics.GapsOptions{
		Vector: "object_only", Scores: []string{"coverage"}, By: metrics.By("region"), Level: 0.975})
	f, err := metrics.InjectedVerdicts(background.Concat(object), world.InjectedDisparities()).
		Rows(context.Background())
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
			t.Logf("  seed %d, injected %v: %s %s %s %s: gap %.3f [%.3f, %.3f]", seed, injected, f.Texts("region")[i],
				f.Texts("vector")[i], f.Texts("score")[i], v,
				f.Numbers("gap")[i], f.Numbers("gap_low")[i], f.Numbers("gap_high")[i])
		}
	}
	return missed, alarms
}
