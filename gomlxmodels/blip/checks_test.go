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

// TestRealQuestions compares models of the shapes of blip-vqa-base and blip-itm-base-coco, random weights, with
// transformers: encoded questions, logits of forced answers, likelihoods and greedy answers. It logs the seconds of
// both per question: image, question, likelihoods of the choices and ten tokens, or image and text.
func TestRealQuestions(t *testing.T) {
	backend, dir := testbackend.XLA(t), t.TempDir()
	questions, match := filepath.Join(dir, "questions"), filepath.Join(dir, "match")
	python(t, "blip_questions.py", "--real", questions)
	python(t, "blip_judges.py", "--real", dir)
	for _, folder := range []string{questions, match} {
		g, cases := openQuestions(t, folder)
		if folder == questions {
			checkQuestion(t, backend, g, 0, cases[0])
		}
		checkAnswers(t, backend, g, cases)
		a := must.Get(NewAnswerer(backend, g.Model))(t)
		for range 2 { // the first time graphs are compiled
			for i, c := range cases {
				begin := time.Now()
				must.Get(a.Answer(t.Context(), []Question{{Pixels: g.images()[c.Image], Tokens: c.Question,
					Choices: c.Choices}}))(t)
				t.Logf("%s %d: %.2f s, transformers %.2f s", filepath.Base(folder), i, time.Since(begin).Seconds(),
					c.Seconds)
			}
		}
		a.Close()
	}
}
