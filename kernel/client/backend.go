package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Protocol is the version of what cell and backend say to each other.
const Protocol = 1

// Hello is the backend's answer to a handshake.
type Hello struct {
	Protocol int    `json:"protocol"`
	Build    string `json:"build"`
	PID      int    `json:"pid"`
}

// Status is what the backend says of itself.
type Status struct {
	Hello
	Home     string        `json:"home"`
	Device   string        `json:"device"` // "xla:cpu", "xla:cuda", "go"; "" = not opened yet
	Uptime   float64       `json:"uptime"` // seconds
	Idle     float64       `json:"idle"`   // seconds since the last job ended; 0 while one runs
	Memory   MemoryStatus  `json:"memory"`
	Models   []ModelStatus `json:"models"`
	Jobs     []JobStatus   `json:"jobs"`
	Computed int64         `json:"items_computed"` // since the backend started
	Found    int64         `json:"items_found"`
}

// MemoryStatus is the backend's use of memory, in bytes.
type MemoryStatus struct {
	Resident int64 `json:"resident"` // of the process; 0 = not known
	Models   int64 `json:"models"`   // what loaded models count for
	Budget   int64 `json:"budget"`   // what they may count for
}

// ModelStatus is one loaded model.
type ModelStatus struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Users int    `json:"users"`
}

// JobStatus is one running job.
type JobStatus struct {
	ID       string   `json:"id"`
	Waiters  int      `json:"waiters"`
	Progress Progress `json:"progress"`
}

// Code says what kind of error the backend reports.
type Code string

// The codes that cross the wire.
const (
	CodeFailed   Code = "failed"   // the work failed: bad rows, bad files, wrong columns
	CodeBusy     Code = "busy"     // the backend is about to end
	CodeInternal Code = "internal" // a fault of Antipode's own
)

// Error is an error of a run, as the backend reports it.
type Error struct {
	Code    Code    `json:"code"`
	Message string  `json:"message"`
	Bad     *BadRow `json:"bad,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Message is one line of the answer to a run. A Result's line is followed by FrameBytes bytes of its encoded frame.
type Message struct {
	Progress   *Progress `json:"progress,omitempty"`
	Result     *Result   `json:"result,omitempty"`
	FrameBytes int64     `json:"frame_bytes,omitempty"`
	Error      *Error    `json:"error,omitempty"`
}

// ErrNoBackend says that no backend runs for the store.
var ErrNoBackend = errors.New("no backend is running")

// errDied says that the backend ended in the middle of an answer.
var errDied = errors.New("the backend ended unexpectedly")

// Backend is the client of a store's resident backend. It is an Executor.
type Backend struct {
	Home   string
	Socket string
	Say    func(string) // a line for the user: the backend was started again, for example; nil = nobody listens
	http   *http.Client
}

// Connect makes the client of the default store's backend. It does not start one: the first run does.
func Connect() (*Backend, error) {
	home, err := Home()
	if err != nil {
		return nil, err
	}
	return ConnectTo(home)
}

// ConnectTo makes the client of a store's backend.
func ConnectTo(home string) (*Backend, error) {
	socket, err := SocketPath(home)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "unix", socket)
	}
	return &Backend{Home: home, Socket: socket, http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}, nil
}

func (b *Backend) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://antipode"+path, body)
	if err != nil {
		return err
	}
	resp, err := b.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w at %s", ErrNoBackend, b.Socket)
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// Hello asks a running backend who it is; ErrNoBackend where none runs.
func (b *Backend) Hello(ctx context.Context) (Hello, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var h Hello
	return h, b.call(ctx, "GET", "/v1/hello", nil, &h)
}

// Status asks a running backend how it is; ErrNoBackend where none runs.
func (b *Backend) Status(ctx context.Context) (*Status, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s := &Status{}
	return s, b.call(ctx, "GET", "/v1/status", nil, s)
}

// Stop asks a running backend to end. With drain it first finishes its jobs; without, it drops them. It waits until the backend is gone.
func (b *Backend) Stop(ctx context.Context, drain bool) error {
	path := "/v1/stop"
	if drain {
		path += "?drain=1"
	}
	if err := b.call(ctx, "POST", path, nil, nil); err != nil {
		return err
	}
	for {
		if _, err := b.Hello(ctx); errors.Is(err, ErrNoBackend) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// LogPath is the file the store's backend writes its log to.
func LogPath(home string) string { return filepath.Join(home, "backend.log") }

// Ensure makes sure that a backend of the right build runs, starting or replacing one under a lock.
func (b *Backend) Ensure(ctx context.Context) error {
	binary, err := Binary(b.Home)
	if err != nil {
		return err
	}
	fits := func() bool {
		h, err := b.Hello(ctx)
		return err == nil && h.Protocol == Protocol && h.Build == BuildOf(binary)
	}
	if fits() {
		return nil
	}
	unlock, err := Lock(b.Socket + ".lock")
	if err != nil {
		return fmt.Errorf("cannot lock the backend's socket: %w", err)
	}
	defer unlock()
	if fits() {
		return nil
	}
	if _, err := b.Hello(ctx); err == nil { // another build: let it finish, then replace it
		if err := b.Stop(ctx, true); err != nil {
			return fmt.Errorf("the backend of another build does not end: %w; try `antipode backend stop`", err)
		}
	}
	return b.start(ctx, binary)
}

func (b *Backend) start(ctx context.Context, binary string) error {
	if err := os.MkdirAll(b.Home, 0o755); err != nil {
		return fmt.Errorf("cannot make the store's folder: %w; set %s to a folder you may write to", err, HomeVar)
	}
	log, err := os.OpenFile(LogPath(b.Home), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(binary, "backend", "serve")
	cmd.Env = append(os.Environ(), HomeVar+"="+b.Home, BinaryVar+"="+binary)
	cmd.Env = append(cmd.Env, "GONB_PIPE=", "GONB_PIPE_BACK=") // it is no cell
	cmd.Dir = b.Home
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start the backend: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		if _, err := b.Hello(ctx); err == nil {
			return nil
		}
		select {
		case err := <-ended:
			if _, helloErr := b.Hello(ctx); helloErr == nil {
				return nil // another one won the race
			}
			return fmt.Errorf("the backend ended at once (%v): %s; the whole log: `antipode backend log`", err, lastLine(LogPath(b.Home)))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

func lastLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "no log"
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return lines[len(lines)-1]
}

// maxDeaths is how often in a row the backend may die without having finished a single item before a run gives up.
const maxDeaths = 3

// Run sends a request to the backend, starting it where needed, and starting it again where it dies: finished items are in
// the store, so the run goes on where it was.
func (b *Backend) Run(ctx context.Context, req Request, progress func(Progress)) (*Result, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	carried, deaths := 0, 0 // items computed by backends that died
	for {
		if err := b.Ensure(ctx); err != nil {
			return nil, err
		}
		computed := 0
		result, err := b.once(ctx, req, func(p Progress) {
			computed = max(computed, p.Computed)
			progress(p)
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var remote *Error
		switch {
		case err == nil:
			result.Computed += carried
			result.Found = max(0, result.Found-carried) // they were found because this run had computed them
			return result, nil
		case errors.As(err, &remote) && remote.Code == CodeBusy:
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(200 * time.Millisecond):
			}
			continue
		case !errors.Is(err, errDied):
			return nil, err
		}
		carried += computed
		if deaths++; computed > 0 {
			deaths = 0
		}
		if deaths >= maxDeaths {
			return nil, fmt.Errorf("the backend died %d times without finishing an item: %s; see `antipode backend log`", deaths, lastLine(LogPath(b.Home)))
		}
		if b.Say != nil {
			b.Say("the backend ended unexpectedly; it was started again, what was finished is kept")
		}
	}
}

// apiKey is the variable that holds the key of an image API. A plan that asks one, and no other, takes it along.
const apiKey = "OPENAI_API_KEY"

func (b *Backend) once(ctx context.Context, r Request, progress func(Progress)) (*Result, error) {
	plan, err := json.Marshal(r.Plan)
	if err != nil {
		return nil, err
	}
	if key := os.Getenv(apiKey); key != "" && r.Secrets == nil && bytes.Contains(plan, []byte(`"model":"api:`)) {
		r.Secrets = map[string]string{apiKey: key} // the resident backend may have been started without it
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", "http://antipode/v1/run", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := b.http.Do(req)
	if err != nil {
		return nil, errDied
	}
	defer resp.Body.Close()
	in := bufio.NewReaderSize(resp.Body, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil, errDied
		}
		var m Message
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("the backend's answer cannot be read: %w", err)
		}
		switch {
		case m.Progress != nil:
			progress(*m.Progress)
		case m.Error != nil:
			return nil, m.Error
		case m.Result != nil:
			if m.FrameBytes > 0 {
				if m.Result.Frame, err = Decode(io.LimitReader(in, m.FrameBytes)); err != nil {
					return nil, fmt.Errorf("the backend's answer cannot be read: %w", err)
				}
			}
			return m.Result, nil
		}
	}
}

// Default is the executor plans go to: the registered one, or the resident backend.
func Default(say func(string)) (Executor, error) {
	if e := Registered(); e != nil {
		return e, nil
	}
	b, err := Connect()
	if err != nil {
		return nil, err
	}
	b.Say = say
	return b, nil
}
