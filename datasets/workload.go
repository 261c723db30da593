package datasets

import (
	"fmt"
	"regexp"
	"slices"

	"antipode/datasets/table"
)

// WorkloadOp is the operation of [Workload].
const WorkloadOp = "workload"

// WorkloadOptions are the options of [Workload].
type WorkloadOptions struct {
	// Probe is the number of missing items of each stage that are computed, and stored, to measure its speed on this
	// machine. 0 = none: the columns seconds and hours have no value where Rates has none. Images of an API are never
	// probed, because they are paid for.
	Probe int `json:"probe,omitempty"`

	// Rates are items per second of a stage ("generate", "segment", "embed", "caption") on a device that you state,
	// in place of a measurement.
	Rates map[string]float64 `json:"rates,omitempty"`

	// Device is the device for which the hours are stated, one of gomlxmodels.Devices: "" = this machine. For another
	// one nothing is probed. "a100@1.80" is one that costs 1.80 US dollars an hour.
	Device string `json:"device,omitempty"`
}

// WorkloadArgs are the arguments of [Workload] in a plan.
type WorkloadArgs struct {
	WorkloadOptions
	Unreadable []string `json:"unreadable,omitempty"` // errors of tables that cannot be planned
}

// position is the line of a program at the beginning of an error.
var position = regexp.MustCompile(`^\S+\.go:\d+: `)

// Workload returns what remains to be computed for tables, without computing it: a row for each row-wise stage, in the
// order of the work, and one for the total. Columns:
//
//	stage      operation and model: "generate stable-diffusion-v1-5"; "read NAME": a source that is missing; "total"
//	items      rows of the stage; rows with the same inputs count once
//	found      of these, in the store; they are not computed again
//	missing    to be computed
//	seconds    for an item: measured by Probe, from Rates, or from a table of published models (gomlxmodels.Rate), for
//	           Device, or where the model is not on this machine; compilation and loading are not included
//	rate       how the seconds are known: "measured here", "given", or the device and "measured" or "computed"
//	hours      for the missing items
//	gigabytes  of disk for the missing items, from the mean size of those in the store or of the probe, else typical
//	download   gigabytes of a model that is missing on this machine, if it is known
//	dollars    for the missing items of a paid API, if its price is known, or for the hours of a rented device
//	price      of one of these, with its date; that it is unknown; that the model is shut down; "" = not paid for
//	needs      what is missing on this machine (a model, a data set) and how to get it; "" = nothing
//
// A value that is not known is NaN; so is the total of a column with one. A metric or table operation that reads items
// still missing is not evaluated, and stages that follow it see no rows, except one that is defined as Planned: a
// selection of captions counts as many captions as it will select. A filter is applied as if every missing item
// will succeed. A table with an error, for example of a data set that is not on this machine, is a row "read".
func Workload(tables []Table, options ...WorkloadOptions) Table {
	o, err := table.One(options)
	columns := Columns("stage:text", "items:number", "found:number", "missing:number", "seconds:number",
		"hours:number", "gigabytes:number", "download:number", "dollars:number", "rate:text", "price:text",
		"needs:text")
	switch {
	case err != nil:
	case o.Probe < 0:
		err = fmt.Errorf("%d items to probe; use 0 for none", o.Probe)
	case len(tables) == 0:
		err = fmt.Errorf("no table is given")
	}
	for stage, rate := range o.Rates {
		if err == nil && !(rate > 0) {
			err = fmt.Errorf("the rate of %s is %v items per second; it must be above 0", stage, rate)
		}
	}
	args := WorkloadArgs{WorkloadOptions: o}
	tables = slices.DeleteFunc(slices.Clone(tables), func(t Table) bool {
		if t.err == nil {
			return false
		}
		if text := position.ReplaceAllString(t.err.Error(), ""); !slices.Contains(args.Unreadable, text) {
			args.Unreadable = append(args.Unreadable, text)
		}
		return true
	})
	t := New(WorkloadOp, args, columns, tables...).named("workload")
	if err != nil {
		return t.failed(fmt.Errorf("Workload: %w", err))
	}
	return t
}
