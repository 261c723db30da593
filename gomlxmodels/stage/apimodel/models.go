package apimodel

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Model is one of OpenAI's image models.
type Model struct {
	Name string

	// Prices in US dollars per million tokens; 0 = unknown.
	TextInput, ImageInput, ImageOutput float64
	Date                               string // when these were the prices, YYYY-MM-DD

	// OutputTokens are the tokens of an image by size and quality, for example "1024x1024 high". A missing one is
	// unknown: the model's answer reports it.
	OutputTokens map[string]float64

	Qualities []string // the qualities that the model accepts; "" is always accepted
}

var (
	threeQualities = []string{"low", "medium", "high", "auto"}
	fiveQualities  = []string{"low", "medium", "high", "xhigh", "max", "auto"}
)

// Models are the models that OpenAI offered on 2026-11-04, with the prices of that day. Prices change: compare them
// with the provider's before a large run. The prices of gpt-image-2.5 are not verified and therefore unknown.
var Models = []Model{
	{Name: "gpt-image-2", TextInput: 5, ImageInput: 8, ImageOutput: 30, Date: "2026-11-04",
		OutputTokens: map[string]float64{"1024x1024 high": 7024}, Qualities: threeQualities},
	{Name: "gpt-image-2.5-flare", Qualities: fiveQualities},
	{Name: "gpt-image-2.5-sunburst", Qualities: fiveQualities},
	{Name: "gpt-image-2.6-flare", TextInput: 5, ImageInput: 8, ImageOutput: 30, Date: "2026-11-04",
		Qualities: fiveQualities},
	{Name: "gpt-image-2.6-sunburst", TextInput: 5, ImageInput: 8, ImageOutput: 30, Date: "2026-11-04",
		Qualities: fiveQualities},
}

// historical are the models that OpenAI shut down or announced to shut down, with the date. Their stored images stay
// readable. State of 2026-11-04.
var historical = map[string]string{
	"dall-e-2":             "2026-05-12",
	"dall-e-3":             "2026-05-12",
	"gpt-image-1":          "2026-10-23",
	"gpt-image-1-mini":     "2026-12-01",
	"gpt-image-1.5":        "2026-12-01",
	"chatgpt-image-latest": "2026-12-01",
}

// ErrShutDown is wrapped by the error about a model that its provider has shut down.
var ErrShutDown = errors.New("model shut down")

// ShutDown returns the date (YYYY-MM-DD) on which OpenAI shut down a model, "" if it has not by now. base is the
// address of the API, "" for OpenAI's own; another server may have a model of the same name.
func ShutDown(model, base string, now time.Time) string {
	date := historical[withoutSnapshot(model)]
	if date == "" || base != "" && !official(base) || !past(date, now) {
		return ""
	}
	return date
}

// official reports whether an address is that of OpenAI's own API, also in one of its regions.
func official(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Hostname() == officialHost || strings.HasSuffix(u.Hostname(), "."+officialHost))
}

// past reports whether a date (YYYY-MM-DD) is over.
func past(date string, now time.Time) bool { return now.UTC().Format(time.DateOnly) > date }

var snapshotPattern = regexp.MustCompile(`-20[0-9]{2}-[0-9]{2}-[0-9]{2}$`)

// withoutSnapshot returns a model's name without the date of a snapshot: "gpt-image-2" of "gpt-image-2-2026-04-21".
func withoutSnapshot(name string) string { return snapshotPattern.ReplaceAllString(name, "") }

// find returns the model of a name; one without fields is unknown.
func find(name string) Model {
	name = withoutSnapshot(name)
	if i := slices.IndexFunc(Models, func(m Model) bool { return m.Name == name }); i >= 0 {
		return Models[i]
	}
	return Model{}
}

// names lists the names of the [Models].
func names() string {
	var out []string
	for _, m := range Models {
		out = append(out, m.Name)
	}
	return strings.Join(out, ", ")
}

// Limits of the sizes of the [Models], in pixels.
const (
	sizeStep  = 16
	maxEdge   = 3840
	maxRatio  = 3
	minPixels = 655_360
	maxPixels = 8_294_400
)

// check reports a size or quality that a known model does not accept.
func (m *Model) check(size, quality string) error {
	if m.Name == "" {
		return nil
	}
	if quality != "" && !slices.Contains(m.Qualities, quality) {
		return fmt.Errorf("quality %q of %s: must be one of %s", quality, m.Name, strings.Join(m.Qualities, ", "))
	}
	if size == "" || size == "auto" {
		return nil
	}
	var width, height int
	if _, err := fmt.Sscanf(size, "%dx%d", &width, &height); err != nil {
		return fmt.Errorf("size %q: %w", size, err)
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("size %s of %s: %s; 1024x1024 is one that it accepts", size, m.Name,
			fmt.Sprintf(format, args...))
	}
	long, short, pixels := max(width, height), min(width, height), width*height
	switch {
	case width%sizeStep != 0 || height%sizeStep != 0:
		return wrong("each side must be a multiple of %d pixels", sizeStep)
	case long > maxEdge:
		return wrong("a side may have at most %d pixels", maxEdge)
	case long > maxRatio*short:
		return wrong("the ratio of the sides may be at most %d:1", maxRatio)
	case pixels < minPixels || pixels > maxPixels:
		return wrong("%d pixels are not between %d and %d", pixels, minPixels, maxPixels)
	}
	return nil
}
