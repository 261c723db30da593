package execmodel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// MaxWorkers is the largest number of processes of a [Group].
const MaxWorkers = 64

// Options are the options of [New].
type Options struct {
	Program string            // absolute path, without symbolic links
	Digest  string            // its SHA-256; see [Inspect]
	Args    []string          // its arguments
	Task    string            // Generate, …
	Workers int               // processes, 1 to MaxWorkers; 0 = 1, −1 = one per GPU
	Timeout time.Duration     // per batch; 0 = 20 minutes for a process's first, then 10 or 20 times the median
	Idle    time.Duration     // without output; 0 = 5 minutes
	Secrets map[string]string // variables that the program gets although their names say that they are secret
	Log     string            // path of the file of standard error, without extension; "" = none
	Options map[string]string // for the program, in hello
}

// Group runs a program. Its methods may be called by several goroutines.
type Group struct {
	o     Options
	gpus  []string // see visibleGPUs; one per process, empty = not assigned
	logs  []*stderrLog
	turn  chan struct{} // holds the right to use the processes
	pause func(failures int) time.Duration
	term  time.Duration // between terminate and kill

	// with turn
	slots []*process // nil = not running
	ready *Ready     // of the first process ever, or of an earlier run

	forget func() // removes what Expect was called with; nil = ready is of a process

	mu        sync.Mutex
	failures  int // restarts in a row without an answer
	durations []time.Duration
	idle      *time.Timer
	closed    bool
}

// New returns a group. It starts nothing.
func New(o Options) (*Group, error) {
	g := &Group{o: o, turn: make(chan struct{}, 1), pause: backOff, term: termGrace}
	n := max(1, o.Workers)
	if o.Workers == -1 {
		if g.gpus = visibleGPUs(); len(g.gpus) == 0 {
			return nil, errors.New("one worker per GPU: no GPU found. Fix: give a number of workers, or set " +
				"CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES")
		}
		n = len(g.gpus)
	}
	if o.Workers < -1 || n > MaxWorkers {
		return nil, fmt.Errorf("%d workers: must be from 1 to %d", n, MaxWorkers)
	}
	g.slots = make([]*process, n)
	for i := range n {
		path := ""
		if o.Log != "" {
			path = fmt.Sprintf("%s-%d.log", o.Log, i)
		}
		g.logs = append(g.logs, newLog(path, o.Secrets))
	}
	return g, nil
}

// Workers returns the number of processes.
func (g *Group) Workers() int { return len(g.slots) }

func (g *Group) name() string { return filepath.Base(g.o.Program) }

// backOff is the pause before a restart: short after the first failure, which a row may have caused, then 1 s and 10 s.
func backOff(failures int) time.Duration {
	return [maxRestarts]time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second}[failures-1]
}

// take acquires the processes.
func (g *Group) take(ctx context.Context) error {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle != nil {
		g.idle.Stop()
	}
	if g.closed {
		<-g.turn
		return fmt.Errorf("%s was ended", g.name())
	}
	return nil
}

// leave releases the processes, which end after IdleTime.
func (g *Group) leave() {
	g.mu.Lock()
	g.idle = time.AfterFunc(IdleTime, func() {
		if g.take(context.Background()) == nil {
			g.end()
			<-g.turn
		}
	})
	g.mu.Unlock()
	<-g.turn
}

// end ends all processes.
func (g *Group) end() {
	var wait sync.WaitGroup
	for i, p := range g.slots {
		if p != nil {
			wait.Go(func() { _ = p.bye(byeGrace) })
			g.slots[i] = nil
		}
	}
	wait.Wait()
}

// Close ends the processes and waits until they have ended.
func (g *Group) Close() {
	if g.take(context.Background()) != nil {
		return
	}
	g.end()
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	for _, l := range g.logs {
		l.close()
	}
	<-g.turn
}

// Restart ends the processes and forgets what they reported.
func (g *Group) Restart(ctx context.Context) error {
	if err := g.take(ctx); err != nil {
		return err
	}
	defer g.leave()
	g.end()
	g.mu.Lock()
	g.ready, g.forget = nil, nil
	g.mu.Unlock()
	return nil
}

// Ready starts the first process, if none runs, and returns what it reports.
func (g *Group) Ready(ctx context.Context) (*Ready, error) {
	if err := g.take(ctx); err != nil {
		return nil, err
	}
	defer g.leave()
	p, err := g.process(ctx, 0)
	if err != nil {
		return nil, g.stop(err)
	}
	return p.ready, nil
}

// process returns the running process of a slot. It starts a missing one.
func (g *Group) process(ctx context.Context, slot int) (*process, error) {
	if p := g.slots[slot]; p != nil {
		select {
		case <-p.exited: // between two runs
			p.kill(0)
		default:
			return p, nil
		}
	}
	g.slots[slot] = nil
	p, err := g.start(slot)
	if err != nil {
		return nil, err
	}
	hello := helloMessage{Type: "hello", Protocol: []int{Protocol}, Task: g.o.Task, Worker: slot, Device: -1,
		Scratch: p.scratch, Options: g.o.Options}
	if len(g.gpus) > 0 {
		hello.Device = slot
	}
	if err = p.handshake(ctx, hello, max(readyLimit, g.o.Timeout)); err == nil {
		err = g.agree(p.ready)
	}
	if err != nil {
		p.kill(g.term)
		return nil, err
	}
	g.slots[slot] = p
	return p, nil
}

// agree reports a process that differs from the group's first.
func (g *Group) agree(r *Ready) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ready == nil {
		g.ready = r
	}
	if g.ready.identity() != r.identity() && g.forget != nil {
		before := g.ready.identity()
		g.forget()
		return fmt.Errorf("%w: the program reports %s, and %s in an earlier run. Fix: start the run again", errFatal,
			r.identity(), before)
	}
	if g.ready.identity() != r.identity() {
		return fmt.Errorf("%w: two processes report different models: %s and %s", errFatal, g.ready.identity(),
			r.identity())
	}
	return nil
}

// Expect sets what the program reported in an earlier run: a process that reports something else is an error, after
// which forget is called and the group expects nothing.
func (g *Group) Expect(r *Ready, forget func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ready == nil {
		g.ready, g.forget = r, func() { forget(); g.ready, g.forget = nil, nil }
	}
}

// stop returns the error that ends a run, with the end of standard error.
func (g *Group) stop(err error) error {
	text := strings.TrimPrefix(err.Error(), errFatal.Error()+": ")
	var lines []string
	for _, l := range g.logs {
		lines = append(lines, l.tail(20)...)
	}
	if len(lines) > 0 {
		text += "; standard error ends with:\n" + strings.Join(lines[max(0, len(lines)-20):], "\n")
	}
	return errors.New("exec " + g.name() + ": " + text)
}

// limit returns the time limit of a process's next batch.
func (g *Group) limit(p *process) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.o.Timeout > 0:
		return g.o.Timeout
	case p.batches == 0:
		return firstLimit
	case len(g.durations) == 0:
		return batchLimit
	}
	sorted := slices.Sorted(slices.Values(g.durations))
	return max(batchLimit, 20*sorted[len(sorted)/2])
}

// took records the duration of a batch.
func (g *Group) took(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.durations = append(g.durations, d)
	g.durations = g.durations[max(0, len(g.durations)-101):]
}

// answered records progress: the next failure is the first.
func (g *Group) answered() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failures = 0
}

// failed counts a failure and returns the pause before the restart, or an error after too many.
func (g *Group) failed(err error) (time.Duration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failures++; errors.Is(err, errFatal) || g.failures > maxRestarts {
		return 0, err
	}
	return g.pause(g.failures), nil
}

// idleLimit returns the time without output after which a process is ended.
func (g *Group) idleLimit() time.Duration { return cmp.Or(g.o.Idle, idleLimit) }
