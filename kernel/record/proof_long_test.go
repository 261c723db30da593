//go:build calibration

package record

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// cells generate, segment, embed and caption images of the built-in world, and score them.
var cells = []string{
	"import (\n\t\"antipode/datasets\"\n\tmodels \"antipode/gomlxmodels\"\n\t\"antipode/metrics\"\n" +
		"\t\"antipode/metrics/clipscore\"\n\t\"antipode/metrics/distribution\"\n)",
	`var world = datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 3, Injected: true, PerCell: 8})
var few = []string{"boat", "drum"}
var images = models.Generate("archipelago-diffusion", world.Prompts().Where("object", "in", few),
	models.GenerateOptions{N: 2, Steps: 4, Guidance: 1.5})
var sets = metrics.Sets{
	Real:      models.Embed("archipelago-vit", world.Reference().Where("object", "in", few)),
	Generated: models.Embed("archipelago-vit", models.Segment("archipelago-clipseg", images))}
var sampled = metrics.Sets{Real: sets.Real,
	Generated: models.Embed("archipelago-vit", world.Sampled().Where("object", "in", few))}
var by = metrics.By("region")
var both = models.EmbedText("archipelago-clip",
	models.Embed("archipelago-clip", images, models.EmbedOptions{Vector: "clip_image"}), "prompt",
	models.EmbedTextOptions{Vector: "clip_text"})`,
	`%%
disparity.PrecisionCoverage(sets, disparity.PrecisionCoverageOptions{By: by, Vector: "object_only"}).Show()
disparity.Gaps(sets, disparity.GapsOptions{By: by, Vector: "full"}).Save("gaps.csv")
disparity.Gaps(sampled, disparity.GapsOptions{By: by, Vector: "background_only"}).Show()
clipscore.Scores(both).Show()
distribution.FrechetDistance(sets, distribution.FrechetOptions{Sampling: distribution.Sampling{By: by}}).Show()
models.Caption("archipelago-blip", images, models.CaptionOptions{MaxTokens: 12}).Select("id", "caption").Save("c.csv")`,
}

// TestCalibrationOfRecord: a record made on the best device has the same conclusions on XLA's processor backend and on
// the pure Go one. It prints what the command does.
func TestCalibrationOfRecord(t *testing.T) {
	dir := t.TempDir()
	nb := map[string]any{"nbformat": 4, "nbformat_minor": 4, "metadata": map[string]any{}}
	var list []any
	for _, source := range cells {
		list = append(list, map[string]any{"cell_type": "code", "metadata": map[string]any{}, "source": source,
			"outputs": []any{}, "execution_count": nil})
	}
	nb["cells"] = list
	must.Do(t, os.WriteFile(filepath.Join(dir, "small.ipynb"), must.Get(json.Marshal(nb))(t), 0o644))
	binary := filepath.Join(dir, "antipode")
	for _, line := range [][]string{
		{"go", "build", "-o", binary, "antipode"},
		{binary, "record", filepath.Join(dir, "small.ipynb"), "--out", filepath.Join(dir, "record")},
		{binary, "store", "verify", "--record", filepath.Join(dir, "record"), "--backend", "xla:cpu"},
		{binary, "store", "verify", "--record", filepath.Join(dir, "record"), "--backend", "go"},
	} {
		printed, err := exec.Command(line[0], line[1:]...).Output()
		t.Logf("%s", printed)
		if err != nil {
			t.Fatalf("%v: %v", line, err)
		}
	}
	verdicts := string(must.Get(os.ReadFile(filepath.Join(dir, "record", conclusionsFile)))(t))
	flagged := strings.Count(verdicts, `"yes, `)
	t.Logf("%d conclusions, %d gaps flagged", strings.Count(verdicts, "\n")-1, flagged)
	must.True(t, flagged != 0, "no gap is flagged: that nothing changes says little")
}
