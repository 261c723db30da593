package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"antipode/internal/must"
)

// BenchmarkMerge merges a store of eight packs of 16 MB and 1,280 images of 100 kB into an empty one.
func BenchmarkMerge(b *testing.B) {
	random := rand.NewChaCha8([32]byte{1})
	data := func(n int) []byte {
		p := make([]byte, n)
		_, _ = random.Read(p)
		return p
	}
	from := must.Get(OpenWorker(b.TempDir(), WorkerOptions{}))(b)
	it := must.Get(from.Items("embed-v1", "abc"))(b)
	size := 0
	for i := range 8 {
		var keys []Key
		var payloads [][]byte
		for j := range 1700 {
			keys, payloads = append(keys, KeyOf(fmt.Sprint(i, j))), append(payloads, data(9228))
			size += 9228
		}
		must.Do(b, it.Put(keys, payloads))
	}
	for range 1280 {
		must.Get(from.PutBlob(data(100_000), ".png"))(b)
		size += 100_000
	}
	must.Do(b, from.Close())
	b.SetBytes(int64(size))
	for b.Loop() {
		b.StopTimer()
		dir := must.Get(os.MkdirTemp(b.TempDir(), "into"))(b)
		into := must.Get(Open(dir))(b)
		b.StartTimer()
		report, err := into.Merge(b.Context(), []string{from.Dir()}, MergeOptions{})
		if err != nil || report.Images != 1280 || report.Packs < 8 {
			b.Fatal(report, err)
		}
		b.StopTimer()
		must.Do(b, into.Close())
		must.Do(b, os.RemoveAll(dir))
		b.StartTimer()
	}
}
