//go:build scale

package engine

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// Variables of the processes of [TestMemoryOfSave].
const (
	memoryDir  = "ANTIPODE_MEMORY"      // of a process that saves: the folder
	memoryRows = "ANTIPODE_MEMORY_ROWS" // the number of rows, if not 100,000
)

// mostMemory is what a process that saves any number of rows may take, in kB.
const mostMemory = 1_000_000

// TestMemoryOfSave saves a table of 100,000 rows with three vectors of 768 numbers, whose items are in the store, in a
// process of its own, and prints the time and the largest memory that it took.
func TestMemoryOfSave(t *testing.T) {
	if dir := os.Getenv(memoryDir); dir != "" {
		saveWide(t, dir)
		return
	}
	n := 100_000
	if text := os.Getenv(memoryRows); text != "" {
		n = must.Get(strconv.Atoi(text))(t)
	}
	dir := t.TempDir()
	s := must.Get(store.Open(filepath.Join(dir, "store")))(t)
	fillWide(t, s, n, 768)
	must.Do(t, s.Close())
	wideTable(t, dir, n)
	cmd := exec.Command(os.Args[0], "-test.run=^TestMemoryOfSave$", "-test.v")
	cmd.Env = append(os.Environ(), memoryDir+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d rows, %d MB of vectors\n%s", n, n*3*768*4/1e6, out)
}

func saveWide(t *testing.T, dir string) {
	s := must.Get(store.Open(filepath.Join(dir, "store")))(t)
	e := New(s, Options{Build: "test"})
	defer e.Close()
	tab := widen(datasets.CSV(filepath.Join(dir, "t.csv")))
	start := time.Now()
	res := must.Get(run1(t, e, tab, client.Request{Save: filepath.Join(dir, "out.parquet"), Counts: true}))(t)
	must.Equal(t, res.Computed, 0)
	must.Equal(t, res.Found, res.Rows)
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") {
			fmt.Printf("saved in %.1f s, %s", time.Since(start).Seconds(), line)
			var kB int
			if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kB); err != nil || kB > mostMemory {
				t.Errorf("memory of %d kB, at most %d: %v", kB, mostMemory, err)
			}
		}
	}
	data := must.Get(os.ReadFile(filepath.Join(dir, "out.parquet")))(t)
	fmt.Printf("%d bytes, SHA-256 %x\n", len(data), sha256.Sum256(data))
}
