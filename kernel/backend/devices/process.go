package devices

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"antipode/datasets/client"
)

var epoch = time.Now() // whose differences do not depend on the clock being set

// process is a running child.
type process struct {
	cmd    *exec.Cmd
	out    chan message // to the child
	log    *tail
	active atomic.Int64  // when the last message came, since epoch
	taken  atomic.Bool   // it is being handled
	ended  chan struct{} // the process has ended

	kill   sync.Once
	killed error // why it was killed

	// under the set's lock
	ready   bool
	leaving bool            // closing its input, it ends
	tasks   map[int64]*task // sent and not answered
}

// start starts a process. received is called for each of its messages and, with the reason, at its end.
func start(cmd *exec.Cmd, log *tail, patience time.Duration,
	received func(*process, message, error)) (*process, error) {
	p := &process{cmd: cmd, log: log, out: make(chan message, 64), ended: make(chan struct{}), tasks: map[int64]*task{}}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = log
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.active.Store(int64(time.Since(epoch)))
	go p.write(stdin)
	go func() {
		watch := make(chan struct{})
		go p.watch(patience, watch)
		in := bufio.NewReaderSize(stdout, 1<<16)
		for {
			m, err := receive(in)
			if err != nil {
				close(watch)
				p.stop(nil) // of a child that closed its output, or sent what is no message
				received(p, message{}, p.reason(err))
				close(p.ended)
				return
			}
			p.taken.Store(true)
			received(p, m, nil)
			p.active.Store(int64(time.Since(epoch)))
			p.taken.Store(false)
		}
	}()
	return p, nil
}

// write sends the messages of out, and closes the child's input at its end.
func (p *process) write(stdin io.WriteCloser) {
	defer stdin.Close()
	w := newWriter(stdin)
	for {
		select {
		case m, more := <-p.out:
			if !more || w.send(m) != nil { // the reader notices a process that has ended
				return
			}
		case <-p.ended:
			return
		}
	}
}

// send sends a message in its turn. A child that does not read so many is killed. The caller holds the set's lock.
func (p *process) send(m message) {
	if p.leaving {
		return
	}
	select {
	case p.out <- m:
	default:
		go p.stop(errors.New("it does not read its input, and was killed"))
	}
}

// watch kills a child that sends nothing for the time patience.
func (p *process) watch(patience time.Duration, done chan struct{}) {
	tick := time.NewTicker(patience / 8)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if !p.taken.Load() && time.Since(epoch)-time.Duration(p.active.Load()) > patience {
				p.stop(fmt.Errorf("it did not answer for %v, and was killed", patience))
				return
			}
		}
	}
}

// stop kills the process.
func (p *process) stop(why error) {
	p.kill.Do(func() {
		p.killed = why
		_ = p.cmd.Process.Kill()
	})
}

// reason waits for the end of the process and returns its reason.
func (p *process) reason(read error) error {
	status := p.cmd.Wait()
	if p.killed != nil {
		return p.killed
	}
	if !errors.Is(read, io.EOF) {
		return read
	}
	text := "it ended"
	if status != nil {
		text = status.Error()
	}
	if line := p.log.last(); line != "" {
		text += ": " + line
	}
	return errors.New(text)
}

// tail copies the standard error of a child and remembers the last line, or the one that says why it ended.
type tail struct {
	mu     sync.Mutex
	to     io.Writer
	prefix string
	line   []byte // not complete
	text   string // the last line that is not empty
	why    string // see client.IsReason
}

// maxTail is the length of a line that is remembered, in bytes.
const maxTail = 1 << 10

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for line := range strings.Lines(string(data)) {
		t.line = append(t.line, line...)
		if !strings.HasSuffix(line, "\n") && len(t.line) < maxTail {
			continue
		}
		text := strings.TrimSpace(string(t.line))
		if t.line = t.line[:0]; text != "" {
			if t.text = text[:min(len(text), maxTail)]; t.why == "" && client.IsReason(t.text) {
				t.why = t.text
			}
			fmt.Fprintf(t.to, "%s: %s\n", t.prefix, text)
		}
	}
	return len(data), nil
}

func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.why, strings.TrimSpace(string(t.line)), t.text)
}
