package apimodel

import (
	"errors"
	"strings"
	"testing"

	"antipode/internal/must"
)

// TestCost: the cost follows the tokens of the answer, else the price of an image, else it is unknown.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		name, model, quality string
		price                float64
		usage                string
		cost                 float64
		unknown              bool
	}{
		{"text only", "gpt-image-2", "high", 0, `{"input_tokens": 50, "output_tokens": 7024}`,
			(50*5 + 7024*30) / 1e6, false},
		{"text and image", "gpt-image-2.6-flare", "max", 0, `{"input_tokens": 350, "output_tokens": 1000,
			"input_tokens_details": {"text_tokens": 50, "image_tokens": 300}}`, (50*5 + 300*8 + 1000*30) / 1e6, false},
		{"null details", "gpt-image-2.6-sunburst", "low", 0, `{"input_tokens": 10, "output_tokens": 20,
			"input_tokens_details": null}`, (10*5 + 20*30) / 1e6, false},
		{"more images than input", "gpt-image-2", "low", 0, `{"input_tokens": 10, "output_tokens": 20,
			"input_tokens_details": {"image_tokens": 1e9}}`, (10*8 + 20*30) / 1e6, false},
		{"a price gives way to tokens", "gpt-image-2", "low", 0.5, `{"input_tokens": 10, "output_tokens": 20}`,
			(10*5 + 20*30) / 1e6, false},
		{"estimate without usage", "gpt-image-2", "high", 0, `null`, 7024 * 30 / 1e6, false},
		{"no estimate without usage", "gpt-image-2", "low", 0, `null`, 0, true},
		{"no price of a token", "gpt-image-2.5-flare", "high", 0, `{"input_tokens": 50, "output_tokens": 7024}`, 0, true},
		{"own price", "gpt-image-2.5-flare", "high", 0.25, `{"input_tokens": 50, "output_tokens": 7024}`, 0.25, false},
		{"unknown model", "mine", "fine", 0, `{"input_tokens": 50, "output_tokens": 7024}`, 0, true},
		{"unknown model with a price", "mine", "fine", 0.25, `null`, 0.25, false},
	} {
		f := newFake(t, give(200, imageJSON(pngFile(t), `, "usage": `+c.usage)))
		g := f.generator(t, func(o *Options) { o.Model, o.Quality, o.Price = c.model, c.quality, c.price })
		r, err := g.Generate(t.Context(), "a red house", nil)
		if err != nil || r.Outcome != OK {
			t.Fatal(c.name, r, err)
		}
		must.Near(t, r.Cost, c.cost, 1e-12, c.name, "cost")
		must.Near(t, g.spent, c.cost, 1e-12, c.name)
		must.Equal(t, r.CostUnknown, c.unknown, c.name)
		_, sent := f.asked[0]["response_format"]
		must.Equal(t, sent, c.model == "mine", c.name, f.asked[0])
	}
}

// TestBudgetWithoutPrice: a budget in US dollars needs a price; one in images does not.
func TestBudgetWithoutPrice(t *testing.T) {
	no := give(400, problemJSON("moderation_blocked", "no"))
	good := give(200, imageJSON(pngFile(t), ""))
	f := newFake(t, no, good, give(504, ""), good)
	for _, model := range []string{"mine", "gpt-image-2.5-flare", "gpt-image-2.6-flare"} {
		g := f.generator(t, func(o *Options) { o.Model, o.Quality, o.Price, o.Budget = model, "low", 0, 1 })
		_, err := g.Generate(t.Context(), "a red house", nil)
		if asked, _ := f.counts(); err == nil || asked != 0 || f.listed != 0 ||
			!strings.Contains(err.Error(), "the price of an image by "+model+" 1024x1024 low is unknown") ||
			!strings.Contains(err.Error(), "--price") || !strings.Contains(err.Error(), "--budget-images") {
			t.Errorf("%v after %d requests", err, asked)
		}
	}
	g := f.generator(t, func(o *Options) { o.Price, o.BudgetPaid = 0, 3 })
	for i, want := range []string{Refused, OK, OK} { // the third is requested twice, and may have been paid twice
		r := must.Get(g.Generate(t.Context(), "a red house", nil))(t)
		must.Equal(t, r.Outcome, want, "prompt", i)
		must.Equal(t, r.CostUnknown, (want == OK), "prompt", i)
	}
	if _, err := g.Generate(t.Context(), "a red house", nil); !errors.Is(err, ErrBudget) ||
		!strings.Contains(err.Error(), "3 of 3 images") {
		t.Errorf("over budget: %v", err)
	}
}
