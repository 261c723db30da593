// Package clipscore says how well pictures fit their prompts by the cosine of CLIP's vectors of both: CLIPScore (Hessel et al., EMNLP 2021, arXiv 2104.08718).
//
//	CLIPScore(c, v) = w · max(cos(c, v), 0)    w = 100 here, as torchmetrics has it; the paper's is 2.5
//
// Higher is a closer fit as this CLIP sees it. Scores of different CLIPs do not compare, and neither do, with a CLIP of one language, scores of prompts in several.
package clipscore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

const name = "clip-score"

// Cosine is the cosine of two vectors, in [-1, 1]. Vectors of different length, of no length, or with a value that is no finite number are an error.
func Cosine(a, b []float32) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("vectors of %d and %d numbers cannot be compared: take both from one model", len(a), len(b))
	}
	var dot, aa, bb float64
	for i, x := range a {
		dot, aa, bb = dot+float64(x)*float64(b[i]), aa+float64(x)*float64(x), bb+float64(b[i])*float64(b[i])
	}
	if c := dot / math.Sqrt(aa) / math.Sqrt(bb); !math.IsNaN(c) && !math.IsInf(c, 0) {
		return max(-1, min(1, c)), nil
	}
	return 0, fmt.Errorf("a vector has length 0 or a value that is no finite number")
}

// Table is the metric clip-score: the mean CLIPScore of the rows, one line for each group of [metrics.By], in [0, 100] with its bootstrap interval over rows (over prompts where there is a column
// prompt_id) and its counts; metrics.By("id") gives the score of every picture. It wants the columns clip_image and clip_text, see gomlxmodels.Embed and EmbedText; a row without one of them counts in n_missing.
//
// Options: image (clip_image) and text (clip_text), the columns; weight (100); negative (each: a cosine below 0 counts as 0, as in the paper; mean: a mean below 0 does, as in torchmetrics); unit
// (what is resampled; prompt_id where the table has it); draws (2000).
func Table(pictures datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of(name, pictures, settings)
}

func init() {
	metrics.Register(metrics.Metric{
		Info: metrics.Info{Name: name, Title: "how well pictures fit their prompts, by CLIP", Unit: "100 × cosine", Range: "[0, 100]", Direction: "higher is better",
			Citation: "Hessel et al., EMNLP 2021 (arXiv 2104.08718), equation 1"},
		Version: 1,
		Inputs:  []metrics.Input{{Role: "in", About: "one row for each picture, with CLIP's vectors of the picture and of its prompt"}},
		Options: []metrics.Option{
			{Name: "image", Default: "clip_image", About: "the column of the pictures' vectors"},
			{Name: "text", Default: "clip_text", About: "the column of the prompts' vectors"},
			{Name: "weight", Default: "100", About: "what the cosine is multiplied with; 2.5 in the paper"},
			{Name: "negative", Default: "each", About: "each: a cosine below 0 counts as 0 (the paper); mean: a group's mean below 0 does (torchmetrics)", Values: []string{"each", "mean"}},
			{Name: "unit", Default: "", About: "the column whose rows are resampled together; empty = prompt_id where the table has it, else each row alone"},
			{Name: "draws", Default: "2000", About: "bootstrap draws; 0 = no intervals"},
		},
		Columns: func(a metrics.Args) []client.ColumnSpec {
			var by []string
			for _, b := range a.By {
				by = append(by, "="+b)
			}
			return tabular.Specs(append(by, "clip_score", "clip_score_low", "clip_score_high", "n_used", "n_missing", "=interval")...)
		},
		Compute: compute,
	})
}

func compute(_ context.Context, call metrics.Call) (*client.Frame, error) {
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	weight, err := tabular.Number(call, "weight")
	if err != nil {
		return nil, err
	}
	f := call.Inputs["in"]
	image, err := f.Need(call.Options["image"], client.Vector)
	if err != nil {
		return nil, err
	}
	text, err := f.Need(call.Options["text"], client.Vector)
	if err != nil {
		return nil, err
	}
	units := f.Texts("prompt_id")
	if unit := call.Options["unit"]; unit != "" {
		c, err := f.Need(unit, client.Text)
		if err != nil {
			return nil, err
		}
		units = c.Texts
	}
	groups, err := tabular.Groups(f, call.By)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for _, g := range groups {
		var values []float64
		var clusters []string
		for _, i := range g.Rows {
			if image.Vectors[i] == nil || text.Vectors[i] == nil {
				continue
			}
			c, err := Cosine(image.Vectors[i], text.Vectors[i])
			if err != nil {
				return nil, client.BadRow{Row: i + 1, Column: call.Options["image"], Reason: err.Error()}
			}
			if call.Options["negative"] == "each" {
				c = max(c, 0)
			}
			values = append(values, weight*c)
			cluster := strconv.Itoa(i)
			if units != nil {
				cluster = units[i]
			}
			clusters = append(clusters, cluster)
		}
		mean, err := summary(values, clusters, draws, call.Seed)
		if err != nil {
			return nil, err
		}
		method := ""
		if !math.IsNaN(mean.Low) {
			method = "95 % bootstrap interval"
		}
		rows = append(rows, append(g.Cells(), max(mean.Value, 0), max(mean.Low, 0), max(mean.High, 0), len(values), len(g.Rows)-len(values), method))
	}
	return tabular.Result(name, call, rows)
}

// summary is the mean with its interval, which a single cluster has not.
func summary(values []float64, clusters []string, draws int, seed int64) (interval.Interval, error) {
	out := interval.Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if len(values) == 0 {
		return out, nil
	}
	several := slices.ContainsFunc(clusters, func(c string) bool { return c != clusters[0] })
	if draws > 0 && several {
		return interval.BootstrapMean(values, clusters, interval.Bootstrap{Seed: uint64(seed), Count: draws})
	}
	out.Value = 0
	for _, v := range values {
		out.Value += v / float64(len(values))
	}
	return out, nil
}
