package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

func shardOf(t *testing.T, tab datasets.Table, a ShardArgs) *table.Plan {
	t.Helper()
	return &table.Plan{Op: ShardOp, Args: must.Get(json.Marshal(a))(t),
		Inputs: []*table.Plan{must.Get(tab.Plan())(t)}}
}

func runShard(t *testing.T, e *Engine, tab datasets.Table, a ShardArgs, req client.Request) (*client.Result, error) {
	t.Helper()
	req.Plan = shardOf(t, tab, a)
	return e.Run(t.Context(), req, nil)
}

func TestShardsPartition(t *testing.T) {
	ids := make([]string, 31)
	for i := range ids {
		ids[i] = fmt.Sprintf("row %d", i)
	}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", ids)}}
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(ids))
	shuffled := f.Pick(order)
	for n := 1; n <= 100; n++ {
		seen := make([]int, len(ids))
		for i := range n {
			rows := chosen(f, ShardArgs{i, n})
			if len(rows) != 31/n && len(rows) != 31/n+1 {
				t.Fatalf("shard %d of %d has %d rows", i, n, len(rows))
			}
			for _, row := range rows {
				seen[row]++
			}
			var same []string
			for _, row := range chosen(shuffled, ShardArgs{i, n}) {
				same = append(same, shuffled.Texts("id")[row])
			}
			slices.Sort(same)
			want := f.Pick(rows).Texts("id")
			slices.Sort(want)
			if !slices.Equal(same, want) {
				t.Fatalf("shard %d of %d depends on the order of rows", i, n)
			}
		}
		if slices.ContainsFunc(seen, func(times int) bool { return times != 1 }) {
			t.Fatalf("%d shards: a row is in none or in several", n)
		}
	}
	must.Equal(t, len(chosen(&table.Frame{Columns: []table.Column{table.NumberColumn("x", make([]float64, 5))}},
		ShardArgs{0, 1})), 5, "a table without ids: rows")
}

// TestShardReadsItsFiles removes the files of all other shards' rows: they are not read.
func TestShardReadsItsFiles(t *testing.T) {
	e := newEngine(t)
	dir, name := images(t, 12)
	tab := datasets.CSV(name)
	all := allRows(t, e, tab)
	mine := chosen(all, ShardArgs{1, 3})
	for row := range all.Len() {
		if !slices.Contains(mine, row) {
			must.Do(t, os.Remove(filepath.Join(dir, "img", fmt.Sprintf("%d.png", row))))
		}
	}
	e = newEngine(t) // without an index of digests
	res := must.Get(runShard(t, e, tab, ShardArgs{1, 3}, client.Request{}))(t)
	if got, want := mustDigest(t, res.Frame), mustDigest(t, all.Pick(mine)); got != want {
		t.Errorf("rows %v, want those of the whole table", res.Frame.Texts("id"))
	}
	_, err := runShard(t, e, tab, ShardArgs{0, 3}, client.Request{})
	first := chosen(all, ShardArgs{0, 3})[0]
	want := fmt.Sprintf("row %d (id %q), column image: t.csv: the file img/%d.png is missing (%s)", first+1,
		fmt.Sprintf("i%d", first), first, filepath.Join(dir, "img", fmt.Sprintf("%d.png", first)))
	if err == nil || !strings.HasSuffix(err.Error(), ": "+want) { // after the line that made the table
		t.Errorf("%v, want %s", err, want)
	}
	res, err = runShard(t, e, tab, ShardArgs{0, 3}, client.Request{SkipBad: true})
	must.True(t, err == nil && res.Rows == 0 && len(res.Bad) == 4 && res.Bad[0].Row == first+1,
		"%v, %+v, want 4 bad rows", err, res)
}

// TestShardChecksAllIDs finds an id that occurs twice in every shard.
func TestShardChecksAllIDs(t *testing.T) {
	e := newEngine(t)
	_, name := images(t, 6)
	data := must.Get(os.ReadFile(name))(t)
	must.Write(t, name, string(data)+"i2,img/0.png,north\n")
	for i := range 3 {
		_, err := runShard(t, e, datasets.CSV(name), ShardArgs{i, 3}, client.Request{})
		must.Err(t, err, `the id is in row 3 already`)
	}
}

func mustDigest(t *testing.T, f *table.Frame) string {
	t.Helper()
	return must.Get(store.FrameDigest(f))(t)
}

// TestShardsAreParts compares the rows of shards with those of whole tables: sources with verbs that files are read
// after, and others.
func TestShardsAreParts(t *testing.T) {
	e := newEngine(t)
	dir, name := images(t, 9)
	csv := datasets.CSV(name)
	plain := filepath.Join(dir, "saved.parquet")
	_ = must.Get(run1(t, e, csv, client.Request{Save: plain, AllColumns: true}))(t)
	right := datasets.CSV(must.Write(t, filepath.Join(dir, "right.csv"), "region,photo,note\nnorth,img/0.png,a\n"+
		"south,img/1.png,b\n"))
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 3, PerCell: 1, Size: 16})
	for title, tab := range map[string]datasets.Table{
		"csv":     csv,
		"parquet": datasets.Parquet(plain),
		"folder":  datasets.Folder(filepath.Join(dir, "img")),
		"verbs": csv.Where("region", "==", "south").Rename("image", "photo").Select("id", "photo").
			With("x", 1.0),
		"head":         csv.Sort("region").Head(5),
		"sample":       csv.Sample(2, "region", 1),
		"repeat":       csv.Repeat(3, "image_id", 4),
		"concat":       csv.Concat(csv.Rename("id", "old").Rename("image", "old_image").With("id", "x").Head(1)),
		"join":         csv.Join(right.Rename("photo", "image2"), "region"),
		"without id":   csv.Select("region", "image"),
		"in memory":    datasets.FromRows([]map[string]any{{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}}),
		"with a mask":  csv.MasksFrom(dir),
		"counted":      counts(csv),
		"good":         csv.Where("region", "present", "").Count("region"),
		"the world":    world.Reference(),
		"world, verbs": world.Reference().Repeat(2, "image_id", 0).Rename("mask", "shape").Head(30),
	} {
		t.Run(title, func(t *testing.T) {
			whole := allRows(t, e, tab)
			rows := 0
			for i := range 3 {
				res := must.Get(runShard(t, e, tab, ShardArgs{i, 3}, client.Request{}))(t)
				mine := chosen(whole, ShardArgs{i, 3})
				rows += res.Rows
				if got, want := mustDigest(t, res.Frame), mustDigest(t, whole.Pick(mine)); got != want {
					t.Errorf("shard %d: %d rows differ from rows %v of the whole table", i, res.Rows, mine)
				}
			}
			must.True(t, rows == whole.Len() && rows != 0, "%d rows, want %d", rows, whole.Len())
		})
	}
}

// TestShardStoresItsImages reads a Parquet file that holds the bytes of images.
func TestShardStoresItsImages(t *testing.T) {
	tab := datasets.Parquet(filepath.Join("..", "parquet", "testdata", "huggingface.parquet"))
	blobs := func(e *Engine) int {
		return len(must.Get(filepath.Glob(filepath.Join(e.Store.Dir(), "blobs", "*", "*")))(t))
	}
	one := newEngine(t)
	whole := allRows(t, one, tab)
	images := map[string]bool{}
	for i := range 2 {
		e := newEngine(t)
		res := must.Get(runShard(t, e, tab, ShardArgs{i, 2}, client.Request{}))(t)
		want := mustDigest(t, whole.Pick(chosen(whole, ShardArgs{i, 2})))
		got := mustDigest(t, res.Frame)
		must.True(t, got == want, "shard %d: rows %v differ from those of the whole table", i, res.Frame.Texts("id"))
		own := map[string]bool{}
		for _, img := range res.Frame.Images("image") {
			if strings.HasPrefix(img.Path, e.Store.Dir()) { // the other one is a file next to the table
				own[img.SHA256], images[img.SHA256] = true, true
			}
		}
		n := blobs(e)
		must.True(t, n == len(own), "shard %d stores %d images, and has %d", i, n, len(own))
	}
	must.True(t, blobs(one) == len(images) && len(images) != 0,
		"%d images in shards, %d in all", len(images), blobs(one))
}

// held is a stage of batches of two, whose Compute waits until it is told.
type held struct {
	counted
	begun chan struct{}
	steps bool
	waits int // of 10 ms
}

func (held) Batch() int { return 2 }
func (s held) Compute(ctx context.Context, in [][]byte) ([][]table.Value, error) {
	s.begun <- struct{}{}
	for i := range s.waits {
		if s.steps {
			stage.Step(ctx, i, s.waits)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return s.counted.Compute(ctx, in)
}

// TestDrain ends a run after its first batch has begun: the batch is stored if the grace period suffices.
func TestDrain(t *testing.T) {
	for name, test := range map[string]struct {
		grace time.Duration
		steps bool
		needs bool // another job waits for the batch
		kept  int
		most  time.Duration // after the start of the drain
	}{
		"long enough":            {grace: time.Minute, kept: 2, most: 20 * time.Second},
		"too short":              {grace: 50 * time.Millisecond, kept: 0, most: 20 * time.Second},
		"too short for two jobs": {grace: 50 * time.Millisecond, needs: true, kept: 0, most: 20 * time.Second},
		"known to be long":       {grace: 20 * time.Millisecond, steps: true, kept: 0, most: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			_, tab := images(t, 7)
			begun := make(chan struct{}, 100)
			heldStage = held{begun: begun, steps: test.steps, waits: 30}
			d := NewDrain(test.grace)
			e.opts.Drain = d
			planOf := func(rows datasets.Table) *table.Plan {
				return must.Get(derive(rows, "held", nil, "full:vector", "size:number").Plan())(t)
			}
			plan, done := planOf(datasets.CSV(tab)), make(chan error, 2)
			run := func(plan *table.Plan) {
				_, err := e.Run(t.Context(), client.Request{Plan: plan}, nil)
				done <- err
			}
			go run(plan)
			<-begun
			if test.needs {
				go run(planOf(datasets.CSV(tab).Head(2)))
				waitFor(e, 2)
			}
			time.Sleep(15 * time.Millisecond) // a step
			d.Start()
			start := time.Now()
			for range map[bool]int{false: 1, true: 2}[test.needs] {
				if err := <-done; !errors.Is(err, ErrDrained) {
					t.Fatalf("%v, want ErrDrained", err)
				}
			}
			took := time.Since(start)
			must.True(t, took <= test.most, "drained after %v", took)
			if computed, _ := e.Counts(); int(computed) != test.kept || len(begun) != 0 {
				t.Errorf("%d items are stored, want %d; %d more batches begun", computed, test.kept, len(begun))
			}
			heldStage, e.opts.Drain = held{begun: make(chan struct{}, 100)}, nil
			res := must.Get(e.Run(t.Context(), client.Request{Plan: plan}, nil))(t)
			must.Equal(t, res.Found, test.kept)
			must.Equal(t, res.Computed, 7-test.kept)
		})
	}
}

var heldStage held

func init() {
	register("held", func(base counted) stage.Worker[[]byte] {
		s := heldStage
		s.counted = base
		return s
	})
}

// TestDescribe names models and versions without reading a table.
func TestDescribe(t *testing.T) {
	e := newEngine(t)
	file := must.Write(t, filepath.Join(t.TempDir(), "t.parquet"), "no table")
	plan := must.Get(counts(datasets.Parquet(file)).Plan())(t)
	d := must.Get(e.Describe(t.Context(), plan, []string{"counted"}))(t)
	must.Equal(t, d.Stages["counted"], 1)
	must.Equal(t, len(d.Stages), 1)
}
