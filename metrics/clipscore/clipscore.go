// Package clipscore measures how well images match their prompts by the cosine of CLIP's vectors of both: CLIPScore
// (Hessel et al., EMNLP 2021, arXiv 2104.08718).
//
//	CLIPScore(c, v) = w · max(cos(c, v), 0)    w = 100 by default, as in torchmetrics; 2.5 in the paper
//
// Higher is a closer match according to this CLIP model. Scores of different CLIP models are not comparable. With a
// CLIP model of one language, scores of prompts in several languages are not comparable either.
package clipscore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// Cosine returns the cosine of two vectors, in [-1, 1].
//
// Errors: vectors of different length, of length 0, or with a value that is not finite.
func Cosine(a, b []float32) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("vectors of %d and %d numbers cannot be compared; use vectors of one model", len(a),
			len(b))
	}
	var dot, aa, bb float64
	for i, x := range a {
		dot, aa, bb = dot+float64(x)*float64(b[i]), aa+float64(x)*float64(x), bb+float64(b[i])*float64(b[i])
	}
	if c := dot / math.Sqrt(aa) / math.Sqrt(bb); !math.IsNaN(c) && !math.IsInf(c, 0) {
		return max(-1, min(1, c)), nil
	}
	return 0, errors.New("a vector has norm 0 or a value that is not finite")
}

// Options are the options of [Scores].
type Options struct {
	By     []string `json:"by,omitempty" help:"text columns that define the groups; id = a score for each image"`
	Image  string   `json:"image,omitempty" default:"clip_image" help:"column of the images' vectors"`
	Text   string   `json:"text,omitempty" default:"clip_text" help:"column of the prompts' vectors"`
	Weight float64  `json:"weight,omitempty" default:"100" help:"factor of the cosine; 2.5 in the paper"`
	Method string   `json:"method,omitempty" default:"each" values:"each,mean" help:"what is clipped at 0"`
	Unit   string   `json:"unit,omitempty" help:"column of what is resampled; empty = prompt_id, if any"`
	metrics.Intervals
}

// Row is a row of [Scores].
type Row struct {
	Group    metrics.Group
	Score    metrics.Estimate `column:"clip_score" unit:"100 × cosine" range:"[0, 100]"`
	Used     int              `column:"n_used" unit:"images"`
	Missing  int              `column:"n_missing" unit:"images" help:"images without one of the two vectors"`
	Interval string           `column:"interval"`
}

var score = metrics.Define(metrics.Definition[Options, Row]{
	Name: "clip-score", Title: "how well images match their prompts, according to CLIP", Version: 3,
	Unit: "100 × cosine", Range: "[0, 100]", Direction: "higher is better",
	Citation: "Hessel et al., EMNLP 2021 (arXiv 2104.08718), equation 1",
	Inputs:   []metrics.Input{{Role: "in", About: "a row for each image, with CLIP's vectors of image and prompt"}},
	Compute:  compute,
})

// Scores is the metric clip-score: the mean CLIPScore of each group of Options.By with a bootstrap interval over rows
// (over prompts if the table has a column prompt_id) and its counts. By: "id" scores every image. images needs the
// columns clip_image and clip_text, see gomlxmodels.Embed and EmbedText; rows without one of them count in n_missing.
// With Method "each" a cosine below 0 counts as 0, as in the paper; with "mean" a mean below 0 does, as in
// torchmetrics.
func Scores(images datasets.Table, options ...Options) datasets.Table {
	return score.Of(images, options...)
}

func compute(_ context.Context, call *metrics.Call, o Options) ([]Row, error) {
	in := tabular.Read(call, "in")
	images, texts, units, groups := in.Vectors(o.Image), in.Vectors(o.Text), in.Texts(o.Unit), in.Groups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	if o.Unit == "" {
		units = in.Frame.Texts("prompt_id")
	}
	var rows []Row
	for _, g := range groups {
		var values []float64
		var clusters []string
		for _, i := range g.Rows {
			if images[i] == nil || texts[i] == nil {
				continue
			}
			c, err := Cosine(images[i], texts[i])
			if err != nil {
				column := o.Image
				if _, reason := tabular.Unit(images[i]); reason == "" {
					column = o.Text
				}
				return nil, tabular.BadRow(in.Frame, i, column, "%v", err)
			}
			if o.Method == "each" {
				c = max(c, 0)
			}
			values = append(values, o.Weight*c)
			cluster := strconv.Itoa(i)
			if units != nil {
				cluster = units[i]
			}
			clusters = append(clusters, cluster)
		}
		mean, err := summary(values, clusters, o)
		if err != nil {
			return nil, err
		}
		row := Row{Group: g.By, Used: len(values), Missing: len(g.Rows) - len(values),
			Score: metrics.Estimate{Value: max(mean.Value, 0), Low: max(mean.Low, 0), High: max(mean.High, 0)}}
		if !math.IsNaN(mean.Low) {
			row.Interval = o.Label("")
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// summary returns the mean with its interval, which requires two clusters.
func summary(values []float64, clusters []string, o Options) (interval.Interval, error) {
	out := interval.Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if len(values) == 0 {
		return out, nil
	}
	if slices.ContainsFunc(clusters, func(c string) bool { return c != clusters[0] }) {
		return interval.BootstrapMean(values, clusters, o.Bootstrap())
	}
	out.Value = 0
	for _, v := range values {
		out.Value += v / float64(len(values))
	}
	return out, nil
}
