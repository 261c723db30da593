// Package stagetest runs a stage's worker in a test, without engine and store.
package stagetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"

	"antipode/datasets/table"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
)

// Env is the environment of a stage, without a store.
type Env struct {
	t       *testing.T
	backend compute.Backend
	loaded  map[string]any
	keep    bool // loaded models stay open
}

// NewEnv returns an environment with a backend, nil where nothing is computed. Loaded models stay open until the test
// ends.
func NewEnv(t *testing.T, backend compute.Backend) Env {
	return Env{t, backend, map[string]any{}, false}
}

// SharedEnv is [NewEnv] for tests that load the same models: these stay open as long as the process.
func SharedEnv(t *testing.T, backend compute.Backend) Env { return Env{t, backend, shared, true} }

var shared = map[string]any{}

// Backend returns the backend.
func (e Env) Backend() (compute.Backend, error) { return e.backend, nil }

// NoteModel does nothing.
func (Env) NoteModel(model, digest, source string) {}

// Note writes to the test's log.
func (e Env) Note(format string, args ...any) { e.t.Logf(format, args...) }

// Secret returns an environment variable.
func (Env) Secret(name string) string { return os.Getenv(name) }

// DeviceKind is XLA on the CPU.
func (Env) DeviceKind() (string, error) { return device.XLACPU, nil }

// ModelDir is none.
func (Env) ModelDir() string { return "" }

// First implements stage.Env.
func (Env) First(string) bool { return true }

// FileDigest reads the file.
func (Env) FileDigest(path string) (string, error) {
	data, err := os.ReadFile(path)
	return Digest(data), err
}

// PutBlob keeps nothing.
func (Env) PutBlob([]byte, string) (table.Image, error) {
	return table.Image{}, errors.New("not kept")
}

// Shared opens a value once; one that takes no memory fails the test.
func (e Env) Shared(key string, open func() (any, int64, func(), error)) (any, func(), error) {
	if value, ok := e.loaded[key]; ok {
		return value, func() {}, nil
	}
	value, bytes, done, err := open()
	if err == nil {
		if !e.keep {
			e.t.Cleanup(done)
		}
		if bytes == 0 {
			e.t.Error("a loaded model takes no memory")
		}
	}
	e.loaded[key] = value
	return value, func() {}, err
}

// OnDevice runs f.
func (Env) OnDevice(_ context.Context, f func() error) error { return f() }

// Digest is a content's, in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Start opens a registered stage for some arguments; the worker is closed with the test.
func Start(t *testing.T, env Env, name string, args any) *stage.Opened {
	t.Helper()
	w := must.Get(Open(t, env, name, args))(t)
	t.Cleanup(w.Close)
	return w
}

// Open opens a registered stage.
func Open(t *testing.T, env Env, name string, args any) (*stage.Opened, error) {
	t.Helper()
	raw := must.Get(json.Marshal(args))(t)
	st, known := stage.Find(name)
	if !known {
		t.Fatalf("no stage %q", name)
	}
	return st.Open(t.Context(), env, raw)
}

// Run computes the given rows of a table in batches of a size and gives their values by row.
func Run(t *testing.T, w *stage.Opened, f *table.Frame, rows []int, size int) map[int][]table.Value {
	t.Helper()
	must.Do(t, w.Check(f.Specs()))
	must.Do(t, w.Load(t.Context()))
	out := map[int][]table.Value{}
	for part := range slices.Chunk(rows, size) {
		batch := make([]stage.Row, len(part))
		for k, i := range part {
			batch[k] = stage.Row{Frame: f, Index: i}
		}
		for k, values := range Compute(t.Context(), t, w, batch...) {
			out[part[k]] = values
		}
	}
	return out
}

// Compute prepares and computes a batch of rows of a worker with its model.
func Compute(ctx context.Context, t *testing.T, w *stage.Opened, rows ...stage.Row) [][]table.Value {
	t.Helper()
	batch, at := w.Rows(len(rows)), make([]int, len(rows))
	for i, row := range rows {
		at[i] = i
		if column, err := batch.Prepare(ctx, i, row); err != nil {
			t.Fatal(column, err)
		}
	}
	return must.Get(batch.Compute(ctx, at))(t)
}

// All are the rows of a table.
func All(f *table.Frame) (rows []int) {
	for i := range f.Len() {
		rows = append(rows, i)
	}
	return rows
}

// Image writes an image to a file of its own.
func Image(t *testing.T, m image.Image) table.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.png")
	f, err := os.Create(file)
	if err == nil {
		err = errors.Join(png.Encode(f, m), f.Close())
	}
	data, readErr := os.ReadFile(file)
	if err = errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	return table.Image{Path: file, SHA256: Digest(data)}
}

// Scenes are small images of stripes and noise.
func Scenes(t *testing.T, n int) (files []table.Image) {
	t.Helper()
	for i := range n {
		m := image.NewRGBA(image.Rect(0, 0, 40+i, 50))
		for y := range 50 {
			for x := range 40 + i {
				v := uint8((x*(i+3)*7 + y*(i*i+1)*5 + (x*y)%(i+2)*40) % 256)
				m.Set(x, y, color.RGBA{v, 255 - v, uint8(60 * i), 255})
			}
		}
		files = append(files, Image(t, m))
	}
	return files
}

// Captions is a table of n rows of each image, as datasets.Table.Repeat gives them, with an empty outcome.
func Captions(images []table.Image, n int, seed float64) *table.Frame {
	var id, of, outcome []string
	var list []table.Image
	var seeds []float64
	for i, img := range images {
		for k := range n {
			id, of = append(id, fmt.Sprintf("p%d#%d", i, k+1)), append(of, fmt.Sprintf("p%d", i))
			list, seeds, outcome = append(list, img), append(seeds, seed+float64(k)), append(outcome, "")
		}
	}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", id), table.TextColumn("image_id", of),
		table.ImageColumn("image", list), table.NumberColumn("seed", seeds)}}
	return f.With(table.TextColumn("outcome", outcome))
}
