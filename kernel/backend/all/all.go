// Package all makes every stage and metric known and, imported for its effect, lets a program of its own evaluate
// plans without the resident backend:
//
//	import _ "antipode/kernel/backend/all"
//
// It links GoMLX and XLA; a notebook cell does not import it.
package all

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"antipode/datasets/client"
	_ "antipode/datasets/cococrola"
	_ "antipode/datasets/dollarstreet"
	_ "antipode/datasets/entigen"
	_ "antipode/datasets/geode"
	_ "antipode/datasets/seegull"
	"antipode/datasets/table"
	_ "antipode/datasets/visage"
	"antipode/gomlxmodels/archipelago/weights"
	"antipode/gomlxmodels/blas"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/neighbors"
	_ "antipode/gomlxmodels/stage/ask"
	_ "antipode/gomlxmodels/stage/caption"
	_ "antipode/gomlxmodels/stage/embed"
	_ "antipode/gomlxmodels/stage/generate"
	_ "antipode/gomlxmodels/stage/segment"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/plugin"
	"antipode/kernel/backend/store"
	_ "antipode/metrics/agreement"
	_ "antipode/metrics/clipscore"
	_ "antipode/metrics/concepts"
	_ "antipode/metrics/consistency"
	_ "antipode/metrics/disparity"
	_ "antipode/metrics/distribution"
	_ "antipode/metrics/power"
	"antipode/metrics/prdc"
	_ "antipode/metrics/representation"
	_ "antipode/metrics/significance"
	_ "antipode/metrics/stereotypes"
	_ "antipode/metrics/tokens"

	"github.com/gomlx/compute"
)

// NewEngine opens the store of a folder and an engine on it, with the best device there is.
func NewEngine(home, build string) (*engine.Engine, error) {
	s, err := store.Open(home)
	if err != nil {
		return nil, err
	}
	return EngineOn(s, plugin.Options{Home: home}, engine.Options{Build: build}), nil
}

// EngineOn returns an engine on an open store, with the best device there is. Models and data sets are those of the
// folder from.Home, and so is the plugin of the device.
func EngineOn(s *store.Store, from plugin.Options, o engine.Options) *engine.Engine {
	o.Home = from.Home
	o.OpenDevice = func(ctx context.Context) (engine.Device, error) { return openDevice(ctx, from) }
	return engine.New(s, o)
}

// NewBackend is [NewEngine] for the antipode command. Where several devices are chosen ([device.ListEnv]), the engine
// starts this program as `antipode backend child` for each of them.
func NewBackend(home, build string) (*engine.Engine, error) {
	if list := os.Getenv(device.ListEnv); list != "" && list != "auto" {
		if _, err := device.Select(list); err != nil {
			return nil, err
		}
	}
	s, err := store.Open(home)
	if err != nil {
		return nil, err
	}
	b := &backend{home: home}
	return engine.New(s, engine.Options{Build: build, OpenDevice: b.open, Devices: b.devices, Alone: b.alone}),
		nil
}

// Use makes this process evaluate its plans itself, in the given store, instead of sending them to the resident
// backend.
func Use(home string) error {
	e, err := NewEngine(home, "in-process")
	if err != nil {
		return err
	}
	client.Register(e)
	return nil
}

// openDevice opens the best device. What it says goes to standard error, in the resident backend its log: the commands
// that start a backend provide the plugin before, and tell the user then.
func openDevice(ctx context.Context, from plugin.Options) (engine.Device, error) {
	from.Say = say
	d, _, err := plugin.Open(ctx, from)
	if err != nil {
		return nil, err
	}
	return &accelerator{device: d}, nil
}

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// accelerator is a device as the engine knows it.
type accelerator struct {
	device *device.Device
	once   sync.Once
	finder *neighbors.Finder
	blas   *blas.Multiplier
}

func (a *accelerator) Kind() string             { return a.device.Kind }
func (a *accelerator) Backend() compute.Backend { return a.device.Backend }

// Describe returns the device's description and the name of its plugin, for the headers of packs.
func (a *accelerator) Describe() (text, plugin string) {
	if plugin = a.device.Plugin; plugin != "" {
		plugin = filepath.Base(plugin)
	}
	return a.device.Description, plugin
}

// Neighbors is the device's search, nil for the pure Go device: plain Go is faster than a graph there. From then on
// gonum multiplies large matrices on the device.
func (a *accelerator) Neighbors(onDevice func(context.Context, func() error) error) prdc.Neighbors {
	if a.device.Kind == device.Go {
		return nil
	}
	a.once.Do(func() {
		a.finder = neighbors.New(a.device.Backend, neighbors.Options{OnDevice: onDevice})
		a.blas = blas.Use(a.device.Backend, onDevice)
	})
	return a.finder
}

func (a *accelerator) Close() {
	if a.finder != nil {
		a.finder.Close()
		a.blas.Close()
	}
	a.device.Close()
}

// lazy opens the default store's engine at the first plan.
type lazy struct {
	once sync.Once
	e    *engine.Engine
	err  error
}

func (l *lazy) Run(ctx context.Context, req client.Request, progress func(table.Progress)) (*client.Result, error) {
	l.once.Do(func() {
		home, err := client.Home()
		if err != nil {
			l.err = err
			return
		}
		l.e, l.err = NewEngine(home, "in-process")
	})
	if l.err != nil {
		return nil, l.err
	}
	return l.e.Run(ctx, req, progress)
}

func init() {
	for _, name := range weights.Names() {
		files, err := fs.Sub(weights.FS(), name)
		if err != nil {
			panic(err) // the names and the embedded files are one package's
		}
		hub.Add(name, files)
	}
	client.Register(&lazy{})
}
