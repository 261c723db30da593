package all

import (
	"math"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/kernel/backend/engine"
)

// registered returns an engine in a store of the test's own, which evaluates the test's tables.
func registered(t *testing.T) *engine.Engine {
	t.Helper()
	t.Setenv("ANTIPODE_PLUGIN", "none")
	e := must.Get(NewEngine(t.TempDir(), "test"))(t)
	before := client.Registered()
	client.Register(e)
	t.Cleanup(func() {
		client.Register(before)
		must.Do(t, e.Close())
	})
	return e
}

// TestWorkloadPrice: a workload names the price of an image with its date. Nothing is requested.
func TestWorkloadPrice(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_API_KEY", "none")
	registered(t)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house"}, {"id": "b", "prompt": "boat"}})
	high := gomlxmodels.GenerateOptions{Width: 1024, Height: 1024, API: gomlxmodels.APIOptions{Quality: "high"}}
	for _, c := range []struct {
		model   string
		options gomlxmodels.GenerateOptions
		dollars float64
		price   string
	}{
		{"api:gpt-image-2", high, 2 * 7024 * 30 / 1e6, "0.211 per image, price of 2026-11-04"},
		{"api:gpt-image-2", gomlxmodels.GenerateOptions{API: gomlxmodels.APIOptions{Price: 0.05}}, 0.1,
			"0.050 per image, as given"},
		{"api:gpt-image-2.5-flare", gomlxmodels.GenerateOptions{}, math.NaN(), "price unknown"},
	} {
		images := gomlxmodels.Generate(c.model, prompts, c.options)
		f := must.Get(datasets.Workload([]datasets.Table{images}).Rows(t.Context()))(t)
		dollars := f.Numbers("dollars")[0]
		must.Equal(t, math.IsNaN(dollars), math.IsNaN(c.dollars), c.model, "dollars, price")
		must.Near(t, dollars, c.dollars, 1e-9, c.model, "dollars, price")
		must.Equal(t, f.Texts("price")[0], c.price, c.model, "dollars, price")
	}
}
