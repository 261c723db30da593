package backend

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sort"
	"sync"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
	"antipode/plots/paint"
)

// IdleTime is the time after which an idle backend ends.
const IdleTime = 10 * time.Minute

// Server serves an engine.
type Server struct {
	engine  *engine.Engine
	build   string
	started time.Time
	idle    time.Duration

	mu       sync.Mutex
	jobs     map[string]*job
	next     int
	lastUsed time.Time
	draining bool
	done     chan struct{}
	end      sync.Once
}

// New returns a server. build is the build id of the handshake; idle is the time after which it ends, 0 = [IdleTime].
func New(e *engine.Engine, build string, idle time.Duration) *Server {
	idle = cmp.Or(idle, IdleTime)
	return &Server{engine: e, build: build, started: time.Now(), lastUsed: time.Now(), idle: idle,
		jobs: map[string]*job{}, done: make(chan struct{})}
}

// Serve serves requests until it is stopped, idle for too long, or the context is canceled.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/hello",
		func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(s.hello()) })
	mux.HandleFunc("GET /v1/status",
		func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(s.Status()) })
	mux.HandleFunc("POST /v1/stop", s.stop)
	mux.HandleFunc("POST /v1/run", s.run)
	mux.HandleFunc("POST /v1/gc", s.collect)
	mux.HandleFunc("POST /v1/paint", paint.Serve)
	hs := &http.Server{Handler: mux, ErrorLog: log.New(os.Stderr, "", log.LstdFlags)}
	down := make(chan struct{})
	go func() {
		defer close(down)
		tick := time.NewTicker(min(s.idle/4, 5*time.Second))
		defer tick.Stop()
		for {
			select {
			case <-s.done:
			case <-ctx.Done():
			case <-tick.C:
				s.mu.Lock()
				idle := len(s.jobs) == 0 && (s.draining || time.Since(s.lastUsed) > s.idle)
				s.mu.Unlock()
				if !idle {
					continue
				}
			}
			limit := 2 * time.Second
			if s.cancelAll() == 0 {
				limit = time.Minute // for the results of jobs that have ended
			}
			quit, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			hs.Shutdown(quit)
			return
		}
	}()
	err := hs.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	s.end.Do(func() { close(s.done) })
	<-down // hs.Serve returns when Shutdown begins; replies are still being written
	s.awaitJobs(2 * time.Second)
	err = errors.Join(err, s.engine.Close())
	if own, ok := l.(*listener); ok {
		own.holder.Close() // another backend may serve the store from now on
	}
	return err
}

// collect serves a request to remove files from the store.
func (s *Server) collect(w http.ResponseWriter, r *http.Request) {
	var gc store.GC
	var reply collected
	err := json.NewDecoder(r.Body).Decode(&gc)
	if err == nil {
		reply.Removed, reply.Stays, err = s.engine.Store.Collect(gc)
	}
	if err != nil {
		reply.Error = err.Error()
	}
	json.NewEncoder(w).Encode(reply)
}

func (s *Server) hello() client.Hello {
	return client.Hello{Protocol: client.Protocol, Build: s.build, PID: os.Getpid()}
}

// Status returns the state that `antipode backend status` shows.
func (s *Server) Status() client.Status {
	st := client.Status{Hello: s.hello(), Home: s.engine.Store.Dir(), Device: s.engine.DeviceKind(),
		Uptime: time.Since(s.started).Seconds()}
	st.Models, st.Memory.Models, st.Memory.Budget = s.engine.Models()
	st.Memory.Resident, st.Devices = engine.Resident(), s.engine.Devices()
	st.Computed, st.Found = s.engine.Counts()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		st.Jobs = append(st.Jobs, j.status())
	}
	sort.Slice(st.Jobs, func(i, j int) bool { return st.Jobs[i].ID < st.Jobs[j].ID })
	if len(s.jobs) == 0 {
		st.Idle = time.Since(s.lastUsed).Seconds()
	}
	return st
}

func (s *Server) stop(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.draining = true
	wait := r.URL.Query().Get("drain") != "" && len(s.jobs) > 0
	s.mu.Unlock()
	if !wait {
		s.end.Do(func() { close(s.done) })
	}
}

// leave records the end of a job; it ends a draining server after the last one.
func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastUsed = time.Now()
	if s.draining && len(s.jobs) == 0 {
		s.end.Do(func() { close(s.done) })
	}
}

// cancelAll cancels the jobs and returns their number.
func (s *Server) cancelAll() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	for _, j := range s.jobs {
		j.cancel()
	}
	return len(s.jobs)
}

// awaitJobs waits for the canceled jobs, which may be storing items, at most for limit.
func (s *Server) awaitJobs(limit time.Duration) {
	late := time.After(limit)
	s.mu.Lock()
	jobs := slices.Collect(maps.Values(s.jobs))
	s.mu.Unlock()
	for _, j := range jobs {
		select {
		case <-j.finished:
		case <-late:
			return
		}
	}
}

// run serves one request: it joins the job of an equal request or starts one, and forwards its progress and result.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	var req client.Request
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<30)).Decode(&req)
	if err == nil && req.Plan == nil {
		err = errors.New("it has no plan")
	}
	if err != nil {
		write(w, client.Message{Error: &table.Error{Code: table.CodeFailed, Message: "cannot read the request: " +
			err.Error()}})
		return
	}
	if req.Secrets == nil { // this process has the environment of the client that started it
		req.Secrets = map[string]string{}
	}
	j, ok := s.join(req)
	if !ok {
		write(w, client.Message{Error: &table.Error{Code: table.CodeBusy, Message: "the backend is about to end"}})
		return
	}
	defer s.part(j)
	events := j.listen()
	defer j.unlisten(events)
	strip := newStrip(req.Samples)
	beat := time.NewTicker(client.Beat)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			if write(w, client.Message{}) != nil {
				return
			}
		case <-events.wake:
			list := j.take(events)
			for i, p := range list {
				p.Samples = strip.next(p.Samples, i < len(list)-1)
				if write(w, client.Message{Progress: &p}) != nil {
					return
				}
			}
		case <-j.finished:
			for _, p := range j.take(events) {
				p.Samples = nil // the result follows
				write(w, client.Message{Progress: &p})
			}
			finish(w, j, s.isEnding())
			return
		}
	}
}

// isEnding reports whether the server takes no more jobs.
func (s *Server) isEnding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// finish sends a job's result or error. A job that was canceled because the server ends is for another backend.
func finish(w http.ResponseWriter, j *job, ending bool) {
	if ending && errors.Is(j.err, context.Canceled) {
		write(w, client.Message{Error: &table.Error{Code: table.CodeBusy, Message: "the backend ended"}})
		return
	}
	if j.err != nil {
		var coded *table.Error
		remote := &table.Error{Code: table.CodeFailed, Message: j.err.Error()}
		if errors.As(j.err, &coded) {
			remote.Code, remote.Bad = coded.Code, coded.Bad
		} else {
			var bad table.BadRow
			if errors.As(j.err, &bad) {
				remote.Bad = &bad
			}
		}
		write(w, client.Message{Error: remote})
		return
	}
	var frame bytes.Buffer
	if j.result.Frame != nil {
		if err := j.result.Frame.Encode(&frame); err != nil {
			write(w, client.Message{Error: &table.Error{Code: table.CodeInternal, Message: err.Error()}})
			return
		}
	}
	if write(w, client.Message{Result: j.result, FrameBytes: int64(frame.Len())}) == nil {
		w.Write(frame.Bytes())
	}
}

// write sends one line and flushes it.
func write(w http.ResponseWriter, m client.Message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(data, '\n')); err != nil {
		return err
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	return nil
}
