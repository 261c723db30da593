package backend

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log"
	"slices"
	"sync"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/kernel/backend/engine"
)

// job is one running request. Clients with equal requests share a job; it is canceled when the last one disconnects.
type job struct {
	id       string
	key      string
	cancel   context.CancelFunc
	finished chan struct{}
	result   *client.Result
	err      error

	mu        sync.Mutex
	waiters   int
	last      table.Progress
	notes     []table.Progress // so far, for clients that begin to listen now
	listeners []*reports
}

// jobKey returns what requests have in common that share a job: all but thumbnails.
func jobKey(req client.Request) string {
	plan := req.Plan.Digest()
	req.Plan, req.Samples = nil, false
	options, err := json.Marshal(req)
	if err != nil {
		panic(err) // texts and numbers have JSON
	}
	return fmt.Sprintf("%s %x", plan, sha256.Sum256(options))
}

func (s *Server) join(req client.Request) (*job, bool) {
	key := jobKey(req)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, false
	}
	if j := s.jobs[key]; j != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.waiters > 0 {
			j.waiters++
			return j, true
		}
	}
	s.next++
	j := &job{id: fmt.Sprint(s.next), key: key, finished: make(chan struct{}), waiters: 1}
	ctx, cancel := context.WithCancel(engine.WithOwner(context.Background(), j.id))
	j.cancel = cancel
	s.jobs[key] = j
	go func() {
		start := time.Now()
		j.result, j.err = s.engine.Run(ctx, req, j.progress)
		cancel()
		log.Printf("job %s %s: %.2f s, error: %v", j.id, req.Plan.Op, time.Since(start).Seconds(), j.err)
		s.mu.Lock()
		if s.jobs[key] == j {
			delete(s.jobs, key)
		}
		s.mu.Unlock()
		close(j.finished)
		s.leave()
	}()
	return j, true
}

// part removes a client from a job.
func (s *Server) part(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiters--; j.waiters == 0 {
		j.cancel()
	}
}

func (j *job) status() client.JobStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.last
	p.Samples = nil
	return client.JobStatus{ID: j.id, Waiters: j.waiters, Progress: p}
}

// progress forwards a report to all clients. A slow client misses reports, but no notes.
func (j *job) progress(p table.Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p.Note == "" {
		j.last = p
	} else {
		j.notes = append(j.notes, p)
	}
	for _, l := range j.listeners {
		if p.Note == "" && len(l.queue) >= waiting {
			old := slices.IndexFunc(l.queue, func(q table.Progress) bool { return q.Note == "" })
			if old < 0 {
				continue
			}
			l.queue = slices.Delete(l.queue, old, old+1)
		}
		l.add(p)
	}
}

// waiting is the number of reports and notes that wait for a client before it misses reports.
const waiting = 64

// reports are what waits for a client; the job's mutex guards the queue.
type reports struct {
	queue []table.Progress
	wake  chan struct{} // there is something
}

func (l *reports) add(p table.Progress) {
	l.queue = append(l.queue, p)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take returns what waits for a client.
func (j *job) take(l *reports) []table.Progress {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := l.queue
	l.queue = nil
	return list
}

// listen returns the reports to come, after the notes and the last report so far: a job begins before its first client
// listens.
func (j *job) listen() *reports {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := &reports{wake: make(chan struct{}, 1)}
	for _, note := range j.notes {
		l.add(note)
	}
	if j.last.Stage != "" {
		l.add(j.last)
	}
	j.listeners = append(j.listeners, l)
	return l
}

func (j *job) unlisten(l *reports) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.listeners = slices.DeleteFunc(j.listeners, func(o *reports) bool { return o == l })
}
