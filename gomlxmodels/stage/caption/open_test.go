package caption

import (
	"path/filepath"
	"testing"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/test/stagetest"
)

// TestOpen: what the model or the settings rule out is said at once.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		do   func(*gomlxmodels.CaptionArgs)
		want string
	}{
		{func(a *gomlxmodels.CaptionArgs) { a.Model = "/no/such/folder" }, "model folder"},
		{func(a *gomlxmodels.CaptionArgs) { a.Model = filepath.Dir(model) + "/large" }, "no tokenizer"},
		{func(a *gomlxmodels.CaptionArgs) { a.MaxTokens = 50 }, "request fewer"},
		{func(a *gomlxmodels.CaptionArgs) { a.N, a.Decode, a.Beams = 4, "beam", 3 }, "at most as many as it has beams"},
		{func(a *gomlxmodels.CaptionArgs) { a.N = 0 }, "at least one"},
		{func(a *gomlxmodels.CaptionArgs) { a.Decode = "guess" }, `decode "guess"`},
		{func(a *gomlxmodels.CaptionArgs) { a.Decode, a.Beams = "beam", 49 }, "too many for 98 tokens"},
		{func(a *gomlxmodels.CaptionArgs) { a.Prefix = "a picture of ξ" }, "lacks part of it"},
		{func(a *gomlxmodels.CaptionArgs) { a.Model = filepath.Dir(model2) + "/retrieval" },
			"without a language model writes no captions"},
		{func(a *gomlxmodels.CaptionArgs) { a.Model, a.MaxTokens = model2, 43 }, "more than the model's 42"},
	} {
		a := args(1, gomlxmodels.CaptionOptions{})
		c.do(&a)
		must.Fail(stagetest.Open(t, stagetest.NewEnv(t, nil), gomlxmodels.CaptionOp, a))(t, c.want)
	}
	w := start(t, stagetest.NewEnv(t, nil), args(1, gomlxmodels.CaptionOptions{}))
	// a table without images
	must.Fail(w.Check([]table.ColumnSpec{{Name: "id", Kind: table.KindText}}))(t, `"image_id"`)
	digests := map[string]bool{}
	for _, a := range []gomlxmodels.CaptionArgs{args(1, gomlxmodels.CaptionOptions{}),
		args(1, gomlxmodels.CaptionOptions{Prefix: "a"}),
		args(1, gomlxmodels.CaptionOptions{MaxTokens: 8}), args(1, gomlxmodels.CaptionOptions{Decode: "nucleus"}),
		args(1, gomlxmodels.CaptionOptions{Decode: "nucleus", TopK: 3}),
		args(1, gomlxmodels.CaptionOptions{Precision: "bfloat16"})} {
		digests[start(t, stagetest.NewEnv(t, nil), a).Digest()] = true
	}
	must.Equal(t, len(digests), 6, "six settings", "digests")
}
