package gomlxmodels

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// twoCores sustain about this many operations a second on these networks; utilization is the share of a GPU's peak that
// the computed rates assume.
const (
	twoCores    = 0.17e12
	utilization = 0.25
)

// cpu2 is the device of the measurements: two cores of an AMD EPYC with AVX-512, float32.
const cpu2 = "cpu-2"

// peaks are the operations per second of devices: those that two cores sustain, of which all count, and the peaks of
// dense bfloat16 (float16 on a T4) that the makers of GPUs state.
var peaks = []struct {
	name string
	peak float64
}{{cpu2, twoCores / utilization}, {"t4", 65e12}, {"l4", 121e12}, {"rtx-4090", 165e12}, {"a100", 312e12},
	{"h100", 989e12}}

// Devices lists the devices of [Rate]: cpu-2, two cores, where rates were measured, and GPUs, for which they are
// computed from these.
func Devices() (names []string) {
	for _, d := range peaks {
		names = append(names, d.name)
	}
	return names
}

// Rented splits a device of a plan, "a100@1.80", into its name and what an hour of it costs in US dollars, 0 where no
// price is given: prices change too often for a table. A price that is no number above 0 is an error.
func Rented(device string) (name string, hour float64, err error) {
	name, price, priced := strings.Cut(device, "@")
	if priced {
		if hour, err = strconv.ParseFloat(price, 64); err != nil || !(hour > 0 && hour < 1e6) {
			return "", 0, fmt.Errorf("device %q: after @ comes what an hour of it costs in US dollars, such as "+
				"a100@1.80", device)
		}
	}
	return name, hour, nil
}

// rate is the time of an item on two cores: fixed seconds and, of a generator, seconds of a step.
type rate struct {
	op, model   string
	fixed, step float64
	measured    bool // else computed from a measured network and the numbers of operations
}

// rates are from docs/benchmarks.md, 2026-11-23.
var rates = []rate{
	{EmbedOp, "vit-base-patch16-224", 0.41, 0, true},
	{EmbedOp, "clip-vit-base-patch32", 0.051, 0, true},
	{EmbedOp, "clip-vit-large-patch14", 0.94, 0, false},
	{EmbedOp, "blip2-opt-2.7b", 3.1, 0, false},
	{EmbedOp, "blip2-itm-vit-g", 3.1, 0, false},
	{EmbedOp, "all-mpnet-base-v2", 0.044, 0, true},
	{CaptionOp, "blip-image-captioning-base", 1, 0, true},
	{CaptionOp, "blip2-opt-2.7b", 4.7, 0, false},
	{SegmentOp, "clipseg", 0.47, 0, true},
	{SegmentOp, "sam-vit-base", 10.7, 0, true}, // with grounding-dino-tiny
	{SegmentOp, "sam-vit-huge", 49, 0, false},  // with grounding-dino-base
	{SegmentOp, "sam2.1-hiera-small", 10.5, 0, false},
	{GenerateOp, "stable-diffusion-v1-1", 15, 13.9, true},
	{GenerateOp, "stable-diffusion-v1-2", 15, 13.9, true},
	{GenerateOp, "stable-diffusion-v1-4", 15, 13.9, true},
	{GenerateOp, "stable-diffusion-v1-5", 15, 13.9, true},
	{GenerateOp, "stable-diffusion-2-base", 15, 13.9, false},
	{GenerateOp, "stable-diffusion-2-1-base", 15, 13.9, false},
	{GenerateOp, "stable-diffusion-2", 34, 35, false},
	{GenerateOp, "stable-diffusion-2-1", 34, 35, false},
	{GenerateOp, "altdiffusion", 15, 13.9, false},
	{GenerateOp, "altdiffusion-m9", 15, 13.9, false},
}

// Rate returns the seconds of an item of a stage by a known model on one of [Devices] ("" = cpu-2), and how they are
// known; 0 for others. steps are those of a generator (0 = 50). An unknown device is an error.
func Rate(op, model string, steps int, device string) (seconds float64, how string, err error) {
	device = cmp.Or(device, cpu2)
	at := slices.Index(Devices(), device)
	if at < 0 {
		return 0, "", fmt.Errorf("device %q is not known; use %s", device, strings.Join(Devices(), ", "))
	}
	i := slices.IndexFunc(rates, func(r rate) bool { return r.op == op && r.model == model })
	if i < 0 {
		return 0, "", nil
	}
	r := rates[i]
	steps = cmp.Or(steps, 50)
	how = device + ", computed"
	if r.measured && device == cpu2 {
		how = device + ", measured 2026-11-23"
	}
	return (r.fixed + r.step*float64(steps)) * twoCores / (utilization * peaks[at].peak), how, nil
}

// ItemBytes returns about how much disk an item of a stage takes, by typical sizes: a PNG of 512×512 pixels, a mask,
// three vectors of 768 numbers, a caption; 0 for other stages.
func ItemBytes(op string) float64 {
	return map[string]float64{GenerateOp: 450e3, SegmentOp: 2e3, EmbedOp: 9.2e3, CaptionOp: 100}[op]
}
