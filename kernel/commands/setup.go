package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"antipode/gomlxmodels/device"
	"antipode/kernel/client"
	"antipode/kernel/jupyter"
	"antipode/kernel/plugin"
	"antipode/kernel/store"
)

// setUp makes the store's folder and puts a copy of this program at bin/BUILD/antipode in it: what outlives this call (the backend,
// the kernel that Jupyter starts) runs from there. It gives the store's folder and the copy's path.
func setUp() (home, binary string, err error) {
	if home, err = client.Home(); err != nil {
		return "", "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", "", err
	}
	bin := filepath.Join(home, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", "", fmt.Errorf("cannot set up the store: %w; set %s to a folder you may write to", err, client.HomeVar)
	}
	unlock, err := client.Lock(filepath.Join(bin, ".lock"))
	if err != nil {
		return "", "", fmt.Errorf("cannot lock %s: %w", bin, err)
	}
	defer unlock()
	if resolved, err := filepath.EvalSymlinks(self); err == nil && filepath.Dir(filepath.Dir(resolved)) == bin {
		binary = resolved // this is a copy already
	} else {
		build, err := buildID(self)
		if err != nil {
			return "", "", err
		}
		binary = filepath.Join(bin, build, "antipode")
		if _, err := os.Stat(binary); errors.Is(err, os.ErrNotExist) {
			if err := copyProgram(self, binary); err != nil {
				return "", "", fmt.Errorf("cannot set up the store: %w; set %s to a folder you may write to", err, client.HomeVar)
			}
		}
	}
	os.Setenv(client.HomeVar, home)
	os.Setenv(client.BinaryVar, binary)
	if err := use(filepath.Dir(binary)); err != nil {
		return "", "", err
	}
	current := filepath.Join(bin, "current")
	if data, _ := os.ReadFile(current); strings.TrimSpace(string(data)) != client.BuildOf(binary) {
		if err := store.WriteFile(current, []byte(client.BuildOf(binary)+"\n")); err != nil {
			return "", "", err
		}
		removeOld(home, client.BuildOf(binary))
	}
	return home, binary, nil
}

// prepare is setUp and an accelerator: it provides the XLA plugin where there is none, saying so on the terminal. Where none can be
// had and the module's source is there, it builds this program once more with GOEXPERIMENT=simd, and the backend runs from that.
func prepare(ctx context.Context) (home, binary string, err error) {
	if home, binary, err = setUp(); err != nil {
		return "", "", err
	}
	choice, err := plugin.Provide(ctx, plugin.Options{Home: home, Say: say})
	if err != nil || choice.Kind != device.Go || device.SIMD || runtime.GOARCH != "amd64" {
		return home, binary, err
	}
	module, err := moduleDir()
	if err != nil {
		return home, binary, nil // the plain build serves
	}
	faster := filepath.Join(home, "bin", client.BuildOf(binary)+"-simd", "antipode")
	if _, err := os.Stat(faster); err != nil {
		say("building the pure Go backend with GOEXPERIMENT=simd")
		if err := os.MkdirAll(filepath.Dir(faster), 0o755); err != nil {
			return "", "", err
		}
		if err := plugin.BuildSIMD(ctx, module, faster); err != nil {
			say("%v; the plain build serves", err)
			return home, binary, ctx.Err()
		}
	}
	os.Setenv(client.BinaryVar, faster)
	return home, faster, nil
}

// say tells the user one line that is no result.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// buildID is the beginning of the program's own SHA-256.
func buildID(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}

func copyProgram(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	if _, err = io.Copy(out, in); err == nil {
		if err = out.Chmod(0o755); err == nil {
			err = out.Sync()
		}
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

// moduleDir is the folder of Antipode's source, where cells find its packages: what [jupyter.ModuleDir] finds, else the
// folder that this program was built in, else what was recorded when the kernel was installed.
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
