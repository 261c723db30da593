package devices

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/fault"
)

// ErrDevice is wrapped by an error of [Computer.Compute] after which the device cannot be used: the process ends.
var ErrDevice = errors.New("the device does not compute any more")

// Computer computes the batches of a child process.
type Computer interface {
	// Open opens the device and returns a description of it.
	Open(setup Setup) (description string, err error)
	// Compute computes a batch. It may be called by several goroutines at once.
	Compute(ctx context.Context, b Batch) (Result, error)
	// Release closes the stage with a key, which is not needed any more; a batch after it opens the stage again. It
	// does not wait.
	Release(key string)
	// Memory returns the use of memory and the loaded models.
	Memory() (client.MemoryStatus, []client.ModelStatus)
}

// Serve computes what the parent of this process sends, until its standard input ends. What other code writes to
// standard output goes to standard error. Signals to interrupt or terminate are the parent's business: a child that
// gets them too goes on until its parent has what it needs.
func Serve(c Computer) error {
	fd, err := syscall.Dup(syscall.Stdout)
	if err == nil {
		err = replace(syscall.Stderr, syscall.Stdout)
	}
	if err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	syscall.CloseOnExec(fd)
	return serve(c, os.Stdin, os.NewFile(uintptr(fd), "stdout"))
}

// child is the state of [Serve].
type child struct {
	Computer
	out *writer
	end chan error // why the process ends

	mu     sync.Mutex
	cancel map[int64]context.CancelFunc // of running batches
}

func serve(c Computer, in io.Reader, out io.Writer) error {
	s := &child{Computer: c, out: newWriter(out), end: make(chan error, 1), cancel: map[int64]context.CancelFunc{}}
	go func() { s.finish(s.read(bufio.NewReaderSize(in, 1<<16))) }()
	go func() {
		for range time.Tick(client.Beat) {
			m := message{Type: beatType}
			s.measure(&m)
			s.send(m)
		}
	}()
	return <-s.end
}

func (s *child) finish(err error) {
	select {
	case s.end <- err:
	default: // it ends already
	}
}

// send sends a message; without a parent the process ends.
func (s *child) send(m message) {
	if err := s.out.send(m); err != nil {
		s.finish(err)
	}
}

func (s *child) measure(m *message) {
	memory, models := s.Memory()
	m.Memory, m.Models = &memory, models
}

// read handles messages until the input ends.
func (s *child) read(in *bufio.Reader) error {
	for {
		m, err := receive(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch m.Type {
		case helloType:
			go s.open(*m.Setup)
		case batchType:
			ctx, cancel := context.WithCancel(context.Background())
			s.mu.Lock()
			s.cancel[m.Batch] = cancel
			s.mu.Unlock()
			go s.compute(ctx, m)
		case cancelType:
			s.mu.Lock()
			if cancel := s.cancel[m.Batch]; cancel != nil {
				cancel()
			}
			s.mu.Unlock()
		case closeType:
			s.Release(m.Key)
		}
	}
}

func (s *child) open(setup Setup) {
	description := ""
	err := fault.Catch(func() (err error) {
		description, err = s.Open(setup)
		return err
	})
	if err != nil {
		s.finish(err)
		return
	}
	s.send(message{Type: readyType, Description: description})
}

func (s *child) compute(ctx context.Context, m message) {
	b := Batch{Stage: *m.Stage, Job: m.Job, Rows: m.frame,
		Began: func() { s.send(message{Type: beganType, Batch: m.Batch}) },
		Step: func(done, total int) {
			s.send(message{Type: stepType, Batch: m.Batch, Done: done, Total: total})
		}}
	var r Result
	err := fault.Catch(func() (err error) {
		r, err = s.Compute(ctx, b)
		return err
	})
	var panicked *fault.Error
	switch {
	case errors.Is(err, ErrDevice):
		s.finish(err)
		return
	case errors.As(err, &panicked):
		fmt.Fprintf(os.Stderr, "panic: %v\n%s\n", panicked.Value, panicked.Stack)
		r.Err = &table.Error{Code: table.CodeInternal, Message: err.Error()}
	case errors.As(err, &r.Err):
	case err != nil:
		r.Err = &table.Error{Code: table.CodeFailed, Message: err.Error()}
	}
	s.mu.Lock()
	s.cancel[m.Batch]()
	delete(s.cancel, m.Batch)
	s.mu.Unlock()
	done := message{Type: doneType, Batch: m.Batch, Rows: r.Rows, Bad: r.Bad, Files: r.Files, Notes: r.Notes,
		Error: r.Err, frame: r.Frame}
	s.measure(&done)
	s.send(done)
}
