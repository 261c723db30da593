package devices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"antipode/datasets/client"
	"antipode/internal/fair"
)

// maxDeaths is the number of failures in a row, without a result, after which a device is taken out, and after which
// rows are an error that each time ended the process which computed them.
const maxDeaths = 3

// inHand is the number of batches that a child has at most: it computes one and prepares the next.
const inHand = 2

// Device is a device of a [Set].
type Device struct {
	Name string   // for people
	Env  []string // of its process, in addition to this one's
}

// Options are the options of [New].
type Options struct {
	Devices  []Device
	Setup    Setup
	Command  func() *exec.Cmd // starts a child, which calls [Serve]; its environment is set by the Set
	Log      io.Writer        // receives the standard error of the children
	Patience time.Duration    // without a message after which a child is killed; 0 = a minute
}

// Set is the devices of an engine. It is safe for concurrent use.
type Set struct {
	o Options

	mu      sync.Mutex
	slots   []*slot
	waiting fair.Queue[*task]
	flying  int            // tasks that a child has
	stages  map[string]int // users of each, by key
	next    int64          // number of the next task
	closed  bool
	running sync.WaitGroup // processes
}

type slot struct {
	Device
	p      *process // nil = not started
	deaths int      // in a row without a result
	out    bool     // taken out
	reason string   // of the last death

	description string
	computed    int64     // items
	rate        float64   // items a second, lately
	finished    time.Time // of the last batch
	memory      client.MemoryStatus
	models      []client.ModelStatus
}

// task is a batch that is waiting or with a child.
type task struct {
	Batch
	ctx    context.Context
	number int64
	began  bool      // the child that has it computes it
	begun  time.Time // since when
	fatal  []*slot   // whose processes ended while they computed it
	once   sync.Once
	done   chan struct{}
	notes  []string // of devices that failed
	result Result
	err    error
}

// finish ends the task; later calls do nothing. The caller holds the set's lock.
func (t *task) finish(r Result, err error) {
	t.once.Do(func() {
		r.Notes = append(r.Notes, t.notes...)
		t.result, t.err = r, err
		close(t.done)
	})
}

func (t *task) finished() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// Errors of batches: of a set that is closed, and of rows that each time ended the process which computed them.
var (
	ErrClosed = errors.New("the backend is ending")
	ErrRows   = errors.New("the process that computed this ended")
)

// New returns a set. It starts no process.
func New(o Options) *Set {
	o.Patience = cmp.Or(o.Patience, time.Minute)
	s := &Set{o: o, stages: map[string]int{}}
	for _, d := range o.Devices {
		s.slots = append(s.slots, &slot{Device: d})
	}
	return s
}

// Kind returns the kind of the devices.
func (s *Set) Kind() string { return s.o.Setup.Kind }

// Describe returns the descriptions of the devices that have started, and the name of their plugin.
func (s *Set) Describe() (text, plugin string) {
	if plugin = s.o.Setup.Plugin; plugin != "" {
		plugin = filepath.Base(plugin)
	}
	var texts []string
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.slots {
		if d.description != "" && !slices.Contains(texts, d.description) {
			texts = append(texts, d.description)
		}
	}
	return strings.Join(texts, "; "), plugin
}

// Len returns the number of devices that are not taken out.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left()
}

func (s *Set) left() int {
	n := 0
	for _, d := range s.slots {
		if !d.out {
			n++
		}
	}
	return n
}

// Room returns the number of batches that the devices have at most.
func (s *Set) Room() int { return inHand * s.Len() }

// Use declares that batches of a stage will come. The caller calls done when no more will.
func (s *Set) Use(stage *Stage) (done func()) {
	key := stage.Key()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stages[key]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.stages[key]--; s.stages[key] > 0 {
			return
		}
		delete(s.stages, key)
		for _, d := range s.slots {
			if d.p != nil && d.p.ready {
				d.p.send(message{Type: closeType, Key: key})
			}
		}
	}
}

// Compute computes a batch on the next device that is free. If ctx is canceled, it returns when the device has stopped
// working on the batch.
func (s *Set) Compute(ctx context.Context, b Batch) (Result, error) {
	t := &task{Batch: b, ctx: ctx, done: make(chan struct{})}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return Result{}, ErrClosed
	}
	s.next++
	t.number = s.next
	s.waiting.Push(t.Job, t)
	s.dispatch()
	s.mu.Unlock()
	defer context.AfterFunc(ctx, func() { s.cancel(t) })()
	<-t.done
	return t.result, t.err
}

// cancel ends a waiting task, and tells the child that has it.
func (s *Set) cancel(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.slots {
		if d.p != nil && d.p.tasks[t.number] == t {
			d.p.send(message{Type: cancelType, Batch: t.number})
			return
		}
	}
	t.finish(Result{}, t.ctx.Err())
}

// dispatch gives waiting tasks to devices and starts the processes that are needed. The caller holds the lock.
func (s *Set) dispatch() {
	for {
		t, ok := s.waiting.Next()
		if !ok {
			break
		}
		d := s.free(t)
		if d == nil && !t.finished() {
			break
		}
		s.waiting.Pop()
		if t.finished() {
			continue
		}
		s.flying++
		t.began, t.begun = false, time.Now()
		d.p.tasks[t.number] = t
		d.p.send(message{Type: batchType, Batch: t.number, Stage: &t.Stage, Job: t.Job, frame: t.Rows})
	}
	live, needed := 0, s.waiting.Len()+s.flying
	if t, ok := s.waiting.Next(); ok && len(t.fatal) > 0 {
		needed++ // it goes to another device
	}
	for _, d := range s.slots {
		if d.p != nil {
			live++
		}
	}
	for _, d := range s.slots {
		if !s.closed && d.p == nil && !d.out && live < needed {
			live++
			s.start(d)
		}
	}
}

// free returns the device with the least work that has room for the next task, or nil. A task does not wait behind
// another one while a device starts. One that may have ended a process gets a device for itself, and another one than
// before: what computes next to it is not to blame.
func (s *Set) free(t *task) (free *slot) {
	starting := 0
	for _, d := range s.slots {
		switch {
		case d.p == nil || d.p.leaving:
		case !d.p.ready:
			starting++
		case len(t.fatal) > 0 && (len(d.p.tasks) > 0 || t.fatal[len(t.fatal)-1] == d && s.left() > 1):
		case d.p.suspect():
		case len(d.p.tasks) < inHand && (free == nil || len(d.p.tasks) < len(free.p.tasks)):
			free = d
		}
	}
	if free != nil && len(free.p.tasks) > 0 && s.waiting.Len() <= starting {
		return nil
	}
	return free
}

// suspect reports whether the process has a task that may have ended another one.
func (p *process) suspect() bool {
	for _, t := range p.tasks {
		if len(t.fatal) > 0 {
			return true
		}
	}
	return false
}

// start starts the process of a device. The caller holds the lock.
func (s *Set) start(d *slot) {
	cmd := s.o.Command()
	cmd.Env = append(cmd.Environ(), d.Env...)
	log := &tail{to: s.o.Log, prefix: "device " + d.Name}
	s.running.Add(1)
	p, err := start(cmd, log, s.o.Patience, func(p *process, m message, err error) {
		if err != nil {
			s.died(d, p, err)
			s.running.Done()
			return
		}
		if call := s.received(d, p, m); call != nil {
			call()
		}
	})
	if err != nil { // as in died, but not now: the caller may be died
		p = &process{out: make(chan message, 1), tasks: map[int64]*task{}}
		go func() {
			s.died(d, p, err)
			s.running.Done()
		}()
	}
	d.p = p
	p.send(message{Type: helloType, Setup: &s.o.Setup})
}

// received handles a message of a child. It returns what is called without the lock, or nil.
func (s *Set) received(d *slot, p *process, m message) (call func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Memory != nil {
		d.memory, d.models = *m.Memory, m.Models
	}
	t := p.tasks[m.Batch]
	switch {
	case m.Type == readyType:
		p.ready, d.description = true, m.Description
		s.dispatch()
	case t == nil: // of a beat
	case m.Type == beganType:
		t.began, t.begun = true, time.Now()
		call = t.Began
	case m.Type == stepType && t.Step != nil:
		call = func() { t.Step(m.Done, m.Total) }
	case m.Type == doneType:
		delete(p.tasks, m.Batch)
		s.flying--
		if n := len(m.Rows); n > 0 {
			d.deaths = 0
			d.measure(t, n)
		}
		t.finish(Result{Rows: m.Rows, Frame: m.frame, Bad: m.Bad, Files: m.Files, Notes: m.Notes, Err: m.Error}, nil)
		s.dispatch()
	}
	return call
}

// measure counts n items of a task that is done.
func (d *slot) measure(t *task, n int) {
	now := time.Now()
	from := t.begun
	if d.finished.After(from) {
		from = d.finished
	}
	rate := float64(n) / max(now.Sub(from), time.Microsecond).Seconds()
	if d.computed > 0 {
		rate = 0.7*d.rate + 0.3*rate
	}
	d.computed, d.rate, d.finished = d.computed+int64(n), rate, now
}

// died handles the end of a process: its tasks go to the next device.
func (s *Set) died(d *slot, p *process, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.p = nil
	d.memory, d.models = client.MemoryStatus{}, nil
	s.flying -= len(p.tasks)
	if s.closed || p.leaving {
		for _, t := range p.tasks {
			t.finish(Result{}, ErrClosed)
		}
		return
	}
	d.deaths, d.reason = d.deaths+1, why.Error()
	fmt.Fprintf(s.o.Log, "device %s: the process ended: %v\n", d.Name, why)
	numbers := slices.Sorted(maps.Keys(p.tasks))
	slices.Reverse(numbers) // the first of them comes first again
	for _, n := range numbers {
		t := p.tasks[n]
		if t.began {
			t.fatal = append(t.fatal, d)
		}
		switch {
		case t.ctx.Err() != nil:
			t.finish(Result{}, t.ctx.Err())
		case len(t.fatal) >= maxDeaths:
			t.finish(Result{}, fmt.Errorf("%w %d times: %w", ErrRows, len(t.fatal), why))
			for _, not := range t.fatal { // the rows did it
				not.deaths = max(0, not.deaths-1)
			}
		default:
			s.waiting.PushFront(t.Job, t)
		}
	}
	// A process may end before it has said which task it began: while rows are suspected, a device is kept longer.
	suspected := slices.ContainsFunc(numbers, func(n int64) bool {
		fatal := len(p.tasks[n].fatal)
		return fatal > 0 && fatal < maxDeaths
	})
	if d.deaths >= maxDeaths && (!suspected || d.deaths >= 2*maxDeaths) && !d.out {
		d.out = true
		s.tell(fmt.Sprintf("device %s failed %d times without a result and is not used any more: %v", d.Name, d.deaths,
			why))
	}
	if s.left() == 0 {
		s.gone()
	}
	s.dispatch()
}

// gone ends all tasks because no device is left. The next job tries all devices again.
func (s *Set) gone() {
	var reasons []string
	for _, d := range s.slots {
		reasons = append(reasons, d.Name+": "+d.reason)
		d.out, d.deaths = false, 0
	}
	err := fmt.Errorf("no device is left: %s; see `antipode backend log`", strings.Join(reasons, "; "))
	for {
		t, ok := s.waiting.Pop()
		if !ok {
			return
		}
		t.finish(Result{}, err)
	}
}

// tell adds a line to the notes of all tasks.
func (s *Set) tell(line string) {
	fmt.Fprintln(s.o.Log, line)
	for _, d := range s.slots {
		if d.p != nil {
			for _, t := range d.p.tasks {
				t.notes = append(t.notes, line)
			}
		}
	}
	for _, t := range s.waiting.All() {
		t.notes = append(t.notes, line)
	}
}

// Status returns the state of each device.
func (s *Set) Status() []client.DeviceStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []client.DeviceStatus
	for _, d := range s.slots {
		st := client.DeviceStatus{Name: d.Name, Description: d.description, Computed: d.computed, Rate: d.rate,
			Memory: d.memory, Models: d.models, State: "not started", Reason: d.reason}
		if st.Memory.Budget == 0 { // not reported
			st.Memory.Budget = s.o.Setup.Budget
		}
		switch {
		case d.out:
			st.State = "out"
		case d.p == nil:
		case !d.p.ready:
			st.State = "starting"
		case len(d.p.tasks) > 0:
			st.State = "busy"
		default:
			st.State = "idle"
		}
		if d.p != nil && d.p.cmd != nil {
			st.PID = d.p.cmd.Process.Pid
		}
		out = append(out, st)
	}
	return out
}

// leaveTime is the time for which [Set.Close] waits for children before it kills them.
const leaveTime = 2 * time.Second

// Close ends the children and waits until they have ended. Tasks that are not done end with [ErrClosed].
func (s *Set) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	for {
		t, ok := s.waiting.Pop()
		if !ok {
			break
		}
		t.finish(Result{}, ErrClosed)
	}
	var timers []*time.Timer
	for _, d := range s.slots {
		if first && d.p != nil && d.p.cmd != nil {
			p := d.p
			p.leaving = true
			close(p.out)
			timers = append(timers, time.AfterFunc(leaveTime, func() { p.stop(nil) }))
		}
	}
	s.mu.Unlock()
	s.running.Wait()
	for _, t := range timers {
		t.Stop()
	}
}
