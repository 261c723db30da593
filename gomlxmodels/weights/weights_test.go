package weights

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
)

var two = []Tensor{
	{Name: "b", Shape: []int{2, 3}, Data: []float32{1, -2, 0.5, 65504, 0, 1e-3}},
	{Name: "a", Shape: []int{}, Data: []float32{7}},
}

func saved(t *testing.T, name string, list []Tensor, format Format) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, Save(path, list, map[string]string{"format": "pt"}, format))
	return path
}

func TestSaveAndRead(t *testing.T) {
	for _, format := range []Format{F32, F16} {
		path := saved(t, SingleFile, two, format)
		s := must.Get(Open(filepath.Dir(path)))(t)
		must.EqualSlices(t, s.Names(), []string{"a", "b"}, "names")
		must.EqualSlices(t, s.Files(), []string{path})
		must.Equal(t, s.Dir(), filepath.Dir(path))
		for _, want := range two {
			info, ok := s.Info(want.Name)
			if !ok || !slices.Equal(info.Shape, want.Shape) || info.DType != string(format) {
				t.Errorf("%s: %+v", want.Name, info)
			}
			got := must.Get(s.Float32(want.Name))(t)
			for i, w := range want.Data {
				if d := math.Abs(float64(got[i] - w)); d > math.Abs(float64(w))/2048 || format == F32 && d != 0 {
					t.Errorf("%s %s at %d: %v, want %v", format, want.Name, i, got[i], w)
				}
			}
		}
		again := saved(t, SingleFile, []Tensor{two[1], two[0]}, format)
		a, _ := os.ReadFile(path)
		b, _ := os.ReadFile(again)
		must.Equal(t, string(a), string(b), "the same tensors in another order give another file")
		if rest, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(rest) > 0 {
			t.Errorf("left behind: %v", rest)
		}
	}
}

func TestSaveRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	for want, c := range map[string]struct {
		list   []Tensor
		format Format
	}{
		`format "F8"`:         {two, "F8"},
		"used twice":          {[]Tensor{two[0], two[0]}, F32},
		"has 1 values":        {[]Tensor{{Name: "x", Shape: []int{2}, Data: []float32{1}}}, F32},
		"does not fit F16":    {[]Tensor{{Name: "x", Shape: []int{1}, Data: []float32{1e6}}}, F16},
		`name "" is used twi`: {[]Tensor{{Shape: []int{1}, Data: []float32{1}}}, F32},
	} {
		line(t, Save(path, c.list, nil, c.format), want)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func line(t *testing.T, err error, want string) {
	t.Helper()
	must.Fail(err)(t, want)
}

// file writes a safetensors file by hand.
func file(t *testing.T, header string, data []byte) string {
	t.Helper()
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	path := filepath.Join(t.TempDir(), SingleFile)
	must.Do(t, os.WriteFile(path, append(append(b, header...), data...), 0o600))
	return path
}

func TestDtypes(t *testing.T) {
	f64 := binary.LittleEndian.AppendUint64(nil, math.Float64bits(-0.25))
	bf := binary.LittleEndian.AppendUint16(nil, uint16(math.Float32bits(1.5)>>16))
	path := file(t, `{"d":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"h":{"dtype":"BF16","shape":[1],"data_offsets":[8,10]},"i":{"dtype":"I64","shape":[1],"data_offsets":[10,18]}}`, append(append(f64, bf...), f64...))
	s := must.Get(OpenFiles(path))(t)
	for name, want := range map[string]float32{"d": -0.25, "h": 1.5} {
		must.Equal(t, must.Get(s.Float32(name))(t)[0], want, name)
	}
	_, err := s.Float32("i")
	line(t, err, `model.safetensors: tensor "i": dtype I64, not a floating-point one`)
	_, err = s.Float32("none")
	line(t, err, `tensor "none" is missing`)
}

func TestCorruptFiles(t *testing.T) {
	entry := `{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`
	nan := binary.LittleEndian.AppendUint32(make([]byte, 4), math.Float32bits(float32(math.NaN())))
	for want, path := range map[string]string{
		`tensor "w" ends at byte 70, the file at 66: the file is cut short`: file(t, entry, make([]byte, 4)),
		"the safetensors header is not JSON":                                file(t, `{"w":`, nil),
		`tensor "w": dtype "F7" is not known`: file(t,
			strings.Replace(entry, "F32", "F7", 1), make([]byte, 8)),
		`tensor "w": data offsets [0 8] do not fit F32[3] (12 bytes)`: file(t,
			strings.Replace(entry, "[2]", "[3]", 1), make([]byte, 8)),
		`tensor "w": impossible shape [-2]`: file(t,
			strings.Replace(entry, "[2]", "[-2]", 1), make([]byte, 8)),
		`tensor "w": impossible shape [9000000000000000000 9`: file(t,
			strings.Replace(entry, "[2]", "[9000000000000000000,9000000000000000000]", 1), make([]byte, 8)),
		`tensor "w": data offsets [-8 0]`: file(t,
			strings.Replace(entry, "[0,8]", "[-8,0]", 1), make([]byte, 8)),
		`tensor "w": bad header entry`: file(t, `{"w":{"dtype":5}}`, nil),
		`the tensors "w" and "x" overlap`: file(t, strings.Replace(entry, "}}", `},"x":{"dtype":"F32","shape":[2],`+
			`"data_offsets":[4,12]}}`, 1), make([]byte, 12)),
		`4 bytes before the tensor "w" belong to no tensor`: file(t, strings.Replace(entry, "[0,8]", "[4,12]", 1),
			make([]byte, 12)),
		"4 bytes after the last tensor belong to none": file(t, entry, make([]byte, 12)),
		`names the tensor "w" twice`:                   file(t, strings.Replace(entry, "}}", "},"+entry[1:], 1), make([]byte, 8)),
	} {
		_, err := OpenFiles(path)
		line(t, err, path+": ")
		line(t, err, want)
	}
	for want, content := range map[string]string{
		"too short for a header":          "abc",
		"the header would take":           "\xff\xff\xff\xff\xff\xff\xff\xff{}",
		"the header would take 100 bytes": "\x64\x00\x00\x00\x00\x00\x00\x00{}",
	} {
		path := filepath.Join(t.TempDir(), SingleFile)
		os.WriteFile(path, []byte(content), 0o600)
		_, err := Open(filepath.Dir(path))
		line(t, err, want)
	}
	s := must.Get(OpenFiles(file(t, entry, nan)))(t)
	_, err := s.Float32("w")
	line(t, err, `tensor "w": value 1 is NaN`)
	_, err = Open(t.TempDir())
	line(t, err, "holds no weights, such as model.safetensors or pytorch_model.bin. Fix: download")
	if _, err = OpenFiles(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestShards(t *testing.T) {
	dir := t.TempDir()
	write := func(index map[string]string) {
		text, _ := json.Marshal(map[string]any{"weight_map": index})
		os.WriteFile(filepath.Join(dir, SingleFile+".index.json"), text, 0o600)
	}
	for i, tensor := range two {
		must.Do(t, Save(filepath.Join(dir, fmt.Sprintf("part-%d.safetensors", i)), []Tensor{tensor}, nil, F32))
	}
	write(map[string]string{"b": "part-0.safetensors", "a": "part-1.safetensors"})
	s := must.Get(Open(dir))(t)
	if v, err := s.Float32("a"); err != nil || v[0] != 7 || len(s.Files()) != 3 || !s.Has("b") {
		t.Errorf("a = %v, %v, files %v", v, err, s.Files())
	}
	for want, index := range map[string]map[string]string{
		`tensor "a" is not in part-0.safetensors`:           {"b": "part-0.safetensors", "a": "part-0.safetensors"},
		`is in "../x", which is not a file of the folder`:   {"b": "../x"},
		`is in "/etc/x", which is not a file of the folder`: {"b": "/etc/x"},
		"part-9.safetensors: no such file":                  {"b": "part-9.safetensors"},
		"weight_map lists no tensor":                        {},
		`tensor "c" is not in part-0.safetensors, as model.saf`: {"b": "part-0.safetensors", "a": "part-1.safetensors",
			"c": "part-0.safetensors"},
	} {
		write(index)
		_, err := Open(dir)
		line(t, err, want)
	}
	os.WriteFile(filepath.Join(dir, SingleFile+".index.json"), []byte("{"), 0o600)
	_, err := Open(dir)
	line(t, err, "not readable as JSON")
}

// TestRules loads three tensors as the blocks of one variable, one in another shape, and gives them back.
func TestRules(t *testing.T) {
	list := []Tensor{
		{"q", []int{1, 2}, []float32{1, 2}}, {"k", []int{1, 2}, []float32{3, 4}}, {"v", []int{1, 2}, []float32{5, 6}},
		{"conv", []int{1, 1, 2, 1}, []float32{7, 8}}, {"extra", []int{1}, []float32{9}},
	}
	rules := []Rule{
		{Tensor: "q", Variable: "qkv/weights", Shape: []int{1, 2}, Part: 0, Parts: 3},
		{Tensor: "k", Variable: "qkv/weights", Shape: []int{1, 2}, Part: 1, Parts: 3},
		{Tensor: "v", Variable: "qkv/weights", Shape: []int{1, 2}, Part: 2, Parts: 3},
		{Tensor: "conv", Variable: "patch/weights", Shape: []int{1, 1, 2, 1}, As: []int{1, 2}},
		{Tensor: "extra"},
	}
	set := must.Get(OpenFiles(saved(t, SingleFile, list, F32)))(t)
	store := model.NewStore()
	defer store.Finalize()
	scope := store.Scope("/net")
	must.Do(t, Load(scope, set, rules, dtypes.Float32))
	v := store.GetVariable("/net/qkv/weights")
	if v == nil || !slices.Equal(v.Shape().Dimensions, []int{3, 2}) ||
		!slices.Equal(tensors.MustCopyFlatData[float32](v.MustValue()), []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("qkv: %v", v)
	}
	back, err := Export(scope, rules)
	if err != nil || len(back) != 4 {
		t.Fatalf("%d tensors, %v", len(back), err)
	}
	for i, b := range back {
		if b.Name != list[i].Name || !slices.Equal(b.Shape, list[i].Shape) || !slices.Equal(b.Data, list[i].Data) {
			t.Errorf("back: %+v, want %+v", b, list[i])
		}
	}
	line(t, Match(set, rules[:4]), "1 tensor the model does not use: extra")
	line(t, Match(set, append(rules, Rule{Tensor: "bias", Variable: "x", Shape: []int{1}})), "1 tensor missing: bias")
	line(t, Match(set, append(rules[1:], Rule{Tensor: "q", Variable: "x", Shape: []int{2, 2}})),
		`tensor "q" has shape [1 2], the configuration requires [2 2]`)
	line(t, Load(store.Scope("/part"), set, append(slices.Clone(rules[1:]), Rule{Tensor: "q"}), dtypes.Float32),
		"2 of 3 parts")
	line(t, Load(store.Scope("/int"), set, rules, dtypes.Int32), "dtype Int32")
	_, err = Export(store.RootScope(), rules)
	line(t, err, "has no value to save")
}
