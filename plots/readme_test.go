package plots_test

import (
	"os"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/metrics"
	"antipode/plots"
)

// readmeExample is the README's notebook in a dozen lines, compiled.
func readmeExample() {
	var world = datasets.Archipelago(datasets.Seed(7))
	var prompts = world.Sampled().Select("id", "caption", "object", "region").Rename("caption", "prompt").SeedBy("id")
	var made = gomlxmodels.Generate("archipelago-diffusion", prompts, gomlxmodels.Steps(20), gomlxmodels.Guidance(1.5))
	var drawn = gomlxmodels.Embed("archipelago-vit", gomlxmodels.Segment("archipelago-clipseg", made, "object"))
	var photos = gomlxmodels.Embed("archipelago-vit", world.Photos())
	var scores = metrics.PrecisionCoverage(metrics.Sets{Real: photos, Generated: drawn},
		metrics.Vector("background_only"), metrics.By("region"), metrics.K(3))
	scores.Run()
	plots.Bars(scores, "coverage").Show()
}

// TestReadmeExample looks whether the README shows what is compiled above.
func TestReadmeExample(t *testing.T) {
	_ = readmeExample
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(readme), "```go\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("README.md has no block of Go")
	}
	for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
		line, _, _ = strings.Cut(line, "//")
		if line = strings.TrimSpace(line); line != "" && line != "%%" && !strings.Contains(string(self), "\t"+line+"\n") {
			t.Errorf("README.md shows a line that is not compiled: %s", line)
		}
	}
}
