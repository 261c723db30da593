package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/kernel/backend/devices"
)

// devicesVar is the number of devices of a backend that a test starts.
const devicesVar = "ANTIPODE_TEST_DEVICES"

// testDevices returns pure Go devices, which open without a plugin.
func testDevices(_ context.Context, budget int64) (*devices.Set, error) {
	n, _ := strconv.Atoi(os.Getenv(devicesVar))
	if n < 2 {
		return nil, nil
	}
	return testSet(n, budget), nil
}

// testAlone returns one device in a process of its own.
func testAlone(_ context.Context, budget int64) (*devices.Set, error) { return testSet(1, budget), nil }

func testSet(n int, budget int64) *devices.Set {
	all := make([]devices.Device, n)
	for i := range all {
		all[i].Name = fmt.Sprint("cpu ", i)
	}
	return devices.New(devices.Options{Devices: all, Log: os.Stderr,
		Setup:   devices.Setup{Kind: device.Go, Budget: budget / int64(n)},
		Command: func() *exec.Cmd { return exec.Command(os.Args[0], "backend", "child") }})
}

func init() {
	stage.Register(stage.Stage{Name: "slow on devices", Version: 1,
		Open: func(_ context.Context, env stage.Env, args json.RawMessage) (*stage.Opened, error) {
			var ms int
			err := json.Unmarshal(args, &ms)
			if err == nil && os.Getenv(devicesVar) != "" {
				_, err = env.DeviceKind()
			}
			return stage.Of(slow{time.Duration(ms) * time.Millisecond}), err
		}})
}

// devicePlan is [plan] on the devices.
func devicePlan(t *testing.T, n, ms int) *table.Plan {
	t.Helper()
	return planOf(t, "slow on devices", n, ms)
}

// busy starts a long run on a backend with two devices and returns their state, once both compute.
func busy(t *testing.T, b *client.Backend, ctx context.Context, ms int) (states []client.DeviceStatus,
	done chan error) {
	t.Helper()
	t.Setenv(devicesVar, "2")
	done = make(chan error, 1)
	go func() {
		_, err := b.Run(ctx, client.Request{Plan: devicePlan(t, 1000, ms)}, nil)
		done <- err
	}()
	must.Within(t, time.Minute, "both devices compute", func() bool {
		s, err := b.Status(ctx)
		states = s.Devices
		return err == nil && len(states) == 2 && states[0].Computed > 0 && states[1].Computed > 0
	})
	return states, done
}

// ended waits for the end of the processes.
func ended(t *testing.T, states []client.DeviceStatus) {
	t.Helper()
	for _, d := range states {
		must.Within(t, 10*time.Second, fmt.Sprintf("process %d of device %s ends", d.PID, d.Name), func() bool {
			state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.PID))
			// a process that ended is not waited for where its parent is dead and has no heir here
			return errors.Is(syscall.Kill(d.PID, 0), syscall.ESRCH) || bytes.Contains(state, []byte(") Z "))
		})
	}
}

// TestDeviceStates: the state of a backend with two devices has a process, a rate, memory and a budget for each.
func TestDeviceStates(t *testing.T) {
	b := connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	states, done := busy(t, b, ctx, 20)
	for _, d := range states {
		if d.State != "busy" && d.State != "idle" || d.PID == 0 || d.Rate <= 0 || d.Memory.Budget <= 0 ||
			d.Description == "" {
			t.Errorf("%+v", d)
		}
	}
	cancel()
	<-done
	must.Equal(t, must.Get(b.Status(t.Context()))(t).Device, device.Go)
	must.Do(t, b.Stop(t.Context(), false))
	ended(t, states)
}

// TestDevicesEndWithBackend: no process is left, whether the backend is stopped in the middle of a run or killed, and
// after the kill the run goes on with a new backend.
func TestDevicesEndWithBackend(t *testing.T) {
	b := connect(t)
	var mu sync.Mutex
	var said []string
	b.Say = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, line)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	states, done := busy(t, b, ctx, 20)
	h := must.Get(b.Hello(ctx))(t)
	must.Do(t, syscall.Kill(h.PID, syscall.SIGKILL))
	ended(t, states)
	var again []client.DeviceStatus
	must.Within(t, time.Minute, "the new backend has two devices", func() bool {
		if s, err := b.Status(ctx); err == nil {
			again = s.Devices
		}
		return len(again) == 2 && again[0].PID != 0 && again[1].PID != 0
	})
	must.Do(t, b.Stop(t.Context(), false))
	cancel()
	<-done
	ended(t, again)
	mu.Lock()
	defer mu.Unlock()
	must.Has(t, strings.Join(said, "\n"), "restarted")
}

// deadly is a stage some of whose rows end the process that prepares or computes them.
type deadly struct{ slow }

func (deadly) Digest() string { return "deadly" }

func (deadly) Prepare(_ context.Context, r stage.Row) (string, string, error) {
	if strings.HasPrefix(r.Text("id"), "preparing") {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return r.Text("id"), "", nil
}

func (d deadly) Compute(ctx context.Context, in []string) ([][]table.Value, error) {
	for _, id := range in {
		if strings.HasPrefix(id, "computing") {
			fmt.Fprintln(os.Stderr, "fatal error: out of memory\n\ngoroutine 1 [running]:\n\tmain.go:1 +0x1")
			os.Exit(2)
		}
	}
	return d.slow.Compute(ctx, in)
}

func init() {
	stage.Register(stage.Stage{Name: "deadly", Version: 1,
		Open: func(_ context.Context, env stage.Env, _ json.RawMessage) (*stage.Opened, error) {
			env.DeviceKind() // it uses the device
			return stage.Of(deadly{}), nil
		}})
}

// TestRowsThatEndTheBackend: after the backend died, the rows that end a process are named and, with SkipBad, left out,
// and the others are computed, on one device and on two.
func TestRowsThatEndTheBackend(t *testing.T) {
	plan := planOf(t, "deadly", 23, 0, "7 computing", "13 preparing")
	for _, n := range []string{"", "2"} {
		b := connect(t)
		t.Setenv(devicesVar, n)
		_, err := b.Run(t.Context(), client.Request{Plan: plan}, nil)
		must.Err(t, err, `row 8 (id "computing"): the process that computed this ended `+
			"3 times: exit status 2: fatal error: out of memory")
		res, err := b.Run(t.Context(), client.Request{Plan: plan, SkipBad: true}, nil)
		if err != nil || res.Rows != 21 || len(res.Bad) != 2 || res.Bad[1].ID != "preparing" ||
			!strings.Contains(res.Bad[1].Reason, "signal: killed") {
			t.Errorf("%s devices: %v, %+v", n, err, res)
		}
		must.Do(t, b.Stop(t.Context(), false))
	}
}
