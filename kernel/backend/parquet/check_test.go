package parquet

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	pq "github.com/parquet-go/parquet-go"

	"antipode/internal/cputime"
	"antipode/internal/must"
)

// closed returns a file with this footer.
func closed(body, footer []byte) []byte {
	b := append(append([]byte("PAR1"), body...), footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
}

// TestBombs: small files that claim or unfold to much are errors of one line, within the memory of the budget.
func TestBombs(t *testing.T) {
	type row struct {
		ID   string `parquet:"id,dict"`
		Text string `parquet:"text,dict"`
	}
	var unfolds bytes.Buffer // 100 kB that are repeated 20,000 times
	w := pq.NewGenericWriter[row](&unfolds)
	for range 20 {
		rows := make([]row, 1000)
		for i := range rows {
			rows[i] = row{"a", strings.Repeat("x", 100_000)}
		}
		_ = must.Get(w.Write(rows))(t)
	}
	must.Do(t, w.Close())
	small := unfolds.Bytes()
	if len(small) > 1<<20 {
		t.Fatalf("the file has %d bytes", len(small))
	}
	deep := bytes.Repeat([]byte{0x1c}, 1<<20) // struct in struct
	for name, c := range map[string]struct {
		data  []byte
		want  string
		bytes uint64
	}{
		"repeated text": {small, "split the table", 2 << 30},
		"a list of 2³¹ row groups": {closed(nil, []byte{0x15, 2, 0x19, 0x1c, 0, 0x16, 0, 0x19, 0xfc, 0xff, 0xff, 0xff,
			0xff, 7}), "damaged", 1 << 20},
		"text of 2 GB":     {closed(nil, []byte{0x18, 0xff, 0xff, 0xff, 0xff, 7}), "damaged", 1 << 20},
		"nested structs":   {closed(nil, deep), "damaged", 8 << 20},
		"nested lists":     {closed(nil, bytes.Repeat([]byte{0x19}, 1<<20)), "damaged", 8 << 20},
		"a footer of 4 GB": {append([]byte("PAR1"), "\xff\xff\xff\xffPAR1"...), "last bytes", 1 << 20},
		"no footer":        {[]byte("PAR1PAR1"), "ends too early", 1 << 20},
	} {
		path := filepath.Join(t.TempDir(), "t.parquet")
		must.Do(t, os.WriteFile(path, c.data, 0o600))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var err error
		took := cputime.Of(func() { _, err = Read(path, Options{}) })
		runtime.ReadMemStats(&after)
		must.Err(t, err, c.want)
		if n := after.TotalAlloc - before.TotalAlloc; n > c.bytes || took > 5*time.Second {
			t.Errorf("%s: %d MiB allocated in %v", name, n>>20, took)
		}
	}
}

// FuzzRead: a file that is read has as many rows in every column, is read the same way twice, and survives writing.
func FuzzRead(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.parquet")
	for _, path := range paths {
		data := must.Get(os.ReadFile(path))(f)
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "t.parquet")
	f.Fuzz(func(t *testing.T, data []byte) {
		must.Do(t, os.WriteFile(path, data, 0o600))
		got, err := Read(path, Options{})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q is not one line", err)
			}
			return
		}
		again, err := Read(path, Options{})
		diff := cmp.Diff(got, again, cmpopts.EquateNaNs())
		must.True(t, err == nil && diff == "", "read twice: %v, %s", err, diff)
		if err := got.Frame.Check(); err != nil {
			t.Error(err)
		}
	})
}
