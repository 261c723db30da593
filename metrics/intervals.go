package metrics

import (
	"math"
	"slices"
	"strings"

	"antipode/metrics/interval"
)

// Intervals are the options of bootstrap intervals, which every metric with such intervals embeds.
type Intervals struct {
	Resamples int     `json:"resamples,omitempty" default:"1000" none:"-1" min:"0" help:"resamples per interval"`
	Level     float64 `json:"level,omitempty" default:"0.95" min:">0" max:"<1" help:"confidence level of the intervals"`
	Seed      int64   `json:"seed,omitempty" help:"seed of the resamples"`
}

// Bootstrap returns the options of package interval. The stream is the name of the units.
func (i Intervals) Bootstrap(stream ...string) interval.BootstrapOptions {
	return interval.BootstrapOptions{Resamples: i.Resamples, Level: i.Level, Seed: i.Seed,
		Stream: strings.Join(stream, "\x00")}
}

// Label describes the intervals, for example "95 % bootstrap interval over images"; without resamples, or where none of
// the estimates given has an interval, it is empty.
func (i Intervals) Label(over string, of ...Estimate) string {
	label := i.Bootstrap().Label(over)
	if len(of) == 0 {
		return label
	}
	return IntervalOf(label, of...)
}

// IntervalOf returns the description of the intervals of estimates, "" if none of them has one.
func IntervalOf(description string, estimates ...Estimate) string {
	if slices.ContainsFunc(estimates, func(e Estimate) bool { return !math.IsNaN(e.Low) || !math.IsNaN(e.High) }) {
		return description
	}
	return ""
}
