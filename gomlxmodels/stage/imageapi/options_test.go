package imageapi

import (
	"math"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_API_KEY", "")
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"no model", Options{}, "name the image model"},
		{"no key", Options{Model: "dall-e-3"}, "set OPENAI_API_KEY"},
		{"unencrypted", Options{Model: "m", Key: "k", BaseURL: "http://example.com/v1"}, "unencrypted"},
		{"password", Options{Model: "m", Key: "k", BaseURL: "https://user:pass@example.com/v1"}, "has a user"},
		{"query", Options{Model: "m", Key: "k", BaseURL: "https://example.com/v1?key=1"}, "query"},
		{"scheme", Options{Model: "m", Key: "k", BaseURL: "ftp://example.com"}, "http or https"},
		{"no address", Options{Model: "m", Key: "k", BaseURL: "://"}, "not an address"},
		{"key of two lines", Options{Model: "m", Key: "k\nInjected: 1", BaseURL: "https://example.com"},
			"a character that no key has"},
		{"size", Options{Model: "m", Key: "k", Size: "big"}, `size "big"`},
		{"negative", Options{Model: "m", Key: "k", PerMinute: -1}, "negative"},
		{"not a number", Options{Model: "m", Key: "k", Budget: math.NaN()}, "negative"},
		{"budget without a price", Options{Model: "m", Key: "k", Budget: 1}, "a budget needs a price"},
	} {
		_, err := New(c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "pass") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, base := range []string{"http://localhost:8080/v1/", "http://127.0.0.1:1/v1", "http://[::1]:1",
		"https://example.com/openai/v1"} {
		if _, err := New(Options{Model: "m", Key: "k", BaseURL: base}); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
	if _, err := New(Options{Model: "m", BaseURL: "http://example.com/v1"}); err != nil {
		t.Errorf("without a key: %v", err)
	}
	t.Setenv("OPENAI_BASE_URL", "https://example.com/v1")
	t.Setenv("OPENAI_API_KEY", " k\n")
	g, err := New(Options{Model: "m"})
	if err != nil || g.base.Host != "example.com" || g.key() != "k" {
		t.Errorf("from the environment: %v, %v", g, err)
	}
}

func TestEstimate(t *testing.T) {
	own := []Price{{Model: "my-*", Image: 0.5, Date: "2026-01-02"}, {Model: "my-*", Image: 0.7, Size: "9x9"}}
	for _, c := range []struct {
		model, size, quality string
		prices               []Price
		image                float64
		known                bool
	}{
		{"dall-e-3", "1024x1024", "standard", nil, 0.040, true},
		{"dall-e-3", "1792x1024", "hd", nil, 0.120, true},
		{"dall-e-3", "", "", nil, 0.120, true},
		{"gpt-image-1", "auto", "low", nil, 0.016, true},
		{"gpt-image-1-mini", "1024x1024", "high", nil, 0.036, true},
		{"gpt-image-1.5", "1536x1024", "medium", nil, 0.050, true},
		{"dall-e-3", "512x512", "standard", nil, 0, false},
		{"someone-elses", "", "", nil, 0, false},
		{"my-model", "", "", own, 0.7, true},
		{"my-model", "80x80", "fine", own, 0.5, true},
		{"dall-e-3", "", "", own, 0, false},
	} {
		g, err := New(Options{Model: c.model, Size: c.size, Quality: c.quality, Prices: c.prices, Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		if e := g.Estimate(50); e.Known != c.known || e.Image != c.image || math.Abs(e.Total-50*c.image) > 1e-9 ||
			e.Images != 50 || c.known && c.prices == nil && e.Date == "" {
			t.Errorf("%s %s %s: %+v, want %v per image", c.model, c.size, c.quality, e, c.image)
		}
	}
}
