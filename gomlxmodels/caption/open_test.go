package caption

import (
	"path/filepath"
	"strings"
	"testing"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/internal/stagetest"
	"antipode/kernel/client"
)

// TestOpen: what the model or the settings rule out is said at once.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		do   func(*gomlxmodels.CaptionArgs)
		want string
	}{
		{func(a *gomlxmodels.CaptionArgs) { a.Model = "/no/such/folder" }, "model folder"},
		{func(a *gomlxmodels.CaptionArgs) { a.Model = filepath.Dir(model) + "/large" }, "no tokenizer"},
		{func(a *gomlxmodels.CaptionArgs) { a.MaxTokens = 50 }, "ask for fewer"},
		{func(a *gomlxmodels.CaptionArgs) { a.N, a.Decode, a.Beams = 4, "beam", 3 }, "at most as many as it has beams"},
		{func(a *gomlxmodels.CaptionArgs) { a.N = 0 }, "at least one"},
		{func(a *gomlxmodels.CaptionArgs) { a.Decode = "guess" }, `decode "guess"`},
		{func(a *gomlxmodels.CaptionArgs) { a.Decode, a.Beams = "beam", 49 }, "too many for 98 tokens"},
		{func(a *gomlxmodels.CaptionArgs) { a.Prefix = "a picture of ξ" }, "lacks part of it"},
		{func(a *gomlxmodels.CaptionArgs) { a.Model = filepath.Dir(model2) + "/retrieval" }, "without a language model writes no captions"},
		{func(a *gomlxmodels.CaptionArgs) { a.Model, a.MaxTokens = model2, 43 }, "more than the model's 42"},
	} {
		a := args(t, 1)
		c.do(&a)
		if _, err := stagetest.Open(t, stagetest.NewEnv(t, nil), gomlxmodels.CaptionOp, a); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want one line with %q", err, c.want)
		}
	}
	w := start(t, stagetest.NewEnv(t, nil), args(t, 1))
	if err := w.Check([]client.ColumnSpec{{Name: "id", Kind: client.Text}}); err == nil || !strings.Contains(err.Error(), `"image_id"`) {
		t.Errorf("a table without pictures: %v", err)
	}
	digests := map[string]bool{}
	for _, a := range []gomlxmodels.CaptionArgs{args(t, 1), args(t, 1, gomlxmodels.Prefix("a")), args(t, 1, gomlxmodels.MaxTokens(8)), args(t, 1, gomlxmodels.Decode("nucleus")), args(t, 1, gomlxmodels.Decode("nucleus"), gomlxmodels.TopK(3)), args(t, 1, gomlxmodels.CaptionPrecision("bfloat16"))} {
		digests[start(t, stagetest.NewEnv(t, nil), a).Digest()] = true
	}
	if len(digests) != 6 {
		t.Errorf("six settings, %d digests", len(digests))
	}
}
