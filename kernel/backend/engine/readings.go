package engine

import (
	"fmt"
	"reflect"
	"slices"

	"antipode/datasets/table"
)

// evaluation is what a run evaluates: its readings are known by it, because parts of the run that have frames of their
// own evaluate it, too.
type evaluation struct {
	key      string // "" = not known
	readings int    // so far
}

// begin makes the readings from now on those of an evaluation, until end is called.
func (r *run) begin(key string) (end func()) {
	before := r.at
	r.at = evaluation{key: key}
	return func() { r.at = before }
}

// reading adds what reading values lost or guessed to the run. Readings of one kind are added up, and each is one note
// when the run ends. What an evaluation has read before, in another part of the run, is not added up.
func (r *run) reading(x table.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.key != "" {
		key := fmt.Sprint("reading ", r.at, x)
		if r.at.readings++; r.once[key] {
			return
		}
		r.once[key] = true
	}
	switch at := slices.IndexFunc(r.readings, x.Same); {
	case at >= 0 && x.Once:
		if x.Of > r.readings[at].Of {
			r.readings[at] = x
		}
	case at >= 0:
		r.readings[at] = r.readings[at].Add(x)
	default:
		r.readings = append(r.readings, x)
	}
}

// readingOnce is reading for what several scores read in one table: an equal reading is not added up.
func (r *run) readingOnce(x table.Reading) {
	r.mu.Lock()
	known := slices.ContainsFunc(r.readings, func(y table.Reading) bool { return reflect.DeepEqual(x, y) })
	r.mu.Unlock()
	if !known {
		r.reading(x)
	}
}

// noteReadings notes the readings that concern at least one value and that a run prints.
func (r *run) noteReadings() {
	for _, x := range r.readings {
		if x.Noted() {
			r.note("%s", x.Line())
		}
	}
}

// found returns the readings that concern at least one value, for the run record.
func found(readings []table.Reading) (out []table.Reading) {
	for _, x := range readings {
		if x.N > 0 {
			out = append(out, x)
		}
	}
	return out
}
