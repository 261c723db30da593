package apimodel

import (
	"math"
	"strings"
	"testing"
	"time"

	"antipode/internal/must"
)

func TestSizeAndQuality(t *testing.T) {
	for _, c := range []struct{ model, size, quality, want string }{
		{"gpt-image-2", "1024x1024", "high", ""},
		{"gpt-image-2", "", "", ""},
		{"gpt-image-2", "auto", "auto", ""},
		{"gpt-image-2-2026-04-21", "1024x1024", "hd", `quality "hd" of gpt-image-2: must be one of low, medium, high, auto`},
		{"gpt-image-2", "1024x1024", "xhigh", `quality "xhigh" of gpt-image-2`},
		{"gpt-image-2.5-sunburst", "", "xhigh", ""},
		{"gpt-image-2.6-flare", "", "max", ""},
		{"gpt-image-2.6-flare", "", "standard", `quality "standard" of gpt-image-2.6-flare`},
		{"gpt-image-2", "1000x1024", "", "multiple of 16"},
		{"gpt-image-2", "1024x1000", "", "multiple of 16"},
		{"gpt-image-2", "3840x2160", "", ""}, // 8,294,400 pixels
		{"gpt-image-2", "2160x3840", "", ""},
		{"gpt-image-2", "3840x2176", "", "8355840 pixels are not between 655360 and 8294400"},
		{"gpt-image-2", "3856x2048", "", "at most 3840 pixels"},
		{"gpt-image-2", "2048x3856", "", "at most 3840 pixels"},
		{"gpt-image-2", "1536x512", "", ""}, // 3:1
		{"gpt-image-2", "1552x512", "", "at most 3:1"},
		{"gpt-image-2", "512x1552", "", "at most 3:1"},
		{"gpt-image-2", "1024x640", "", ""}, // 655,360 pixels
		{"gpt-image-2", "1024x624", "", "pixels are not between"},
		{"gpt-image-2.6-sunburst", "256x256", "", "65536 pixels are not between"},
		{"dall-e-3", "1792x1024", "hd", ""}, // historical: every quality is accepted
		{"dall-e-2", "256x256", "standard", ""},
		{"someone-elses", "77x99", "fabulous", ""},
	} {
		_, err := New(Options{Model: c.model, Size: c.size, Quality: c.quality})
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s %s %s: %v, want %q", c.model, c.size, c.quality, err, c.want)
		}
	}
}

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		model, size, quality string
		price                float64
		image                float64
		known                bool
		date                 string
	}{
		{"gpt-image-2", "1024x1024", "high", 0, 0.21072, true, "2026-11-04"},
		{"gpt-image-2-2026-04-21", "1024x1024", "high", 0, 0.21072, true, "2026-11-04"},
		{"gpt-image-2", "1024x1024", "high", 0.5, 0.5, true, ""},
		{"gpt-image-2", "1024x1024", "low", 0, 0, false, ""},
		{"gpt-image-2", "1536x1024", "high", 0, 0, false, ""},
		{"gpt-image-2", "", "", 0, 0, false, ""}, // the server chooses, at any price
		{"gpt-image-2", "1024x1024", "auto", 0, 0, false, ""},
		{"gpt-image-2.5-flare", "1024x1024", "high", 0, 0, false, ""},
		{"gpt-image-2.6-flare", "1024x1024", "high", 0, 0, false, ""},
		{"dall-e-3", "1024x1024", "hd", 0, 0, false, ""},
		{"someone-elses", "", "", 0, 0, false, ""},
		{"someone-elses", "", "", 0.25, 0.25, true, ""},
	} {
		g := must.Get(New(Options{Model: c.model, Size: c.size, Quality: c.quality, Price: c.price}))(t)
		e := g.Estimate(50)
		if e.Known != c.known || math.Abs(e.Image-c.image) > 1e-12 || math.Abs(e.Total-50*c.image) > 1e-9 ||
			e.Images != 50 || e.Date != c.date {
			t.Errorf("%s %s %s: %+v, want %v per image of %q", c.model, c.size, c.quality, e, c.image, c.date)
		}
	}
}

// TestTable: every price has a date, and no model is both offered and historical.
func TestTable(t *testing.T) {
	for _, m := range Models {
		if _, err := time.Parse(time.DateOnly, m.Date); (err == nil) != (m.ImageOutput > 0) {
			t.Errorf("%s: price %v of %q", m.Name, m.ImageOutput, m.Date)
		}
		must.Equal(t, (m.TextInput > 0), (m.ImageOutput > 0), m.Name)
		must.Equal(t, (m.ImageInput > 0), (m.ImageOutput > 0), m.Name)
		must.Equal(t, historical[m.Name], "", m.Name, "offered and historical")
	}
	for name, date := range historical {
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestShutDown(t *testing.T) {
	day := func(text string) time.Time {
		return must.Get(time.Parse(time.RFC3339, text))(t)
	}
	for _, c := range []struct{ model, base, now, want string }{
		{"dall-e-3", "", "2026-05-13T00:00:00Z", "2026-05-12"},
		{"dall-e-2", "https://api.openai.com/v1", "2026-05-13T00:00:00Z", "2026-05-12"},
		{"dall-e-3", "https://eu.api.openai.com/v1", "2026-06-01T00:00:00Z", "2026-05-12"},
		{"dall-e-3", "", "2026-05-12T23:59:59Z", ""}, // its last day
		{"dall-e-3", "", "2026-05-12T23:59:59-03:00", "2026-05-12"},
		{"dall-e-3", "http://localhost:8080/v1", "2026-11-23T00:00:00Z", ""},
		{"dall-e-3", "https://api.openai.com.example.com/v1", "2026-11-23T00:00:00Z", ""},
		{"gpt-image-1", "", "2026-10-23T12:00:00Z", ""},
		{"gpt-image-1", "", "2026-10-24T12:00:00Z", "2026-10-23"},
		{"gpt-image-1.5-2025-12-16", "", "2026-12-02T00:00:00Z", "2026-12-01"},
		{"gpt-image-1-mini", "", "2026-11-30T00:00:00Z", ""},
		{"chatgpt-image-latest", "", "2026-12-02T00:00:00Z", "2026-12-01"},
		{"gpt-image-2", "", "2036-01-01T00:00:00Z", ""},
	} {
		must.Equal(t, ShutDown(c.model, c.base, day(c.now)), c.want, c.model, "at", c.base, "on", c.now)
	}
}
