package modeltest

import (
	"archive/zip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
)

// Torch replaces all safetensors in a folder by what torch.save would write: pytorch_model.bin, or shards with their
// index. Matrices are stored by columns, so that each is a view. ties adds names of tensors, by new name.
func Torch(t testing.TB, dir string, ties map[string]string) {
	t.Helper()
	n := 0
	renamed := func(name string) string {
		if !strings.Contains(name, ".safetensors") {
			return name
		}
		name = strings.Replace(name, ".safetensors", ".bin", 1)
		if strings.HasPrefix(name, "model") {
			name = "pytorch_" + name
		}
		return name
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		to := filepath.Join(filepath.Dir(path), renamed(d.Name()))
		switch {
		case err != nil || to == path || d.Name() == File:
			return err
		case strings.HasSuffix(path, ".json"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var index struct {
				WeightMap map[string]string `json:"weight_map"`
			}
			if err := json.Unmarshal(text, &index); err != nil {
				return err
			}
			for name, file := range index.WeightMap {
				index.WeightMap[name] = renamed(file)
			}
			text, _ = json.Marshal(index)
			Write(t, to, string(text))
		default:
			saveTorch(t, path, to, ties)
			n++
		}
		return os.Remove(path)
	})
	if err != nil || n == 0 {
		t.Fatalf("%s: %d files written, %v", dir, n, err)
	}
}

// saveTorch writes the tensors of a file as an archive of torch.
func saveTorch(t testing.TB, from, to string, ties map[string]string) {
	t.Helper()
	set := must.Get(weights.OpenFiles(from))(t)
	f := must.Get(os.Create(to))(t)
	defer f.Close()
	z := zip.NewWriter(f)
	add := func(name string, data []byte) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: "archive/" + name})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	pickle := "\x80\x02}("
	for i, name := range set.Names() {
		info, _ := set.Info(name)
		values, err := set.Float32(name)
		if err != nil { // positions, which no model loads
			continue
		}
		strides := columns(info.Shape)
		add(fmt.Sprint("data/", i), byColumns(values, info.Shape, strides))
		view := "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" +
			text(fmt.Sprint(i)) + text("cpu") + number(len(values)) + "tQK\x00" + dims(info.Shape) + dims(strides) +
			"\x89NtR"
		pickle += text(name) + view
		for tied, original := range ties {
			if original == name {
				pickle += text(tied) + view
			}
		}
	}
	add("data.pkl", []byte(pickle+"u."))
	must.Do(t, z.Close())
}

// columns are the strides of a shape whose first axis is the fastest.
func columns(shape []int) []int {
	strides, step := make([]int, len(shape)), 1
	for i, d := range shape {
		strides[i] = step
		step *= d
	}
	return strides
}

func byColumns(values []float32, shape, strides []int) []byte {
	out := make([]byte, 4*len(values))
	for i, v := range values {
		at, rest := 0, i
		for axis := len(shape) - 1; axis >= 0; axis-- {
			at += rest % shape[axis] * strides[axis]
			rest /= shape[axis]
		}
		binary.LittleEndian.PutUint32(out[4*at:], math.Float32bits(v))
	}
	return out
}

func text(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func number(n int) string { return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

func dims(list []int) string {
	out := "("
	for _, d := range list {
		out += number(d)
	}
	return out + "t"
}

// SameTensors wants the tensors that two folders have in common to be equal, and at least n of them.
func SameTensors(t testing.TB, a, b *weights.Set, n int) {
	t.Helper()
	same := 0
	for _, name := range a.Names() {
		x, errX := a.Float32(name)
		y, errY := b.Float32(name)
		if errX != nil || errY != nil {
			continue
		}
		for i := range x {
			if len(x) != len(y) || math.Float32bits(x[i]) != math.Float32bits(y[i]) {
				t.Errorf("tensor %q differs", name)
				break
			}
		}
		same++
	}
	if same < n {
		t.Errorf("%d tensors in common, want %d", same, n)
	}
}
