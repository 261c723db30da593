package execmodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"antipode/internal/fault"
)

// maxRestarts is the number of restarts in a row without an answer after which a run stops.
const maxRestarts = 3

// task is an item of a run.
type task struct {
	item   Item
	index  int // in the answers
	size   int // of the item's line in bytes, at most
	alone  bool
	deaths int // of a process while it worked on this item alone
}

// round is a run.
type round struct {
	g        *Group
	report   func(share float64)
	mu       sync.Mutex
	pending  []*task
	answers  []Answer
	finished int
	partial  []float64 // per slot: the share of its batch that is done, in items
	batch    int
	unknown  string // see batchMessage
}

// Run answers items, in their order. report receives the share of the work that is done, from 0 to 1; nil = nobody. An
// answer's outcome is "" where ctx ended or the program stopped working before, and there is an error then.
func (g *Group) Run(ctx context.Context, items []Item, report func(share float64)) ([]Answer, error) {
	if err := g.take(ctx); err != nil {
		return make([]Answer, len(items)), err
	}
	defer g.leave()
	if report == nil {
		report = func(float64) {}
	}
	r := &round{g: g, report: report, answers: make([]Answer, len(items)), partial: make([]float64, len(g.slots))}
	for i, item := range items {
		text, err := json.Marshal(item)
		if err != nil {
			return r.answers, err
		}
		t := &task{item: item, index: i, size: len(text) + maxText} // with the path of its file
		if t.size > maxLine/2 {
			r.answers[i] = Answer{ID: item.ID, Outcome: Failed, Reason: "the row's texts are longer than the " +
				"protocol allows (512 KiB)"}
			r.finished++
			continue
		}
		r.pending = append(r.pending, t)
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(g.slots))
	var wait sync.WaitGroup
	for slot := range g.slots {
		wait.Go(func() {
			if errs[slot] = fault.Catch(func() error { return r.work(within, slot) }); errs[slot] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return r.answers, ctx.Err()
	}
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return r.answers, g.stop(err)
		}
	}
	return r.answers, nil
}

// next returns the next batch of at most n items: one item that is to be sent alone, or several others.
func (r *round) next(n int) (batch []*task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := 0
	for len(r.pending) > 0 && len(batch) < n {
		t := r.pending[0]
		if size += t.size; len(batch) > 0 && (t.alone || size > maxLine/2) {
			break
		}
		batch, r.pending = append(batch, t), r.pending[1:]
		if t.alone {
			break
		}
	}
	return batch
}

// work sends batches to the process of a slot until none is left.
func (r *round) work(ctx context.Context, slot int) error {
	for {
		p, err := r.g.process(ctx, slot)
		var batch []*task
		if err == nil {
			most := p.ready.MaxBatch
			if p.ready.Paid { // one each
				most = 1
			}
			if batch = r.next(most); batch == nil {
				return nil
			}
			err = r.exchange(ctx, p, slot, batch)
			r.mu.Lock()
			r.partial[slot] = 0
			r.mu.Unlock()
		}
		if err == nil {
			continue
		}
		if p != nil && !(ctx.Err() != nil && r.answered(batch)) {
			p.kill(r.g.term)
			r.g.slots[slot] = nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		wait, stop := r.g.failed(err)
		if r.back(batch, err); stop != nil {
			return stop
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// answered reports whether all items of a batch are.
func (r *round) answered(batch []*task) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(batch, func(t *task) bool { return r.answers[t.index].Outcome == "" })
}

// back puts the unanswered items of a failed batch at the end of the queue, to be sent alone. An item that was alone
// twice is failed.
func (r *round) back(batch []*task, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := slices.DeleteFunc(slices.Clone(batch), func(t *task) bool { return r.answers[t.index].Outcome != "" })
	for _, t := range open {
		t.alone = true
		if len(open) == 1 {
			t.deaths++
		}
		if t.deaths < 2 {
			r.pending = append(r.pending, t)
			continue
		}
		reason := fmt.Sprintf("the program was ended while working on this row (%d times): %v", t.deaths, why)
		if e, ok := why.(exitError); ok {
			reason = fmt.Sprintf("the program exited while working on this row (%d times): %s", t.deaths, string(e))
		}
		r.answers[t.index] = Answer{ID: t.item.ID, Outcome: Failed, Reason: clean(reason)}
		r.finished++
	}
}

// exchange sends a batch and receives its answers.
func (r *round) exchange(ctx context.Context, p *process, slot int, batch []*task) error {
	r.mu.Lock()
	r.batch++
	number := r.batch
	r.mu.Unlock()
	limit, idle := r.g.limit(p), r.g.idleLimit()
	m := batchMessage{Type: "batch", Batch: number, Deadline: limit.Seconds(), Unknown: r.unknown}
	open := map[string]*task{}
	for i, t := range batch {
		t.item.Out = filepath.Join(p.scratch, fmt.Sprintf("%d-%d", number, i)+extensions[r.g.o.Task])
		sent := t.item
		for k := 2; open[sent.ID] != nil; k++ { // an id that rows share
			sent.ID = fmt.Sprintf("%s (%d)", t.item.ID, k)
		}
		m.Items, open[sent.ID] = append(m.Items, sent), t
	}
	defer empty(p.scratch)
	start := time.Now()
	p.active.Store(start.UnixNano())
	p.batches++
	sent := make(chan error, 1)
	go func() { sent <- fault.Catch(func() error { return p.send(m, idle) }) }()
	deadline, quiet := time.NewTimer(limit), time.NewTimer(idle)
	defer deadline.Stop()
	defer quiet.Stop()
	canceled, done := false, ctx.Done()
	for len(open) > 0 {
		select {
		case err := <-sent:
			if errors.As(err, new(blockedError)) {
				return err
			}
			sent = nil // of a process that has exited, the end of its output tells why
		case <-done:
			if !p.ready.Capabilities.Cancel {
				return ctx.Err()
			}
			canceled, done = true, nil
			_ = p.send(cancelMessage{Type: "cancel", IDs: []string{}}, cancelGrace)
			deadline.Reset(cancelGrace)
		case <-deadline.C:
			if canceled {
				return ctx.Err()
			}
			return fmt.Errorf("gave no answer within %s", limit)
		case <-quiet.C:
			if left := idle - time.Since(time.Unix(0, p.active.Load())); left > 0 {
				quiet.Reset(left)
				continue
			}
			return fmt.Errorf("wrote nothing for %s", idle)
		case got, ok := <-p.messages:
			if !ok {
				return p.ended()
			}
			if err := r.receive(p, slot, number, got, open); err != nil {
				return err
			}
		}
	}
	if r.g.took(time.Since(start)); canceled {
		return ctx.Err()
	}
	return nil
}

// receive handles a message while a batch is open.
func (r *round) receive(p *process, slot, number int, got received, open map[string]*task) error {
	switch {
	case got.err != nil:
		return got.err
	case got.Type == "log":
		p.log.add(got.Level + ": " + got.Text)
		return nil
	case got.Type == "fatal":
		return fmt.Errorf("%w: %s", errFatal, got.Reason)
	case got.Type == "ready":
		return errors.New("sent a second ready")
	case got.message.Batch != number:
		return fmt.Errorf("sent %s of batch %d, while working on batch %d", got.Type, got.message.Batch, number)
	case got.Type == "progress":
		if got.Of > 0 && got.Step >= 0 && got.Step <= got.Of {
			r.progress(slot, float64(got.Step)/float64(got.Of)*float64(len(open)))
		}
		return nil
	}
	t, a := open[got.ID], got.Answer
	if t == nil {
		return fmt.Errorf("sent an answer to %q, which is answered already or was not requested", clip(got.ID, 100))
	}
	if err := a.check(r.g.o.Task); err != nil {
		return err
	}
	if a.Outcome == OK {
		if reason := a.open(p.root, r.g.o.Task, &t.item); reason != nil {
			a = Answer{ID: a.ID, Outcome: Failed, Reason: clean(reason.Error()), Cost: a.Cost, Meta: a.Meta}
		}
	}
	delete(open, got.ID)
	a.ID = t.item.ID
	r.mu.Lock()
	r.answers[t.index] = a
	r.finished++
	r.mu.Unlock()
	r.g.answered()
	r.progress(slot, 0)
	return nil
}

// progress reports the share of the work that is done.
func (r *round) progress(slot int, partial float64) {
	r.mu.Lock()
	r.partial[slot] = partial
	done := float64(r.finished)
	for _, p := range r.partial {
		done += p
	}
	share := min(done/float64(len(r.answers)), 1)
	r.mu.Unlock()
	r.report(share)
}
