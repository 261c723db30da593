package diffusion

import (
	"fmt"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/test/modeltest"
)

// TestSampleSize: the sample_size that a StableDiffusionPipeline of diffusers 0.42.1 has for a UNet configuration that
// an older release wrote.
func TestSampleSize(t *testing.T) {
	for _, c := range []struct {
		version, size string
		height, width int
	}{
		{"", "32", 32, 32}, {`"0.2.4"`, "32", 64, 64}, {`"0.6.0"`, "32", 64, 64}, {`"v0.8.1"`, "32", 64, 64},
		{`"0.8.0.dev0"`, "32", 64, 64}, {`"0.9.0.dev0"`, "32", 32, 32}, {`"0.9.0"`, "32", 32, 32},
		{`"0.10.2"`, "32", 32, 32}, {`"0.42.1"`, "32", 32, 32}, {`"1.0"`, "32", 32, 32}, {`"0"`, "32", 64, 64},
		{`"0.8.1rc1"`, "32", 64, 64}, {`"0.0.4+local"`, "63", 64, 64}, {`"0.6.0"`, "64", 64, 64},
		{`"0.6.0"`, "96", 96, 96}, {`"0.6.0"`, "[32,48]", 32, 48}, {`"0.6.0"`, "null", 64, 64},
		{`"unknown"`, "32", 32, 32},
	} {
		text := fmt.Sprintf(`{"sample_size": %s}`, c.size)
		if c.version != "" {
			text = fmt.Sprintf(`{"sample_size": %s, "_diffusers_version": %s}`, c.size, c.version)
		}
		config := must.Get(ParseUNetConfig([]byte(text)))(t)
		height, width, corrected := config.sampleSize()
		recorded := c.size == "null" || c.size == fmt.Sprint(c.height) || c.size == fmt.Sprintf("[%d,%d]", c.height,
			c.width)
		if height != c.height || width != c.width || corrected == recorded {
			t.Errorf("%s: %d×%d, corrected %v", text, height, width, corrected)
		}
	}
}

// TestCorrections: what is read as another value is listed, and a folder without such a value lists nothing.
func TestCorrections(t *testing.T) {
	dir := modeltest.CopyOf(t, "sd2")
	for version, want := range map[string]string{"0.42.1": "", "0.6.0": "unet/config.json: sample_size 8, written by " +
		"diffusers 0.6.0, is read as 64"} {
		edit(t, dir, "unet/config.json", map[string]any{"_diffusers_version": version})
		m := must.Get(Open(dir, OpenOptions{}))(t)
		must.Equal(t, strings.Join(m.Corrections(), "|"), want, version)
		side := map[bool]int{true: 16, false: 128}[want == ""]
		if w, h := m.Size(); w != side || h != side {
			t.Errorf("%s: %d×%d pixels", version, w, h)
		}
	}
}
