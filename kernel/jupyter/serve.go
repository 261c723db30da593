package jupyter

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"antipode/kernel/jupyter/complete"
)

// Prepare returns the options of a kernel. It reports slow steps in one line each with say.
type Prepare func(ctx context.Context, say func(string)) (Options, error)

// Serve runs the kernel that Jupyter starts. It listens on the sockets of the connection file until a front end shuts
// it down, the process receives SIGTERM or SIGHUP, GoNB ends or ctx ends. SIGINT interrupts the running cell.
//
// Requests are answered at once; cells wait until prepare has returned and GoNB has started. The lines of say are shown
// below the waiting cell. If the kernel cannot start, each cell reports why. Completion needs only moduleDir, the
// folder of module antipode.
func Serve(ctx context.Context, connectionFile, moduleDir string, prepare Prepare) error {
	conn, err := readConnection(connectionFile)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)

	_ = FindGo() // cells report a missing go command
	names := complete.New(complete.Options{ModuleDir: moduleDir, Prelude: prelude(moduleDir)})
	ended, end := context.WithCancelCause(ctx)
	defer end(nil)
	var r *relay
	start := func(ctx context.Context) (*Kernel, error) {
		opts, err := prepare(ctx, r.say)
		if err != nil {
			return nil, err
		}
		k, err := start(ctx, opts, filepath.Base(connectionFile))
		if err == nil {
			context.AfterFunc(ended, k.Close)
			go func() {
				<-k.Done()
				k.fail(ErrDied) // before k.Close does, so that the running cell says so
				end(ErrDied)
			}()
		}
		return k, err
	}
	r = newRelay(conn, start, names, func() { end(errShutDown) })
	if err := r.front.listen(conn); err != nil {
		return err
	}
	r.status("starting", nil)
	go watchParent(ended, func() { end(errShutDown) })
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.run(ended)
	}()
	for {
		select {
		case <-ended.Done():
			<-finished // the running cell reports its end
			r.close()
			return nil
		case <-interrupts:
			r.interrupt()
		}
	}
}

// errShutDown is the cause of an end that a front end requested.
var errShutDown = errors.New("the kernel is shut down")

// watchParent calls end when the front end that started the kernel has died. Jupyter sets JPY_PARENT_PID.
func watchParent(ctx context.Context, end func()) {
	parent := os.Getppid()
	if os.Getenv("JPY_PARENT_PID") != strconv.Itoa(parent) {
		return
	}
	for ctx.Err() == nil && os.Getppid() == parent {
		time.Sleep(time.Second)
	}
	end()
}
