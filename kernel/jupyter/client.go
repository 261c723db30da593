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

// ErrDied says that the kernel's process ended while something was asked of it.
var ErrDied = errors.New("the kernel process ended unexpectedly")

// Client talks to one running kernel. Requests may come from several goroutines; executions run one at a time.
type Client struct {
	conn    Connection
	session string
	cancel  context.CancelFunc
	sockets []zmq4.Socket
	shell   zmq4.Socket
	control zmq4.Socket

	sending sync.Mutex // one writer at a time on a socket
	running sync.Mutex // one execution at a time

	iopub   chan Message
	replies chan Message
	done    chan struct{}
	failure error // why reading ended; set before done is closed
	once    sync.Once
}

// Dial connects to a kernel, waits until it answers and until its published messages arrive.
func Dial(ctx context.Context, conn Connection) (*Client, error) {
	life, cancel := context.WithCancel(context.Background())
	c := &Client{
		conn: conn, session: newID(), cancel: cancel,
		iopub: make(chan Message, 256), replies: make(chan Message, 16), done: make(chan struct{}),
	}
	stop := context.AfterFunc(ctx, cancel) // a dial in progress ends with ctx
	retry := []zmq4.Option{zmq4.WithDialerRetry(20 * time.Millisecond), zmq4.WithDialerMaxRetries(-1), zmq4.WithID(zmq4.SocketIdentity(c.session))}
	c.shell = zmq4.NewDealer(life, retry...)
	c.control = zmq4.NewDealer(life, retry...)
	iopub := zmq4.NewSub(life, retry...)
	c.sockets = []zmq4.Socket{c.shell, c.control, iopub}
	for i, port := range []int{conn.ShellPort, conn.ControlPort, conn.IOPubPort} {
		if err := c.sockets[i].Dial(conn.endpoint(port)); err != nil {
			c.Close()
			return nil, errors.Join(ctx.Err(), fmt.Errorf("jupyter: connecting to the kernel: %w", err))
		}
	}
	if err := iopub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		c.Close()
		return nil, fmt.Errorf("jupyter: subscribing to the kernel's output: %w", err)
	}
	if !stop() {
		c.Close()
		return nil, context.Cause(ctx)
	}
	go c.receive(iopub, c.iopub)
	go c.receive(c.shell, c.replies)
	go c.receive(c.control, nil)
	if err := c.ready(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// ready asks for the kernel's information until both the reply and a published status have come: only then does every later output arrive.
func (c *Client) ready(ctx context.Context) error {
	replied, published := false, false
	for !replied || !published {
		if _, err := c.send(c.shell, "kernel_info_request", struct{}{}); err != nil {
			return err
		}
		again := time.After(200 * time.Millisecond)
		for wait := true; wait && !(replied && published); {
			select {
			case <-c.replies:
				replied = true
			case <-c.iopub:
				published = true
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

// receive hands a socket's messages on until the client closes; with a nil channel they are dropped.
func (c *Client) receive(socket zmq4.Socket, to chan<- Message) {
	for {
		raw, err := socket.Recv()
		if err != nil {
			c.fail(ErrDied)
			return
		}
		m, err := parseMessage(raw.Frames, []byte(c.conn.Key))
		if err != nil {
			c.fail(err)
			return
		}
		if to == nil {
			continue
		}
		select {
		case to <- m:
		case <-c.done:
			return
		}
	}
}

func (c *Client) fail(err error) {
	c.once.Do(func() {
		c.failure = err
		close(c.done)
	})
}

func (c *Client) send(socket zmq4.Socket, kind string, content any) (Message, error) {
	m, err := newMessage(c.session, kind, content)
	if err != nil {
		return m, err
	}
	frames, err := m.frames([]byte(c.conn.Key))
	if err != nil {
		return m, err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := socket.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		return m, fmt.Errorf("jupyter: sending %s: %w", kind, err)
	}
	return m, nil
}

// Execute runs a cell's code and hands every message it publishes to output, in order; it returns the kernel's reply
// once the cell is done and all its output has been handed over. A hidden execution leaves no trace in the kernel's count.
// When ctx ends, Execute returns at once with its cause: the cell may still be running (see [Client.Interrupt]).
func (c *Client) Execute(ctx context.Context, code string, hidden bool, output func(Message)) (ReplyContent, error) {
	c.running.Lock()
	defer c.running.Unlock()
	var reply ReplyContent
	request, err := c.send(c.shell, "execute_request", map[string]any{
		"code": code, "silent": hidden, "store_history": !hidden, "user_expressions": map[string]any{},
		"allow_stdin": false, "stop_on_error": true,
	})
	if err != nil {
		return reply, err
	}
	replied, idle := false, false
	for !replied || !idle {
		select {
		case m := <-c.replies:
			if m.Parent.ID == request.Header.ID && m.Header.Type == "execute_reply" {
				if err := json.Unmarshal(m.Content, &reply); err != nil {
					return reply, fmt.Errorf("%w: execute_reply: %w", errBadMessage, err)
				}
				replied = true
			}
		case m := <-c.iopub:
			if m.Parent.ID != request.Header.ID {
				continue
			}
			if m.Header.Type == "status" {
				var status struct {
					State string `json:"execution_state"`
				}
				_ = json.Unmarshal(m.Content, &status) // an unreadable status is no status
				idle = status.State == "idle"
				continue
			}
			if output != nil {
				output(m)
			}
		case <-c.done:
			c.drain(request.Header.ID, output)
			return reply, c.failure
		case <-ctx.Done():
			return reply, context.Cause(ctx)
		}
	}
	return reply, nil
}

// drain hands over what a kernel that has ended still published.
func (c *Client) drain(request string, output func(Message)) {
	for {
		select {
		case m := <-c.iopub:
			if m.Parent.ID == request && output != nil && m.Header.Type != "status" {
				output(m)
			}
		default:
			return
		}
	}
}

// Interrupt asks the kernel to interrupt the running cell. It does not wait.
func (c *Client) Interrupt() error {
	_, err := c.send(c.control, "interrupt_request", struct{}{})
	return err
}

// Shutdown asks the kernel to end. It does not wait.
func (c *Client) Shutdown() error {
	_, err := c.send(c.control, "shutdown_request", map[string]any{"restart": false})
	return err
}

// Close drops the connection; the kernel goes on.
func (c *Client) Close() {
	c.fail(errors.New("jupyter: the client is closed"))
	c.cancel()
	for _, s := range c.sockets {
		_ = s.Close() // nothing can be done about a socket that does not close
	}
}
