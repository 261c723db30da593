//go:build checks

package blip

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/decode"
	"antipode/internal/near"
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
	c := newCaptioner(t, backend, g.Model, Options{Batch: 4})
	var cases []written
	text, err := os.ReadFile(filepath.Join(dir, "captions.json"))
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil || len(cases) != 9 {
		t.Fatalf("%d captions, %v", len(cases), err)
	}
	start, end := int32(g.cfg.Text.StartToken), int32(g.cfg.Text.EndToken)
	pictures := g.pictures()
	for part := range slices.Chunk(cases, len(pictures)) {
		s := settings(t, part[0].Raw)
		var steps [][][]float32
		s.Trace = func(_ int, logits [][]float32) { steps = append(steps, slices.Clone(logits)) }
		var requests []Request
		for _, w := range part {
			requests = append(requests, Request{Pixels: pictures[w.Picture], Prompt: append([]int32{start}, w.Prompt...), Picture: fmt.Sprint(w.Picture)})
		}
		got, err := c.Caption(t.Context(), requests, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range part {
			for j, want := range w.Tokens {
				tokens := slices.Clone(got[i][j].Tokens)
				if got[i][j].Ended {
					tokens = append(tokens, end)
				}
				if !slices.Equal(tokens, want) {
					t.Errorf("%v, picture %d, caption %d: %v, transformers writes %v", w.Raw, i, j, tokens, want)
				}
			}
		}
		if len(part[0].Raw) > 1 {
			continue
		}
		want, shape := g.Values("logits"), g.Shape("logits")
		worst, scale := 0.0, near.Scale(want)
		for step := range shape[0] {
			for p := range shape[1] {
				if step == 0 || step < len(part[p].Tokens[0]) {
					at := (step*shape[1] + p) * shape[2]
					d, _ := near.Worst(steps[step][p], want[at:at+shape[2]])
					worst = max(worst, d)
				}
			}
		}
		t.Logf("%d steps, %d MiB of weights: worst difference of a logit %.2g at scale %.3g: %.2g of it", shape[0], c.Bytes()>>20, worst, scale, worst/scale)
		if worst > 1e-4*scale {
			t.Errorf("worst difference of a logit: %v at scale %v", worst, scale)
		}
	}
	checkAlone(t, c, pictures, start)
}

// checkAlone draws captions of pictures at several places, with several neighbours.
func checkAlone(t *testing.T, c *Captioner, pictures [][]float32, start int32) {
	s := decode.Settings{MaxTokens: 10, Sample: true, Number: 5, TopP: 0.9}
	var requests []Request
	for i, p := range pictures {
		r := Request{Pixels: p, Picture: fmt.Sprint(i), Prompt: []int32{start}}
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
		var list []Request
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
