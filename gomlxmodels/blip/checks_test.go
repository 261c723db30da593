//go:build checks

package blip

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/captioner"
	"antipode/gomlxmodels/decode"
	"antipode/gomlxmodels/internal/captiontest"
	"antipode/internal/testbackend"
)

// python runs internal/pyref/blip_real.py.
func python(t *testing.T, args ...string) string {
	return testbackend.Python(t, []string{"torch", "transformers", "safetensors"}, filepath.Join("..", "..", "internal", "pyref", "blip_real.py"), args...)
}

// TestRealSize compares a captioner of the base shape, random weights, with transformers: logits of every step, greedy captions and those
// of beams token for token. Then captions are drawn alone and among others, which must not change a bit.
func TestRealSize(t *testing.T) {
	backend, dir := testbackend.XLA(t), t.TempDir()
	t.Log(strings.TrimSpace(python(t, dir)))
	g := openIn(t, dir)
	start := int32(g.cfg.Text.StartToken)
	captiontest.Check(t, backend, g.Network(), captiontest.Reference{Golden: g.Golden, Lines: captiontest.Read(t, dir, 9), Start: []int32{start}}, func(decode.Settings) bool { return true })
	c, pictures := newCaptioner(t, backend, g.Model, captioner.Options{Batch: 4}), g.pictures()
	t.Logf("%d MiB of weights", c.Bytes()>>20)
	checkAlone(t, c, pictures, start)
}

// checkAlone draws captions of pictures at several places, with several neighbours.
func checkAlone(t *testing.T, c *captioner.Captioner, pictures [][]float32, start int32) {
	s := decode.Settings{MaxTokens: 10, Sample: true, Number: 5, TopP: 0.9}
	var requests []captioner.Request
	for i, p := range pictures {
		r := captioner.Request{Pixels: p, Picture: fmt.Sprint(i), Prompt: []int32{start}}
		for k := range s.Number {
			r.Seeds = append(r.Seeds, uint64(50*i+k))
		}
		requests = append(requests, r)
	}
	whole, err := c.Caption(t.Context(), requests, s)
	if err != nil {
		t.Fatal(err)
	}
	captions := 0
	for _, order := range [][]int{{0}, {1}, {2}, {2, 1, 0}, {1, 2, 0, 1}} {
		var list []captioner.Request
		for _, i := range order {
			list = append(list, requests[i])
		}
		again, err := c.Caption(t.Context(), list, s)
		if err != nil {
			t.Fatal(err)
		}
		for at, i := range order {
			for k, text := range again[at] {
				captions++
				if want := whole[i][k]; !slices.Equal(text.Tokens, want.Tokens) || text.LogProb != want.LogProb {
					t.Errorf("picture %d in %v, caption %d: %+v, among all %+v", i, order, k, text, want)
				}
			}
		}
	}
	t.Logf("%d captions drawn again at other places, among others: not a bit differs", captions)
}
