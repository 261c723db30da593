//go:build xla

package all

import (
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
)

// TestDevicesSameWorld: two processes compute the bytes of one over generate, segment, embed and caption of the
// built-in world, though one of them is killed meanwhile.
func TestDevicesSameWorld(t *testing.T) {
	w := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, PerCell: 1})
	images := gomlxmodels.Generate("archipelago-diffusion", w.Prompts().Head(8),
		gomlxmodels.GenerateOptions{Steps: 2, Seed: 1})
	embedded := gomlxmodels.Embed("archipelago-vit", gomlxmodels.Segment("archipelago-clipseg", images))
	sameBytes(t, []datasets.Table{
		gomlxmodels.EmbedText("archipelago-clip", embedded, "prompt",
			gomlxmodels.EmbedTextOptions{Vector: gomlxmodels.ClipText}),
		gomlxmodels.Caption("archipelago-blip", images, gomlxmodels.CaptionOptions{MaxTokens: 8})})
}
