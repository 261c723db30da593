package jupyter

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

// front is the server side of the sockets of a connection file. Any number of front ends may connect. It uses the
// connections of zmq4, not its sockets: the PUB socket writes to one subscriber after another and waits for the
// slowest, and the ROUTER socket does not report disconnected clients.
type front struct {
	key       []byte
	session   string
	listeners []net.Listener
	handle    func(p *peer, m Message) // called for each request of a connection, in order

	log io.Writer // receives a line about dropped messages

	mu      sync.Mutex
	peers   map[*peer]bool
	seen    replays
	dropped int // messages
	once    sync.Once
}

type peer struct {
	socket   int    // which of the five sockets it is connected to
	identity string // of the front end
	conn     *zmq4.Conn
	out      *outbox
	topics   map[string]bool // subscriptions, of an iopub connection
}

// heartbeatSocket follows the four sockets that a client has.
const heartbeatSocket = iopubSocket + 1

// socketTypes are the types of the sockets in the order of [Connection.ports].
var socketTypes = [5]zmq4.SocketType{zmq4.Router, zmq4.Router, zmq4.Router, zmq4.XPub, zmq4.Rep}

// linger is the time that connections stay open after the last message: some clients drop unread messages when a
// connection ends.
const linger = 100 * time.Millisecond

// handshakeLimit is the timeout of a new connection's handshake.
const handshakeLimit = 10 * time.Second

func newFront(key string, handle func(*peer, Message)) *front {
	return &front{key: []byte(key), session: newID(), handle: handle, log: os.Stderr, peers: map[*peer]bool{}}
}

// listen opens the sockets and serves the front ends that connect.
func (f *front) listen(c connection) error {
	for i, port := range c.ports() {
		network, address := c.address(port)
		l, err := net.Listen(network, address)
		if err != nil {
			f.close()
			return fmt.Errorf("jupyter: cannot listen on the kernel's port: %w", err)
		}
		f.listeners = append(f.listeners, l)
		go f.accept(i, l)
	}
	return nil
}

func (f *front) accept(socket int, l net.Listener) {
	for {
		rw, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files
			time.Sleep(100 * time.Millisecond)
			continue
		}
		go f.serve(socket, rw)
	}
}

// serve reads one connection until it ends. Invalid ZeroMQ frames end the connection, not the kernel.
func (f *front) serve(socket int, rw net.Conn) {
	defer rw.Close()
	rw = &boundedConn{Conn: rw, skip: greetingLength}
	_ = rw.SetDeadline(time.Now().Add(handshakeLimit))
	conn, err := zmq4.Open(rw, null.Security(), socketTypes[socket], nil, true, nil)
	if err != nil {
		return
	}
	_ = rw.SetDeadline(time.Time{})
	p := &peer{socket: socket, identity: conn.Peer.Meta["Identity"], conn: conn, topics: map[string]bool{}}
	p.out = newOutbox(func(frames [][]byte) error { return conn.SendMsg(zmq4.NewMsgFrom(frames...)) })
	f.mu.Lock()
	f.peers[p] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.peers, p)
		f.mu.Unlock()
		p.out.close()
	}()
	for {
		raw, err := conn.RecvMsg()
		if err != nil {
			return
		}
		switch {
		case raw.Type == zmq4.CmdMsg: // a ping, answered by zmq4
		case socket == heartbeatSocket:
			p.out.put(raw.Frames, false)
		case socket == iopubSocket:
			f.subscribe(p, raw.Frames)
		default:
			m, err := parseMessage(raw.Frames, f.key)
			if err == nil && !f.fresh(raw.Frames) {
				err = errReplayed
			}
			if err != nil {
				f.drop(err)
				continue
			}
			f.handle(p, m)
		}
	}
}

// maxFrame is the length in bytes of the longest frame that the kernel accepts, 1 GiB.
const maxFrame = 1 << 30

// greetingLength is the length in bytes of what a ZeroMQ connection begins with.
const greetingLength = 64

// boundedConn is a ZeroMQ connection that fails at the header of a frame above maxFrame. zmq4 allocates the memory of a
// frame at its header, before it can be known whether the message is signed.
type boundedConn struct {
	net.Conn
	skip   uint64 // bytes until the next header
	header []byte // what was read of it: flags, then the length in 1 or 8 bytes
}

func (c *boundedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if k := min(c.skip, uint64(len(rest))); k > 0 {
			c.skip, rest = c.skip-k, rest[k:]
			continue
		}
		c.header, rest = append(c.header, rest[0]), rest[1:]
		if long := c.header[0]&2 != 0; len(c.header) < 2 || long && len(c.header) < 9 {
			continue
		}
		for _, b := range c.header[1:] {
			c.skip = c.skip<<8 | uint64(b)
		}
		if c.header = c.header[:0]; c.skip > maxFrame {
			return 0, fmt.Errorf("jupyter: a frame of %d bytes, more than %d", c.skip, maxFrame)
		}
	}
	return n, err
}

// subscribe adds or removes a subscription. A new subscriber receives iopub_welcome; it misses no message after that.
func (f *front) subscribe(p *peer, frames [][]byte) {
	if len(frames) != 1 || len(frames[0]) == 0 {
		return
	}
	topic, on := string(frames[0][1:]), frames[0][0] == 1
	f.mu.Lock()
	defer f.mu.Unlock()
	if !on {
		delete(p.topics, topic)
		return
	}
	p.topics[topic] = true
	m, err := newMessage(f.session, "iopub_welcome", map[string]any{"subscription": topic}, nil)
	if err != nil {
		return
	}
	m.prefix = [][]byte{[]byte(topic)}
	f.put(p, m, false)
}

// fresh reports whether these frames were not received before: a replayed message is ignored.
func (f *front) fresh(frames [][]byte) bool {
	if len(f.key) == 0 {
		return true
	}
	for i, frame := range frames {
		if string(frame) == string(delimiter) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.seen.add(string(frames[i+1]))
		}
	}
	return false
}

// errReplayed is the reason to drop a message that was received before.
var errReplayed = errors.New("jupyter: a message was repeated")

// drop counts a message that is ignored, and reports the 1st, 2nd, 4th, 8th, …: a flood does not fill the log.
func (f *front) drop(reason error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dropped++; f.dropped&(f.dropped-1) == 0 {
		fmt.Fprintf(f.log, "%v; ignored, %d so far; is another program using the kernel's ports?\n", reason, f.dropped)
	}
}

// replays holds the most recent signatures.
type replays struct {
	known map[string]bool
	order []string
}

const maxReplays = 1 << 16

func (r *replays) add(signature string) bool {
	if r.known[signature] {
		return false
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	if len(r.order) == maxReplays {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[signature] = true
	r.order = append(r.order, signature)
	return true
}

// publish sends a message to every subscriber, without waiting.
func (f *front) publish(kind string, content any, parent *Message) {
	m, err := newMessage(f.session, kind, content, parent)
	if err != nil {
		return // the content is not JSON
	}
	f.publishMessage(m, false)
}

// publishMessage sends a message to every subscriber. With wait it waits for slow subscribers, see [outbox].
func (f *front) publishMessage(m Message, wait bool) {
	m.prefix = [][]byte{[]byte("kernel." + f.session + "." + m.Header.Type)}
	f.mu.Lock()
	var to []*peer
	for p := range f.peers {
		if p.socket == iopubSocket && p.subscribed(m.prefix[0]) {
			to = append(to, p)
		}
	}
	f.mu.Unlock()
	for _, p := range to {
		f.put(p, m, wait)
	}
}

// subscribed reports whether one of the connection's subscriptions covers a topic.
func (p *peer) subscribed(topic []byte) bool {
	for prefix := range p.topics {
		if strings.HasPrefix(string(topic), prefix) {
			return true
		}
	}
	return false
}

// reply sends a reply on the connection of the request.
func (f *front) reply(p *peer, kind string, content any, request *Message) {
	m, err := newMessage(f.session, kind, content, request)
	if err != nil {
		return
	}
	f.put(p, m, false)
}

// ask sends a request for input to the front end of p.
func (f *front) ask(p *peer, m Message) {
	f.mu.Lock()
	var to *peer
	for other := range f.peers {
		if other.socket == stdinSocket && other.identity == p.identity {
			to = other
		}
	}
	f.mu.Unlock()
	if to != nil {
		f.put(to, m, false)
	}
}

func (f *front) put(p *peer, m Message, wait bool) {
	frames, err := m.frames(f.key)
	if err == nil {
		p.out.put(frames, wait)
	}
}

// close closes all connections after queued messages have been sent, at most after a second.
func (f *front) close() {
	f.once.Do(func() {
		for _, l := range f.listeners {
			_ = l.Close()
		}
		f.mu.Lock()
		all := slices.Collect(maps.Keys(f.peers))
		f.mu.Unlock()
		deadline := time.Now().Add(time.Second)
		for _, p := range all {
			p.out.flush(deadline)
		}
		time.Sleep(linger)
		for _, p := range all {
			_ = p.conn.Close()
		}
	})
}

// outbox sends messages to one connection in order, from a goroutine of its own.
//
// It holds up to maxQueued bytes and maxMessages messages. Beyond that the publisher waits: a cell that prints faster
// than the front end reads is slowed down, as by a pipe. If a connection accepts nothing for stalledAfter, messages to
// it are dropped until it reads again, so that a front end that hangs does not block others.
type outbox struct {
	send func([][]byte) error

	mu     sync.Mutex
	queue  [][][]byte
	bytes  int       // queued and being sent
	moved  time.Time // when the queue was last empty or a message was last sent
	closed bool
	wake   chan struct{} // something was queued, or the outbox was closed
}

const (
	maxQueued   = 16 << 20
	maxMessages = 1000 // so that an interrupted cell's output ends soon
)

// stalledAfter is the time that a publisher waits for a connection that accepts nothing.
var stalledAfter = 5 * time.Second

func newOutbox(send func([][]byte) error) *outbox {
	o := &outbox{send: send, wake: make(chan struct{}, 1)}
	go o.run()
	return o
}

// put queues a message. With wait it may wait for space, or drop the message.
func (o *outbox) put(frames [][]byte, wait bool) {
	for !o.add(frames, wait) {
		time.Sleep(2 * time.Millisecond)
	}
}

// add queues or drops a message; it returns false if there is no space yet.
func (o *outbox) add(frames [][]byte, wait bool) (done bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return true
	}
	if wait && (o.bytes > maxQueued || len(o.queue) > maxMessages) {
		return time.Since(o.moved) > stalledAfter
	}
	if o.bytes == 0 {
		o.moved = time.Now()
	}
	o.queue = append(o.queue, frames)
	o.bytes += sizeOf(frames)
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return true
}

// sizeOf returns the approximate memory of a queued message.
func sizeOf(frames [][]byte) int {
	size := 64
	for _, f := range frames {
		size += len(f)
	}
	return size
}

func (o *outbox) run() {
	for range o.wake {
		for frames := o.next(); frames != nil; frames = o.next() {
			err := o.send(frames)
			o.mu.Lock()
			o.bytes -= sizeOf(frames)
			o.moved = time.Now()
			o.mu.Unlock()
			if err != nil {
				o.close()
			}
		}
	}
}

// next removes and returns the oldest message, nil if there is none.
func (o *outbox) next() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return nil
	}
	frames := o.queue[0]
	o.queue[0], o.queue = nil, o.queue[1:]
	return frames
}

// flush waits until all queued messages are sent, or until the deadline.
func (o *outbox) flush(deadline time.Time) {
	for time.Now().Before(deadline) {
		o.mu.Lock()
		empty := o.bytes == 0 || o.closed
		o.mu.Unlock()
		if empty {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed, o.queue = true, nil
		close(o.wake)
	}
}
