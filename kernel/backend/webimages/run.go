package webimages

import (
	"antipode/internal/fault"
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	perHost     = 2               // requests at a time to one host
	maxAttempts = 3               // requests of one URL, without those after redirects
	maxHops     = 10              // redirects of one URL
	maxWait     = 2 * time.Minute // the longest wait that a server may request
	maxSilent   = 5               // failed connections in a row after which a host gets no further request
)

// task is a URL that is not finished.
type task struct {
	url            string   // as in the table
	at             *url.URL // the next request
	attempts, hops int
	due            time.Time // no request before
}

// answer is the result of one request of a task. At most one of entry, redirect and again is set.
type answer struct {
	task     *task
	entry    *entry        // the URL is finished
	redirect *url.URL      // the next request
	again    string        // the request may succeed later: why it failed
	wait     time.Duration // time that the server requested before further requests
	silent   bool          // the host did not answer
	gone     bool          // the host does not exist
	err      error         // the run cannot continue
}

type host struct {
	name    string
	waiting []*task
	active  int
	next    time.Time // no request before
	silent  int       // failed connections in a row
	closed  string    // why it gets no further request
	index   int       // in the queue; -1 = not in it
}

// at returns the time of the next request.
func (h *host) at() time.Time {
	if first := h.waiting[0]; first.due.After(h.next) {
		return first.due
	}
	return h.next
}

// queue is a heap of the hosts that can get a request, by the time of it.
type queue []*host

func (q queue) Len() int           { return len(q) }
func (q queue) Less(a, b int) bool { return q[a].at().Before(q[b].at()) }
func (q queue) Swap(a, b int) {
	q[a], q[b] = q[b], q[a]
	q[a].index, q[b].index = a, b
}
func (q *queue) Push(x any) {
	h := x.(*host)
	h.index = len(*q)
	*q = append(*q, h)
}
func (q *queue) Pop() any {
	last := len(*q) - 1
	h := (*q)[last]
	h.index = -1
	*q = (*q)[:last]
	return h
}

// run is a call of [Fetch]. One goroutine owns its fields and decides what is requested when; workers send the
// requests.
type run struct {
	Options
	client   *http.Client
	journal  *journal
	hosts    map[string]*host
	queue    queue
	decoding chan struct{} // bounds the images that are decoded at a time

	total, found, done int
}

// enqueue adds a task to its host's queue, or finishes it if the host gets no further request. A redirected task comes
// first, one that failed last.
func (r *run) enqueue(t *task) error {
	name := strings.ToLower(t.at.Host)
	h := r.hosts[name]
	if h == nil {
		h = &host{name: name, index: -1}
		r.hosts[name] = h
	}
	if h.closed != "" {
		return r.finish(entry{URL: t.url, Reason: h.closed})
	}
	if t.hops > 0 && t.due.IsZero() {
		h.waiting = slices.Insert(h.waiting, 0, t)
	} else {
		h.waiting = append(h.waiting, t)
	}
	r.place(h)
	return nil
}

// place puts a host into the queue, at its time, or removes it.
func (r *run) place(h *host) {
	switch can := len(h.waiting) > 0 && h.active < perHost; {
	case can && h.index < 0:
		heap.Push(&r.queue, h)
	case can:
		heap.Fix(&r.queue, h.index)
	case h.index >= 0:
		heap.Remove(&r.queue, h.index) // moves it to the end without a comparison
	}
}

func (r *run) finish(e entry) error {
	r.done++
	r.Progress(r.found+r.done, r.found, r.total)
	return r.journal.add(e)
}

// all finishes the tasks. After an error or the end of ctx it waits for the requests in flight.
func (r *run) all(ctx context.Context) error {
	inner, cancel := context.WithCancel(ctx)
	work, answers := make(chan *task), make(chan answer)
	var workers sync.WaitGroup
	for range r.Workers {
		workers.Go(func() {
			for t := range work {
				var a answer
				if err := fault.Catch(func() error { a = r.request(inner, t); return nil }); err != nil {
					a = t.failed(err.Error())
				}
				answers <- a
			}
		})
	}
	err := r.loop(ctx, work, answers)
	cancel()
	close(work)
	ended := make(chan struct{})
	go func() { workers.Wait(); close(ended) }()
	for {
		select {
		case a := <-answers:
			if a.entry != nil && err != nil { // finished while the run ended
				_ = r.journal.add(*a.entry)
			}
		case <-ended:
			return err
		}
	}
}

func (r *run) loop(ctx context.Context, work chan<- *task, answers <-chan answer) error {
	r.Progress(r.found, r.found, r.total)
	for active := 0; active > 0 || len(r.queue) > 0; {
		var send chan<- *task
		var first *task
		var due <-chan time.Time
		if len(r.queue) > 0 {
			if wait := time.Until(r.queue[0].at()); wait > 0 {
				due = time.After(wait)
			} else {
				send, first = work, r.queue[0].waiting[0]
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-due:
		case send <- first:
			h := r.queue[0]
			h.waiting = h.waiting[1:]
			h.active++
			h.next = time.Now().Add(time.Duration(float64(time.Second) / r.Rate))
			r.place(h)
			active++
		case a := <-answers:
			active--
			if err := cmp.Or(ctx.Err(), a.err); err != nil {
				if a.entry != nil {
					_ = r.journal.add(*a.entry)
				}
				return err
			}
			if err := r.handle(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// backoff returns the time to wait after a number of failed attempts before this one.
func (r *run) backoff(before int) time.Duration { return r.pause << (2 * before) }

// handle records an answer and decides what follows.
func (r *run) handle(a answer) error {
	t := a.task
	h := r.hosts[strings.ToLower(t.at.Host)]
	h.active--
	if a.silent {
		h.silent++
	} else {
		h.silent = 0
	}
	closed := ""
	switch {
	case a.gone:
		closed = a.entry.Reason
	case h.silent >= maxSilent:
		closed = fmt.Sprintf("not requested: %s did not answer %d times in a row", h.name, maxSilent)
	case a.wait > maxWait:
		closed = fmt.Sprintf("not requested: %s asked to wait %v", h.name, a.wait.Round(time.Second))
	}
	if next := time.Now().Add(a.wait); next.After(h.next) {
		h.next = next
		r.place(h)
	}
	var err error
	switch {
	case a.entry != nil:
		err = r.finish(*a.entry)
	case a.redirect != nil:
		t.hops, t.due = t.hops+1, time.Time{}
		if t.at = a.redirect; t.hops > maxHops {
			err = r.finish(entry{URL: t.url, Reason: fmt.Sprintf("more than %d redirects", maxHops)})
		} else {
			err = r.enqueue(t)
		}
	default:
		if t.attempts++; t.attempts >= maxAttempts || closed != "" {
			err = r.finish(entry{URL: t.url, Reason: a.again})
		} else {
			t.due = time.Now().Add(r.backoff(t.attempts - 1))
			err = r.enqueue(t)
		}
	}
	if closed != "" && h.closed == "" {
		h.closed = closed
		waiting := h.waiting
		h.waiting = nil
		for _, t := range waiting {
			if err == nil {
				err = r.finish(entry{URL: t.url, Reason: closed})
			}
		}
	}
	r.place(h)
	return err
}
