package engine

import (
	"sync"
	"time"

	"antipode/gomlxmodels/stage"
	"antipode/kernel/client"
)

// counter turns a stage's finished items, and the steps of the batch in flight, into progress.
type counter struct {
	r            *run
	label        string
	total, found int

	mu            sync.Mutex // steps come from the device's goroutine
	computed, bad int
	inFlight      int // items of the batch that is being computed
	step, steps   int // of it
	told          time.Time
	samples       []client.Sample

	// The rate is of what was done since start, at which before items' worth of work was done. Where steps are told, start is at
	// the first of them: what is compiled before it is compiled once.
	start   time.Time
	before  float64
	stepped bool
}

// Steps are reported at most every stepInterval, and give a rate by themselves once they have been told for settled.
const (
	stepInterval = 500 * time.Millisecond
	settled      = time.Second
)

// report tells how far the stage is.
func (c *counter) report() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell()
}

func (c *counter) tell() {
	p := client.Progress{Stage: c.label, Done: c.found + c.computed + c.bad, Total: c.total, Computed: c.r.computed, Found: c.r.found,
		Step: c.step, Steps: c.steps, Samples: c.samples}
	p.Part = c.part()
	since, done := time.Since(c.start), float64(c.computed)+p.Part-c.before
	if done > 0 && (c.computed > 0 || since >= settled) {
		p.Rate = done / since.Seconds()
	}
	c.told = time.Now()
	c.r.progress(p)
}

// part is how many items' worth of work the batch in flight has behind it.
func (c *counter) part() float64 {
	if c.steps == 0 {
		return 0
	}
	return float64(c.inFlight) * float64(c.step) / float64(c.steps)
}

// begin notes that a batch of n items is being computed.
func (c *counter) begin(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight, c.step, c.steps = n, 0, 0
}

// skip counts a bad row; the next report tells of it.
func (c *counter) skip() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bad++
}

// finish reports that a batch of n items is computed and kept; made are pictures of it.
func (c *counter) finish(n int, made []client.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.computed += n
	c.r.computed += n
	c.inFlight, c.step, c.steps = 0, 0, 0
	all := append(c.samples[:len(c.samples):len(c.samples)], made...) // what was reported is not changed
	c.samples = all[max(0, len(all)-client.MaxSamples):]
	c.tell()
}

// at reports how far the batch in flight is; see [stage.Step].
func (c *counter) at(done, total int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight == 0 || total < 1 || done < 0 {
		return // of a batch that is over
	}
	c.step, c.steps = min(done, total), total
	if !c.stepped {
		c.stepped, c.start, c.before = true, time.Now(), float64(c.computed)+c.part()
	}
	if time.Since(c.told) >= stepInterval {
		c.tell()
	}
}

// samples are the pictures that a batch made, the last ones at most: of its rows' first column of pictures, under the prompt or else the id.
func samples(in *client.Frame, outputs []client.ColumnSpec, members, rowOf []int, values [][]stage.Value) []client.Sample {
	column := -1
	for j, o := range outputs {
		if o.Kind == client.Picture {
			column = j
			break
		}
	}
	if column < 0 {
		return nil
	}
	var out []client.Sample
	for _, u := range members[max(0, len(members)-client.MaxSamples):] {
		picture := values[u][column].Image
		if picture.Path == "" { // refused, for example
			continue
		}
		caption := rowID(in, rowOf[u])
		if prompts := in.Texts("prompt"); prompts != nil && prompts[rowOf[u]] != "" {
			caption = prompts[rowOf[u]]
		}
		if runes := []rune(caption); len(runes) > maxCaption {
			caption = string(runes[:maxCaption-1]) + "…"
		}
		out = append(out, client.Sample{Caption: caption, Image: picture})
	}
	return out
}

// maxCaption is how long a sample's caption may be, in characters.
const maxCaption = 100
