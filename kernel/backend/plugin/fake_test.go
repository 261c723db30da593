package plugin

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"antipode/internal/fetch"
	"antipode/internal/must"
)

// fakePlugin is the smallest file that device.Inspect accepts as a plugin: an ELF library whose one symbol is
// GetPjrtApi.
func fakePlugin(filling string) []byte {
	names := "\x00GetPjrtApi\x00.shstrtab\x00.dynsym\x00.dynstr\x00"
	symbols := make([]byte, 2*elf.Sym64Size)
	var sym bytes.Buffer
	_ = binary.Write(&sym, binary.LittleEndian, elf.Sym64{Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC),
		Shndx: 1, Value: 1, Size: 1})
	copy(symbols[elf.Sym64Size:], sym.Bytes())
	machine := elf.EM_X86_64
	if runtime.GOARCH == "arm64" {
		machine = elf.EM_AARCH64
	}
	const head = 64
	body := append([]byte(names), symbols...)
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	header := elf.Header64{
		Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Shoff: uint64(head + len(body)),
		Ehsize: head, Phentsize: 56, Shentsize: 64, Shnum: 3, Shstrndx: 2,
	}
	copy(header.Ident[:], "\x7fELF\x02\x01\x01")
	var out bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, header)
	out.Write(body)
	for _, s := range []elf.Section64{
		{},
		{Name: 22, Type: uint32(elf.SHT_DYNSYM), Off: uint64(head + len(names)), Size: uint64(len(symbols)), Link: 2,
			Entsize: elf.Sym64Size},
		{Name: 30, Type: uint32(elf.SHT_STRTAB), Off: head, Size: uint64(len(names))},
	} {
		_ = binary.Write(&out, binary.LittleEndian, s)
	}
	out.WriteString(filling)
	return out.Bytes()
}

// fakeWheel packs a plugin as a wheel does, and pins it.
func fakeWheel(t *testing.T, plugin []byte) ([]byte, wheel) {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, data := range map[string][]byte{"some_pjrt/__init__.py": []byte("x = 1\n"),
		"some_pjrt/lib/pjrt_c_api_cpu_plugin.so": plugin} {
		f := must.Get(z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store}))(t)
		_ = must.Get(f.Write(data))(t)
	}
	must.Do(t, z.Close())
	return out.Bytes(), wheel{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Name: "some-pjrt-cpu", Version: "1.2",
		File:    "some_pjrt_cpu-1.2-py3-none-any.whl",
		License: "Apache-2.0", Size: int64(out.Len()), SHA256: sum(out.Bytes()),
		Plugin: "pjrt_c_api_cpu_plugin.so", PluginSize: int64(len(plugin)), PluginSHA256: sum(plugin),
	}
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// world is a machine without any plugin, a package index, and the lines printed.
type world struct {
	*provider
	t      *testing.T
	home   string
	wheel  wheel
	data   []byte // the wheel's bytes
	server *httptest.Server

	// Faults of the index; nil = none.
	onPage, onFile http.HandlerFunc

	mu    sync.Mutex
	lines []string
	hits  []string // "page" or "file RANGE", in order
}

var quick = limits{
	Limits: fetch.Limits{Connect: 2 * time.Second, Stall: 300 * time.Millisecond, Retries: 2, Pause: time.Millisecond},
	wheel:  10 * time.Second, goxla: 5 * time.Second, goxlaGPU: 5 * time.Second, probe: 10 * time.Second,
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: filepath.Join(t.TempDir(), "store")}
	for _, name := range append([]string{
		Env, "PJRT_PLUGIN_LIBRARY_PATH", "LD_LIBRARY_PATH", "GOMLX_BACKEND", "PIP_INDEX_URL", "UV_INDEX_URL",
		"UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL",
		"PIP_NO_INDEX", "PIP_CONFIG_FILE", "VIRTUAL_ENV", "XDG_CONFIG_HOME", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY",
		"https_proxy", "ALL_PROXY", "all_proxy",
	}, fetch.CertificateEnvs...) {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("ANTIPODE_HOME", w.home)
	w.data, w.wheel = fakeWheel(t, fakePlugin(strings.Repeat("a plugin ", 40_000)))
	mux := http.NewServeMux()
	mux.HandleFunc("/simple/some-pjrt-cpu/", func(rw http.ResponseWriter, r *http.Request) {
		w.hit("page")
		if w.onPage != nil {
			w.onPage(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(rw, "<!DOCTYPE html><html><body><a href=\"../../files/other.whl\">other.whl</a><br>\n<a "+
			"href=\"../../files/%s#sha256=%s\">%[1]s</a></body></html>", w.wheel.File, w.wheel.SHA256)
	})
	mux.HandleFunc("/files/", func(rw http.ResponseWriter, r *http.Request) {
		w.hit("file " + r.Header.Get("Range"))
		if w.onFile != nil {
			w.onFile(rw, r)
			return
		}
		w.serveFile(rw, r)
	})
	w.server = httptest.NewServer(mux)
	t.Cleanup(w.server.Close)
	w.provider = w.another()
	return w
}

func (w *world) serveFile(rw http.ResponseWriter, r *http.Request) {
	http.ServeContent(rw, r, "", time.Time{}, bytes.NewReader(w.data))
}

// another is another start on the same machine.
func (w *world) another() *provider {
	p := newProvider(Options{Home: w.home, Say: func(format string, args ...any) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lines = append(w.lines, fmt.Sprintf(format, args...))
	}})
	p.gpu, p.hasXLA, p.wheels, p.limits = false, true, []wheel{w.wheel}, quick
	p.goxla = func(context.Context, bool) error { return errors.New("no such host") }
	p.index = func() []string { return []string{w.server.URL + "/simple"} }
	return p
}

func (w *world) hit(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hits = append(w.hits, strings.TrimSpace(what))
}

func (w *world) printed() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "\n")
}

// put writes a file, with its folders.
func (w *world) put(path string, data []byte) string {
	w.t.Helper()
	must.Do(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(w.t, os.WriteFile(path, data, 0o600))
	return path
}

// want fails unless the choice is of a kind and at a path.
func (w *world) want(c Choice, err error, kind, path string) {
	w.t.Helper()
	if err != nil || c.Kind != kind || c.Path != path {
		w.t.Fatalf("got %s at %q (error %v), want %s at %q; printed:\n%s", c.Kind, c.Path, err, kind, path, w.printed())
	}
}

// tidy fails if a store contains anything but what a finished installation leaves.
func (w *world) tidy(allowed ...string) {
	w.t.Helper()
	entries, err := os.ReadDir(w.folder())
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
next:
	for _, e := range entries {
		for _, ok := range append(allowed, ".lock", recordFile) {
			if e.Name() == ok {
				continue next
			}
		}
		w.t.Errorf("%s is left behind", e.Name())
	}
}
