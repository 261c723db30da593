package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// ErrDied reports that the kernel's process ended while a request was in progress.
var ErrDied = errors.New("the kernel process ended unexpectedly")

// Client is a client of one running kernel. Requests may come from several goroutines; executions run one at a time.
// Published messages are read at once, because a publisher blocks on a subscriber that does not read.
type Client struct {
	conn    connection
	session string
	cancel  context.CancelFunc
	sockets [4]zmq4.Socket // shell, control, stdin, iopub

	sending sync.Mutex // one writer at a time on a socket
	running sync.Mutex // one execution at a time

	mu      sync.Mutex
	current *execution    // the execution that messages belong to
	other   func(Message) // receives the published messages between executions; may be nil

	done    chan struct{}
	failure error // why reading ended; set before done is closed
	once    sync.Once
}

// The sockets of a client, in the order of [Connection.ports].
const (
	shellSocket = iota
	controlSocket
	stdinSocket
	iopubSocket
)

// execution is a request whose replies and output are awaited.
type execution struct {
	id       string // of the request; empty = every message belongs to it
	messages chan arrival
	ended    chan struct{}
}

type arrival struct {
	socket int
	Message
}

// connect connects to a kernel and waits until it answers and its published messages arrive.
func connect(ctx context.Context, conn connection) (*Client, error) {
	life, cancel := context.WithCancel(context.Background())
	c := &Client{conn: conn, session: newID(), cancel: cancel, done: make(chan struct{})}
	stop := context.AfterFunc(ctx, cancel) // a dial in progress ends with ctx
	retry := []zmq4.Option{
		zmq4.WithDialerRetry(20 * time.Millisecond), zmq4.WithDialerMaxRetries(-1),
		zmq4.WithID(zmq4.SocketIdentity(c.session)),
	}
	c.sockets = [4]zmq4.Socket{
		zmq4.NewDealer(life, retry...), zmq4.NewDealer(life, retry...), zmq4.NewDealer(life, retry...),
		zmq4.NewSub(life, retry...),
	}
	for i, s := range c.sockets {
		if err := s.Dial(conn.endpoint(conn.ports()[i])); err != nil {
			c.Close()
			return nil, errors.Join(ctx.Err(), fmt.Errorf("jupyter: connecting to the kernel: %w", err))
		}
	}
	if err := c.sockets[iopubSocket].SetOption(zmq4.OptionSubscribe, ""); err != nil {
		c.Close()
		return nil, fmt.Errorf("jupyter: subscribing to the kernel's output: %w", err)
	}
	if !stop() {
		c.Close()
		return nil, context.Cause(ctx)
	}
	for i := range c.sockets {
		go c.receive(i)
	}
	if err := c.ready(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// ready sends kernel_info requests until both a reply and a published status have arrived. From then on no output is
// lost.
func (c *Client) ready(ctx context.Context) error {
	all := c.begin("")
	defer c.finish(all)
	replied, published := false, false
	for !replied || !published {
		if _, err := c.send(shellSocket, "kernel_info_request", struct{}{}); err != nil {
			return err
		}
		again := time.After(50 * time.Millisecond)
		for wait := true; wait && !(replied && published); {
			select {
			case m := <-all.messages:
				replied = replied || m.socket == shellSocket
				published = published || m.socket == iopubSocket
			case <-again:
				wait = false
			case <-c.done:
				return c.failure
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

func (c *Client) begin(id string) *execution {
	e := &execution{id: id, messages: make(chan arrival, 16), ended: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = e
	return e
}

func (c *Client) finish(e *execution) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == e {
		c.current = nil
	}
	close(e.ended)
}

// receive passes the messages of a socket to the current execution until the client is closed.
func (c *Client) receive(socket int) {
	for {
		raw, err := c.sockets[socket].Recv()
		if err != nil {
			c.fail(ErrDied)
			return
		}
		m, err := parseMessage(raw.Frames, []byte(c.conn.Key))
		if err != nil {
			c.fail(err)
			return
		}
		c.mu.Lock()
		e, other := c.current, c.other
		c.mu.Unlock()
		switch {
		case e != nil && (e.id == "" || e.id == m.Parent.ID):
			select {
			case e.messages <- arrival{socket, m}:
			case <-e.ended:
			case <-c.done:
				return
			}
		case other != nil && socket == iopubSocket:
			other(m)
		}
	}
}

func (c *Client) fail(err error) {
	c.once.Do(func() {
		c.failure = err
		close(c.done)
	})
}

// send sends a new request.
func (c *Client) send(socket int, kind string, content any) (Message, error) {
	m, err := newMessage(c.session, kind, content, nil)
	if err != nil {
		return m, err
	}
	return m, c.forward(socket, m)
}

// forward sends a message unchanged.
func (c *Client) forward(socket int, m Message) error {
	frames, err := m.frames([]byte(c.conn.Key))
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.sockets[socket].SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		return fmt.Errorf("jupyter: sending %s: %w", m.Header.Type, err)
	}
	return nil
}

// execute runs code and passes every published message to output, in order. It returns the kernel's reply after the
// last message. A hidden execution is not counted. If ctx ends, execute returns its cause at once; the code may still
// be running (see [Client.Interrupt]). With input, the code may request lines of input.
func (c *Client) execute(ctx context.Context, code string, hidden bool, output, input func(Message)) (ReplyContent,
	error) {
	c.running.Lock()
	defer c.running.Unlock()
	var reply ReplyContent
	request, err := newMessage(c.session, "execute_request", map[string]any{
		"code": code, "silent": hidden, "store_history": !hidden, "user_expressions": map[string]any{},
		"allow_stdin": input != nil, "stop_on_error": true,
	}, nil)
	if err != nil {
		return reply, err
	}
	e := c.begin(request.Header.ID)
	defer c.finish(e)
	if err := c.forward(shellSocket, request); err != nil {
		return reply, err
	}
	replied, idle := false, false
	take := func(m arrival) {
		switch {
		case m.socket == stdinSocket && input != nil:
			input(m.Message)
		case m.socket == shellSocket && m.Header.Type == "execute_reply":
			_ = json.Unmarshal(m.Content, &reply) // an unreadable reply has no status, which is not "ok"
			replied = true
		case m.socket == iopubSocket && m.Header.Type == "status":
			var status statusContent
			_ = json.Unmarshal(m.Content, &status) // an unreadable status is no status
			idle = status.State == idleState
		case m.socket == iopubSocket && output != nil:
			output(m.Message)
		}
	}
	for !replied || !idle {
		select {
		case m := <-e.messages:
			take(m)
		case <-c.done:
			for len(e.messages) > 0 { // messages that arrived before the kernel ended
				take(<-e.messages)
			}
			return reply, c.failure
		case <-ctx.Done():
			return reply, context.Cause(ctx)
		}
	}
	return reply, nil
}

// statusContent is the content of a "status" message.
type statusContent struct {
	State string `json:"execution_state"`
}

const (
	busyState = "busy"
	idleState = "idle"
)

// Interrupt requests an interrupt of the running cell. It does not wait.
func (c *Client) Interrupt() error {
	_, err := c.send(controlSocket, "interrupt_request", struct{}{})
	return err
}

// Shutdown requests the kernel to end. It does not wait.
func (c *Client) Shutdown() error {
	_, err := c.send(controlSocket, "shutdown_request", map[string]any{"restart": false})
	return err
}

// Close closes the connection; the kernel continues to run.
func (c *Client) Close() {
	c.fail(errors.New("jupyter: the client is closed"))
	c.cancel()
	for _, s := range c.sockets {
		_ = s.Close()
	}
}
