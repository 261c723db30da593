package jupyter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/internal/must"
	_ "antipode/test/memdir"
	_ "antipode/test/waiting"
)

// TestMain lets the test's own program be the kernel: `PROGRAM kernel CONNECTION_FILE`.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "front end" { // a Jupyter that starts a kernel and is killed
		program, err := os.Executable()
		if err != nil {
			panic(err)
		}
		cmd := exec.Command(program, "kernel", os.Args[2])
		cmd.Env = append(os.Environ(), "JPY_PARENT_PID="+strconv.Itoa(os.Getpid()))
		_ = cmd.Run()
		os.Exit(1)
	}
	if len(os.Args) == 3 && os.Args[1] == "kernel" {
		stalledAfter = 2 * time.Second
		prepare := func(_ context.Context, say func(string)) (Options, error) {
			return Options{ModuleDir: os.Getenv("ANTIPODE_MODULE"), Home: os.Getenv("ANTIPODE_HOME"), Say: say}, nil
		}
		if err := Serve(context.Background(), os.Args[2], os.Getenv("ANTIPODE_MODULE"), prepare); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// home holds the tools for the tests of this module, so that GoNB is built once.
var home = sync.OnceValue(func() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "antipode-test-tools")
})

const markVar = "ANTIPODE_TEST_MARK"

// marked lists the processes whose environment carries the mark, as "pid command".
func marked(t *testing.T, mark string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(all) == 0 {
		t.Skip("no /proc: processes cannot be listed")
	}
	var found []string
	for _, path := range all {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte(markVar+"="+mark)) {
			continue
		}
		dir := filepath.Dir(path)
		if stat, err := os.ReadFile(filepath.Join(dir, "stat")); err == nil && bytes.Contains(stat, []byte(") Z ")) {
			continue // ended, its parent has not looked yet
		}
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(command), "\x00", " "))
	}
	return found
}

// gone waits until no process carries the mark.
func gone(t *testing.T, mark string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if left = marked(t, mark); len(left) == 0 {
			return
		}
	}
	t.Errorf("left behind: %s", strings.Join(left, "; "))
}

// lastPort is below the ports that systems give to connections, so that no other test gets one before its kernel.
var lastPort atomic.Int32

// freePorts makes a connection on free TCP ports, on which nothing answers. It does not listen on them itself: a
// process that another test starts at that moment would hold the port for a while.
func freePorts(t *testing.T) connection {
	t.Helper()
	lastPort.CompareAndSwap(0, 10_000+int32(os.Getpid()%10_000))
	var ports []int
	for len(ports) < 5 {
		port := int(lastPort.Add(1))
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			must.Do(t, c.Close())
			continue
		}
		ports = append(ports, port)
	}
	return connection{Transport: "tcp", IP: "127.0.0.1", ShellPort: ports[0], ControlPort: ports[1],
		StdinPort: ports[2], IOPubPort: ports[3], HBPort: ports[4], SignatureScheme: "hmac-sha256", Key: newID()}
}

// served is a kernel in a process of its own, as Jupyter would start it.
type served struct {
	*Client
	process *os.Process
	mark    string
	ended   chan struct{}
}

func (s *served) connectionFile() string { return "kernel-" + s.mark + ".json" }

func serve(t *testing.T) *served { return serveAs(t, "kernel") }

// serveAs starts this program in a role of TestMain.
func serveAs(t *testing.T, role string) *served {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: runs GoNB")
	}
	module := must.Get(filepath.Abs("../.."))(t)
	_ = must.Get(Tools(t.Context(), module, home(), nil))(t) // not during the test's first cell
	conn := freePorts(t)
	s := &served{mark: newID(), ended: make(chan struct{})}
	file := filepath.Join(t.TempDir(), s.connectionFile())
	must.Do(t, conn.write(file))
	program := must.Get(os.Executable())(t)
	cmd := exec.Command(program, role, file)
	cmd.Env = append(os.Environ(), markVar+"="+s.mark, "ANTIPODE_MODULE="+module, "ANTIPODE_HOME="+home())
	cmd.Stderr = os.Stderr
	must.Do(t, cmd.Start())
	s.process = cmd.Process
	go func() { _ = cmd.Wait(); close(s.ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.Client = must.Get(connect(ctx, conn))(t)
	t.Cleanup(s.Client.Close)
	return s
}

// printed executes a cell and returns its output.
func (s *served) printed(t *testing.T, code string) (string, ReplyContent) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var b strings.Builder
	reply := must.Get(s.execute(ctx, code, false, func(m Message) {
		if m.Header.Type == "stream" {
			var c StreamContent
			_ = json.Unmarshal(m.Content, &c)
			b.WriteString(c.Text)
		}
	}, nil))(t)
	return b.String(), reply
}

// sleeping begins a cell that never ends by itself and waits until it runs.
func (s *served) sleeping(t *testing.T) <-chan ReplyContent {
	t.Helper()
	runs, replied := make(chan struct{}), make(chan ReplyContent, 1)
	var once sync.Once
	go func() {
		reply, _ := s.execute(t.Context(),
			"%%\nfmt.Println(\"running\")\ntime.Sleep(time.Hour)", false, func(m Message) {
				if m.Header.Type == "stream" {
					once.Do(func() { close(runs) })
				}
			}, nil)
		replied <- reply
	}()
	select {
	case <-runs:
	case <-time.After(30 * time.Second):
		t.Fatal("the cell does not run")
	}
	return replied
}

func (s *served) waitEnd(t *testing.T) {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(5 * time.Second):
		t.Error("the kernel goes on")
	}
	gone(t, s.mark)
}

// A kernel behind its relay executes, is interrupted, goes on, and leaves nothing when shut down.
func TestServe(t *testing.T) {
	s := serve(t)
	got, reply := s.printed(t,
		"var early = os.TempDir() // before any init of the cell\n%%\nfmt.Println(os.Getenv(\"ANTIPODE_MODULE\") != "+
			"\"\", os.TempDir(), early, client.Protocol)")
	want := fmt.Sprintln(true, os.TempDir(), os.TempDir(), client.Protocol)
	must.True(t, got == want && reply.Status == "ok" && reply.ExecutionCount != nil && *reply.ExecutionCount == 1,
		"printed %q, want %q; reply %+v", got, want, reply)
	if n := len(marked(t, s.mark)); n < 3 {
		t.Errorf("%d processes run, want kernel, GoNB and the watchdog: the test sees too few", n)
	}
	aborts(t, s)
	s.sleeping(t)
	must.Do(t, s.Shutdown())
	s.waitEnd(t)
}

// However the kernel's process ends, a running cell and GoNB end with it.
func TestServeEndsEverything(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.sleeping(t)
			must.Do(t, s.process.Signal(sig))
			s.waitEnd(t)
			left, _ := filepath.Glob(filepath.Join(os.TempDir(), "apk-*", s.connectionFile()))
			must.True(t, len(left) == 0, "left files behind: %v", left)
		})
	}
}

// When GoNB dies, a client hears it and the kernel ends.
func TestServeGoNBDies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	replied := s.sleeping(t)
	killed := false
	for _, p := range marked(t, s.mark) {
		if pid, command, _ := strings.Cut(p, " "); strings.Contains(command, "/gonb ") {
			n, _ := strconv.Atoi(pid)
			killed = syscall.Kill(n, syscall.SIGKILL) == nil
		}
	}
	if !killed {
		t.Fatal("found no GoNB to kill")
	}
	select {
	case reply := <-replied:
		if !strings.Contains(reply.Value, ErrDied.Error()) {
			t.Errorf("the cell ended with %+v, want ErrDied", reply)
		}
	case <-time.After(10 * time.Second):
		t.Error("the client does not hear of it")
	}
	s.waitEnd(t)
}

// A kernel whose front end is killed ends, and leaves nothing.
func TestServeFrontEndKilled(t *testing.T) {
	t.Parallel()
	s := serveAs(t, "front end")
	s.printed(t, "%%\nfmt.Println()")
	must.Do(t, s.process.Kill())
	s.waitEnd(t)
}
