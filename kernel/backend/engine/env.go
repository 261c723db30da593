package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/compute"
	"golang.org/x/sys/cpu"

	"antipode/datasets/table"
)

// env is the [stage.Env] of a run.
type env struct{ r *run }

func (v env) Backend() (compute.Backend, error) {
	d, err := v.r.e.openDevice(v.r)
	if err != nil {
		return nil, err
	}
	return d.Backend(), nil
}

func (v env) DeviceKind() (string, error) {
	set, err := v.r.devices()
	if err != nil {
		return "", err
	}
	if set != nil {
		return set.Kind(), nil
	}
	d, err := v.r.e.openDevice(v.r)
	if err != nil {
		return "", err
	}
	return d.Kind(), nil
}

func (v env) FileDigest(path string) (string, error) { return v.r.e.Store.FileDigest(path) }

func (v env) PutBlob(data []byte, ext string) (table.Image, error) {
	return v.r.store.PutBlob(data, ext)
}

func (v env) Shared(key string, open func() (any, int64, func(), error)) (any, func(), error) {
	return v.r.e.pool.get(key, open)
}

func (v env) OnDevice(ctx context.Context, f func() error) error { return v.r.e.queue.do(ctx, f) }

func (v env) ModelDir() string { return filepath.Join(v.r.e.home(), "models") }

// Secret returns an environment variable of the process that requested the run; without Secrets that is this process.
func (v env) Secret(name string) string {
	if v.r.req.Secrets == nil {
		return os.Getenv(name)
	}
	return v.r.req.Secrets[name]
}

func (v env) First(key string) bool {
	v.r.mu.Lock()
	defer v.r.mu.Unlock()
	first := !v.r.once[key]
	v.r.once[key] = true
	return first
}

func (v env) Note(format string, args ...any) { v.r.note(format, args...) }

// NoteModel adds a model's digest, and its source where it is known, to the run record.
func (v env) NoteModel(name, digest, source string) {
	v.r.mu.Lock()
	defer v.r.mu.Unlock()
	v.r.models[name] = digest
	if source != "" {
		v.r.origins[name] = source
	}
}

// opening is the [stage.Env] of one stage. It records what the stage uses when it is opened, by which
// [opening.computer] decides where its batches are computed.
type opening struct {
	env
	mu     sync.Mutex
	kind   bool // the stage depends on the device
	secret bool
	files  map[string]string // digests, by path
}

func (v *opening) DeviceKind() (string, error) {
	v.mu.Lock()
	v.kind = true
	v.mu.Unlock()
	return v.env.DeviceKind()
}

func (v *opening) Secret(name string) string {
	v.mu.Lock()
	v.secret = true
	v.mu.Unlock()
	return v.env.Secret(name)
}

func (v *opening) FileDigest(path string) (string, error) {
	digest, err := v.env.FileDigest(path)
	if err == nil {
		v.mu.Lock()
		v.files[path] = digest
		v.mu.Unlock()
	}
	return digest, err
}

// openDevice returns the device of this process. The first call opens it.
func (e *Engine) openDevice(r *run) (Device, error) {
	if _, err := e.devices(r.ctx); err != nil { // which may choose the one to open
		return nil, err
	}
	e.deviceMu.Lock()
	defer e.deviceMu.Unlock()
	if e.device == nil {
		var d Device
		err := e.queue.do(r.ctx, func() (err error) {
			d, err = e.opts.OpenDevice(r.ctx)
			return err
		})
		if err != nil {
			return nil, deviceError{err}
		}
		e.device = d
		e.kind.CompareAndSwap(nil, d.Kind())
		e.setOrigin(d)
	}
	return e.device, nil
}

// setOrigin makes the packs that are written from now on name a device.
func (e *Engine) setOrigin(d interface{ Kind() string }) {
	origin := e.Store.Origin()
	origin.Build, origin.Device, origin.Features = e.opts.Build, d.Kind(), Features()
	if named, ok := d.(interface{ Describe() (text, plugin string) }); ok {
		origin.Description, origin.Plugin = named.Describe()
	}
	e.Store.SetOrigin(origin)
}

// ErrDevice is the error of a run whose accelerator cannot be opened.
var ErrDevice = errors.New("the device cannot be opened")

// deviceError is an error of opening the device, with its own message.
type deviceError struct{ error }

func (d deviceError) Unwrap() error        { return d.error }
func (d deviceError) Is(target error) bool { return target == ErrDevice }

// Features returns the processor's instructions that results may depend on.
func Features() string {
	var have []string
	for name, has := range map[string]bool{"avx2": cpu.X86.HasAVX2, "fma": cpu.X86.HasFMA,
		"avx512f": cpu.X86.HasAVX512F, "avx512bf16": cpu.X86.HasAVX512BF16, "amx": cpu.X86.HasAMXTile,
		"sve": cpu.ARM64.HasSVE, "sve2": cpu.ARM64.HasSVE2} {
		if has {
			have = append(have, name)
		}
	}
	slices.Sort(have)
	return strings.Join(append([]string{runtime.GOARCH}, have...), " ")
}
