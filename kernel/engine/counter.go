package engine

import (
	"sync"
	"time"

	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
)

// counter reports the progress of a stage: its finished items and the steps of the current batch.
type counter struct {
	r            *run
	label        string
	total, found int

	mu            sync.Mutex // steps are reported by the device's goroutine
	computed, bad int
	inFlight      int // items of the current batch
	step, steps   int // of the current batch
	told          time.Time
	begun         time.Time     // of the current batch
	fastest       time.Duration // batch so far
	samples       []table.Sample
	watch         func(done, total, items int) // nil, or is called with each step of a batch of so many items

	// The rate is measured from start, when `before` items were done. If the stage reports steps, start is the first
	// step, so that the time of compilation does not count.
	start   time.Time
	before  float64
	stepped bool
}

// Steps are reported at most once per stepInterval. They determine the rate before the first batch is done, once they
// have been reported for the time settled.
const (
	stepInterval = 500 * time.Millisecond
	settled      = time.Second
)

// report sends a progress report.
func (c *counter) report() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell()
}

func (c *counter) tell() {
	p := table.Progress{Stage: c.label, Done: c.found + c.computed + c.bad, Total: c.total, Computed: c.r.computed,
		Found: c.r.found,
		Step:  c.step, Steps: c.steps, Samples: c.samples}
	p.Part = c.part()
	since, done := time.Since(c.start), float64(c.computed)+p.Part-c.before
	if done > 0 && (c.computed > 0 || since >= settled) {
		p.Rate = done / since.Seconds()
	}
	c.told = time.Now()
	c.r.progress(p)
}

// part returns the finished share of the current batch, in items.
func (c *counter) part() float64 {
	if c.steps == 0 {
		return 0
	}
	return float64(c.inFlight) * float64(c.step) / float64(c.steps)
}

// begin records the start of a batch of n items.
func (c *counter) begin(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight, c.step, c.steps, c.begun = n, 0, 0, time.Now()
}

// left estimates how long the rest of the current batch takes.
func (c *counter) left() (d time.Duration, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := time.Since(c.begun)
	switch {
	case c.step > 0:
		return time.Duration(float64(took) * float64(c.steps-c.step) / float64(c.step)), true
	case c.fastest > 0:
		return max(0, c.fastest-took), true
	}
	return 0, false
}

// foundLater counts an item that another job has computed meanwhile.
func (c *counter) foundLater() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found++
	c.r.found++
	c.r.e.found.Add(1)
	c.tell()
}

// skip counts a bad row; the next report includes it.
func (c *counter) skip() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bad++
}

// finish reports that a batch of n items is computed and stored; made are images of it.
func (c *counter) finish(n int, made []table.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.computed += n
	c.r.computed += n
	c.inFlight, c.step, c.steps = 0, 0, 0
	if took := time.Since(c.begun); c.fastest == 0 || took < c.fastest {
		c.fastest = took
	}
	all := append(c.samples[:len(c.samples):len(c.samples)], made...) // reported slices are not modified
	c.samples = all[max(0, len(all)-table.MaxSamples):]
	c.tell()
}

// at reports the steps of the current batch; see [stage.Step].
func (c *counter) at(done, total int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight == 0 || total < 1 || done < 0 {
		return // the batch has ended
	}
	c.step, c.steps = min(done, total), total
	if c.watch != nil {
		c.watch(c.step, total, c.inFlight)
	}
	if !c.stepped {
		c.stepped, c.start, c.before = true, time.Now(), float64(c.computed)+c.part()
	}
	if time.Since(c.told) >= stepInterval {
		c.tell()
	}
}

// samples returns the last images of a batch, from the first image column, each with its prompt or else its id as
// caption.
func samples(in *table.Frame, outputs []table.ColumnSpec, members, rowOf []int,
	values [][]stage.Value) []table.Sample {
	column := -1
	for j, o := range outputs {
		if o.Kind == table.KindImage {
			column = j
			break
		}
	}
	if column < 0 {
		return nil
	}
	shown := in.Shown()
	var out []table.Sample
	for _, u := range members[max(0, len(members)-table.MaxSamples):] {
		img := values[u][column].Image
		if img.Path == "" { // refused, for example
			continue
		}
		caption := rowID(in, rowOf[u])
		if prompts := shown.Texts("prompt"); prompts != nil && prompts[rowOf[u]] != "" {
			caption = prompts[rowOf[u]]
		}
		if runes := []rune(caption); len(runes) > maxCaption {
			caption = string(runes[:maxCaption-1]) + "…"
		}
		out = append(out, table.Sample{Caption: caption, Image: img})
	}
	return out
}

// maxCaption is the maximal length of a sample's caption in characters.
const maxCaption = 100
