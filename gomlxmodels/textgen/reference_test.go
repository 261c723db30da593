package textgen

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// TestReferenceDraws draws the next token of a text under settings, by seeds of its own, and holds the counts against
// the probabilities that transformers' processors of logits leave (tools/pyref/decode.py).
func TestReferenceDraws(t *testing.T) {
	var golden struct {
		Logits          []float32
		Prompt, Written []int32
		Cases           []struct {
			Settings struct {
				Temperature float64         `json:"temperature"`
				TopK        int             `json:"top_k"`
				TopP        float64         `json:"top_p"`
				Penalty     float64         `json:"repetition_penalty"`
				Least       int             `json:"min_new_tokens"`
				End         json.RawMessage `json:"eos_token_id"`
			}
			Probabilities []float64
		}
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/draw.json"))(t), &golden))
	if len(golden.Cases) < 10 {
		t.Fatal(len(golden.Cases))
	}
	for i, c := range golden.Cases {
		s := Options{MaxTokens: 8, Sample: true, Number: 1, Temperature: c.Settings.Temperature, TopK: c.Settings.TopK,
			TopP:              c.Settings.TopP,
			RepetitionPenalty: c.Settings.Penalty, MinTokens: c.Settings.Least, Ends: []int32{5}}
		if end := c.Settings.End; end != nil && json.Unmarshal(end, &s.Ends) != nil {
			s.Ends = make([]int32, 1)
			must.Do(t, json.Unmarshal(end, &s.Ends[0]))
		}
		must.Do(t, s.Validate(len(golden.Logits)))
		counts, ended := make([]int, len(golden.Logits)), 0
		for n := range 30000 {
			r := row{seed: near.Seed(t) + uint64(1000000*i+n),
				seen: s.markSeen(len(golden.Logits), nil, slices.Concat(golden.Prompt, golden.Written))}
			must.Do(t, s.next(&r, len(golden.Written), golden.Logits))
			if r.text.Ended {
				ended++
			} else {
				counts[r.text.Tokens[0]]++
			}
		}
		// Which of several ends a text ends with is not told: they count as one.
		want := slices.Clone(golden.Cases[i].Probabilities)
		ends := 0.0
		for _, id := range s.Ends {
			ends += want[id]
			want[id] = 0
		}
		if p := chiSquare(t, append(counts, ended), append(want, ends)); p < 1e-4 {
			t.Errorf("%+v: such counts come once in %.2g", c.Settings, 1/p)
		}
	}
}
