package all

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/kernel/client"
	"antipode/kernel/engine"
)

// answerOf stores the answer to a prompt as the version did that could request it.
func answerOf(t *testing.T, e *engine.Engine, prompt, fields string) {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 16, 16))); err != nil {
		t.Fatal(err)
	}
	blob, err := e.Store.PutBlob(file.Bytes(), ".png")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "api dall-e-3 1024x1024 hd \x00%q 0", prompt))
	path := filepath.Join(e.Store.Dir(), "models", "api", hex.EncodeToString(sum[:])+".json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"image": {"path": %q, "sha256": %q}, "outcome": "ok", "reason": "", "revised_prompt": "a fine `+
		`house"%s}`, blob.Path, blob.SHA256, fields)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// registered returns an engine in a store of the test's own, which evaluates the test's tables.
func registered(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := NewEngine(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	before := client.Registered()
	client.Register(e)
	t.Cleanup(func() {
		client.Register(before)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestShutDown: images by a model that was shut down are read from the store of an earlier version, without a key and
// without a request. One that is not stored is an error.
func TestShutDown(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_API_KEY", "")
	e := registered(t)
	answerOf(t, e, "house", `, "cost": 0.08`)
	answerOf(t, e, "boat", `, "cost": null`)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house"}, {"id": "b", "prompt": "boat"},
		{"id": "c", "prompt": "tree"}})
	by := func(prompts datasets.Table) datasets.Table {
		return gomlxmodels.Generate("api:dall-e-3", prompts, gomlxmodels.GenerateOptions{Width: 1024, Height: 1024,
			Quality: "hd", Budget: 5})
	}
	for range 2 { // the second time the items of the store are found
		f, err := by(prompts.Head(2)).Rows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cost := f.Numbers("cost")
		if f.Images("image")[0].Path == "" || f.Texts("revised_prompt")[0] != "a fine house" || cost[0] != 0.08 ||
			!math.IsNaN(cost[1]) {
			t.Errorf("%+v, %v", f.Images("image"), cost)
		}
	}
	if res, err := by(prompts.Head(2)).RunE(t.Context()); err != nil || res.Found != 2 || res.Computed != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	_, err := by(prompts).Rows(t.Context())
	if err == nil || !strings.Contains(err.Error(), "model shut down 2026-05-12: dall-e-3; import existing images") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}

// TestWorkloadPrice: a workload names the price of an image with its date, and of a model that was shut down that its
// images can only be imported. Nothing is requested.
func TestWorkloadPrice(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_API_KEY", "none")
	registered(t)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house"}, {"id": "b", "prompt": "boat"}})
	high := gomlxmodels.GenerateOptions{Width: 1024, Height: 1024, Quality: "high"}
	for _, c := range []struct {
		model   string
		options gomlxmodels.GenerateOptions
		dollars float64
		price   string
	}{
		{"api:dall-e-3", high, math.NaN(), "model shut down 2026-05-12: import images made before (antipode import)"},
		{"api:gpt-image-2", high, 2 * 7024 * 30 / 1e6, "0.211 per image, price of 2026-11-04"},
		{"api:gpt-image-2", gomlxmodels.GenerateOptions{Price: 0.05}, 0.1, "0.050 per image, as given"},
		{"api:gpt-image-2.5-flare", gomlxmodels.GenerateOptions{}, math.NaN(), "price unknown"},
	} {
		images := gomlxmodels.Generate(c.model, prompts, c.options)
		f, err := datasets.Workload([]datasets.Table{images}).Rows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		dollars := f.Numbers("dollars")[0]
		if math.IsNaN(dollars) != math.IsNaN(c.dollars) || math.Abs(dollars-c.dollars) > 1e-9 ||
			f.Texts("price")[0] != c.price {
			t.Errorf("%s: %v dollars, price %q, want %v, %q", c.model, dollars, f.Texts("price")[0], c.dollars, c.price)
		}
	}
}
