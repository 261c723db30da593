package apimodel

import (
	"antipode/internal/must"
	"math"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"no model", Options{}, "name the image model"},
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
		{"a price that is no number", Options{Model: "m", Key: "k", Price: math.NaN()}, "negative"},
		{"a negative number of images", Options{Model: "m", Key: "k", BudgetPaid: -1}, "negative"},
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
	t.Setenv("OPENAI_API_KEY", "k")
	g := must.Get(New(Options{Model: "m"}))(t)
	must.Equal(t, g.base.Host, "api.openai.com")
	must.Equal(t, g.key(), "")
}
