package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"weak"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// wide is a stage with three vectors, whose items are put into the store by tests.
type wide struct{ counted }

func (wide) Digest() string { return "wide" }
func (wide) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns("full:vector", "object_only:vector", "background_only:vector")
}
func (wide) Key(r stage.Row) string { return r.Text("id") }
func (wide) Batch() int             { return 64 }
func (wide) Prepare(_ context.Context, r stage.Row) (string, string, error) {
	return "", "id", fmt.Errorf("%s is not in the store", r.Text("id"))
}
func (wide) Compute(context.Context, []string) ([][]table.Value, error) { return nil, nil }

func init() { register("wide", func(base counted) stage.Worker[string] { return wide{base} }) }

func widen(t datasets.Table) datasets.Table {
	return datasets.Extend(t).Derive("wide", nil, wide{}.Outputs(nil)...).Table
}

// wideTable writes a table of n rows.
func wideTable(t *testing.T, dir string, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,text\n")
	for row := range n {
		fmt.Fprintf(&b, "row%06d,the text of row %d\n", row, row)
	}
	return must.Write(t, filepath.Join(dir, "t.csv"), b.String())
}

// fillWide puts the items of n rows into a store, with vectors of so many numbers.
func fillWide(t *testing.T, s *store.Store, n, dim int) {
	t.Helper()
	sum := sha256.Sum256([]byte(wide{}.Digest()))
	items := must.Get(s.Items("wide-v1", hex.EncodeToString(sum[:12])))(t)
	outputs := wide{}.Outputs(nil)
	items.Columns(outputs)
	random := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < n; from += 8192 {
		var keys []store.Key
		var payloads [][]byte
		for row := from; row < min(n, from+8192); row++ {
			values := make([]table.Value, len(outputs))
			for i := range values {
				v := make([]float32, dim)
				for j := range v {
					v[j] = float32(random.NormFloat64())
				}
				values[i].Vector = v
			}
			payload := must.Get(encodeItem(values, outputs))(t)
			keys, payloads = append(keys, store.KeyOf(fmt.Sprintf("row%06d", row))), append(payloads, payload)
		}
		must.Do(t, items.Put(keys, payloads))
	}
}

// TestPartsAreReleased: a part of a saved table is not reachable any more when the next one but one is made.
func TestPartsAreReleased(t *testing.T) {
	const parts = 5
	e := newEngine(t)
	fillWide(t, e.Store, parts*partRows, 8)
	plan := must.Get(widen(widen(datasets.CSV(wideTable(t, t.TempDir(), parts*partRows)))).Plan())(t)
	r := e.newRun(t.Context(), client.Request{Plan: plan, Save: "t.parquet", Counts: true}, func(table.Progress) {},
		e.Store)
	s := r.streamed()
	defer s.close()
	must.Do(t, s.prepare())
	var frames []weak.Pointer[table.Frame]
	var vectors []weak.Pointer[float32]
	err := s.parts(len(s.steps), func(part *table.Frame) error {
		runtime.GC()
		for i, f := range frames[:max(0, len(frames)-1)] {
			must.True(t, f.Value() == nil && vectors[i].Value() == nil,
				"part %d is reachable after part %d", i+1, len(frames))
		}
		frames = append(frames, weak.Make(part))
		vectors = append(vectors, weak.Make(&part.Vectors("full")[0][0]))
		return nil
	})
	must.True(t, err == nil && len(frames) == parts, "%d parts: %v", len(frames), err)
}
