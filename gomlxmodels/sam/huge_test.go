//go:build checks && linux

package sam

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"antipode/gomlxmodels/preprocess"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// TestHuge loads sam-vit-huge's shape, random weights of 2.5 GB, segments one image with 3 boxes, and prints the peak
// of the process's memory, which must stay below 16 GiB. It is skipped where disk or memory are smaller.
// ANTIPODE_PYTHON names the Python.
func TestHuge(t *testing.T) {
	backend := testbackend.XLA(t)
	dir := t.TempDir()
	var disk syscall.Statfs_t
	must.Do(t, syscall.Statfs(dir, &disk))
	if free := int64(disk.Bavail) * disk.Bsize; free < 4<<30 {
		t.Skipf("disk: %d MiB are free in %s, 4 GiB are needed", free>>20, dir)
	}
	if free := kibibytes(t, "/proc/meminfo", "MemAvailable:"); free < 16<<20 {
		t.Skipf("memory: %d MiB are available, 16 GiB are needed", free>>10)
	}
	testbackend.Python(t, []string{"torch", "torchvision", "transformers"}, "../../tools/pyref/sam_huge.py", dir,
		fmt.Sprint(near.Seed(t)))
	file, err := os.Stat(filepath.Join(dir, "model.safetensors"))
	if err != nil || file.Size() < 2500<<20*9/10 {
		t.Fatalf("the weights are not written: %v", err)
	}
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600); err != nil { // a new peak begins
		t.Skipf("no memory figures: %v", err)
	}
	m := must.Get(Open(dir))(t)
	e := must.Get(NewEncoder(backend, m, Options{}))(t)
	defer e.Close()
	img := preprocess.NewRGB(640, 427)
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i % 251)
	}
	p := must.Get(m.Prepare(img))(t)
	maps, err := e.Segment(context.Background(), p, []Box{{10, 20, 300, 400}, {-5, 100, 200, 430}, {320, 5, 630, 99}})
	if err != nil || len(maps) != 3 {
		t.Fatalf("%d maps, %v", len(maps), err)
	}
	peak := kibibytes(t, "/proc/self/status", "VmHWM:")
	t.Logf("sam-vit-huge: weights %d MiB, compiled in %.1f s, peak memory %d MiB", e.Bytes()>>20,
		e.CompileTime().Seconds(), peak>>10)
	if peak > 16<<20 {
		t.Errorf("peak memory of %d MiB", peak>>10)
	}
}

// kibibytes is a figure of a file of /proc.
func kibibytes(t *testing.T, file, field string) (n int64) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("no memory figures: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, field); is {
			fmt.Sscan(rest, &n)
		}
	}
	return n
}
