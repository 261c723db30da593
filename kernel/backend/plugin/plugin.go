package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"antipode/gomlxmodels/device"
	_ "antipode/gomlxmodels/device/xla" // what it tries plugins with
	"antipode/internal/pypi"
	"antipode/kernel/backend/store"
)

// Env is the environment variable that selects the plugin: "wheel" or "go-xla" for the one of that source, "none" for
// no plugin, or the path of one (a file or its folder). The last two prevent every download.
const Env = "ANTIPODE_PLUGIN"

// The sources of plugins that [Env] may name.
const (
	Wheel = "wheel"
	GoXLA = "go-xla"
)

// Decided reports whether [Env] prevents downloads.
func Decided() bool { return !slices.Contains([]string{"", Wheel, GoXLA}, os.Getenv(Env)) }

// Speed of the pure Go backend: ViT-B/16, float32, batch 4, two cores: XLA 4.4 images/s, pure Go 0.64 with
// GOEXPERIMENT=simd and 0.20 without.
const (
	slowerSIMD  = "about 7 times slower than XLA (ViT-B/16 on two cores: 0.64 images/s, XLA 4.4)"
	slowerPlain = "about 22 times slower than XLA (ViT-B/16 on two cores: 0.20 images/s, XLA 4.4)"
)

// Choice is the selected backend: a plugin, or pure Go.
type Choice struct {
	Kind    string `json:"kind"`              // device.XLACUDA, device.XLACPU or device.Go
	Path    string `json:"path,omitempty"`    // absolute path of the plugin; "" for pure Go
	Source  string `json:"source"`            // human-readable origin
	Version string `json:"version,omitempty"` // name and version, "" = unknown
	License string `json:"license,omitempty"` // SPDX identifier, "" = unknown
	SHA256  string `json:"sha256,omitempty"`  // required SHA-256 of the plugin, "" = unknown
	Slower  string `json:"slower,omitempty"`  // for pure Go: how much slower than XLA it is
}

// Options configure [Provide].
type Options struct {
	Home    string                           // the store's folder ($ANTIPODE_HOME); the wheel is unpacked below it
	Say     func(format string, args ...any) // prints one line for the user; nil = silent
	Offline bool                             // do not use the network
}

// Provide returns the backend to use, downloading a plugin if none is installed. It is safe to call from several
// processes at once: one downloads, the others wait. Installation is atomic, and an interrupted download is
// resumed.
//
// A missing plugin is not an error: pure Go is used then. Errors: the context's, and an ANTIPODE_PLUGIN that
// names no usable plugin.
func Provide(ctx context.Context, o Options) (Choice, error) {
	return newProvider(o).provide(ctx)
}

// Current returns what [Provide] would select now, without network, download or loading. It does not verify SHA-256
// ([Choice.Check] does). An ANTIPODE_PLUGIN that names no plugin yields pure Go with the error as its Source.
func Current(home string) Choice {
	return newProvider(Options{Home: home, Offline: true}).current()
}

func (p *provider) current() Choice {
	if c, decided, err := p.decided(); decided {
		if err != nil {
			return pureGo(err.Error())
		}
		return c
	}
	for _, c := range p.candidates() {
		if device.Inspect(c.Path) == nil {
			return c
		}
	}
	return pureGo("no XLA plugin is here")
}

// Check verifies the plugin's SHA-256; it reads the whole file (0.13 s for 200 MB where the
// CPU has SHA instructions, otherwise 0.4 s). Without a required SHA-256 it only checks that the file is a plugin.
func (c Choice) Check() error {
	if c.Kind == device.Go {
		return nil
	}
	if err := device.Inspect(c.Path); err != nil {
		return err
	}
	if c.SHA256 == "" {
		return nil
	}
	sum, err := store.HashFile(c.Path)
	if err != nil {
		return err
	}
	if sum != c.SHA256 {
		return fmt.Errorf("%s was changed after its installation: its SHA-256 is %s, it must be %s", c.Path, sum,
			c.SHA256)
	}
	return nil
}

// provider implements Provide; tests replace its fields that access the system or the network.
type provider struct {
	Options
	gpu    bool
	hasXLA bool
	wheels []wheel                                         // pinned, for any machine
	goxla  func(ctx context.Context, cpuOnly bool) error   // go-xla's installer
	index  func() []string                                 // package indexes
	open   func(kind, path string) (*device.Device, error) // loads a plugin in this process

	// probe loads a plugin in a child process: a library that crashes or hangs does not affect the backend.
	probe     func(ctx context.Context, kind, path string) error
	limits    limits
	skip      map[string]bool // plugins that failed in this run
	installed bool            // go-xla's installer ran already
	banned    bool            // no further download in this run
}

func newProvider(o Options) *provider {
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	p := &provider{Options: o, hasXLA: device.HasXLA(), wheels: pinned, index: pypi.Indexes, open: device.Open,
		limits: usual, skip: map[string]bool{}}
	p.gpu = runtime.GOOS == "linux" && device.SeesNVIDIA()
	p.probe = func(ctx context.Context, kind, path string) error {
		return runChild(ctx, p.limits.probe, nil, childProbe, kind, path)
	}
	p.goxla = func(ctx context.Context, cpuOnly bool) error { return runInstaller(ctx, p.folder(), cpuOnly, p.limits) }
	return p
}

// folder is where plugins are unpacked.
func (p *provider) folder() string { return filepath.Join(p.Home, "plugins") }

func pureGo(why string) Choice {
	c := Choice{Kind: device.Go, Source: why, Slower: slowerPlain}
	if device.SIMD {
		c.Slower = slowerSIMD
	}
	return c
}

// decided reports whether the user or the build determines the choice.
func (p *provider) decided() (Choice, bool, error) {
	named := os.Getenv(Env)
	switch {
	case named == "none":
		return pureGo(Env + "=none"), true, nil
	case device.Wanted() == device.Go:
		return pureGo("GOMLX_BACKEND=go"), true, nil
	case !p.hasXLA:
		return pureGo("built without a C compiler (cgo), so without XLA"), true, nil
	case !Decided():
		return Choice{}, false, nil
	}
	for _, kind := range p.kinds() {
		if path := device.FindIn(kind, named); path != "" {
			return p.describe(kind, path, Env), true, nil
		}
	}
	// A file with another name than a plugin's is accepted, because the user named it.
	if info, err := os.Stat(named); err == nil && info.Mode().IsRegular() {
		abs, err := filepath.Abs(named)
		if err != nil {
			return Choice{}, true, fmt.Errorf("%s=%s: %w", Env, named, err)
		}
		kind := device.XLACPU
		if device.KindOf(named) == device.XLACUDA {
			kind = device.XLACUDA
		}
		return p.describe(kind, abs, Env), true, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Choice{}, true, fmt.Errorf("%s=%s: %w", Env, named, err)
	}
	return Choice{}, true, fmt.Errorf("%s=%s: no plugin found: name a pjrt_c_api_…_plugin.so or its folder, wheel, "+
		"go-xla or none", Env, named)
}

// kinds lists the kinds of plugin to consider, best first.
func (p *provider) kinds() []string {
	switch {
	case device.Wanted() == device.XLACPU:
		return []string{device.XLACPU}
	case device.Wanted() == device.XLACUDA || p.gpu:
		return []string{device.XLACUDA, device.XLACPU}
	}
	return []string{device.XLACPU}
}

// candidates lists the installed plugins, best first, by file name only.
func (p *provider) candidates() []Choice {
	var out []Choice
	for _, kind := range p.kinds() {
		for _, folder := range slices.Concat(device.Folders(), device.StoreFolders(p.Home)) {
			isWheel, named := filepath.Dir(folder) == p.folder(), os.Getenv(Env)
			if named == Wheel && !isWheel || named == GoXLA && (isWheel || !strings.Contains(folder, "go-xla")) {
				continue
			}
			path := device.FindIn(kind, folder)
			if path == "" || p.skip[path] || slices.ContainsFunc(out, func(c Choice) bool { return c.Path == path }) {
				continue
			}
			out = append(out, p.describe(kind, path, p.sourceOf(folder)))
		}
	}
	return out
}

func (p *provider) sourceOf(folder string) string {
	switch {
	case slices.Contains(filepath.SplitList(os.Getenv(device.PathEnv)), folder):
		return device.PathEnv
	case filepath.Dir(folder) == p.folder():
		return "the Python package index (wheel)"
	case strings.Contains(folder, "go-xla"):
		return "go-xla's folder"
	}
	return folder
}

// describe adds what is known about a plugin: from the pins if it was unpacked from a wheel, from the record if
// go-xla's installer installed it for us.
func (p *provider) describe(kind, path, source string) Choice {
	c := Choice{Kind: kind, Path: path, Source: source}
	for _, w := range p.wheels {
		if path == w.path(p.folder()) {
			c.Version, c.License, c.SHA256 = w.Name+" "+w.Version, w.License, w.PluginSHA256
			return c
		}
	}
	if r, ok := readRecords(p.folder())[path]; ok {
		c.Version, c.License, c.SHA256 = r.Version, r.License, r.SHA256
		if r.Source != "" {
			c.Source = r.Source
		}
	}
	return c
}

func (p *provider) provide(ctx context.Context) (Choice, error) {
	if c, decided, err := p.decided(); decided {
		if err != nil {
			return Choice{}, err
		}
		if c.Kind == device.Go {
			p.Say("%s: using the pure Go backend, %s", c.Source, c.Slower)
		} else if err := c.Check(); err != nil {
			return Choice{}, fmt.Errorf("%s: %w", Env, err)
		}
		return c, nil
	}
	if c, ok := p.present(); ok {
		return c, nil
	}
	if err := ctx.Err(); err != nil {
		return Choice{}, err
	}
	if p.Offline || p.banned {
		return p.fallBack(), nil
	}
	return p.fetch(ctx)
}

// present returns the best installed plugin that is intact.
func (p *provider) present() (Choice, bool) {
	want := p.kinds()[0]
	for _, c := range p.candidates() {
		if err := c.Check(); err != nil {
			p.Say("XLA plugin skipped: %v", err)
			p.skip[c.Path] = true
			continue
		}
		if c.Kind != want && !p.failed(want) {
			if device.Wanted() == device.XLACUDA && !p.Offline && !p.installed {
				return Choice{}, false // requested by name: worth a download
			}
			p.Say("an NVIDIA GPU is detected or requested, but no CUDA plugin is installed: using XLA on the CPU; " +
				"GOMLX_BACKEND=xla:cuda fetches one")
		}
		return c, true
	}
	return Choice{}, false
}

// failed reports whether a plugin of a kind is installed and did not work.
func (p *provider) failed(kind string) bool {
	for path := range p.skip {
		if device.KindOf(path) == kind {
			return true
		}
	}
	return false
}

// fetch tries the ways to install a plugin, one process at a time.
func (p *provider) fetch(ctx context.Context) (Choice, error) {
	if err := os.MkdirAll(p.folder(), 0o700); err != nil {
		p.Say("cannot unpack an XLA plugin: %v", err)
		return p.fallBack(), nil
	}
	unlock, err := lock(ctx, filepath.Join(p.folder(), ".lock"), func() {
		p.Say("another antipode process is installing the XLA plugin: waiting for it")
	})
	if err != nil {
		if ctx.Err() != nil {
			return Choice{}, ctx.Err()
		}
		p.Say("cannot unpack an XLA plugin: %v", err)
		return p.fallBack(), nil
	}
	defer unlock()
	for _, pattern := range []string{".tmp-*", "*/.tmp-*", ".go-xla-*", ".unpacking-*"} { // left by a killed process
		left, _ := fs.Glob(os.DirFS(p.folder()), pattern)
		for _, name := range left {
			_ = os.RemoveAll(filepath.Join(p.folder(), name))
		}
	}
	if c, ok := p.present(); ok { // installed by the other process
		return c, nil
	}
	steps := []func(context.Context) error{p.stepWheel, p.stepGoXLA} // first what is pinned
	if len(p.kinds()) > 1 {
		slices.Reverse(steps) // no wheel has a CUDA plugin
	}
	switch os.Getenv(Env) {
	case Wheel:
		steps = []func(context.Context) error{p.stepWheel}
	case GoXLA:
		steps = []func(context.Context) error{p.stepGoXLA}
	}
	for _, step := range steps {
		start := time.Now()
		err := step(ctx)
		if ctx.Err() != nil {
			return Choice{}, ctx.Err()
		}
		if err != nil {
			p.Say("  failed: %v (%.1f s)", err, time.Since(start).Seconds())
		}
		if c, ok := p.present(); ok { // without CUDA there may still be one for the CPU
			if err == nil {
				p.Say("  done: %s (%.1f s)", c.Path, time.Since(start).Seconds())
			}
			return c, nil
		}
	}
	return p.fallBack(), nil
}

func (p *provider) fallBack() Choice {
	c := pureGo("no XLA plugin is available")
	p.Say("%s: using the pure Go backend, %s; `antipode doctor` suggests a fix", c.Source, c.Slower)
	return c
}

// Identify returns the SHA-256 of a plugin, "" if it cannot be read, and version and license of the pinned wheel that
// it comes from, "" if none. It reads the whole file.
func Identify(path string) (sum, version, license string) {
	sum, err := store.HashFile(path)
	if err != nil {
		return "", "", ""
	}
	for _, w := range pinned {
		if sum == w.PluginSHA256 {
			return sum, w.Name + " " + w.Version, w.License
		}
	}
	return sum, "", ""
}
