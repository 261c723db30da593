package backend

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
	_ "antipode/test/memdir"
	_ "antipode/test/waiting"
)

// slow is a stage that takes its time with every batch, so that there is something to kill.
type slow struct{ wait time.Duration }

func (slow) Label() string                                 { return "slow" }
func (slow) Digest() string                                { return "slow" }
func (slow) Check([]table.ColumnSpec) error                { return nil }
func (slow) Outputs([]table.ColumnSpec) []table.ColumnSpec { return datasets.Columns("full:vector") }
func (slow) Key(r stage.Row) string                        { return r.Text("id") }
func (slow) Batch() int                                    { return batch }
func (slow) Load(context.Context) error                    { return nil }
func (slow) Close()                                        {}
func (slow) Prepare(_ context.Context, r stage.Row) (string, string, error) {
	return r.Text("id"), "", nil
}

func (s slow) Compute(ctx context.Context, in []string) ([][]table.Value, error) {
	// every computed item leaves a byte, so that none goes uncounted
	if f := filepath.Join(os.Getenv(client.HomeVar), "computed"); os.Getenv(client.HomeVar) != "" {
		log, err := os.OpenFile(f, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		log.Write(make([]byte, len(in)))
		log.Close()
	}
	select {
	case <-time.After(s.wait):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	out := make([][]table.Value, len(in))
	for i, id := range in {
		out[i] = []table.Value{{Vector: []float32{float32(len(id)), 1}}}
	}
	return out, nil
}

const (
	batch = 5
	items = 60
)

func TestMain(m *testing.M) {
	stage.Register(stage.Stage{Name: "slow", Version: 1,
		Open: func(_ context.Context, _ stage.Env, args json.RawMessage) (*stage.Opened, error) {
			var ms int
			err := json.Unmarshal(args, &ms)
			return stage.Of(slow{time.Duration(ms) * time.Millisecond}), err
		}})
	if len(os.Args) == 3 && os.Args[1] == "backend" && os.Args[2] == "child" {
		if err := engine.ServeChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "backend" { // a client started this program as its backend
		home, err := client.Home()
		if err == nil {
			err = startup()
		}
		if err == nil {
			err = serve(home)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(tested(m))
}

// tested runs the tests, for whose clients this program is the build build1.
func tested(m *testing.M) int {
	dir, err := os.MkdirTemp("", "antipode-build")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv(client.BinaryVar, link(filepath.Join(dir, "build1")))
	return m.Run()
}

// link is this program in a folder of its own.
func link(dir string) string {
	self, err := os.Executable()
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	name := filepath.Join(dir, "antipode")
	if err := cmp.Or(err, os.Symlink(self, name)); err != nil {
		panic(err)
	}
	return name
}

func serve(home string) error {
	l, err := Listen(home)
	if err != nil {
		return err
	}
	s, err := store.Open(home)
	if err != nil {
		return err
	}
	e := engine.New(s, engine.Options{Build: "test", OpenDevice: func(context.Context) (engine.Device,
		error) {
		return nil, errors.New("none")
	}, Devices: testDevices, Alone: testAlone})
	idle := time.Minute
	if ms := os.Getenv("ANTIPODE_TEST_IDLE"); ms != "" {
		idle, _ = time.ParseDuration(ms)
	}
	return New(e, client.BuildOf(os.Getenv(client.BinaryVar)), idle).Serve(context.Background(), l)
}

// connect is a client of an own store, whose backend is this test program.
func connect(t *testing.T) *client.Backend {
	t.Helper()
	home := t.TempDir()
	b := must.Get(client.ConnectTo(home))(t)
	t.Cleanup(func() {
		b.Stop(context.Background(), false)
		for range 100 { // a process that found the store in use may not have ended yet
			if os.RemoveAll(home) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return b
}

func plan(t *testing.T, n int, ms int) *table.Plan {
	t.Helper()
	return planOf(t, "slow", n, ms)
}

// planOf is a plan of n rows that a stage computes. The rows "ROW ID" have an id of their own.
func planOf(t *testing.T, stage string, n, ms int, named ...string) *table.Plan {
	t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("row%d", i)
	}
	for _, name := range named {
		row, id, _ := strings.Cut(name, " ")
		ids[must.Get(strconv.Atoi(row))(t)] = id
	}
	tab := datasets.FromFrame(&table.Frame{Columns: []table.Column{table.TextColumn("id", ids)}})
	return must.Get(datasets.Extend(tab).Derive(stage, ms, datasets.Columns("full:vector")...).Plan())(t)
}

func encode(t *testing.T, f *table.Frame) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, f.Encode(&b))
	return b.Bytes()
}

// TestKill kills the backend 20 times at random points of a run: each time the run goes on where it was, and nothing
// but the batch in flight is computed twice.
func TestKill(t *testing.T) {
	t.Parallel()
	b := connect(t)
	b.Say = func(string) {}
	clean := connect(t)
	want, err := clean.Run(context.Background(), client.Request{Plan: plan(t, items, 0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const kills = 20
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	killed := 0
	wg.Go(func() {
		r := rand.New(rand.NewPCG(1, 2))
		for killed < kills && ctx.Err() == nil {
			time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
			st, err := b.Status(ctx)
			if err != nil || len(st.Jobs) == 0 {
				continue
			}
			if syscall.Kill(st.PID, syscall.SIGKILL) == nil {
				killed++
			}
		}
	})
	for ctx.Err() == nil {
		_, err = b.Run(ctx, client.Request{Plan: plan(t, items, 30)}, nil)
		if err != nil && !strings.Contains(err.Error(), "died") {
			t.Fatal(err)
		}
		if err == nil {
			break // killed before its first batch three times running, it gives up: then it is asked again
		}
	}
	cancel()
	wg.Wait()
	got := must.Get(b.Run(context.Background(), client.Request{Plan: plan(t, items, 0)}, nil))(t)
	must.True(t, bytes.Equal(encode(t, got.Frame), encode(t, want.Frame)),
		"the table is not that of an uninterrupted run")
	log := must.Get(os.ReadFile(filepath.Join(b.Home, "computed")))(t)
	must.True(t, len(log) <= items+killed*batch,
		"%d items computed for %d, with %d kills and batches of %d", len(log), items, killed, batch)
	must.True(t, killed != 0, "nothing was killed")
	t.Logf("%d kills, %d items computed", killed, len(log))
}

func TestSharedAndCanceled(t *testing.T) {
	t.Parallel()
	b := connect(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	errs := make([]error, 2)
	started := make(chan struct{}, 8)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = b.Run(ctx, client.Request{Plan: plan(t, 1000, 50)}, func(table.Progress) {
				select {
				case started <- struct{}{}:
				default:
				}
			})
		})
	}
	<-started
	must.Within(t, time.Minute, "both wait for one job", func() bool {
		st := must.Get(b.Status(context.Background()))(t)
		return len(st.Jobs) == 1 && st.Jobs[0].Waiters == 2
	})
	cancel()
	wg.Wait()
	for _, err := range errs {
		must.Is(err)(t, context.Canceled) // canceled run
	}
	must.Within(t, 5*time.Second, "the job ends after its last waiter left", func() bool {
		return len(must.Get(b.Status(context.Background()))(t).Jobs) == 0
	})
}

func TestAnotherBuildDrainsAndIsReplaced(t *testing.T) {
	b := connect(t)
	must.Do(t, b.Ensure(context.Background()))
	first := must.Get(b.Hello(context.Background()))(t)
	done := make(chan error, 1)
	started := make(chan struct{})
	var once sync.Once
	go func() {
		_, err := b.Run(context.Background(), client.Request{Plan: plan(t, 20, 50)},
			func(table.Progress) { once.Do(func() { close(started) }) })
		done <- err
	}()
	<-started
	t.Setenv(client.BinaryVar, link(filepath.Join(b.Home, "bin", "build2")))
	_ = must.Get(b.Run(context.Background(), client.Request{Plan: plan(t, 3, 0)}, nil))(t)
	second, err := b.Hello(context.Background())
	must.True(t, err == nil && second.Build == "build2" && second.PID != first.PID,
		"%+v, then %+v, %v", first, second, err)
	if err := <-done; err != nil {
		t.Errorf("the older build's job: %v", err)
	}
}

// TestReplyBeforeEnd: Serve returns after the replies to the requests in progress, or a client that stops the backend
// would find the connection closed.
func TestReplyBeforeEnd(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("unix", filepath.Join(t.TempDir(), "socket")))(t)
	st := must.Get(store.Open(t.TempDir()))(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- New(engine.New(st, engine.Options{}), "test", time.Minute).Serve(ctx, l) }()
	conn := must.Get(net.Dial("unix", l.Addr().String()))(t)
	defer conn.Close()
	in := bufio.NewReader(conn)
	fmt.Fprint(conn, "POST /v1/run HTTP/1.1\r\nHost: antipode\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("the request is not read: %q %v", line, err)
	}
	stop()
	select {
	case err := <-served:
		t.Fatalf("Serve returned during a request: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	fmt.Fprint(conn, "{}")
	must.Has(t, string(must.Get(io.ReadAll(in))(t)), "it has no plan")
	must.Do(t, <-served)
}

func TestIdleEnds(t *testing.T) {
	b := connect(t)
	t.Setenv("ANTIPODE_TEST_IDLE", "200ms")
	must.Do(t, b.Ensure(context.Background()))
	must.Within(t, 10*time.Second, "an idle backend ends", func() bool {
		_, err := b.Hello(context.Background())
		return errors.Is(err, client.ErrNoBackend)
	})
}

func TestErrorsCrossTheWire(t *testing.T) {
	t.Parallel()
	b := connect(t)
	_, err := b.Run(context.Background(), client.Request{Plan: &table.Plan{Op: "nonsense", Line: "cell.go:3"}}, nil)
	var remote *table.Error
	if !errors.As(err, &remote) || remote.Code != table.CodeFailed ||
		!strings.Contains(err.Error(), `no operation "nonsense"`) || !strings.Contains(err.Error(), "cell.go:3") {
		t.Errorf("%v", err)
	}
}

func TestFairTurns(t *testing.T) {
	t.Parallel()
	b := connect(t)
	long, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := make(chan struct{})
	var once sync.Once
	go b.Run(long, client.Request{Plan: plan(t, 100000, 20)}, func(p table.Progress) {
		if p.Computed > 0 {
			once.Do(func() { close(started) })
		}
	})
	<-started
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	if _, err := b.Run(ctx, client.Request{Plan: planOf(t, "slow", 1, 1, "0 other")}, nil); err != nil {
		t.Errorf("a short job next to a long one: %v", err)
	}
}
