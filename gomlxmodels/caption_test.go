package gomlxmodels

import (
	"encoding/json"
	"reflect"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
)

func TestCaptionPlan(t *testing.T) {
	known := Known()[0].Name
	tab := datasets.New("test", nil, datasets.Columns("id:text", "image:image", "outcome:text"))
	caption := func(options ...CaptionOptions) datasets.Table { return Caption(known, tab, options...) }
	for _, c := range []struct {
		t    datasets.Table
		want CaptionOptions
		n    int
		seed int64
	}{
		{caption(), CaptionOptions{N: 1, Decode: "greedy", MaxTokens: 20}, 1, 0},
		{caption(CaptionOptions{N: 5, Decode: "nucleus", Seed: 7, Prefix: "a picture of"}),
			CaptionOptions{N: 5, Decode: "nucleus", MaxTokens: 20, TopP: 0.9, Temperature: 1,
				Prefix: "a picture of"}, 5, 7},
		{caption(CaptionOptions{Precision: "float32", N: 5, Decode: "nucleus", TopP: 1, TopK: 50, Temperature: 0.7,
			RepetitionPenalty: 1}), CaptionOptions{N: 5, Decode: "nucleus", MaxTokens: 20, TopP: 1, TopK: 50,
			Temperature: 0.7}, 5, 0},
		{caption(CaptionOptions{N: 4, Decode: "beam"}), CaptionOptions{N: 4, Decode: "beam", MaxTokens: 20,
			Beams:         4,
			LengthPenalty: new(1.0)}, 4, 0},
		{caption(CaptionOptions{Decode: "beam", LengthPenalty: new(0.0), EarlyStopping: "never", MinTokens: 5,
			RepetitionPenalty: 1.5, Precision: "bfloat16"}), CaptionOptions{Precision: "bfloat16", N: 1,
			Decode:    "beam",
			MaxTokens: 20, MinTokens: 5, Beams: 3, EarlyStopping: "never", RepetitionPenalty: 1.5}, 1, 0},
	} {
		p := must.Get(c.t.Plan())(t)
		var got CaptionArgs
		must.Do(t, json.Unmarshal(p.Args, &got))
		var repeat datasets.RepeatArgs
		must.Do(t, json.Unmarshal(p.Inputs[0].Args, &repeat))
		if p.Op != CaptionOp || got.Model != known || !reflect.DeepEqual(got.CaptionOptions, c.want) ||
			repeat != (datasets.RepeatArgs{N: c.n, Of: "image_id", Seed: c.seed}) {
			t.Errorf("%s %+v of %+v, want %+v", p.Op, got, repeat, c.want)
		}
	}
	want := datasets.Columns("id:text", "image:image", "outcome:text", "image_id:text", "seed:number", "caption:text",
		"caption_tokens:number", "caption_logprob:number", "caption_stop:text")
	must.EqualSlices(t, caption().Columns(), want, "columns")
	for _, c := range []struct {
		t    datasets.Table
		want string
	}{
		{caption(CaptionOptions{N: 2}), `decode "greedy" writes one caption`},
		{caption(CaptionOptions{N: -1}), "N is -1; it must be at least 1 and at most 10000"},
		{caption(CaptionOptions{Precision: "auto"}), `Precision is "auto"; it must be one of float32, bfloat16`},
		{caption(CaptionOptions{N: 6, Decode: "beam", Beams: 5}), "5 beams"},
		{caption(CaptionOptions{TopP: 0.5}), `not for decode "greedy"`},
		{caption(CaptionOptions{Decode: "beam", TopK: 5}), `TopK is for decode "nucleus", not for decode "beam". Fix: leave it out`},
		{caption(CaptionOptions{Decode: "nucleus", Beams: 5}), `not for decode "nucleus"`},
		{caption(CaptionOptions{LengthPenalty: new(2.0)}), `not for decode "greedy"`},
		{caption(CaptionOptions{Decode: "guess"}), `Decode is "guess"`},
		{caption(CaptionOptions{Decode: "nucleus", TopP: 1.5}), "TopP is 1.5; it must be above 0 and at most 1"},
		{caption(CaptionOptions{Decode: "nucleus", Temperature: -1}), "Temperature is -1"},
		{caption(CaptionOptions{MaxTokens: 3, MinTokens: 4}), "min tokens 4"},
		{caption(CaptionOptions{MaxTokens: -1}), "MaxTokens is -1"},
		{caption(CaptionOptions{Decode: "beam", EarlyStopping: "soon"}), `EarlyStopping is "soon"`},
		{caption(CaptionOptions{Seed: -1}), "seed -1"},
		{Caption("/no/such/model", tab), `no model "/no/such/model"`},
		{Caption(known, datasets.New("test", nil, datasets.Columns("id:text"))), table.ErrNoColumn.Error()},
		{Caption(known, datasets.New("test", nil, datasets.Columns("id:text", "image:image", "image_id:text"))),
			"image_id already"},
	} {
		must.Fail(c.t.Plan())(t, c.want)
	}
}
