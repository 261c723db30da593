package execmodel

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Finding is the result of one test of [Check].
type Finding struct {
	Number  int
	Title   string
	Err     error  // nil = passed
	Skipped string // why it was not done; "" = it was
}

// CheckOptions are the options of [Check].
type CheckOptions struct {
	Quick bool // omit the tests that load the weights again
	Steps int  // denoising steps of an image; 0 = the program's default
}

// Checked is the result of [Check].
type Checked struct {
	Ready  *Ready
	Passed bool
	Image  string // SHA-256 of the answer to a fixed item; a program whose answers change must raise its version
}

// checker tests a program.
type checker struct {
	g     *Group
	o     CheckOptions
	image string // a file for tasks that read one
	p     *process
	r     *round
	first []Answer // of the first batch
}

// errSkip is wrapped by the reason that a test does not apply.
var errSkip = errors.New("")

func skip(reason string) error { return fmt.Errorf("%w%s", errSkip, reason) }

// Check tests a program against the protocol, in 16 tests that report receives in their order. An error means that the
// tests could not be done.
func Check(ctx context.Context, o Options, options CheckOptions, report func(Finding)) (*Checked, error) {
	o.Workers = 1
	g, err := New(o)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	g.pause = func(int) time.Duration { return 0 }
	dir, err := os.MkdirTemp("", "antipode-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c := &checker{g: g, o: options, image: filepath.Join(dir, "image.png")}
	if err := writeSample(c.image); err != nil {
		return nil, err
	}
	defer func() {
		if c.p != nil {
			c.p.kill(g.term)
		}
	}()
	result := &Checked{Passed: true}
	for i, t := range []struct {
		title string
		test  func(context.Context) error
	}{
		{"ready within 60 s, with valid fields", c.start},
		{"standard output has lines of the protocol only, also while weights load", c.clean},
		{"one item: a valid answer", c.one},
		{"a full batch: every item answered once", c.full},
		{"the same seed twice: the same answer", c.repeat},
		{"another seed: another image", c.seeds},
		{"a batch equals single items", c.singles},
		{"a restarted process gives the same answer", c.restart},
		{"unusual texts: an outcome, no crash", c.texts},
		{"an unsupported size: failed, no crash", c.size},
		{"a negative prompt changes the image", c.negative},
		{"an unknown field is ignored", c.unknown},
		{"cancel is answered", c.cancel},
		{"bye: exit status 0", c.bye},
		{"a process killed in a batch: no row lost or changed", c.killed},
		{"the model's digest is the same in a second process", c.again},
	} {
		f := Finding{Number: i + 1, Title: t.title}
		if f.Err = t.test(ctx); errors.Is(f.Err, errSkip) {
			f.Err, f.Skipped = nil, f.Err.Error()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		result.Passed = result.Passed && f.Err == nil
		if report(f); i == 0 && f.Err != nil {
			return result, nil // there is nothing to test
		}
	}
	result.Ready = g.ready
	if len(c.first) > 0 {
		result.Image = hash(c.first[0].text())
	}
	return result, nil
}

func (c *checker) sample(n int, text string) Item {
	it := Item{ID: fmt.Sprintf("check %d", n), Seed: uint64(n)}
	d := c.g.ready.Defaults
	switch c.g.o.Task {
	case Generate:
		it.Prompt, it.Steps, it.Guidance, it.Scheduler = text, cmp.Or(c.o.Steps, d.Steps), d.Guidance, d.Scheduler
		it.Width, it.Height = d.Width, d.Height
	case Segment:
		it.Image, it.Text, it.Width, it.Height = c.image, text, sampleWidth, sampleHeight
	case Ask:
		it.Image, it.Question, it.Choices = c.image, text, []string{"yes", "no", "cannot tell"}
	case Caption:
		it.Image, it.N, it.MaxTokens = c.image, 1, 20
	case Embed:
		it.Image = c.image
	}
	return it
}

// run answers items in one batch of a running process. A failure of the process is an error; the next run starts
// another.
func (c *checker) run(ctx context.Context, items ...Item) ([]Answer, error) {
	if c.p == nil {
		var err error
		if c.p, err = c.g.process(ctx, 0); err != nil {
			return nil, err
		}
	}
	if c.r == nil {
		c.r = &round{g: c.g, report: func(float64) {}, partial: make([]float64, 1)}
	}
	c.r.answers, c.r.finished = make([]Answer, len(items)), 0
	var batch []*task
	for i, it := range items {
		batch = append(batch, &task{item: it, index: i})
	}
	err := c.r.exchange(ctx, c.p, 0, batch)
	if err != nil && (ctx.Err() == nil || !c.r.answered(batch)) {
		c.p.kill(c.g.term)
		c.p, c.g.slots[0] = nil, nil
	}
	return c.r.answers, err
}

// good is run for items that must be ok.
func (c *checker) good(ctx context.Context, items ...Item) ([]Answer, error) {
	answers, err := c.run(ctx, items...)
	for _, a := range answers {
		if err == nil && a.Outcome != OK {
			err = fmt.Errorf("item %q is %s: %s", a.ID, a.Outcome, a.Reason)
		}
	}
	return answers, err
}

const plainText = "a red boat on a lake"

func (c *checker) start(ctx context.Context) (err error) {
	c.p, err = c.g.process(ctx, 0)
	return err
}

func (c *checker) clean(ctx context.Context) error {
	answers, err := c.run(ctx, c.sample(1, plainText))
	if c.first = answers; err != nil && strings.Contains(err.Error(), "of stdout") {
		return err
	}
	return nil // other failures are those of the next test
}

func (c *checker) one(ctx context.Context) (err error) {
	c.first, err = c.good(ctx, c.sample(1, plainText))
	return err
}

// batch are max_batch items, eight at most.
func (c *checker) batch() (items []Item) {
	for n := range min(c.g.ready.MaxBatch, 8) {
		items = append(items, c.sample(n+1, plainText))
	}
	return items
}

func (c *checker) full(ctx context.Context) error {
	items := c.batch()
	for n := len(items); n < c.g.ready.MaxBatch; n++ {
		items = append(items, c.sample(n+1, plainText))
	}
	_, err := c.good(ctx, items...)
	return err
}

// seeded reports a program without seeds.
func (c *checker) seeded() error {
	if c.g.o.Task == Generate && c.g.ready.Capabilities.Seed == SeedNone {
		return skip("the program takes no seed")
	}
	return nil
}

func (c *checker) repeat(ctx context.Context) error {
	if err := c.seeded(); err != nil {
		return err
	}
	answers, err := c.good(ctx, c.sample(1, plainText))
	if err != nil {
		return err
	}
	if c.g.ready.Capabilities.Seed == SeedExact && !bytes.Equal(answers[0].Data, c.first[0].Data) {
		return errors.New(`the files differ, and capabilities.seed is "exact"`)
	}
	return same(&answers[0], &c.first[0])
}

func (c *checker) seeds(ctx context.Context) error {
	if c.g.o.Task != Generate {
		return skip("for generate only")
	}
	if err := c.seeded(); err != nil {
		return err
	}
	it := c.sample(1, plainText)
	it.Seed++
	answers, err := c.good(ctx, it)
	if err == nil && bytes.Equal(answers[0].Data, c.first[0].Data) {
		err = errors.New("the files are equal")
	}
	return err
}

func (c *checker) singles(ctx context.Context) error {
	if err := c.seeded(); err != nil {
		return err
	}
	items := c.batch()
	if len(items) == 1 {
		return skip("max_batch is 1")
	}
	all, err := c.good(ctx, items...)
	for i := 0; i < len(items) && err == nil; i += len(items) - 1 { // the first and the last
		var alone []Answer
		if alone, err = c.good(ctx, items[i]); err == nil {
			err = same(&alone[0], &all[i])
		}
	}
	return err
}

func (c *checker) restart(ctx context.Context) error {
	if c.o.Quick {
		return skip("it loads the weights again")
	}
	if err := c.seeded(); err != nil {
		return err
	}
	if c.p != nil {
		c.p.kill(c.g.term)
		c.p, c.g.slots[0] = nil, nil
	}
	answers, err := c.good(ctx, c.sample(1, plainText))
	if err != nil {
		return err
	}
	return same(&answers[0], &c.first[0])
}

func (c *checker) texts(ctx context.Context) error {
	for i, text := range unusual {
		if _, err := c.run(ctx, c.sample(100+i, text)); err != nil {
			return fmt.Errorf("text %q: %w", clip(text, 40), err)
		}
	}
	return nil
}

func (c *checker) size(ctx context.Context) error {
	if c.g.o.Task != Generate {
		return skip("for generate only")
	}
	it := c.sample(1, plainText)
	if it.Width, it.Height = c.g.ready.Capabilities.Sizes.unsupported(); it.Width == 0 {
		return skip("the program declares no sizes")
	}
	answers, err := c.run(ctx, it)
	if err == nil && answers[0].Outcome == OK {
		err = fmt.Errorf("%dx%d pixels were made, which capabilities.sizes does not have", it.Width, it.Height)
	}
	return err
}

func (c *checker) negative(ctx context.Context) error {
	if c.g.o.Task != Generate {
		return skip("for generate only")
	}
	if !c.g.ready.Capabilities.Negative {
		return skip("the program takes no negative prompt")
	}
	it := c.sample(1, plainText)
	it.Negative = "boat, water, red"
	answers, err := c.good(ctx, it)
	if err == nil && bytes.Equal(answers[0].Data, c.first[0].Data) {
		err = errors.New("the files are equal")
	}
	return err
}

func (c *checker) unknown(ctx context.Context) error {
	if _, err := c.run(ctx, c.sample(1, plainText)); err != nil { // a process runs
		return err
	}
	c.r.unknown = "a field of a later version"
	defer func() { c.r.unknown = "" }()
	_, err := c.good(ctx, c.sample(1, plainText))
	return err
}

func (c *checker) cancel(ctx context.Context) error {
	if _, err := c.run(ctx, c.sample(1, plainText)); err != nil { // the weights are loaded
		return err
	}
	if !c.g.ready.Capabilities.Cancel {
		return skip("the program does not support cancel")
	}
	within, stop := context.WithTimeout(ctx, 50*time.Millisecond)
	defer stop()
	answers, err := c.run(within, c.batch()...)
	if err != nil && slices.ContainsFunc(answers, func(a Answer) bool { return a.Outcome == "" }) {
		if within.Err() == nil {
			return err
		}
		return fmt.Errorf("items without an answer %s after cancel", cancelGrace)
	}
	return nil
}

func (c *checker) bye(ctx context.Context) error {
	if _, err := c.run(ctx, c.sample(1, plainText)); err != nil {
		return err
	}
	err := c.p.bye(byeGrace)
	c.p, c.g.slots[0] = nil, nil
	return err
}

func (c *checker) killed(ctx context.Context) error {
	if c.o.Quick {
		return skip("it loads the weights again")
	}
	items := append(c.batch(), c.sample(50, plainText), c.sample(51, plainText))
	once := false
	answers, err := c.g.Run(ctx, items, func(share float64) {
		if p := c.g.slots[0]; p != nil && !once && share > 0 {
			once = true
			p.signal(syscall.SIGKILL)
		}
	})
	for i, a := range answers {
		if err == nil && (a.Outcome != OK || a.ID != items[i].ID) {
			err = fmt.Errorf("item %q is %s: %s", items[i].ID, a.Outcome, a.Reason)
		}
	}
	if err == nil && c.seeded() == nil {
		err = same(&answers[0], &c.first[0])
	}
	return err
}

func (c *checker) again(ctx context.Context) error {
	c.p, c.g.slots[0] = nil, endSlot(c.g.slots[0])
	_, err := c.g.process(ctx, 0) // a difference is an error
	return err
}

// endSlot ends a process, if there is one.
func endSlot(p *process) *process {
	if p != nil {
		_ = p.bye(byeGrace)
	}
	return nil
}
