package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"antipode/kernel/client"
	"antipode/kernel/jupyter"
)

// inUse is the file beside a copy of this program on which every process that works with that copy holds a shared lock.
const inUse = ".in-use"

// held are the locks of this process, by folder; the system releases them when it ends.
var held = map[string]*os.File{}

// use marks the copy in a folder as in use for as long as this process lives.
func use(dir string) error {
	if held[dir] != nil {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(dir, inUse), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH); err != nil {
		return errors.Join(fmt.Errorf("cannot lock %s: %w", f.Name(), err), f.Close())
	}
	held[dir] = f
	return nil
}

// copyName is the name of the folder of a copy: a build id, with -simd where it was built with GOEXPERIMENT=simd.
var copyName = regexp.MustCompile(`^[0-9a-f]{12}(-simd)?$`)

// unmarkedAge is how long a copy without an inUse file stays: builds that do not write one may still run it.
const unmarkedAge = 24 * time.Hour

// removeOld removes the copies of other builds, 60 to 80 MB each, from the store. It leaves those that a process uses,
// that the running backend is of, and that the installed kernelspec starts. What cannot be removed now is left for the
// next time.
func removeOld(home, build string) {
	bin := filepath.Join(home, "bin")
	keep := map[string]bool{plain(build): true}
	if _, spec, err := jupyter.Installed(); err == nil {
		for _, path := range append(spec.Argv, spec.Env[client.BinaryVar]) {
			keep[plain(client.BuildOf(path))] = true
		}
	}
	if b, err := client.ConnectTo(home); err == nil {
		if hello, err := b.Hello(context.Background()); err == nil {
			keep[plain(hello.Build)] = true
		}
	}
	folders, err := os.ReadDir(bin)
	if err != nil {
		return
	}
	folders = slices.DeleteFunc(folders, func(f os.DirEntry) bool { return !copyName.MatchString(f.Name()) })
	for _, f := range folders {
		if !unused(filepath.Join(bin, f.Name())) {
			keep[plain(f.Name())] = true
		}
	}
	for _, f := range folders {
		if !keep[plain(f.Name())] {
			_ = os.RemoveAll(filepath.Join(bin, f.Name()))
		}
	}
}

// plain is the build id without -simd: the two copies of a build stay or go together.
func plain(build string) string { return strings.TrimSuffix(build, "-simd") }

// unused says whether no process works with the copy in a folder. The caller holds the lock of the folder bin, under
// which processes call use: none begins to work with the copy before it is removed.
func unused(dir string) bool {
	f, err := os.Open(filepath.Join(dir, inUse))
	if err != nil {
		info, err := os.Stat(dir)
		return err == nil && time.Since(info.ModTime()) > unmarkedAge
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
