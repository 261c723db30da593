package engine

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
)

// overlapping is counted one row at a time. Its first computation ends when as many later rows as there are cores are
// being prepared at the same time.
type overlapping struct {
	counted
	cores     int64
	preparing atomic.Int64
	full      chan struct{}
	once      sync.Once
	release   chan struct{}
}

func (*overlapping) Batch() int { return 1 }

func (o *overlapping) Prepare(ctx context.Context, r stage.Row) ([]byte, string, error) {
	if r.Text("id") != "i0" {
		if o.preparing.Add(1) == o.cores {
			close(o.full)
		}
		<-o.release
	}
	return o.counted.Prepare(ctx, r)
}

func (o *overlapping) Compute(ctx context.Context, in [][]byte) (out [][]table.Value, err error) {
	o.once.Do(func() {
		defer close(o.release)
		select {
		case <-o.full:
		case <-time.After(10 * time.Second):
			err = errors.New("the device waits for rows that nobody prepares")
		}
	})
	if err != nil {
		return nil, err
	}
	return o.counted.Compute(ctx, in)
}

// TestOverlap: while the device computes a batch, all cores prepare rows, however small the batch is.
func TestOverlap(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2*runtime.NumCPU() + 4))
	o := &overlapping{cores: int64(runtime.GOMAXPROCS(0)), full: make(chan struct{}), release: make(chan struct{})}
	register("overlapping", func(counted) stage.Worker[[]byte] { return o })
	_, file := images(t, int(o.cores)+1)
	f := allRows(t, newEngine(t), derive(datasets.CSV(file), "overlapping", nil, "full:vector", "size:number"))
	must.Equal(t, f.Len(), int(o.cores)+1, "rows")
}
