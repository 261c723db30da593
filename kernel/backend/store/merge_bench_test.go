package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// BenchmarkMerge merges a store of eight packs of 16 MB and 1,280 images of 100 kB into an empty one.
func BenchmarkMerge(b *testing.B) {
	random := rand.NewChaCha8([32]byte{1})
	data := func(n int) []byte {
		p := make([]byte, n)
		_, _ = random.Read(p)
		return p
	}
	from, err := OpenWorker(b.TempDir(), WorkerOptions{})
	if err != nil {
		b.Fatal(err)
	}
	it, err := from.Items("embed-v1", "abc")
	if err != nil {
		b.Fatal(err)
	}
	size := 0
	for i := range 8 {
		var keys []Key
		var payloads [][]byte
		for j := range 1700 {
			keys, payloads = append(keys, KeyOf(fmt.Sprint(i, j))), append(payloads, data(9228))
			size += 9228
		}
		if err := it.Put(keys, payloads); err != nil {
			b.Fatal(err)
		}
	}
	for range 1280 {
		if _, err := from.PutBlob(data(100_000), ".png"); err != nil {
			b.Fatal(err)
		}
		size += 100_000
	}
	if err := from.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		b.StopTimer()
		dir, err := os.MkdirTemp(b.TempDir(), "into")
		if err != nil {
			b.Fatal(err)
		}
		into, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		report, err := into.Merge(b.Context(), []string{from.Dir()}, MergeOptions{})
		if err != nil || report.Images != 1280 || report.Packs < 8 {
			b.Fatal(report, err)
		}
		b.StopTimer()
		if err := into.Close(); err != nil {
			b.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
