package gomlxmodels

import (
	"antipode/internal/must"
	"math"
	"strings"
	"testing"
)

// TestRates: every rate is of a model that is known, a generator's depends on its steps, and a GPU is faster than two
// cores by the same factor for each model.
func TestRates(t *testing.T) {
	for _, r := range rates {
		if m, known := Find(r.model); !known || m.Bytes == 0 || r.fixed <= 0 {
			t.Errorf("%s %s: known %v, %d bytes, %g s", r.op, r.model, known, m.Bytes, r.fixed)
		}
	}
	slow, how, err := Rate(GenerateOp, "stable-diffusion-v1-5", 20, "")
	if math.Abs(slow-(15+20*13.9)) > 1e-9 || !strings.Contains(how, "measured") || err != nil {
		t.Errorf("20 steps: %g s, %s, %v", slow, how, err)
	}
	fast, how, err := Rate(GenerateOp, "stable-diffusion-v1-5", 20, "a100")
	if math.Abs(slow/fast-0.25*312e12/0.17e12) > 1e-6 || how != "a100, computed" || err != nil {
		t.Errorf("on a GPU: %g s, %s, %v", fast, how, err)
	}
	if none, _, err := Rate(EmbedOp, "mine", 0, "h100"); none != 0 || err != nil {
		t.Errorf("an unknown model: %g s, %v", none, err)
	}
	if name, hour, err := Rented("a100@1.8"); name != "a100" || hour != 1.8 || err != nil {
		t.Errorf("rented %s for %g, %v", name, hour, err)
	}
	for _, wrong := range []string{"a100@", "a100@-1", "a100@NaN", "a100@cheap"} {
		must.Fail(Rented(wrong))(t, "an hour of it costs")
	}
	must.Fail(Rate(EmbedOp, "mine", 0, "abacus"))(t, "cpu-2, t4")
}
