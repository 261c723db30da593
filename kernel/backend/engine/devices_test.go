package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/kernel/backend/devices"
	"antipode/kernel/backend/store"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "backend" && os.Args[2] == "child" {
		if err := ServeChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// everything is a stage with columns of all kinds and bad rows. A line of the file log for each computed row has the
// number of the process and the row's id.
type everything struct {
	counted
	args everythingArgs
}

type everythingArgs struct {
	Log  string
	Wait time.Duration // for a batch
	Uses string        // "device", "secret" (and the device) or ""
}

func (everything) Key(r stage.Row) string { return r.Text("id") }
func (everything) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns("words:text", "n:number", "shown:image", "shape:mask", "full:vector")
}

func (everything) Prepare(_ context.Context, r stage.Row) (string, string, error) {
	if id := r.Text("id"); !strings.HasPrefix(id, "bad") {
		return id, "", nil
	}
	return "", "id", errors.New("is a bad id")
}

func (e everything) Compute(ctx context.Context, in []string) ([][]table.Value, error) {
	out := make([][]table.Value, len(in))
	err := e.env.OnDevice(ctx, func() error {
		for i, id := range in {
			stage.Step(ctx, i+1, len(in))
			f, err := os.OpenFile(e.args.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			fmt.Fprintln(f, os.Getpid(), id)
			f.Close()
			if strings.HasPrefix(id, "error") {
				return errors.New("no such thing as " + id)
			}
			img, err := e.env.PutBlob([]byte("image of "+id[:1]), ".png") // some are the same
			if err != nil {
				return err
			}
			out[i] = []table.Value{{Text: "“" + id + "”\n"}, {Number: math.Inf(-1)}, {Image: img},
				{Mask: table.Mask{Size: [2]int{1, 2}, Counts: "02"}}, {Vector: []float32{float32(len(id)), -0.1}}}
			if len(id)%2 == 1 { // no values
				out[i] = []table.Value{{}, {Number: math.NaN()}, {}, {}, {}}
			}
		}
		select {
		case <-time.After(e.args.Wait):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return out, err
}

func init() {
	stage.Register(stage.Stage{Name: "everything", Version: 1,
		Open: func(_ context.Context, env stage.Env, args json.RawMessage) (*stage.Opened, error) {
			e := everything{counted: counted{env}}
			if err := json.Unmarshal(args, &e.args); err != nil {
				return nil, err
			}
			if e.args.Uses == "secret" {
				env.Secret("KEY")
			}
			if e.args.Uses != "" {
				if _, err := env.DeviceKind(); err != nil {
					return nil, err
				}
			}
			return stage.Of(e), nil
		}})
}

// engineOn returns an engine with n devices: pure Go ones, which is enough for a stage without a model.
func engineOn(t *testing.T, n int) *Engine {
	t.Helper()
	s := must.Get(store.Open(filepath.Join(t.TempDir(), "store")))(t)
	e := New(s, Options{Build: "test",
		OpenDevice: func(context.Context) (Device, error) { return kindOnly{}, nil },
		Devices: func(_ context.Context, budget int64) (*devices.Set, error) {
			if n == 1 {
				return nil, nil
			}
			all := make([]devices.Device, n)
			for i := range all {
				all[i].Name = fmt.Sprint("cpu ", i)
			}
			return devices.New(devices.Options{Devices: all, Log: os.Stderr,
				Setup:   devices.Setup{Kind: device.Go, Budget: budget / int64(n)},
				Command: func() *exec.Cmd { return exec.Command(os.Args[0], "backend", "child") }}), nil
		}})
	t.Cleanup(func() { e.Close() })
	return e
}

// kindOnly is a device of which only the kind is used.
type kindOnly struct{ Device }

func (kindOnly) Kind() string { return device.Go }
func (kindOnly) Close()       {}

// TestDeviceKindWhileAnotherOpens: the kind of the device that is open is known while another one is being opened.
func TestDeviceKindWhileAnotherOpens(t *testing.T) {
	e := engineOn(t, 1)
	must.Equal(t, e.DeviceKind(), "", "before a device is needed")
	_ = must.Get(e.openDevice(e.newRun(t.Context(), client.Request{}, nil, e.Store)))(t)
	e.deviceMu.Lock()
	defer e.deviceMu.Unlock()
	must.Equal(t, e.DeviceKind(), device.Go)
}

// rowsNamed returns a table of the ids; a bad one is every seventh.
func rowsNamed(n int, prefix string) datasets.Table {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s%d", prefix, i)
		if i%7 == 3 {
			ids[i] = fmt.Sprint("bad", i)
		}
	}
	return datasets.FromFrame(&table.Frame{Columns: []table.Column{table.TextColumn("id", ids)}})
}

func (a everythingArgs) of(t datasets.Table) datasets.Table {
	return derive(t, "everything", a, "words:text", "n:number", "shown:image", "shape:mask", "full:vector")
}

// newArgs returns arguments with a log of the test's own.
func newArgs(t *testing.T, uses string, wait time.Duration) everythingArgs {
	return everythingArgs{Log: filepath.Join(t.TempDir(), "log"), Wait: wait, Uses: uses}
}

// computedBy returns how often each row was computed, and by which processes.
func (a everythingArgs) computedBy(t *testing.T) (rows map[string]int, processes []string) {
	t.Helper()
	data := must.Get(os.ReadFile(a.Log))(t)
	rows = map[string]int{}
	for line := range strings.Lines(string(data)) {
		process, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		rows[id]++
		processes = append(processes, process)
	}
	slices.Sort(processes)
	return rows, slices.Compact(processes)
}

// plainBytes returns a frame's encoding with images by their digest alone.
func plainBytes(t *testing.T, f *table.Frame) []byte {
	t.Helper()
	out := &table.Frame{Columns: slices.Clone(f.Columns)}
	for i := range out.Columns {
		c := &out.Columns[i]
		c.Images = slices.Clone(c.Images)
		for j := range c.Images {
			if c.Images[j].Path != "" {
				must.Get(os.Stat(c.Images[j].Path))(t)
			}
			c.Images[j].Path = ""
		}
	}
	var b bytes.Buffer
	must.Do(t, out.Encode(&b))
	return b.Bytes()
}

// TestDevicesCompute: two devices compute what one does, with the same bad rows in the same order, each row once; then
// all is found.
func TestDevicesCompute(t *testing.T) {
	t.Parallel()
	var want *client.Result
	for _, n := range []int{1, 2, 3} {
		e, args := engineOn(t, n), newArgs(t, "device", 30*time.Millisecond)
		got := must.Get(run1(t, e, args.of(rowsNamed(60, "row")), client.Request{SkipBad: true}))(t)
		if want == nil {
			want = got
		}
		if !bytes.Equal(plainBytes(t, got.Frame), plainBytes(t, want.Frame)) || !slices.Equal(got.Bad, want.Bad) ||
			got.Computed != want.Computed || len(got.Bad) != 9 {
			t.Errorf("%d devices: %+v, want %+v", n, got, want)
		}
		rows, processes := args.computedBy(t)
		for id, times := range rows {
			must.True(t, times == 1 && !strings.HasPrefix(id, "bad"),
				"%d devices: row %s was computed %d times", n, id, times)
		}
		own := slices.Contains(processes, fmt.Sprint(os.Getpid()))
		must.True(t, len(rows) == 51 && len(processes) == n && own == (n == 1),
			"%d devices: %d rows, processes %s", n, len(rows), processes)
		again := must.Get(run1(t, e, args.of(rowsNamed(60, "row")), client.Request{SkipBad: true}))(t)
		must.Equal(t, again.Found, 51, n, "devices: again")
		must.Equal(t, again.Computed, 0, n, "devices: again")
		for _, d := range e.Devices() {
			if d.Computed == 0 || d.Rate <= 0 || d.Memory.Budget != e.opts.Budget/int64(n) || d.Memory.Resident <= 0 {
				t.Errorf("%d devices: %+v", n, d)
			}
		}
	}
}

// TestDeviceErrors: a bad row, and an error of the stage, are those of one device.
func TestDeviceErrors(t *testing.T) {
	ids := map[string]datasets.Table{"a bad row": rowsNamed(20, "row"), "an error": rowsNamed(3, "error")}
	for what, rows := range ids {
		var want error
		for _, n := range []int{1, 2} {
			_, err := run1(t, engineOn(t, n), newArgs(t, "device", 0).of(rows), client.Request{})
			if want == nil {
				want = err
			}
			if err == nil || err.Error() != want.Error() {
				t.Errorf("%s, %d devices: %v, want %v", what, n, err, want)
			}
		}
	}
}

// TestStaysHere: this process computes the batches of a stage that uses no device, or a secret, which leaves it
// never.
func TestStaysHere(t *testing.T) {
	for _, uses := range []string{"", "secret"} {
		e, args := engineOn(t, 2), newArgs(t, uses, 0)
		_ = must.Get(run1(t, e, args.of(rowsNamed(3, "row")), client.Request{}))(t)
		if _, processes := args.computedBy(t); !slices.Equal(processes, []string{fmt.Sprint(os.Getpid())}) {
			t.Errorf("a stage that uses %q: processes %s", uses, processes)
		}
	}
}

// TestDeviceKilled kills a process in the middle of two runs that need the same rows: nothing is lost or doubled, and
// only batches in its hands are computed twice.
func TestDeviceKilled(t *testing.T) {
	t.Parallel()
	e, args := engineOn(t, 2), newArgs(t, "device", 100*time.Millisecond)
	want := must.Get(run1(t, engineOn(t, 1), newArgs(t, "device", 0).of(rowsNamed(80, "row")),
		client.Request{SkipBad: true}))(t)
	var once sync.Once
	killed := 0
	var wait sync.WaitGroup
	for i := range 2 {
		wait.Go(func() {
			plan, err := args.of(rowsNamed(80, "row")).Plan()
			if err != nil {
				t.Error(err)
				return
			}
			ctx := WithOwner(t.Context(), fmt.Sprint("job ", i))
			got, err := e.Run(ctx, client.Request{Plan: plan, SkipBad: true}, func(p table.Progress) {
				if p.Computed > 16 {
					once.Do(func() {
						killed = e.Devices()[0].PID
						syscall.Kill(killed, syscall.SIGKILL)
					})
				}
			})
			must.True(t, err == nil && bytes.Equal(plainBytes(t, got.Frame), plainBytes(t, want.Frame)),
				"job %d: %+v, %v", i, got, err)
		})
	}
	wait.Wait()
	rows, processes := args.computedBy(t)
	twice := 0
	for id, times := range rows {
		if twice += times - 1; times > 2 {
			t.Errorf("row %s was computed %d times", id, times)
		}
	}
	must.True(t, killed != 0 && twice <= 2*4 && len(processes) == 3,
		"process %d was killed; %d rows were computed twice, by %s", killed, twice, processes)
	if n, found := e.Counts(); n != int64(want.Computed) || found != int64(want.Computed) {
		t.Errorf("%d computed and %d found of %d", n, found, want.Computed)
	}
}

// TestDevicesInterrupted: an interrupted run keeps what is done, and its processes serve the next one.
func TestDevicesInterrupted(t *testing.T) {
	e, args := engineOn(t, 2), newArgs(t, "device", 100*time.Millisecond)
	plan := must.Get(args.of(rowsNamed(80, "row")).Plan())(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := e.Run(ctx, client.Request{Plan: plan, SkipBad: true}, func(p table.Progress) {
		if p.Computed > 16 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the run: %v", err)
	}
	stored, _ := e.Counts()
	before := e.Devices()
	got, err := e.Run(t.Context(), client.Request{Plan: plan, SkipBad: true}, nil)
	must.True(t, err == nil && got.Found >= int(stored) && stored >= 16 && got.Found+got.Computed == 69,
		"%d rows stored, then %+v, %v", stored, got, err)
	for i, d := range e.Devices() {
		if d.PID != before[i].PID || d.PID == 0 {
			t.Errorf("device %d: process %d, then %d", i, before[i].PID, d.PID)
		}
	}
}

// TestWorkloadOnDevices: a probe measures the seconds that an item takes on all devices together.
func TestWorkloadOnDevices(t *testing.T) {
	seconds := map[int]float64{}
	for _, n := range []int{1, 2} {
		rows := newArgs(t, "device", 300*time.Millisecond).of(datasets.FromRows([]map[string]any{{"id": "a"},
			{"id": "b"}, {"id": "c"}, {"id": "d"}, {"id": "e"}, {"id": "f"}, {"id": "g"}, {"id": "h"}}))
		res := must.Get(run1(t, engineOn(t, n), datasets.Workload([]datasets.Table{rows},
			datasets.WorkloadOptions{Probe: 4}), client.Request{}))(t)
		seconds[n] = res.Frame.Numbers("seconds")[0]
	}
	ratio := seconds[1] / seconds[2]
	must.True(t, ratio > 1.2 && ratio < 3, "seconds an item: %v", seconds)
}
