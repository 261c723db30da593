package jupyter

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"antipode/internal/gopls"
)

// Serve is the kernel that Jupyter starts: it runs GoNB behind the sockets that the connection file names, until the
// front end shuts it down, the process is told to end (SIGTERM, SIGHUP) or ctx ends. SIGINT interrupts the running cell.
//
// The front end's bytes are passed through as they are. It is connected only after the hidden first cell has run, so
// that its first cell finds everything in place.
func Serve(ctx context.Context, connectionFile string, opts Options) error {
	outer, err := ReadConnection(connectionFile)
	if err != nil {
		return err
	}
	opts.Gopls = true
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)

	var relay relay
	defer relay.close()
	if err := relay.listen(outer); err != nil { // early: the front end waits instead of failing
		return err
	}
	k, err := start(ctx, opts, outer, filepath.Base(connectionFile))
	if err != nil {
		return err
	}
	defer k.Close()
	relay.connect(k.conn)
	defer k.buildGopls(ctx, opts)()
	for {
		select {
		case <-k.Done():
			return nil
		case <-ctx.Done():
			return nil
		case <-interrupts:
			if err := k.Interrupt(); err != nil {
				return err
			}
		}
	}
}

// buildGopls builds gopls in the background where there is none; the next kernel uses it. What it returns ends that.
func (k *Kernel) buildGopls(ctx context.Context, opts Options) (stop func()) {
	if _, err := exec.LookPath("gopls"); err == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		dir, err := Tools(ctx, opts.ModuleDir, opts.Home, nil)
		if err == nil {
			err = gopls.Build(ctx, opts.ModuleDir, dir, filepath.Join(k.dir, "gopls-build.pid"))
		}
		if err != nil && ctx.Err() == nil && opts.Say != nil {
			opts.Say("no completion in notebooks: " + err.Error())
		}
	}()
	return func() { cancel(); <-done }
}

// relay passes bytes between the sockets Jupyter chose and GoNB's. It is the place where messages that GoNB does not
// answer could be answered.
type relay struct {
	listeners []net.Listener
	closing   sync.Once
}

// listen opens the outer sockets; clients that connect wait until [relay.connect].
func (r *relay) listen(outer Connection) error {
	for _, port := range outer.ports() {
		network, address := outer.address(port)
		l, err := net.Listen(network, address)
		if err != nil {
			return fmt.Errorf("jupyter: listening where the front end asked: %w", err)
		}
		r.listeners = append(r.listeners, l)
	}
	return nil
}

// connect joins each outer socket to the inner one of the same place.
func (r *relay) connect(inner Connection) {
	for i, port := range inner.ports() {
		network, address := inner.address(port)
		go accept(r.listeners[i], network, address)
	}
}

func accept(l net.Listener, network, address string) {
	for {
		outer, err := l.Accept()
		if err != nil {
			return // closed
		}
		inner, err := net.Dial(network, address)
		if err != nil {
			_ = outer.Close() // GoNB is gone; the front end sees it
			continue
		}
		go pump(outer, inner)
		go pump(inner, outer)
	}
}

// pump copies one direction; when it ends, so does the other.
func pump(to, from net.Conn) {
	_, _ = io.Copy(to, from) // any end is an end
	_ = to.Close()
	_ = from.Close()
}

func (r *relay) close() {
	r.closing.Do(func() {
		for _, l := range r.listeners {
			_ = l.Close()
		}
	})
}
