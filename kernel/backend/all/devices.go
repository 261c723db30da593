package all

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"antipode/gomlxmodels/device"
	"antipode/kernel/backend/devices"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/plugin"

	"github.com/gomlx/compute"
)

// backend opens the devices of an engine that starts child processes.
type backend struct {
	home  string
	first string // the value of CUDA_VISIBLE_DEVICES for this process; "" = the inherited one
}

// open opens the device of this process: the only one, or the first.
func (b *backend) open(ctx context.Context) (engine.Device, error) {
	if b.first != "" {
		before, set := os.LookupEnv(device.CUDAEnv)
		os.Setenv(device.CUDAEnv, b.first)
		if set {
			defer os.Setenv(device.CUDAEnv, before)
		} else {
			defer os.Unsetenv(device.CUDAEnv)
		}
	}
	return openDevice(ctx, plugin.Options{Home: b.home})
}

// devices returns the chosen devices if there are several. On a machine without a plugin that works on its GPUs these
// are not used, unless the user named them.
func (b *backend) devices(ctx context.Context, budget int64) (*devices.Set, error) {
	list := os.Getenv(device.ListEnv)
	chosen, err := device.Select(list)
	if err != nil {
		return nil, err
	}
	if chosen.CPUs > 0 && device.Wanted() != device.Go {
		os.Setenv(compute.ConfigEnvVar, device.XLACPU)
	}
	if chosen.Explicit && chosen.CPUs == 0 {
		b.first = chosen.GPUs[0]
	}
	n := max(len(chosen.GPUs), chosen.CPUs)
	if n < 2 {
		return nil, nil
	}
	c, err := plugin.Choose(ctx, plugin.Options{Home: b.home, Say: say})
	if err != nil {
		return nil, err
	}
	if chosen.CPUs == 0 && c.Kind != device.XLACUDA {
		if chosen.Explicit {
			return nil, fmt.Errorf("%s=%s: the GPUs cannot be used, only %s (%s); see `antipode doctor`",
				device.ListEnv, list, c.Kind, c.Source)
		}
		return nil, nil
	}
	var all []devices.Device
	for i := range chosen.CPUs { // each with all threads: their number changes the last bits of results
		all = append(all, devices.Device{Name: fmt.Sprint("cpu ", i)})
	}
	threads := max(1, runtime.GOMAXPROCS(0)/n)
	for _, gpu := range chosen.GPUs {
		all = append(all, devices.Device{Name: gpu, Env: []string{device.CUDAEnv + "=" + gpu,
			fmt.Sprint("NPROC=", threads), fmt.Sprint("GOMAXPROCS=", threads)}})
	}
	if len(chosen.GPUs) > 0 {
		b.first = chosen.GPUs[0]
	}
	return b.set(all, c, budget), nil
}

// alone returns the device of this process in a child.
func (b *backend) alone(ctx context.Context, budget int64) (*devices.Set, error) {
	c, err := plugin.Choose(ctx, plugin.Options{Home: b.home, Say: say})
	if err != nil {
		return nil, err
	}
	return b.set([]devices.Device{{Name: c.Kind}}, c, budget), nil
}

// set returns the set of devices, which share the budget.
func (b *backend) set(all []devices.Device, c plugin.Choice, budget int64) *devices.Set {
	return devices.New(devices.Options{Devices: all, Command: command, Log: os.Stderr,
		Setup: devices.Setup{Kind: c.Kind, Plugin: c.Path, Models: filepath.Join(b.home, "models"),
			Budget: budget / int64(len(all))}})
}

// command is this program as a child.
func command() *exec.Cmd {
	self, err := os.Executable()
	if runtime.GOOS == "linux" || err != nil {
		self = "/proc/self/exe" // valid even if the file was replaced since this program started
	}
	cmd := exec.Command(self, "backend", "child")
	cmd.Args[0] = "antipode"
	return cmd
}
