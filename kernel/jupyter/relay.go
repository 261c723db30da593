package jupyter

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"time"

	"antipode/kernel/jupyter/complete"
)

// relay handles the requests of front ends and executes their cells on a [Kernel]. Only executions, widgets and input
// reach GoNB: the relay numbers and queues cells, stores the history, and answers other requests while GoNB starts or a
// cell runs.
type relay struct {
	front *front
	ports [5]int
	start func(context.Context) (*Kernel, error)
	names *complete.Service // completion and inspection

	end  func()        // ends the kernel
	wake chan struct{} // the queue is not empty

	mu      sync.Mutex
	queue   []request
	running *Message // the request whose cell runs
	stop    context.CancelFunc
	kernel  *Kernel
	noted   bool     // the waiting cell shows a step of the start
	attempt *attempt // to start the kernel; nil before and after one that failed
	count   int
	history []entry
	ran     []string // the cells executed without an error, for completion
	comms   map[string]string
}

// request is a message and the connection of its reply.
type request struct {
	from *peer
	Message
}

// entry is an executed cell.
type entry struct {
	line   int
	source string
}

// executeContent is the content of an "execute_request".
type executeContent struct {
	Code         string `json:"code"`
	Silent       bool   `json:"silent"`
	StoreHistory *bool  `json:"store_history"`
	AllowStdin   bool   `json:"allow_stdin"`
	StopOnError  *bool  `json:"stop_on_error"`
}

func orTrue(b *bool) bool { return b == nil || *b }

func newRelay(conn connection, start func(context.Context) (*Kernel, error), names *complete.Service,
	end func()) *relay {
	r := &relay{
		ports: conn.ports(), start: start, names: names, end: end, wake: make(chan struct{}, 1),
		comms: map[string]string{},
	}
	r.front = newFront(conn.Key, r.handle)
	return r
}

// handle handles a request of a front end. Slow ones continue in a goroutine.
func (r *relay) handle(from *peer, m Message) {
	q := request{from, m}
	switch m.Header.Type {
	case "execute_request":
		r.mu.Lock()
		r.queue = append(r.queue, q)
		r.mu.Unlock()
		select {
		case r.wake <- struct{}{}:
		default:
		}
	case "input_reply":
		r.toKernel(stdinSocket, m)
	case "comm_open", "comm_msg", "comm_close":
		if r.noteComm(m) {
			r.toKernel(shellSocket, m)
		} else {
			r.refuseComm(q)
		}
	case "interrupt_request":
		r.interrupt()
		r.answer(q, func() any { return map[string]any{"status": "ok"} })
	case "shutdown_request":
		var c struct {
			Restart bool `json:"restart"`
		}
		_ = json.Unmarshal(m.Content, &c)
		r.answer(q, func() any { return map[string]any{"status": "ok", "restart": c.Restart} })
		r.end()
	case "complete_request", "inspect_request":
		go r.answer(q, func() any { return r.lookUp(q) })
	default:
		if reply := r.simple(q); reply != nil {
			r.answer(q, func() any { return reply })
		}
	}
}

// answer sends a reply between the states busy and idle.
func (r *relay) answer(q request, content func() any) {
	r.status(busyState, &q.Message)
	r.front.reply(q.from, strings.TrimSuffix(q.Header.Type, "_request")+"_reply", content(), &q.Message)
	r.status(idleState, &q.Message)
	r.mu.Lock() // until "busy" is sent: the cell's "idle" follows
	defer r.mu.Unlock()
	if r.running != nil {
		r.status(busyState, r.running) // front ends show the latest state
	}
}

func (r *relay) status(state string, parent *Message) {
	r.front.publish("status", statusContent{state}, parent)
}

// simple returns the reply to a request that needs neither GoNB nor time, nil for an unknown request.
func (r *relay) simple(q request) any {
	switch q.Header.Type {
	case "kernel_info_request":
		return kernelInfo()
	case "is_complete_request":
		var c executeContent
		_ = json.Unmarshal(q.Content, &c)
		status, indent := isComplete(c.Code)
		reply := map[string]any{"status": status}
		if status == "incomplete" {
			reply["indent"] = indent
		}
		return reply
	case "history_request":
		return r.historyReply(q.Content)
	case "comm_info_request":
		return r.commInfo(q.Content)
	case "connect_request":
		ports := map[string]any{"status": "ok"}
		for i, name := range []string{"shell_port", "control_port", "stdin_port", "iopub_port", "hb_port"} {
			ports[name] = r.ports[i]
		}
		return ports
	}
	return nil
}

func kernelInfo() any {
	return map[string]any{
		"status": "ok", "protocol_version": protocolVersion,
		"implementation": "antipode", "implementation_version": "0.1", "banner": DisplayName,
		"language_info": map[string]any{
			"name": "go", "version": strings.TrimPrefix(runtime.Version(), "go"), "mimetype": "text/x-go",
			"file_extension": ".go", "pygments_lexer": "go", "codemirror_mode": "go", "nbconvert_exporter": "script",
		},
		"help_links": []map[string]string{
			{"text": "Go", "url": "https://go.dev/doc/"},
			{"text": "GoNB", "url": "https://github.com/janpfeifer/gonb"},
		},
		"supported_features": []string{}, "debugger": false,
	}
}

// run executes the queued cells one after another until ctx ends.
func (r *relay) run(ctx context.Context) {
	r.begin(ctx)
	for ctx.Err() == nil {
		q, ok := r.next()
		if ok {
			r.execute(ctx, q)
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		}
	}
}

func (r *relay) next() (q request, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return q, false
	}
	q, r.queue = r.queue[0], r.queue[1:]
	return q, true
}

// late is the time for which requests may still arrive that were sent before a cell failed.
const late = 30 * time.Millisecond

// execute executes one request. After an error it aborts the waiting requests, unless stop_on_error is false.
func (r *relay) execute(ctx context.Context, q request) {
	var c executeContent
	if err := json.Unmarshal(q.Content, &c); err != nil {
		return // no execute_request
	}
	life := ctx
	ctx, cancel := context.WithCancel(life)
	defer cancel()
	r.mu.Lock()
	counted := !c.Silent && orTrue(c.StoreHistory) && strings.TrimSpace(c.Code) != ""
	if counted {
		r.count++
		r.history = append(r.history, entry{r.count, c.Code})
	}
	number := r.count
	r.running, r.stop = &q.Message, cancel
	r.mu.Unlock()
	r.status(busyState, &q.Message)
	if !c.Silent {
		input := map[string]any{"code": c.Code, "execution_count": number}
		r.front.publish("execute_input", input, &q.Message)
	}
	reply := r.cell(life, ctx, q, c, number)
	var aborted []request
	r.mu.Lock()
	if reply["status"] == "error" && orTrue(c.StopOnError) {
		r.mu.Unlock()
		time.Sleep(late)
		r.mu.Lock()
		aborted, r.queue = r.queue, nil
	}
	r.running, r.stop = nil, nil
	if reply["status"] == "ok" && !c.Silent {
		r.ran = append(r.ran, c.Code)
	}
	r.mu.Unlock()
	r.front.reply(q.from, "execute_reply", reply, &q.Message)
	r.status(idleState, &q.Message)
	for _, q := range aborted {
		r.abort(q)
	}
}

// abort replies to a request whose cell is not executed.
func (r *relay) abort(q request) {
	r.status(busyState, &q.Message)
	r.front.reply(q.from, "execute_reply", map[string]any{"status": "aborted"}, &q.Message)
	r.status(idleState, &q.Message)
}

// cell runs the code of a request and returns the content of its reply.
func (r *relay) cell(life, ctx context.Context, q request, c executeContent, number int) map[string]any {
	reply := map[string]any{
		"status": "ok", "execution_count": number, "user_expressions": map[string]any{}, "payload": []any{},
	}
	if strings.TrimSpace(c.Code) == "" {
		return reply
	}
	if name := inspected(c.Code); name != "" {
		reply["payload"] = []any{map[string]any{"source": "page", "start": 0, "data": r.page(ctx, name)}}
		return reply
	}
	failed := func(e ErrorContent) map[string]any {
		reply["status"], reply["ename"], reply["evalue"], reply["traceback"] = "error", e.Name, e.Value, e.Traceback
		return reply
	}
	k, err := r.ready(life, ctx, &q.Message)
	if err != nil {
		e := plainError("Kernel", "the notebook kernel did not start: "+strings.TrimPrefix(err.Error(), "jupyter: "))
		if ctx.Err() != nil {
			e = plainError("Interrupted", "interrupted while the notebook kernel starts")
		}
		if !c.Silent {
			r.front.publish("error", e, &q.Message)
		}
		return failed(e)
	}
	var input func(Message)
	if c.AllowStdin {
		input = func(m Message) {
			m.parent = q.raw
			r.front.ask(q.from, m)
		}
	}
	var front struct {
		CellID string `json:"cellId"`
	}
	_ = json.Unmarshal(q.Metadata, &front) // not every front end names its cells
	run := Cell{Source: c.Code, ID: front.CellID, Number: number, Hidden: c.Silent, input: input}
	done, err := k.Run(ctx, run, func(m Message) {
		if c.Silent || m.Header.Type == "execute_input" {
			return
		}
		r.noteComm(m)
		m.Header.Session = r.front.session
		m.Parent, m.parent = q.Header, q.raw
		r.front.publishMessage(m, true)
	})
	if err != nil || done.Status != "ok" {
		return failed(done.ErrorContent)
	}
	return reply
}

// interrupt ends the running cell, and with it the queued ones.
func (r *relay) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil {
		r.stop()
	}
}

// toKernel passes a message to GoNB, where it runs.
func (r *relay) toKernel(socket int, m Message) {
	r.mu.Lock()
	k := r.kernel
	r.mu.Unlock()
	if k != nil {
		_ = k.forward(socket, m) // GoNB is gone: its end is reported elsewhere
	}
}

// close ends the connections, and the cells that still wait.
func (r *relay) close() {
	for q, ok := r.next(); ok; q, ok = r.next() {
		r.abort(q)
	}
	r.front.close()
}
