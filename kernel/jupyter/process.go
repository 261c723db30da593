package jupyter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"antipode/datasets/client"
	"antipode/kernel/jupyter/cellbuild"
)

// Options are the options of a kernel.
type Options struct {
	ModuleDir string       // folder of the go.mod of module antipode: cells import its packages
	Home      string       // $ANTIPODE_HOME: the tools live under it, and cells use its store
	Dir       string       // the cells' working directory; empty = the current one
	Binary    string       // the command that starts the backend; empty = $ANTIPODE_BIN, else this program
	Program   string       // of Install: the installed command, which later builds replace; "" = none
	Log       io.Writer    // receives GoNB's log; nil = only its end is stored, for error messages
	Say       func(string) // receives a line before a slow step; may be nil
}

// Kernel is a running GoNB.
type Kernel struct {
	*Client

	cmd     *exec.Cmd
	dir     string         // private folder, removed at the end
	guard   io.WriteCloser // ends the watchdog
	tail    *tail
	done    chan struct{}
	closing sync.Once

	count     int               // of the cell executed last
	counted   []Cell            // the cells that GoNB counts 1, 2, …, as it executes them
	variables map[string]int    // names that cells declared with var, with the number of the first such cell
	notes     map[string]string // the cell that shows a note, by the note's text
	seen      map[string]bool   // notes that are shown when they come again
	results   func() *resultIndex

	known  sync.Mutex
	tables map[string][]string // the columns of the cells' tables, by variable
}

// longestTemp is the maximal length of the temporary folder in bytes, so that the paths of the kernel's sockets have at
// most 103 bytes, which every system supports.
const longestTemp = 60

// Start starts a kernel and executes the hidden first cell. The kernel runs until [Kernel.Close]; ctx bounds only the
// start.
func Start(ctx context.Context, opts Options) (*Kernel, error) {
	return start(ctx, opts, "kernel.json")
}

// start is Start with the name of the connection file, from which GoNB takes the kernel's id.
func start(ctx context.Context, opts Options, name string) (_ *Kernel, err error) {
	module, err := filepath.Abs(opts.ModuleDir)
	if err != nil {
		return nil, err
	}
	toolsDir, err := Tools(ctx, module, opts.Home, opts.Say)
	if err != nil {
		return nil, err
	}
	k := &Kernel{
		tail: &tail{limit: 8 << 10}, done: make(chan struct{}), variables: map[string]int{},
		notes: map[string]string{}, seen: map[string]bool{}, tables: map[string][]string{},
		results: newResultIndex(module),
	}
	base := os.TempDir()
	if len(base) > longestTemp {
		base = "/tmp"
	}
	if k.dir, err = os.MkdirTemp(base, "apk-"); err != nil {
		return nil, fmt.Errorf("jupyter: %w", err)
	}
	defer func() {
		if err != nil {
			k.Close()
		}
	}()
	inner, err := privateConnection(k.dir)
	if err != nil {
		return nil, err
	}
	if err := k.launch(opts, module, toolsDir, filepath.Join(k.dir, name), inner); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		_ = k.cmd.Wait()
		close(k.done)
		cancel(ErrDied)
	}()
	if err := k.watch(); err != nil {
		return nil, err
	}
	if k.Client, err = connect(ctx, inner); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, k.explain(fmt.Errorf("jupyter: the kernel did not start: %w", err))
	}
	return k, k.prelude(ctx, module)
}

// launch starts GoNB with a connection, which it writes to a file.
func (k *Kernel) launch(opts Options, module, toolsDir, file string, inner connection) error {
	if err := inner.write(file); err != nil {
		return fmt.Errorf("jupyter: %w", err)
	}
	// GoNB starts any gopls it finds on PATH, which takes 0.3 GB and more; package complete does not need it.
	if err := os.WriteFile(filepath.Join(k.dir, "gopls"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		return fmt.Errorf("jupyter: %w", err)
	}
	k.cmd = exec.Command(filepath.Join(toolsDir, "gonb"), "--kernel", file, "-go_work="+module, "-raw_error")
	k.cmd.Dir = opts.Dir
	var err error
	if k.cmd.Env, err = environment(opts, module, k.dir, toolsDir); err != nil {
		return err
	}
	k.cmd.Stdout = k.tail
	if opts.Log != nil {
		k.cmd.Stdout = io.MultiWriter(opts.Log, k.tail)
	}
	k.cmd.Stderr = k.cmd.Stdout
	k.cmd.WaitDelay = time.Second // do not wait for other processes that hold the log open
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := k.cmd.Start(); err != nil {
		k.cmd = nil
		return fmt.Errorf("jupyter: starting GoNB: %w", err)
	}
	return nil
}

// environment returns the environment of GoNB and the cells.
func environment(opts Options, module, dir, toolsDir string) ([]string, error) {
	binary := opts.Binary
	if binary == "" {
		binary = os.Getenv("ANTIPODE_BIN")
	}
	if binary == "" {
		var err error
		if binary, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("jupyter: %w", err)
		}
	}
	home, err := filepath.Abs(opts.Home)
	if err != nil {
		return nil, err
	}
	drop := map[string]bool{"GOWORK": true, "GO111MODULE": true}
	set := []string{
		"PATH=" + dir + string(os.PathListSeparator) + toolsDir + string(os.PathListSeparator) + os.Getenv("PATH"),
		"TMPDIR=" + dir, // GoNB's own files; package client and the hidden first cell give cells the user's
		client.TempVar + "=" + os.TempDir(),
		"ANTIPODE_BIN=" + binary,
		"ANTIPODE_HOME=" + home,
		"ANTIPODE_MODULE=" + module,
		cellbuild.ImportsVar + "=" + strings.Join(importable(module), " "),
		"GOPROXY=off",          // a cell never waits for a network
		"GOFLAGS=" + goFlags(), // without -mod, which is an error with a go.work
		"GO_TELEMETRY_CHILD=2", // no go command leaves a process behind
	}
	for _, s := range set {
		name, _, _ := strings.Cut(s, "=")
		drop[name] = true
	}
	var env []string
	for _, s := range os.Environ() {
		if name, _, _ := strings.Cut(s, "="); !drop[name] {
			env = append(env, s)
		}
	}
	return append(env, set...), nil
}

// goFlags returns $GOFLAGS without the flags that are errors with a go.work.
func goFlags() string {
	var keep []string
	for _, f := range strings.Fields(os.Getenv("GOFLAGS")) {
		if name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "="); name != "mod" && name != "modfile" {
			keep = append(keep, f)
		}
	}
	return strings.Join(keep, " ")
}

// watch starts a shell that ends the kernel's processes if this process is killed (kill -9).
func (k *Kernel) watch() error {
	const script = `read line; [ "$line" = done ] && exit 0
kill -s KILL -- "-$1"; rm -rf "$2"`
	sh := exec.Command("/bin/sh", "-c", script, "antipode-watchdog", strconv.Itoa(k.cmd.Process.Pid), k.dir)
	sh.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	sh.Dir = "/"
	guard, err := sh.StdinPipe()
	if err != nil {
		return fmt.Errorf("jupyter: %w", err)
	}
	if err := sh.Start(); err != nil {
		return fmt.Errorf("jupyter: starting the kernel's watchdog: %w", err)
	}
	k.guard = guard
	go func() { _ = sh.Wait() }()
	return nil
}

// prelude executes the hidden first cell.
func (k *Kernel) prelude(ctx context.Context, module string) error {
	reply, err := k.Run(ctx, Cell{Source: prelude(module), Hidden: true}, func(Message) {})
	if err != nil {
		return k.explain(fmt.Errorf("jupyter: preparing the kernel: %w", err))
	}
	if reply.Status != "ok" {
		return fmt.Errorf("jupyter: preparing the kernel: %s", flatten(reply.Value))
	}
	return nil
}

// Done is closed when GoNB's process has ended.
func (k *Kernel) Done() <-chan struct{} { return k.done }

// Close ends the kernel and all processes it started, and removes its files. It may be called more than once.
func (k *Kernel) Close() {
	k.closing.Do(func() {
		if k.cmd != nil {
			if k.Client != nil {
				_ = k.Shutdown() // it is killed otherwise
				select {
				case <-k.done:
				case <-time.After(1500 * time.Millisecond):
				}
				k.Client.Close()
			}
			_ = syscall.Kill(-k.cmd.Process.Pid, syscall.SIGKILL) // cells and shell lines; gone already is fine
			<-k.done
		}
		if k.guard != nil {
			_, _ = io.WriteString(k.guard, "done\n")
			_ = k.guard.Close()
		}
		_ = os.RemoveAll(k.dir)
	})
}

// explain adds the last line of GoNB's log to ErrDied.
func (k *Kernel) explain(err error) error {
	if !errors.Is(err, ErrDied) {
		return err
	}
	if last := k.tail.lastLine(); last != "" {
		return fmt.Errorf("%w (GoNB's last line: %s)", err, last)
	}
	return err
}

// tail stores the end of what is written to it.
type tail struct {
	mu    sync.Mutex
	limit int
	data  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if len(t.data) > t.limit {
		t.data = bytes.Clone(t.data[len(t.data)-t.limit:])
	}
	return len(p), nil
}

func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.data)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
