package execmodel

import (
	"antipode/internal/fault"
	"bufio"
	"bytes"
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
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a running process of a program.
type process struct {
	stdin    *os.File
	messages chan received // closed at the end of the output
	log      *stderrLog
	logged   chan struct{} // standard error has ended
	scratch  string
	root     *os.Root // of scratch
	ready    *Ready
	batches  int // sent

	pid    int
	active atomic.Int64  // time of the last output
	closed chan struct{} // nobody receives messages any more
	close  sync.Once
	exited chan struct{}
	status error // of Wait, once exited
}

// received is a line of the program, or why there is none.
type received struct {
	message
	err error
}

// start starts the slot-th process of a group. It does not wait for the ready message.
func (g *Group) start(slot int) (p *process, err error) {
	digest, err := checkProgram(g.o.Program)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFatal, err)
	}
	if digest != g.o.Digest {
		return nil, fmt.Errorf("%w: %s changed during the run. Fix: start the run again", errFatal, g.name())
	}
	p = &process{messages: make(chan received), log: g.logs[slot], logged: make(chan struct{}),
		closed: make(chan struct{}), exited: make(chan struct{})}
	p.log.begin()
	scratch, err := os.MkdirTemp("", "antipode-exec-") // mode 0700
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(scratch)
		}
	}()
	p.scratch = scratch
	if p.root, err = os.OpenRoot(scratch); err != nil {
		return nil, err
	}
	pipes, err := g.launch(p, slot)
	if err != nil {
		return nil, err
	}
	p.active.Store(time.Now().UnixNano())
	var readers sync.WaitGroup
	readers.Go(func() { _ = fault.Catch(func() error { p.read(pipes[2]); return nil }) })
	readers.Go(func() { p.log.copy(pipes[4], &p.active); close(p.logged) })
	go func() { // a grandchild may hold the pipes open
		<-p.exited
		timer := time.AfterFunc(time.Second, func() { pipes[2].Close(); pipes[4].Close() })
		readers.Wait()
		timer.Stop()
		pipes[2].Close()
		pipes[4].Close()
	}()
	return p, nil
}

// launch starts the program. Of the pipes, read and write ends of its stdin, stdout and stderr, it leaves open those
// that are ours.
func (g *Group) launch(p *process, slot int) (pipes [6]*os.File, err error) {
	for i := range 3 {
		if pipes[2*i], pipes[2*i+1], err = os.Pipe(); err != nil {
			return pipes, err
		}
	}
	cmd := exec.Command(g.o.Program, g.o.Args...)
	cmd.Dir = filepath.Dir(g.o.Program)
	cmd.Env = environment(os.Environ(), g.o.Secrets, g.visible(slot))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes[0], pipes[3], pipes[5]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the death signal comes when the thread that started the process ends
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		if started <- err; err != nil {
			return
		}
		p.status = cmd.Wait()
		p.signal(syscall.SIGKILL) // to what the process left behind
		close(p.exited)
	}()
	err = <-started
	for _, f := range []*os.File{pipes[0], pipes[3], pipes[5]} {
		f.Close()
	}
	p.stdin = pipes[1]
	if err != nil {
		for _, f := range []*os.File{pipes[1], pipes[2], pipes[4]} {
			f.Close()
		}
		return pipes, fmt.Errorf("%w: %s does not start: %w%s", errFatal, g.name(), plainStart(err), startFix(err))
	}
	return pipes, nil
}

// plainStart returns the cause of an error of starting a program, without the path.
func plainStart(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// startFix returns what to do about a program that the system cannot start.
func startFix(err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return ". Fix: begin the file with a line that names its interpreter, such as #!/usr/bin/env python3"
	case errors.Is(err, fs.ErrNotExist):
		return ": the interpreter that its first line names is missing. Fix: install it, or change the line"
	}
	return ""
}

// read parses the output line by line.
func (p *process) read(out io.Reader) {
	defer close(p.messages)
	in := bufio.NewReaderSize(out, maxLine+1)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		p.active.Store(time.Now().UnixNano())
		var r received
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			r.err = fmt.Errorf("line %d of stdout is longer than %d MiB", number, maxLine>>20)
		case len(bytes.TrimSpace(line)) > 0 && (err == nil || errors.Is(err, io.EOF)):
			r.message, r.err = parse(line, number)
		case err != nil:
			return
		default:
			continue
		}
		select {
		case p.messages <- r:
		case <-p.closed:
			return
		}
		if err != nil || r.err != nil {
			return
		}
	}
}

// send writes a message. A program that does not read its input within limit is an error.
func (p *process) send(m any, limit time.Duration) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return err
	}
	if err := p.stdin.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	_, err := p.stdin.Write(b.Bytes())
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return blockedError(fmt.Sprintf("did not read its standard input for %s", limit))
	}
	return err
}

// blockedError is the error of a process that does not read its input.
type blockedError string

func (e blockedError) Error() string { return string(e) }

// ended returns the reason for the end of the output.
func (p *process) ended() error {
	select {
	case <-p.exited:
	case <-time.After(2 * time.Second):
		return errors.New("closed its standard output")
	}
	<-p.logged // a second later at most
	text := "status 0"
	if p.status != nil {
		text = p.status.Error()
	}
	if line := p.log.last(); line != "" {
		text += ": " + line
	}
	return exitError(text)
}

// exitError is the error of a process that exited on its own.
type exitError string

func (e exitError) Error() string { return "exited (" + string(e) + ")" }

// handshake sends hello and waits for ready.
func (p *process) handshake(ctx context.Context, hello helloMessage, limit time.Duration) error {
	_ = p.send(hello, limit) // of a process that has exited, ended tells why
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return fmt.Errorf("sent no ready within %s", limit)
		case r, ok := <-p.messages:
			switch {
			case !ok:
				return p.ended()
			case r.err != nil:
				return r.err
			case r.Type == "log":
				p.log.add(r.Level + ": " + r.Text)
			case r.Type == "fatal":
				return fmt.Errorf("%w: %s", errFatal, r.Reason)
			case r.Type != "ready":
				return fmt.Errorf("sent %q before ready", r.Type)
			default:
				p.ready = r.ready
				return r.ready.check(hello.Task)
			}
		}
	}
}

// signal sends a signal to the process group.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.pid, s) }

// exits reports whether the process ends within limit.
func (p *process) exits(limit time.Duration) bool {
	select {
	case <-p.exited:
		return true
	default:
	}
	select {
	case <-p.exited:
		return true
	case <-time.After(limit):
		return false
	}
}

// kill ends the process group: terminate and, after grace, kill.
func (p *process) kill(grace time.Duration) {
	p.close.Do(func() { close(p.closed) })
	p.stdin.Close()
	if !p.exits(0) { // once it has, its group has ended too, and the number may be another's
		p.signal(syscall.SIGTERM)
		if !p.exits(grace) {
			p.signal(syscall.SIGKILL)
			<-p.exited
		}
	}
	p.root.Close()
	os.RemoveAll(p.scratch)
}

// bye ends the process as the protocol says, with status 0 within grace; else it kills it and returns why.
func (p *process) bye(grace time.Duration) error {
	err := p.send(byeMessage{Type: "bye"}, grace)
	p.stdin.Close()
	p.close.Do(func() { close(p.closed) })
	if !p.exits(grace) {
		err = cmp.Or(err, fmt.Errorf("did not exit within %s after bye", grace))
	} else if p.status != nil {
		err = fmt.Errorf("ended with %w after bye", p.status)
	}
	p.kill(termGrace)
	return err
}
