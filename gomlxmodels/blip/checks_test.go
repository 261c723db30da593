//go:build checks

package blip

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/gomlxmodels/textgen"
	"antipode/internal/must"
	"antipode/test/captiontest"
	"antipode/test/testbackend"
)

// python runs a script of tools/pyref.
func python(t *testing.T, script string, args ...string) string {
	return testbackend.Python(t, []string{"torch", "transformers", "safetensors"},
		filepath.Join("..", "..", "tools", "pyref", script), args...)
}

// TestRealSize compares a captioner of the base shape, random weights, with transformers: logits of every step,
// greedy captions and those of beams token for token. Then captions are drawn alone and among others, which must not
// change a bit.
func TestRealSize(t *testing.T) {
	backend, dir := testbackend.XLA(t), t.TempDir()
	t.Log(strings.TrimSpace(python(t, "blip_real.py", dir)))
	g := openIn(t, dir)
	start := int32(g.cfg.Text.StartToken)
	captiontest.Check(t, backend, g.Network(),
		captiontest.Reference{Golden: g.Golden, Lines: captiontest.Read(t, dir, 9), Start: []int32{start}},
		func(textgen.Options) bool { return true })
	c, images := newCaptioner(t, backend, g.Model, textgen.CaptionerOptions{Batch: 4}), g.images()
	t.Logf("%d MiB of weights", c.Bytes()>>20)
	captiontest.Alone(t, c, images, start)
}

// TestRealQuestions compares a model of the shape of blip-vqa-base, random weights, with transformers: encoded
// questions, logits of forced answers, likelihoods and greedy answers. It logs the seconds of both per
// question: image, question, likelihoods of the choices and ten tokens.
func TestRealQuestions(t *testing.T) {
	backend, dir := testbackend.XLA(t), t.TempDir()
	python(t, "blip_questions.py", "--real", dir)
	g, cases := openQuestions(t, dir)
	checkQuestion(t, backend, g, 0, cases[0])
	checkAnswers(t, backend, g, cases)
	a := must.Get(NewAnswerer(backend, g.Model))(t)
	defer a.Close()
	for range 2 { // the first time graphs are compiled
		for i, c := range cases {
			begin := time.Now()
			must.Get(a.Answer(t.Context(), []Question{{Pixels: g.images()[c.Image], Tokens: c.Question,
				Choices: c.Choices}}))(t)
			t.Logf("question %d: %.2f s, transformers %.2f s", i, time.Since(begin).Seconds(), c.Seconds)
		}
	}
}
