package engine

import (
	"slices"
	"sync"
	"time"

	"antipode/datasets/table"
)

// counter reports the progress of a stage: its finished items and the steps of the batches that are being computed.
type counter struct {
	r            *run
	label        string
	total, found int

	mu            sync.Mutex // steps are reported by the device's goroutine
	computed, bad int
	batches       []*running
	latest        *running // that reported a step last; nil = none of batches
	told          time.Time
	fastest       time.Duration // batch so far
	samples       []table.Sample
	watch         func(done, total, items int) // nil, or is called with each step of a batch of so many items

	// The rate is measured from start, when `before` items were done. If the stage reports steps, start is the first
	// step, so that the time of compilation does not count.
	start   time.Time
	before  float64
	stepped bool
}

// running is a batch that is being computed.
type running struct {
	c           *counter
	items       int
	begun       time.Time
	step, steps int
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
		Found: c.r.found, Samples: c.samples}
	if c.latest != nil {
		p.Step, p.Steps = c.latest.step, c.latest.steps
	}
	p.Part = c.part()
	since, done := time.Since(c.start), float64(c.computed)+p.Part-c.before
	if done > 0 && (c.computed > 0 || since >= settled) {
		p.Rate = done / since.Seconds()
	}
	c.told = time.Now()
	c.r.progress(p)
}

// part returns the finished share of the batches that are being computed, in items.
func (c *counter) part() (items float64) {
	for _, b := range c.batches {
		if b.steps > 0 {
			items += float64(b.items) * float64(b.step) / float64(b.steps)
		}
	}
	return items
}

// begin records the start of a batch of n items.
func (c *counter) begin(n int) *running {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &running{c: c, items: n, begun: time.Now()}
	c.batches = append(c.batches, b)
	return b
}

// again records that a batch is computed from its beginning, perhaps not for the first time.
func (b *running) again() {
	b.c.mu.Lock()
	defer b.c.mu.Unlock()
	b.begun, b.step, b.steps = time.Now(), 0, 0
}

// end records the end of a batch, finished or not.
func (b *running) end() {
	b.c.mu.Lock()
	defer b.c.mu.Unlock()
	b.remove()
}

func (b *running) remove() {
	b.c.batches = slices.DeleteFunc(b.c.batches, func(other *running) bool { return other == b })
	if b.c.latest == b {
		b.c.latest = nil
	}
}

// left estimates how long the rest of the batch takes.
func (b *running) left() (d time.Duration, known bool) {
	b.c.mu.Lock()
	defer b.c.mu.Unlock()
	took := time.Since(b.begun)
	switch {
	case b.step > 0:
		return time.Duration(float64(took) * float64(b.steps-b.step) / float64(b.step)), true
	case b.c.fastest > 0:
		return max(0, b.c.fastest-took), true
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

// lost counts n items as missing that were counted as found.
func (c *counter) lost(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found -= n
	c.r.found -= n
	c.r.e.found.Add(int64(-n))
}

// skip counts a bad row; the next report includes it.
func (c *counter) skip() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bad++
}

// finish reports that n items of a batch are computed and stored; made are images of it.
func (b *running) finish(n int, made []table.Sample) {
	c := b.c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.computed += n
	c.r.computed += n
	b.remove()
	if took := time.Since(b.begun); c.fastest == 0 || took < c.fastest {
		c.fastest = took
	}
	all := append(c.samples[:len(c.samples):len(c.samples)], made...) // reported slices are not modified
	c.samples = all[max(0, len(all)-table.MaxSamples):]
	c.tell()
}

// at reports the steps of a batch; see [stage.Step].
func (b *running) at(done, total int) {
	c := b.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.batches, b) || total < 1 || done < 0 {
		return // the batch has ended
	}
	b.step, b.steps, c.latest = min(done, total), total, b
	if c.watch != nil {
		c.watch(b.step, total, b.items)
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
	values [][]table.Value) []table.Sample {
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
