package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"antipode/gomlxmodels/device"
	"antipode/internal/fetch"
	"antipode/kernel/backend/store"

	"github.com/gomlx/go-xla/installer"
)

// childEnv makes a new process of this program do one task instead of its own work: third-party code that cannot be
// bounded in time, or may crash the process, runs in a process that can be killed.
const childEnv = "ANTIPODE_PLUGIN_CHILD"

const (
	childInstallAll = "install"     // go-xla's installer, for the devices of the machine
	childInstallCPU = "install-cpu" // go-xla's installer, CPU only
	childProbe      = "probe"       // childProbe KIND PATH: load the plugin and multiply two numbers
)

// init is where a child starts: before main and its flags, whatever program links this package.
func init() {
	task := os.Getenv(childEnv)
	if task == "" {
		return
	}
	if err := childMain(strings.Split(task, "\x1f")); err != nil {
		fmt.Fprintln(os.Stderr, "\n"+oneLine(err.Error()))
		os.Exit(1)
	}
	os.Exit(0)
}

func childMain(task []string) error {
	switch {
	case task[0] == childInstallAll:
		return installer.AutoInstall("", false, installer.Quiet)
	case task[0] == childInstallCPU:
		lib, err := installer.DefaultHomeLibPath()
		if err != nil {
			return err
		}
		return installer.CPUAutoInstall(filepath.Join(lib, "go-xla"), false, installer.Quiet)
	case task[0] == childProbe && len(task) == 3:
		d, err := device.Open(task[1], task[2])
		if err != nil {
			return err
		}
		return d.Test()
	}
	return fmt.Errorf("%s=%q is reserved for internal use", childEnv, task[0])
}

// errNoChild is wrapped where the child process could not be started: that is no evidence about the plugin.
var errNoChild = errors.New("cannot start a child process")

// runChild runs a task in a child process of this program; an error contains the last line that the child wrote.
func runChild(ctx context.Context, limit time.Duration, env []string, task ...string) error {
	self, err := os.Executable()
	if runtime.GOOS == "linux" {
		self, err = "/proc/self/exe", nil // valid even if the file was replaced since this program started
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNoChild, err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out bytes.Buffer
	c := exec.CommandContext(ctx, self)
	c.Env = append(os.Environ(), append(env, childEnv+"="+strings.Join(task, "\x1f"))...)
	c.Stdout, c.Stderr = nil, &out
	c.WaitDelay = 2 * time.Second
	if err := c.Start(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %w", errNoChild, err)
	}
	err = c.Wait()
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("timed out after %s", minutes(limit))
	case ctx.Err() != nil:
		return ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		if line := lastLine(out.String()); line != "" {
			return errors.New(line)
		}
	}
	return fmt.Errorf("the process ended: %w", err)
}

// runInstaller runs go-xla's installer. Its downloads go to a temporary folder that is removed afterwards.
func runInstaller(ctx context.Context, folder string, cpuOnly bool, l limits) error {
	temp, err := os.MkdirTemp(folder, ".go-xla-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	env := []string{"TMPDIR=" + temp}
	if os.Getenv("SSL_CERT_FILE") == "" { // Go's own variable: pass the others on in it
		for _, name := range fetch.CertificateEnvs {
			if file := os.Getenv(name); file != "" {
				env = append(env, "SSL_CERT_FILE="+file)
				break
			}
		}
	}
	task, limit := childInstallAll, l.goxlaGPU
	if cpuOnly {
		task, limit = childInstallCPU, l.goxla
	}
	return runChild(ctx, limit, env, task)
}

// stepGoXLA runs go-xla's installer, once, and records the SHA-256 of what it installed.
func (p *provider) stepGoXLA(ctx context.Context) error {
	if p.installed {
		return errors.New("go-xla's installer already ran")
	}
	p.installed = true
	cpuOnly := len(p.kinds()) == 1
	limit, what := p.limits.goxla, "its plugin for the CPU"
	if !cpuOnly {
		limit, what = p.limits.goxlaGPU, "its CUDA plugin and NVIDIA's libraries (some gigabytes; Apache-2.0 and "+
			"NVIDIA's license) and its plugin for the CPU"
	}
	p.Say("XLA plugin: none found; running go-xla's installer (at most %s) for %s; %s=none prevents it",
		minutes(limit), what, Env)
	before := map[string]bool{}
	for _, c := range p.candidates() {
		before[c.Path] = true
	}
	err := p.goxla(ctx, cpuOnly)
	found := false
	for _, c := range p.candidates() { // of two plugins one may have been installed
		if before[c.Path] {
			continue
		}
		sum, hashErr := store.HashFile(c.Path)
		if hashErr != nil {
			continue
		}
		found = true
		if err := writeRecord(p.folder(), c.Path, func(r *record) {
			*r = record{SHA256: sum, Source: "go-xla's installer", Version: versionOf(c.Path), Size: r.Size,
				Time: r.Time}
		}); err != nil {
			p.Say("  the SHA-256 of %s cannot be recorded: %v", c.Path, err)
		}
	}
	if found && err != nil {
		p.Say("  go-xla's installer, partly: %v", err)
		return nil
	}
	if !found && err == nil {
		return fmt.Errorf("it installed no plugin for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	return err
}

var versioned = regexp.MustCompile(`_(v\d[\w.]*)_plugin\.`)

// versionOf returns the version in the file name of a plugin that go-xla installed, following its link.
func versionOf(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if m := versioned.FindStringSubmatch(filepath.Base(path)); m != nil {
		return "go-xla's " + m[1]
	}
	return ""
}

// Open opens the device of [Choose] or, where that fails in this process, the next best.
func Open(ctx context.Context, o Options) (*device.Device, Choice, error) {
	return newProvider(o).openBest(ctx)
}

// Choose calls [Provide] and returns the best choice that works here: a plugin that was never loaded here is first
// loaded in a separate process; one that fails is reported in one line, and the next best is used: CUDA, CPU, pure Go.
func Choose(ctx context.Context, o Options) (Choice, error) {
	p := newProvider(o)
	c, known, err := p.choose(ctx)
	if err == nil && !known {
		p.noteLoaded(ctx, c.Path)
	}
	return c, err
}

func (p *provider) openBest(ctx context.Context) (*device.Device, Choice, error) {
	for {
		c, known, err := p.choose(ctx)
		if err != nil {
			return nil, Choice{}, err
		}
		d, err := p.open(c.Kind, c.Path)
		if err == nil || c.Kind == device.Go {
			if !known {
				p.noteLoaded(ctx, c.Path)
			}
			return d, c, err
		}
		if err := p.reject(ctx, c, err); err != nil {
			return nil, Choice{}, err
		}
	}
}

// choose implements Choose. known reports whether there is nothing to note about the plugin.
func (p *provider) choose(ctx context.Context) (c Choice, known bool, err error) {
	for {
		if c, err = p.provide(ctx); err != nil || c.Kind == device.Go {
			return c, true, err
		}
		if loadedBefore(p.folder(), c.Path) {
			return c, true, nil
		}
		err := p.probe(ctx, c.Kind, c.Path)
		if err == nil || errors.Is(err, errNoChild) {
			return c, false, nil
		}
		if err := p.reject(ctx, c, err); err != nil {
			return Choice{}, false, err
		}
	}
}

// reject excludes a plugin that does not work. It returns an error if no other may be used.
func (p *provider) reject(ctx context.Context, c Choice, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if os.Getenv(Env) != "" {
		return fmt.Errorf("%s: %w", Env, err)
	}
	p.Say("%s does not work here, the next best is used: %v", c.Kind, err)
	p.skip[c.Path] = true
	for _, w := range p.wheels {
		if c.Path == w.path(p.folder()) {
			p.banned = true // fetching a verified file again would not help
		}
	}
	return nil
}

// noteLoaded records that a plugin works here. Without the record it is tested again at the next start.
func (p *provider) noteLoaded(ctx context.Context, path string) {
	if os.MkdirAll(p.folder(), 0o700) != nil {
		return
	}
	unlock, err := lock(ctx, filepath.Join(p.folder(), ".lock"), func() {})
	if err != nil {
		return
	}
	defer unlock()
	_ = writeRecord(p.folder(), path, func(r *record) { r.Loaded = true })
}

var control = regexp.MustCompile(`\x1b(\[[0-9;?]*[A-Za-z]|[78])`)

func lastLine(s string) string {
	lines := strings.FieldsFunc(control.ReplaceAllString(s, ""), func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
