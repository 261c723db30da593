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
	"time"

	"antipode/datasets/client"
	"antipode/internal/filelock"
	"antipode/kernel/jupyter"
)

// inUse is a file next to a copy of this program. Every process that uses the copy holds a shared lock on it.
const inUse = ".in-use"

// held are the locks of this process by folder; the system releases them when the process ends.
var held = map[string]*os.File{}

// use marks the copy in a folder as in use until this process ends.
func use(dir string) error {
	if held[dir] != nil {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(dir, inUse), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := filelock.Share(f); err != nil {
		return errors.Join(fmt.Errorf("cannot lock %s: %w", f.Name(), err), f.Close())
	}
	held[dir] = f
	return nil
}

// copyName matches the folder of a copy: a build id, with -simd if it was built with GOEXPERIMENT=simd.
var copyName = regexp.MustCompile(`^[0-9a-f]{12}(-simd)?$`)

// unmarkedAge is the age at which a copy without an inUse file is removed: its process was killed before it wrote that.
const unmarkedAge = 24 * time.Hour

// removeOld removes the copies of other builds, 60 to 80 MB each, from the store, except those used by a process, the
// running backend or the installed kernelspec. It ignores errors; the next call tries again.
func removeOld(home, bin, build string) {
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

// removeUnused is removeOld for the current build.
func removeUnused(home string) {
	bin, err := client.Programs(home)
	if err != nil {
		return
	}
	unlock, err := filelock.Wait(context.Background(), filepath.Join(bin, ".lock"))
	if err != nil {
		return
	}
	defer unlock()
	if current, err := os.ReadFile(filepath.Join(bin, "current")); err == nil {
		removeOld(home, bin, strings.TrimSpace(string(current)))
	}
}

// plain returns the build id without -simd; both copies of a build are removed together.
func plain(build string) string { return strings.TrimSuffix(build, "-simd") }

// unused reports whether no process uses the copy in a folder. The caller holds the lock of the folder bin, which use
// also requires, so that no process starts to use the copy before it is removed.
func unused(dir string) bool {
	f, err := os.Open(filepath.Join(dir, inUse))
	if err != nil {
		info, err := os.Stat(dir)
		return err == nil && time.Since(info.ModTime()) > unmarkedAge
	}
	defer f.Close()
	locked, _ := filelock.Try(f)
	return locked
}
