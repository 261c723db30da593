// Package captiontest holds a captioner against what transformers' generate wrote of the same images with the same
// weights.
package captiontest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/textgen"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
)

// Written is one line of a golden's captions.json: what generate made of an image.
type Written struct {
	Raw    map[string]any `json:"settings"` // of generate, by name
	Prompt []int32        // after the start token
	Image  int            `json:"picture"`
	Tokens [][]int32      // of each caption, the end included
	Scores []float64      // of beams
}

// Read reads a folder's captions.json, which holds at least some lines.
func Read(t testing.TB, dir string, least int) (out []Written) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "captions.json"))
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil || len(out) < least {
		t.Fatalf("%s: %d captions of at least %d, %v", dir, len(out), least, err)
	}
	return out
}

// Settings are those of generate as package decode takes them.
func Settings(t testing.TB, raw map[string]any) textgen.Options {
	s := textgen.Options{MaxTokens: 14, LengthPenalty: 1}
	for name, value := range raw {
		number, _ := value.(float64)
		switch name {
		case "max_new_tokens":
			s.MaxTokens = int(number)
		case "min_new_tokens":
			s.MinTokens = int(number)
		case "repetition_penalty":
			s.RepetitionPenalty = number
		case "num_beams":
			s.Beams = int(number)
		case "num_return_sequences":
			s.Number = int(number)
		case "length_penalty":
			s.LengthPenalty = number
		case "early_stopping":
			s.Early = textgen.Early(fmt.Sprint(value))
		default:
			t.Fatalf("setting %q", name)
		}
	}
	return s
}

// Same says that a text is these tokens, the end included where there is one.
func Same(text textgen.Text, want []int32, ends []int32) bool {
	if n := len(want); n > 0 && slices.Contains(ends, want[n-1]) {
		return text.Ended && slices.Equal(text.Tokens, want[:n-1])
	}
	return !text.Ended && slices.Equal(text.Tokens, want)
}

// Reference holds the captions and logits that those of a model must equal.
type Reference struct {
	modeltest.Golden           // pixels [P,3,S,S]; step.logits [step,P,V] of the first setting and prompt
	Lines            []Written // of all settings and prompts together, one after another
	Start            []int32   // comes before every prompt
}

// Check writes all captions of the settings that takes allows, all images at once, and compares tokens, scores of
// beams and, where the first setting is among them, the logits of every step, within 1e-4 of their scale.
func Check(t *testing.T, backend compute.Backend, n textgen.ImageNetwork, r Reference,
	takes func(textgen.Options) bool) {
	t.Helper()
	images := r.Rows("pixels")
	c := must.Get(textgen.NewCaptioner(backend, n, textgen.CaptionerOptions{Batch: len(images)}))(t)
	defer c.Close()
	worst, captions := 0.0, 0
	for i, list := range r.groups() {
		s := Settings(t, list[0].Raw)
		if !takes(s) {
			continue
		}
		var steps [][]float32
		s.Trace = func(_ int, logits [][]float32) { steps = append(steps, slices.Concat(logits...)) }
		var requests []textgen.ImageRequest
		for _, w := range list {
			requests = append(requests, textgen.ImageRequest{Pixels: images[w.Image],
				Prompt: slices.Concat(r.Start, w.Prompt)})
		}
		got := must.Get(c.Caption(t.Context(), requests, s))(t)
		for i, w := range list {
			for j, want := range w.Tokens {
				captions++
				if text := got[i][j]; !Same(text, want, n.Ends) {
					t.Errorf("%v, prompt %v, image %d, caption %d: %+v, transformers writes %v", w.Raw, w.Prompt,
						w.Image, j, text, want)
				} else if w.Scores != nil {
					worst = max(worst, math.Abs(text.Score-w.Scores[j])/max(1, math.Abs(w.Scores[j])))
				}
			}
		}
		if i == 0 {
			r.checkSteps(steps, list)
		}
	}
	t.Logf("%d captions are alike, token for token; worst difference of a score %.2g of it", captions, worst)
	if worst > 5e-5 {
		t.Errorf("worst difference of a score: %v", worst)
	}
	if captions == 0 {
		t.Error("no caption was compared")
	}
}

// groups are lines of one setting and prompt, in order.
func (r *Reference) groups() (out [][]Written) {
	key := func(w Written) string { return fmt.Sprint(w.Raw, w.Prompt) }
	for i, w := range r.Lines {
		if i == 0 || key(w) != key(r.Lines[i-1]) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], w)
	}
	return out
}

// checkSteps compares the logits of every step; what follows a caption's end has no meaning.
func (r *Reference) checkSteps(steps [][]float32, list []Written) {
	want, shape := r.Values("step.logits"), r.Shape("step.logits")
	if len(list) != shape[1] || len(steps) < shape[0] {
		r.T.Fatalf("%d of %d images have a greedy caption, of %d steps of %d: the logits cannot be compared",
			len(list), shape[1], len(steps), shape[0])
	}
	v := shape[2]
	worst, scale := 0.0, near.Scale(want)
	for step := range shape[0] {
		for p := range shape[1] {
			if step > 0 && step >= len(list[p].Tokens[0]) {
				continue
			}
			d, _ := near.Worst(steps[step][p*v:(p+1)*v], want[(step*shape[1]+p)*v:][:v])
			worst = max(worst, d)
		}
	}
	r.T.Logf("logits of %d steps, %d images: worst difference %.2g of their scale", shape[0], shape[1], worst/scale)
	if worst > 1e-4*scale {
		r.T.Errorf("worst difference of a logit %v at scale %v", worst, scale)
	}
}
