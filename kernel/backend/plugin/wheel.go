package plugin

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"antipode/internal/atomicfile"
	"antipode/internal/fetch"
	"antipode/internal/pypi"
	"antipode/kernel/backend/store"
)

// wheel pins a file of the Python package index and the plugin that it contains.
type wheel struct {
	OS, Arch     string
	Name         string // the project on the index, normalized
	Version      string
	File         string // the wheel's file name
	License      string // SPDX identifier
	Size         int64  // of the wheel, bytes
	SHA256       string // of the wheel
	Plugin       string // base name of the shared library in the wheel
	PluginSize   int64
	PluginSHA256 string
}

// pinned are the tested wheels.
var pinned = []wheel{{
	OS: "linux", Arch: "amd64",
	Name: "lammps-jax-pjrt-cpu", Version: "0.11.2",
	File:    "lammps_jax_pjrt_cpu-0.11.2-py3-none-manylinux_2_27_x86_64.whl",
	License: "Apache-2.0",
	Size:    62_711_338, SHA256: "1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1",
	Plugin:     "pjrt_c_api_cpu_plugin.so",
	PluginSize: 201_600_336, PluginSHA256: "ad1309ac822b1b24d51b7f9947c7c9fa9ef5d67f390584cbc3d1fa2428fed9c2",
}}

// path is the path of the unpacked plugin below folder.
func (w wheel) path(folder string) string {
	return filepath.Join(folder, w.Name+"-"+w.Version, w.Plugin)
}

// stepWheel downloads the pinned wheel of this platform and unpacks its plugin.
func (p *provider) stepWheel(ctx context.Context) error {
	mine := slices.IndexFunc(p.wheels, func(w wheel) bool { return w.OS == runtime.GOOS && w.Arch == runtime.GOARCH })
	if mine < 0 {
		p.Say("XLA plugin from the Python package index:")
		return fmt.Errorf("no wheel is pinned for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	w := p.wheels[mine]
	p.Say("XLA plugin from the Python package index, at most %s: %s %s, third-party native code, license %s, wheel "+
		"%s (%s unpacked), SHA-256 %s (plugin %s); %s=none prevents it",
		minutes(p.limits.wheel), w.Name, w.Version, w.License, megabytes(w.Size), megabytes(w.PluginSize), w.SHA256,
		w.PluginSHA256, Env)
	ctx, cancel := context.WithTimeoutCause(ctx, p.limits.wheel,
		fmt.Errorf("timed out after %s", minutes(p.limits.wheel)))
	defer cancel()
	if err := needSpace(p.folder(), w.Size+w.PluginSize); err != nil {
		return err
	}
	web, err := fetch.New(p.limits.Limits)
	if err != nil {
		return err
	}
	defer web.Close()
	file := filepath.Join(p.folder(), "."+w.File+".part")
	pinned := pypi.File{Project: w.Name, Name: w.File, Size: w.Size, SHA256: w.SHA256}
	if err := pypi.Download(ctx, web, p.index(), pinned, file, nil); err != nil {
		return err
	}
	err = w.unpack(file, p.folder())
	_ = os.Remove(file) // done with, or wrong
	if err == nil {
		delete(p.skip, w.path(p.folder()))
	}
	return err
}

// unpack extracts the plugin from a verified wheel and installs it atomically.
func (w wheel) unpack(file, folder string) error {
	archive, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("%s is not a wheel: %w", w.File, err)
	}
	defer archive.Close()
	at := slices.IndexFunc(archive.File, func(f *zip.File) bool { return path.Base(f.Name) == w.Plugin })
	if at < 0 {
		return fmt.Errorf("%s does not contain %s", w.File, w.Plugin)
	}
	in, err := archive.File[at].Open()
	if err != nil {
		return fmt.Errorf("%s: %w", w.File, err)
	}
	defer in.Close()
	place := w.path(folder)
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	err = atomicfile.Replace(place, 0o644, func(out io.Writer) error {
		sum := sha256.New()
		n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(in, w.PluginSize+1))
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", w.Plugin, err)
		}
		if got := hex.EncodeToString(sum.Sum(nil)); n != w.PluginSize || got != w.PluginSHA256 {
			return fmt.Errorf("%s in %s is not the pinned one: SHA-256 %s, it must be %s", w.Plugin, w.File, got,
				w.PluginSHA256)
		}
		return nil
	})
	if err != nil {
		_ = os.Remove(filepath.Dir(place)) // fails unless it is empty
	}
	return err
}

// needSpace returns an error if a folder's disk has less than the given number of bytes free.
func needSpace(folder string, bytes int64) error {
	// If the free space is unknown, writing fails if there is none.
	if free, err := store.FreeSpace(folder); err == nil && free < bytes {
		return fmt.Errorf("%s has %s free, %s are needed: free some space or set ANTIPODE_HOME to another disk", folder,
			megabytes(free), megabytes(bytes))
	}
	return nil
}

func megabytes(n int64) string {
	if n < 1_000_000 {
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// minutes formats a timeout.
func minutes(d time.Duration) string {
	if d < time.Minute || d%time.Minute != 0 {
		return d.String()
	}
	return fmt.Sprintf("%d min", d/time.Minute)
}
