package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"antipode/datasets/table"
	"antipode/internal/filelock"
)

// Protocol is the version of the protocol between clients and the backend.
const Protocol = 2

// Hello is the backend's reply to a handshake.
type Hello struct {
	Protocol int    `json:"protocol"`
	Build    string `json:"build"`
	PID      int    `json:"pid"`
}

// Status is the state of the backend.
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

	Devices []DeviceStatus `json:"devices,omitempty"` // if there are several; the items of one are the backend's
}

// DeviceStatus is one of several devices, each of which has a process of its own.
type DeviceStatus struct {
	Name        string        `json:"name"`        // as in CUDA_VISIBLE_DEVICES, or for example "cpu 0"
	Description string        `json:"description"` // "" = not opened yet
	State       string        `json:"state"`       // "not started", "starting", "idle", "busy", "out"
	Reason      string        `json:"reason"`      // of the last failure; "" = none
	PID         int           `json:"pid"`         // 0 = no process
	Computed    int64         `json:"items_computed"`
	Rate        float64       `json:"items_per_second"` // lately; 0 = not known
	Memory      MemoryStatus  `json:"memory"`           // of the process
	Models      []ModelStatus `json:"models"`
}

// MemoryStatus is the backend's use of memory, in bytes.
type MemoryStatus struct {
	Resident int64 `json:"resident"` // of the process; 0 = not known
	Models   int64 `json:"models"`   // of loaded models
	Budget   int64 `json:"budget"`   // the limit of Models
}

// ModelStatus is one loaded model.
type ModelStatus struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Users int    `json:"users"`
}

// JobStatus is one running job.
type JobStatus struct {
	ID       string         `json:"id"`
	Waiters  int            `json:"waiters"`
	Progress table.Progress `json:"progress"`
}

// Message is one line of the reply to a run; an empty one says that the backend is alive. FrameBytes bytes of the
// encoded frame follow the line of a Result.
type Message struct {
	Progress   *table.Progress `json:"progress,omitempty"`
	Result     *Result         `json:"result,omitempty"`
	FrameBytes int64           `json:"frame_bytes,omitempty"`
	Error      *table.Error    `json:"error,omitempty"`
}

// ErrNoBackend is the error if no backend runs for the store.
var ErrNoBackend = errors.New("no backend is running")

// Frozen is the error if a backend runs for the store but does not answer.
type Frozen struct {
	PID int           // of the backend's process; 0 = not known
	For time.Duration // how long it has not answered
}

func (f *Frozen) Error() string {
	return fmt.Sprintf("the backend (process %d) has not answered for %.0f s; wait, or end it with `antipode backend "+
		"stop`: finished items are kept", f.PID, f.For.Seconds())
}

// Beat is the longest time that a running backend lets pass without a line of the reply to a run, and the process of a
// device without a message.
const Beat = time.Second

// errDied is the error if the backend ends before its reply does, or a signal ends it at startup.
var errDied = errors.New("the backend ended unexpectedly")

// Backend is a client of a store's resident backend. It is an [Executor].
type Backend struct {
	Home   string
	Socket string
	Say    func(string) // receives lines for the user, such as a restart of the backend; may be nil

	// Patience is the time without an answer after which a backend counts as frozen; 0 = 10 s.
	Patience time.Duration

	logged atomic.Int64 // the size of the log before this client started the backend
}

// Connect returns a client of the default store's backend. The first run starts the backend.
func Connect() (*Backend, error) {
	home, err := Home()
	if err != nil {
		return nil, err
	}
	return ConnectTo(home)
}

// ConnectTo returns a client of a store's backend.
func ConnectTo(home string) (*Backend, error) {
	socket, err := SocketPath(home)
	if err != nil {
		return nil, err
	}
	return &Backend{Home: home, Socket: socket}, nil
}

func (b *Backend) say(line string) {
	if b.Say != nil {
		b.Say(line)
	}
}

func (b *Backend) patience() time.Duration { return cmp.Or(b.Patience, 10*time.Second) }

// frozen returns the error of a backend that has not answered in time.
func (b *Backend) frozen() *Frozen { return &Frozen{PID: serving(b.Socket), For: b.patience()} }

// callInTime is call with a limit for the time of the answer; after it the error is a *[Frozen].
func (b *Backend) callInTime(ctx context.Context, method, path string, out any) error {
	limited, cancel := context.WithTimeout(ctx, b.patience())
	defer cancel()
	err := b.call(limited, method, path, nil, out)
	if limited.Err() != nil && ctx.Err() == nil {
		return b.frozen()
	}
	return err
}

func (b *Backend) call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	status, reply, err := b.send(ctx, method, path, body)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w at %s", ErrNoBackend, b.Socket)
	}
	defer reply.Close()
	if status != "200 OK" {
		return fmt.Errorf("the backend answers %s to %s: it is of another build; run `antipode backend stop`",
			status, path)
	}
	if out == nil {
		return nil
	}
	err = json.NewDecoder(reply).Decode(out)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w at %s: %w", ErrNoBackend, b.Socket, errDied)
	}
	return err
}

// Hello returns the identity of the running backend; the error is [ErrNoBackend] without one, a *[Frozen] if it does
// not answer.
func (b *Backend) Hello(ctx context.Context) (Hello, error) {
	var h Hello
	return h, b.callInTime(ctx, "GET", "/v1/hello", &h)
}

// Status returns the state of the running backend; errors are those of [Backend.Hello].
func (b *Backend) Status(ctx context.Context) (*Status, error) {
	s := &Status{}
	return s, b.callInTime(ctx, "GET", "/v1/status", s)
}

// awake is Hello for a backend that may be frozen: it says so once and waits until the backend answers or ends.
func (b *Backend) awake(ctx context.Context) (Hello, error) {
	for said := false; ; said = true {
		h, err := b.Hello(ctx)
		var frozen *Frozen
		if !errors.As(err, &frozen) {
			return h, err
		}
		if !said {
			b.say(err.Error())
		}
	}
}

// Post sends a request to the running backend, or returns [ErrNoBackend].
func (b *Backend) Post(ctx context.Context, path string, in, out any) error {
	return b.call(ctx, "POST", path, in, out)
}

// Ask sends a request to the backend of the default store, which it starts where none runs.
func Ask(ctx context.Context, path string, in, out any) error {
	b, err := Connect()
	if err != nil {
		return err
	}
	for again := true; ; again = false { // it may end between the two, of idleness or for another build
		if err = b.Ensure(ctx); err == nil {
			err = b.Post(ctx, path, in, out)
		}
		if !again || !errors.Is(err, ErrNoBackend) {
			return err
		}
	}
}

// Stop stops the running backend and waits until it has ended. With drain the backend finishes its jobs first; without,
// it cancels them, and a backend that does not answer is killed.
func (b *Backend) Stop(ctx context.Context, drain bool) error {
	h, err := b.Hello(ctx)
	if err == nil {
		err = b.stop(ctx, drain, h.PID)
	}
	var frozen *Frozen
	if drain || !errors.As(err, &frozen) {
		return err
	}
	p, findErr := os.FindProcess(frozen.PID)
	if frozen.PID == 0 || findErr != nil {
		return fmt.Errorf("the backend does not answer, and its process is not known: end it by other means")
	}
	if err := p.Kill(); err != nil {
		return fmt.Errorf("the backend (process %d) does not answer and cannot be killed: %w", frozen.PID, err)
	}
	b.say(fmt.Sprintf("the backend (process %d) did not answer and was killed; finished items are kept", frozen.PID))
	return b.ended(ctx, frozen.PID)
}

func (b *Backend) stop(ctx context.Context, drain bool, pid int) error {
	path := "/v1/stop"
	if drain {
		path += "?drain=1"
	}
	if err := b.callInTime(ctx, "POST", path, nil); err != nil {
		return err
	}
	return b.ended(ctx, pid)
}

// ended waits until the backend of a process has ended: a client has started another one, or none answers, and the
// lock on the store is released after the last write.
func (b *Backend) ended(ctx context.Context, pid int) error {
	for {
		h, err := b.Hello(ctx)
		var frozen *Frozen
		switch {
		case err == nil && h.PID != pid:
			return nil
		case errors.Is(err, ErrNoBackend):
			free, err := filelock.Open(HolderPath(b.Home))
			if free != nil {
				free.Close()
			}
			if free != nil || err != nil {
				return nil
			}
		case errors.As(err, &frozen):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// LogPath returns the log file of the store's backend.
func LogPath(home string) string { return filepath.Join(home, "backend.log") }

// Ensure starts a backend of the current build, or replaces one of another build, under a lock.
func (b *Backend) Ensure(ctx context.Context) error {
	binary, err := Binary(b.Home)
	if err != nil {
		return err
	}
	if b.serves(ctx, binary) {
		return nil
	}
	unlock, err := filelock.Wait(ctx, b.Socket+".lock")
	if err != nil {
		return fmt.Errorf("cannot lock the backend's socket: %w", err)
	}
	defer unlock()
	if b.serves(ctx, binary) {
		return nil
	}
	if _, err := b.awake(ctx); err == nil { // another build: replace it when its jobs are done
		if err := b.Stop(ctx, true); err != nil && !errors.Is(err, ErrNoBackend) {
			return fmt.Errorf("cannot stop the backend of another build: %w; run `antipode backend stop`", err)
		}
	}
	return b.start(ctx, binary)
}

// serves reports whether a backend of the build of a program answers.
func (b *Backend) serves(ctx context.Context, binary string) bool {
	h, err := b.awake(ctx)
	return err == nil && h.Protocol == Protocol && h.Build == BuildOf(binary)
}

func (b *Backend) start(ctx context.Context, binary string) error {
	if err := os.MkdirAll(b.Home, 0o700); err != nil {
		return fmt.Errorf("cannot create the store's folder: %w; set %s to a writable folder", err, HomeVar)
	}
	if err := verify(binary); err != nil {
		return err
	}
	limitLog(LogPath(b.Home))
	log, err := os.OpenFile(LogPath(b.Home), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) { // its cached results can be served
		log, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	if err != nil {
		return err
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil {
		b.logged.Store(info.Size())
	}
	cmd := exec.Command(binary, "backend", "serve")
	cmd.Env = append(HugePages(os.Environ()), HomeVar+"="+b.Home, BinaryVar+"="+binary)
	// the backend is not a cell, and what one client allows is not allowed to others
	cmd.Env = append(cmd.Env, "GONB_PIPE=", "GONB_PIPE_BACK=", ExecVar+"=")
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
				return nil // another process has started one
			}
			reason := errors.New("the backend ended")
			if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() < 0 { // by a signal
				reason = errDied
			}
			return fmt.Errorf("%w at startup (%v): %s; see `antipode backend log`", reason, err,
				lastReason(LogPath(b.Home), b.logged.Load()))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}
