// Package gopls builds gopls, the program with which Jupyter completes and explains names.
//
// gopls is optional, and its versions of golang.org/x are older than those GoMLX needs: it has a module file of its own,
// gopls.mod, and is built with go build -modfile. The kernel builds it in the background, when it serves Jupyter and has
// none; it is used from the next start of the kernel on. A notebook that runs headless never builds it.
package gopls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// File is the module file, relative to the module's folder; its sums lie beside it.
const File = "internal/gopls/gopls.mod"

// pkg is what is built.
const pkg = "golang.org/x/tools/gopls"

// Build puts gopls into the folder dir, where the kernel looks for it, taking its version from the module in moduleDir.
// It does nothing where gopls is there, or where another process is building it. It fetches what the module cache lacks,
// takes one processor, and ends with ctx, leaving nothing behind. While it builds, pidFile holds the id of its process group, for who
// must end it in this process's place.
func Build(ctx context.Context, moduleDir, dir, pidFile string) error {
	target := filepath.Join(dir, "gopls")
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	lock, err := os.OpenFile(filepath.Join(dir, ".gopls.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("gopls: %w", err)
	}
	defer lock.Close() // which lets the lock go
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil
		}
		return fmt.Errorf("gopls: locking %s: %w", lock.Name(), err)
	}
	temporary := filepath.Join(dir, ".gopls")
	defer os.Remove(temporary)
	cmd := exec.CommandContext(ctx, "go", "build", "-modfile="+filepath.FromSlash(File), "-p=1", "-ldflags=-s -w", "-o", temporary, pkg)
	cmd.Dir = moduleDir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+flags(), "GOMAXPROCS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that its compilers end with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err = cmd.Start(); err == nil {
		defer os.Remove(pidFile)
		_ = os.WriteFile(pidFile, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
		err = cmd.Wait()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("gopls: building it: %w: %s", err, strings.Join(strings.Fields(printed.String()), " "))
	}
	if err := os.Rename(temporary, target); err != nil {
		return fmt.Errorf("gopls: %w", err)
	}
	return nil
}

// flags is $GOFLAGS without another choice of module file.
func flags() string {
	var keep []string
	for _, f := range strings.Fields(os.Getenv("GOFLAGS")) {
		if name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "="); name != "mod" && name != "modfile" {
			keep = append(keep, f)
		}
	}
	return strings.Join(keep, " ")
}
