package engine

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
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
	stage.Register(stage.Stage{Name: "overlapping", Version: 1,
		Open: func(context.Context, stage.Env, json.RawMessage) (*stage.Opened, error) { return stage.Of(o), nil }})
	_, file := images(t, int(o.cores)+1)
	f := allRows(t, newEngine(t), datasets.Extend(datasets.CSV(file)).Derive("overlapping", nil,
		datasets.Columns("full:vector", "size:number")...).Table)
	if f.Len() != int(o.cores)+1 {
		t.Errorf("%d rows", f.Len())
	}
}
