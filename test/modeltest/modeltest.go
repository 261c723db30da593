// Package modeltest holds what the tests of model packages share: goldens, damaged copies of model folders, and small
// checks.
package modeltest

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// File is what a reference library computed with the model of a folder, tensor by tensor.
const File = "golden.safetensors"

// Golden is the tensors of a [File]. A mistake in a name fails the test T.
type Golden struct {
	Set *weights.Set
	T   testing.TB
}

// Open opens a folder's golden.
func Open(t testing.TB, dir string) Golden {
	t.Helper()
	set := must.Get(weights.OpenFiles(filepath.Join(dir, File)))(t)
	return Golden{set, t}
}

// Values is a tensor, flat.
func (g Golden) Values(name string) []float32 {
	g.T.Helper()
	v, err := g.Set.Float32(name)
	if err != nil {
		g.T.Fatal(err)
	}
	return v
}

// Shape is a tensor's shape, nil where there is no such tensor.
func (g Golden) Shape(name string) []int {
	info, _ := g.Set.Info(name)
	return info.Shape
}

// Rows is a tensor cut along its first axis.
func (g Golden) Rows(name string) [][]float32 {
	g.T.Helper()
	return rows(g.Values(name), g.Shape(name)[0])
}

// Ints is a tensor of whole numbers, flat.
func (g Golden) Ints(name string) []int32 {
	g.T.Helper()
	out := []int32{}
	for _, v := range g.Values(name) {
		out = append(out, int32(v))
	}
	return out
}

// IntRows is a tensor of whole numbers cut along its first axis: texts of token ids.
func (g Golden) IntRows(name string) [][]int32 {
	g.T.Helper()
	return rows(g.Ints(name), g.Shape(name)[0])
}

func rows[T any](flat []T, n int) [][]T {
	out := make([][]T, n)
	for i := range out {
		out[i] = flat[i*len(flat)/n : (i+1)*len(flat)/n]
	}
	return out
}

// Tensor is a tensor as a graph takes it.
func (g Golden) Tensor(name string) *tensors.Tensor {
	g.T.Helper()
	return tensors.FromFlatDataAndDimensions(g.Values(name), g.Shape(name)...)
}

// IntTensor is a tensor of whole numbers as a graph takes it.
func (g Golden) IntTensor(name string) *tensors.Tensor {
	g.T.Helper()
	return tensors.FromFlatDataAndDimensions(g.Ints(name), g.Shape(name)...)
}

// Image is a tensor [H,W,3] of whole numbers from 0 to 255 as an image.
func (g Golden) Image(name string) *preprocess.RGB {
	g.T.Helper()
	shape := g.Shape(name)
	p := preprocess.NewRGB(shape[1], shape[0])
	for i, v := range g.Values(name) {
		p.Pix[i] = uint8(v)
	}
	return p
}

// Run evaluates a graph once with the weights that load fills its store with, all of which it must use.
func Run(t testing.TB, backend compute.Backend, load func(*model.Store) error,
	fn func(*model.Scope, []*graph.Node) []*graph.Node, args ...any) [][]float32 {
	t.Helper()
	store := model.NewStore()
	defer store.Finalize()
	must.Do(t, load(store))
	exec := must.Get(model.NewExec(backend, store, fn))(t)
	defer exec.Finalize()
	out, g, err := exec.CallWithGraph(args...)
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, weights.Check(store, g))
	flat := make([][]float32, len(out))
	for i, o := range out {
		flat[i] = tensors.MustCopyFlatData[float32](o)
	}
	return flat
}

// CopyOf copies the folder of that name below testdata, without its golden, so that a test can damage it.
func CopyOf(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))))
	os.Remove(filepath.Join(dir, File))
	return dir
}

// Edit changes keys of a JSON file, those of an inner object one by one; a nil value removes a key.
func Edit(t testing.TB, path string, changes map[string]any) {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	var m map[string]any
	must.Do(t, json.Unmarshal(text, &m))
	for k, v := range changes {
		inner, is := v.(map[string]any)
		if old, was := m[k].(map[string]any); is && was {
			maps.Copy(old, inner)
		} else if m[k] = v; v == nil {
			delete(m, k)
		}
	}
	text, _ = json.Marshal(m)
	Write(t, path, string(text))
}

// ReadZip reads a JSON file of a zip archive into to.
func ReadZip(t testing.TB, path, name string, to any) {
	t.Helper()
	z := must.Get(zip.OpenReader(path))(t)
	defer z.Close()
	f := must.Get(z.Open(name))(t)
	defer f.Close()
	must.Do(t, json.NewDecoder(f).Decode(to))
}

// Write writes a file.
func Write(t testing.TB, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}

// Tensors reads all tensors of a folder's weights.
func Tensors(t testing.TB, dir string) []weights.Tensor {
	t.Helper()
	set := must.Get(weights.Open(dir))(t)
	return tensorsOf(t, set)
}

// TensorsOf reads all tensors of a file that have numbers in floating point.
func TensorsOf(t testing.TB, path string) (list []weights.Tensor) {
	t.Helper()
	set := must.Get(weights.OpenFiles(path))(t)
	for _, name := range set.Names() {
		info, _ := set.Info(name)
		if data, err := set.Float32(name); err == nil {
			list = append(list, weights.Tensor{Name: name, Shape: info.Shape, Data: data})
		}
	}
	return list
}

func tensorsOf(t testing.TB, set *weights.Set) (list []weights.Tensor) {
	t.Helper()
	for _, name := range set.Names() {
		info, _ := set.Info(name)
		data := must.Get(set.Float32(name))(t)
		list = append(list, weights.Tensor{Name: name, Shape: info.Shape, Data: data})
	}
	return list
}

// Save writes tensors as a folder's weights, in float32.
func Save(t testing.TB, dir string, list []weights.Tensor) {
	t.Helper()
	must.Do(t, weights.Save(filepath.Join(dir, weights.SingleFile), list, nil, weights.F32))
}

// ComesBack opens and closes encoders that hold 16 MiB and more: their memory must come back, after some rounds in
// which the allocators take their pools. These may take more at any time, so that it has three tries: what leaks does
// so in each.
func ComesBack(t *testing.T, pools int, round func()) {
	t.Helper()
	for range pools {
		round()
	}
	var grown int64
	for range 3 {
		before := resident(t)
		for range 5 {
			round()
		}
		if grown = resident(t) - before; grown <= 48<<20 { // kept, they would be 5 × 16 MiB and more
			return
		}
	}
	t.Errorf("5 encoders opened and closed leave %d MiB", grown>>20)
}

// resident is the memory of the process after a collection, in bytes. Where the system does not tell it the test is
// skipped.
func resident(t *testing.T) int64 {
	runtime.GC()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("no memory figures: %v", err)
	}
	pages := must.Get(strconv.ParseInt(strings.Fields(string(text))[1], 10, 64))(t)
	return pages * int64(os.Getpagesize())
}

// Computed copies a folder of golden files and adds its weights, and those of the given subfolders. They are computed
// from the names, shapes, means and deviations in tensors.json as tools/pyref/groundingdino.py does.
func Computed(t testing.TB, golden string, subfolders ...string) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS(golden)))
	for _, sub := range append([]string{""}, subfolders...) {
		addComputed(t, filepath.Join(dir, sub))
	}
	return dir
}

// addComputed adds the weights of a folder.
func addComputed(t testing.TB, dir string) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(dir, "tensors.json")))(t)
	var f struct {
		Seed    int
		Tensors map[string][3]any
	}
	must.Do(t, json.Unmarshal(text, &f))
	var list []weights.Tensor
	for _, name := range slices.Sorted(maps.Keys(f.Tensors)) {
		spec := f.Tensors[name]
		v := weights.Tensor{Name: name}
		n := 1
		for _, d := range spec[0].([]any) {
			v.Shape = append(v.Shape, int(d.(float64)))
			n *= int(d.(float64))
		}
		h := fnv.New64a()
		fmt.Fprintf(h, "%d/%s", f.Seed, name)
		mean, scale := spec[1].(float64), spec[2].(float64)*math.Sqrt(3)
		for i := range n { // SplitMix64
			z := h.Sum64() + uint64(i+1)*0x9e3779b97f4a7c15
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			z ^= z >> 31
			v.Data = append(v.Data, float32(mean+float64((float64(z>>11)*0x1p-52-1)*scale)))
		}
		list = append(list, v)
	}
	Save(t, dir, list)
}

// Device opens the pure Go backend, or XLA's on the processor, until the test ends. Without a plugin the test is
// skipped by name; REQUIRE=xla makes that a failure.
func Device(t testing.TB, kind string) *device.Device {
	t.Helper()
	d, err := device.Open(kind, "")
	if err != nil {
		if kind == device.XLACPU && testbackend.Required("xla") {
			t.Fatal(err)
		}
		t.Skipf("no %s device: %v", kind, err)
	}
	t.Cleanup(d.Close)
	return d
}
