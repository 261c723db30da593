package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"

	"antipode/datasets/client"
	"antipode/gomlxmodels/device"
	"antipode/internal/atomicfile"
	"antipode/internal/filelock"
	"antipode/kernel/backend/plugin"
	"antipode/kernel/backend/store"
	"antipode/kernel/cluster/jobs"
	"antipode/kernel/jupyter"
)

// setUp creates the store's folder with a copy of this program at bin/BUILD/antipode, from which processes that outlive
// this one run (the backend, the kernel that Jupyter starts). It returns the store's folder and the copy's path.
func setUp() (home, binary string, err error) {
	if home, err = client.Home(); err != nil {
		return "", "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", "", err
	}
	os.Setenv(client.HomeVar, home)
	bin, err := client.Programs(home)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return "", "", fmt.Errorf("cannot create the store: %w; set %s to a writable folder", err,
			client.HomeVar)
	}
	unlock, err := filelock.Wait(context.Background(), filepath.Join(bin, ".lock"))
	if store.Unwritable(err) { // its cached results can be read; no copy is needed for that
		os.Setenv(client.BinaryVar, self)
		return home, self, nil
	}
	if err != nil {
		return "", "", fmt.Errorf("cannot lock %s: %w", bin, err)
	}
	defer unlock()
	if resolved, err := filepath.EvalSymlinks(self); err == nil && filepath.Dir(filepath.Dir(resolved)) == bin {
		binary = resolved // this program is the copy
	} else {
		sum, err := store.HashFile(self)
		if err != nil {
			return "", "", err
		}
		os.Setenv(client.DigestVar, sum)
		binary = filepath.Join(bin, jobs.BuildOf(sum), "antipode")
		if _, err := os.Stat(binary); errors.Is(err, os.ErrNotExist) {
			if err := copyProgram(self, binary); err != nil {
				return "", "", fmt.Errorf("cannot create the store: %w; set %s to a writable folder", err,
					client.HomeVar)
			}
		}
	}
	os.Setenv(client.BinaryVar, binary)
	if err := use(filepath.Dir(binary)); err != nil {
		return "", "", err
	}
	current := filepath.Join(bin, "current")
	if data, _ := os.ReadFile(current); strings.TrimSpace(string(data)) != client.BuildOf(binary) {
		if err := atomicfile.Write(current, []byte(client.BuildOf(binary)+"\n")); err != nil {
			return "", "", err
		}
		removeOld(home, bin, client.BuildOf(binary))
	}
	return home, binary, nil
}

// prepare calls setUp and provides the XLA plugin if it is missing. If no plugin is available but the module's source
// is, it builds this program with GOEXPERIMENT=simd for the backend.
func prepare(ctx context.Context) (home, binary string, err error) {
	if home, binary, err = setUp(); err != nil {
		return "", "", err
	}
	choice, err := plugin.Provide(ctx, plugin.Options{Home: home, Say: say})
	info, _ := debug.ReadBuildInfo()
	root := strings.TrimSuffix(reflect.TypeFor[stageFlags]().PkgPath(), "/kernel/commands")
	other := info != nil && info.Path != root // a command with object storage: its source is elsewhere
	if err != nil || choice.Kind != device.Go || device.SIMD || runtime.GOARCH != "amd64" || other {
		return home, binary, err
	}
	module, err := moduleDir()
	if err != nil {
		return home, binary, nil // use the plain build
	}
	programs, err := client.Programs(home)
	if err != nil {
		return "", "", err
	}
	faster := filepath.Join(programs, client.BuildOf(binary)+"-simd", "antipode")
	if _, err := os.Stat(faster); err != nil {
		err := os.MkdirAll(filepath.Dir(faster), 0o700)
		if store.Unwritable(err) {
			return home, binary, nil
		}
		if err != nil {
			return "", "", err
		}
		say("building the pure Go backend with GOEXPERIMENT=simd")
		if err := plugin.BuildSIMD(ctx, module, faster); err != nil {
			say("%v; using the plain build", err)
			return home, binary, ctx.Err()
		}
	}
	os.Setenv(client.BinaryVar, faster)
	os.Unsetenv(client.DigestVar) // it was built here
	return home, faster, nil
}

// say prints a line that is not a result.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func copyProgram(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Replace(to, 0o755, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// moduleDir returns the folder of Antipode's source, which cells import: the result of [jupyter.ModuleDir], else the
// folder in which this program was built, else the folder recorded when the kernel was installed.
func moduleDir(places ...string) (string, error) {
	dir, err := jupyter.ModuleDir(places...)
	if err == nil || os.Getenv(client.ModuleVar) != "" {
		return dir, err
	}
	if _, file, _, ok := runtime.Caller(0); ok { // MODULE/kernel/commands/setup.go, unless built with -trimpath
		if dir := filepath.Dir(filepath.Dir(filepath.Dir(file))); filepath.IsAbs(dir) && jupyter.IsModule(dir) {
			return dir, nil
		}
	}
	if home, err := client.Home(); err == nil {
		if data, err := os.ReadFile(filepath.Join(home, "module")); err == nil {
			if dir := strings.TrimSpace(string(data)); jupyter.IsModule(dir) {
				return dir, nil
			}
		}
	}
	return "", err
}
