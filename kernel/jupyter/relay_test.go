package jupyter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"

	"antipode/internal/must"
	"antipode/kernel/jupyter/complete"
)

// relayed starts a relay in this process whose kernel starts as start says, and a client of it.
func relayed(t *testing.T, start func(context.Context) (*Kernel, error)) (*Client, connection) {
	return relayedTo(t, start, io.Discard)
}

func relayedTo(t *testing.T, start func(context.Context) (*Kernel, error), log io.Writer) (*Client, connection) {
	t.Helper()
	conn := freePorts(t)
	names := complete.New(complete.Options{})
	r := newRelay(conn, start, names, func() {})
	r.front.log = log
	must.Do(t, r.front.listen(conn))
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan struct{})
	go func() { r.run(ctx); close(ran) }()
	c := dial(t, conn)
	t.Cleanup(func() {
		c.Close()
		cancel()
		<-ran
		r.close()
	})
	return c, conn
}

func dial(t *testing.T, conn connection) *Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := must.Get(connect(ctx, conn))(t)
	t.Cleanup(c.Close)
	return c
}

// conversation reads all messages of a client.
type conversation struct {
	t *testing.T
	*execution
	*Client
}

func converse(t *testing.T, c *Client) conversation {
	t.Helper()
	all := c.begin("")
	t.Cleanup(func() { c.finish(all) })
	return conversation{t, all, c}
}

func (c conversation) request(kind string, content any) Message {
	c.t.Helper()
	return must.Get(c.send(shellSocket, kind, content))(c.t)
}

func (c conversation) cell(code string, more ...any) Message {
	content := fields{"code": code, "silent": false, "store_history": true, "allow_stdin": false, "stop_on_error": true}
	for i := 0; i < len(more); i += 2 {
		content[more[i].(string)] = more[i+1]
	}
	return c.request("execute_request", content)
}

// until returns the messages up to the one that done accepts.
func (c conversation) until(done func(arrival) bool) (seen []arrival) {
	c.t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case m := <-c.messages:
			seen = append(seen, m)
			if done(m) {
				return seen
			}
		case <-limit:
			c.t.Fatalf("no such message among %d", len(seen))
		}
	}
}

func (c conversation) reply(request Message) fields {
	c.t.Helper()
	seen := c.until(func(m arrival) bool {
		return m.Parent.ID == request.Header.ID && strings.HasSuffix(m.Header.Type, "_reply")
	})
	var content fields
	must.Do(c.t, json.Unmarshal(seen[len(seen)-1].Content, &content))
	return content
}

// A front end is answered while GoNB still starts; where it cannot start, each cell says why.
func TestRelayWhileStarting(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	client, _ := relayed(t, func(ctx context.Context) (*Kernel, error) {
		<-release
		return nil, errors.New("jupyter: no Go here")
	})
	c := converse(t, client)
	waiting := c.cell("%%\n1")
	for kind, want := range map[string]string{
		"kernel_info_request": "protocol_version", "comm_info_request": "comms", "is_complete_request": "status",
		"history_request": "history",
	} {
		if got := c.reply(c.request(kind, fields{"code": "x", "hist_access_type": "tail",
			"n": 1})); got["status"] == nil || got[want] == nil {
			t.Errorf("%s is answered with %v", kind, got)
		}
	}
	close(release)
	for range 2 { // the second cell tries again
		got := c.reply(waiting)
		must.Equal(t, got["status"], "error", "the cell ended with")
		must.Has(t, fmt.Sprint(got["evalue"]), "no Go here")
		waiting = c.cell("%%\n2")
	}
}

// Bytes that are no message, messages without a valid signature and repeated ones are logged and do nothing; the
// kernel goes on.
func TestRelayHostileMessages(t *testing.T) {
	t.Parallel()
	logged, log := io.Pipe()
	lines := make(chan string, 100)
	go func() {
		for s := bufio.NewScanner(logged); s.Scan(); {
			lines <- s.Text()
		}
	}()
	client, conn := relayedTo(t, func(context.Context) (*Kernel, error) { return nil, errors.New("none") }, log)
	for _, garbage := range [][]byte{[]byte("GET / HTTP/1.1\r\n\r\n"), bytes.Repeat([]byte{0xff}, 4096), {}} {
		network, address := conn.address(conn.ShellPort)
		raw := must.Get(net.Dial(network, address))(t)
		_, _ = raw.Write(garbage)
		_ = raw.Close()
	}
	raw, peer := open(t, conn, conn.ShellPort, zmq4.Dealer)
	m := must.Get(newMessage("x", "execute_request", fields{"code": "1"}, nil))(t)
	signed, _ := m.frames([]byte(conn.Key))
	unsigned, _ := m.frames([]byte("another key"))
	last := must.Get(newMessage("x", "execute_request", fields{"code": "2"}, nil))(t)
	end, _ := last.frames([]byte(conn.Key))
	for _, frames := range [][][]byte{unsigned, {[]byte("x")}, {delimiter}, unsigned[:3], {}, signed, signed, end} {
		must.Do(t, peer.SendMsg(zmq4.NewMsgFrom(frames...)))
	}
	var answered []string // requests, which are answered in order
	_ = raw.SetReadDeadline(time.Now().Add(10 * time.Second))
	for !slices.Contains(answered, last.Header.ID) {
		reply := must.Get(peer.RecvMsg())(t)
		got := must.Get(parseMessage(reply.Frames, []byte(conn.Key)))(t)
		answered = append(answered, got.Parent.ID)
	}
	must.EqualSlices(t, answered, []string{m.Header.ID, last.Header.ID}, "replies to",
		"each message that is signed, once")
	for _, want := range []string{"wrong signature; ignored, 1 so far", "ignored, 2 so far", "ignored, 4 so far"} {
		if line := <-lines; !strings.Contains(line, want) { // of 6: 5 that are no messages, and the repeated one
			t.Errorf("logged %q, want %q", line, want)
		}
	}
	must.Equal(t, len(lines), 0, "more lines logged")
	other, _ := open(t, conn, conn.ShellPort, zmq4.Dealer)
	_, _ = raw.Write([]byte{2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) // a frame of 2⁶⁴-1 bytes
	_, _ = other.Write([]byte{2, 0, 0, 0x10, 0, 0, 0, 0, 0})                    // of 2⁴⁴
	_ = other.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err := other.Read(make([]byte, 1))
	must.Equal(t, err, io.EOF, "the connection of a frame that is too long")
	if got := converse(t, client); got.reply(got.request("kernel_info_request", fields{}))["status"] != "ok" {
		t.Error("the kernel does not answer any more")
	}
}

// open is a bare ZeroMQ connection.
func open(t *testing.T, conn connection, port int, kind zmq4.SocketType) (net.Conn, *zmq4.Conn) {
	t.Helper()
	network, address := conn.address(port)
	raw := must.Get(net.Dial(network, address))(t)
	t.Cleanup(func() { _ = raw.Close() })
	peer := must.Get(zmq4.Open(raw, null.Security(), kind, zmq4.SocketIdentity(newID()), false, nil))(t)
	return raw, peer
}

// A subscriber is welcomed, and from then on hears everything.
func TestRelayWelcome(t *testing.T) {
	t.Parallel()
	_, conn := relayed(t, func(context.Context) (*Kernel, error) { return nil, errors.New("none") })
	_, peer := open(t, conn, conn.IOPubPort, zmq4.Sub)
	must.Do(t, peer.SendMsg(zmq4.NewMsg([]byte{1})))
	raw := must.Get(peer.RecvMsg())(t)
	m := must.Get(parseMessage(raw.Frames, []byte(conn.Key)))(t)
	must.Equal(t, m.Header.Type, "iopub_welcome", "welcomed with")
	must.Equal(t, string(m.Content), `{"subscription":""}`, "welcomed with")
}

// aborts checks that cells that wait are aborted when one fails or is interrupted, unless the request says otherwise.
func aborts(t *testing.T, s *served) {
	t.Helper()
	c := converse(t, s.Client)
	statuses := func(requests ...Message) (got []string) {
		for _, m := range requests {
			got = append(got, fmt.Sprint(c.reply(m)["status"]))
		}
		return got
	}
	must.EqualSlices(t, statuses(c.cell("%%\npanic(1)"), c.cell("var a = 1"), c.cell("var b = 1")), []string{"error",
		"aborted", "aborted"}, "after an error")
	must.EqualSlices(t, statuses(c.cell("%%\npanic(1)", "stop_on_error", false), c.cell("var a = 1")), []string{"error",
		"ok"}, "after an error that does not stop")
	long, after := c.cell("%%\nfmt.Println()\ntime.Sleep(time.Hour)"), c.cell("var c = 1")
	c.until(func(m arrival) bool { return m.Header.Type == "stream" && m.Parent.ID == long.Header.ID })
	start := time.Now()
	must.Do(t, s.Interrupt())
	if got := statuses(long, after); !slices.Equal(got, []string{"error", "aborted"}) ||
		time.Since(start) > 3*time.Second {
		t.Errorf("%v after an interrupt: %v", time.Since(start), got)
	}
	must.EqualSlices(t, statuses(c.cell("%%\nfmt.Println(a)")), []string{"ok"}, "afterwards")
}

// input checks that a cell that reads standard input is given what the user types, or its end where nobody can type.
func input(t *testing.T, s *served) {
	t.Helper()
	const code = "%%\nvar line string\n_, err := fmt.Scanln(&line)\nfmt.Printf(\"%q %v\", line, err)"
	if got, _ := s.printed(t, code); got != `"" EOF` {
		t.Errorf("without a user: %s", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got string
	_, err := s.execute(ctx, code, false, func(m Message) {
		if m.Header.Type == "stream" {
			got += described(m)
		}
	}, func(m Message) {
		if _, err := s.send(stdinSocket, "input_reply", fields{"value": "hello"}); err != nil {
			t.Error(err)
		}
	})
	must.True(t, err == nil && got == `stdout:"hello" <nil>`, "got %s, %v", got, err)
}

// What a newcomer tries is answered in the terms of the notebook, with one error each. All users share a kernel.
func TestServeUsers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, test := range []struct{ code, want string }{
		{"var n = 2\nvar photos = datasets.FromRows([]map[string]any{{\"id\": \"a\", \"region\": \"North\"}})", ""},
		{"%%\nn * 21", `execute_result:{"data":{"text/plain":"42"},"metadata":{},"transient":{},"execution_count":2}`},
		{"photo", "error:compile error|cell [3], line 1: photo: statements go below a line %%; above it are " +
			"import, var, const, type and func|" +
			"cell [3], line 1: photo: statements go below a line %%; above it are import, var, const, type and func"},
		{"%%\nimages", "error:compile error|cell [4], line 2: undefined: images|cell [4], line 2: undefined: " +
			"images\n    images"},
		{"%%\nn = 3", "stderr:line 2: n is assigned below %%: later cells do not see the new value; to keep it, " +
			"declare it above %% (var n = …)\n"},
		{"%%\nfmt.Fprintln(os.Stderr, \"row 7: no file\")\nos.Exit(1)", "error:Error|row 7: no file|row 7: no file"},
		{"func f(i int) int {\n\treturn []int{1}[i]\n}\n%%\nfmt.Println(f(n))",
			"error:panic|runtime error: index out of range [2] with length 1|" +
				"panic: runtime error: index out of range [2] with length 1⏎    cell [7], line 2⏎    cell [7], line 5"},
		// printed text and displays reach GoNB by two pipes: wait for the first
		{"%%\nfmt.Print(1)\ntime.Sleep(time.Second / 2)\ncell.Clear()", "stdout:1 clear_output:{\"wait\":false}"},
	} {
		var got []string
		_, err := s.execute(t.Context(), test.code, false, func(m Message) {
			if m.Header.Type != "execute_input" {
				got = append(got, described(m))
			}
		}, nil)
		must.True(t, err == nil && strings.Join(got, " ") == test.want,
			"%q: got\n%s\nwant\n%s\n%v", test.code, strings.Join(got, " "), test.want, err)
	}
	input(t, s)
	notes(t, s)
	newUsers(t, s)
}

// A cell that the front end names shows its note again after a change of its code; others do not.
func notes(t *testing.T, s *served) {
	c := converse(t, s.Client)
	const code = "import \"antipode/datasets/table\"\n%%\np := cell.NewProgress()\n" +
		"p.Update(table.Progress{Note: \"3 have no mask\"})\np.Close()\n"
	for i, run := range []struct{ id, code, want string }{{"a", code, "3 have no mask"},
		{"b", code, ""}, {"a", code + "// changed", "3 have no mask"}} {
		m := must.Get(newMessage(c.session, "execute_request", fields{"code": run.code}, nil))(t)
		m.Metadata = json.RawMessage(`{"cellId":"` + run.id + `"}`)
		must.Do(t, c.forward(shellSocket, m))
		var shown DisplayContent
		c.until(func(a arrival) bool {
			if a.Parent.ID == m.Header.ID && a.Header.Type == "display_data" {
				_ = json.Unmarshal(a.Content, &shown)
			}
			return a.Parent.ID == m.Header.ID && a.Header.Type == "status" &&
				strings.Contains(string(a.Content), idleState)
		})
		text, _ := shown.Data["text/plain"].(string)
		must.True(t, text == run.want, "execution %d shows %q, want %q", i+1, text, run.want)
	}
}
