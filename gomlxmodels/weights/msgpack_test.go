package weights

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
)

const flaxFiles = "testdata/flax"

// TestFlaxFiles compares what Flax wrote with a safetensors copy.
func TestFlaxFiles(t *testing.T) {
	for name, n := range map[string]int{"tree": 17, "chunked": 2, "layers": 6} {
		got := must.Get(OpenFiles(filepath.Join(flaxFiles, name+".msgpack")))(t)
		want := must.Get(OpenFiles(filepath.Join(flaxFiles, name+".safetensors")))(t)
		sameTensors(t, got, want)
		must.Equal(t, len(got.Names()), n, name)
	}
	set := must.Get(OpenFiles(filepath.Join(flaxFiles, "chunked.msgpack")))(t)
	must.Equal(t, len(set.tensors["a/kernel"].chunks), 4, "chunks")
}

// TestLayouts loads a network of Flax, with stacked layers, and the same one of torch: the variables must be equal.
func TestLayouts(t *testing.T) {
	var flax, torch []Rule
	for i, name := range []string{"0", "1", "2"} {
		for part, q := range []string{"q", "k"} {
			to := "block_" + name + "/qk/weights"
			flax = append(flax, Rule{Tensor: "layers/" + q + "/kernel", Variable: to, Shape: []int{4, 4},
				Layout: Transposed, Part: part, Parts: 2, Layer: i, Layers: 3})
			torch = append(torch, Rule{Tensor: "layers." + name + "." + q + ".weight", Variable: to, Shape: []int{4, 4},
				Part: part, Parts: 2})
		}
		flax = append(flax,
			Rule{Tensor: "layers/fc/kernel", Variable: "block_" + name + "/fc/weights", Shape: []int{4, 6},
				Layout: Transposed, Layer: i, Layers: 3},
			Rule{Tensor: "layers/fc/bias", Variable: "block_" + name + "/fc/bias", Shape: []int{6}, Layer: i,
				Layers: 3})
		torch = append(torch,
			Rule{Tensor: "layers." + name + ".fc.weight", Variable: "block_" + name + "/fc/weights",
				Shape: []int{6, 4}},
			Rule{Tensor: "layers." + name + ".fc.bias", Variable: "block_" + name + "/fc/bias", Shape: []int{6}})
	}
	flax = append(flax, Rule{Tensor: "conv/kernel", Variable: "conv/weights", Shape: []int{3, 2, 5, 4}, Layout: HWIO},
		Rule{Tensor: "embed/embedding", Variable: "embed/words", Shape: []int{7, 4}, As: []int{1, 7, 4}})
	torch = append(torch, Rule{Tensor: "conv.weight", Variable: "conv/weights", Shape: []int{4, 5, 3, 2}},
		Rule{Tensor: "embed.weight", Variable: "embed/words", Shape: []int{7, 4}, As: []int{1, 7, 4}})
	store := model.NewStore()
	defer store.Finalize()
	for file, rules := range map[string][]Rule{"layers.msgpack": flax, "layers.torch.safetensors": torch} {
		set := must.Get(OpenFiles(filepath.Join(flaxFiles, file)))(t)
		must.Do(t, Load(store.Scope("/"+file[7:12]), set, rules, dtypes.Float32))
	}
	n := 0
	for v := range store.IterVariables() {
		path, ok := strings.CutPrefix(v.Path(), "/msgpa/")
		if !ok {
			continue
		}
		n++
		want := store.GetVariable("/torch/" + path)
		if want == nil || !slices.Equal(v.Shape().Dimensions, want.Shape().Dimensions) ||
			!slices.Equal(tensors.MustCopyFlatData[float32](v.MustValue()),
				tensors.MustCopyFlatData[float32](want.MustValue())) {
			t.Errorf("%s differs", path)
		}
	}
	must.Equal(t, n, 11, "variables")
	set := must.Get(OpenFiles(filepath.Join(flaxFiles, "layers.msgpack")))(t)
	wrong := slices.Clone(flax)
	wrong[0].Layers = 4
	line(t, Match(set, wrong), `"layers/q/kernel" has shape [3 4 4], the configuration requires [4 4 4]`)
	wrong[0].Layers, wrong[0].Layer = 3, 3
	line(t, Load(store.Scope("/a"), set, wrong, dtypes.Float32), "layer 3 of 3")
	wrong[0] = flax[0]
	wrong[0].Layout = HWIO
	line(t, Load(store.Scope("/b"), set, wrong, dtypes.Float32), "no layout of 4 axes")
	_, err := Export(store.Scope("/msgpa"), flax)
	line(t, err, "not in torch's layout")
}

// hostileMsgpack are files that must be refused, with a part of the error.
func hostileMsgpack() map[string][2]string {
	array := func(shape, dtype, data string) string {
		name, bytes := string([]byte{0xa0 + byte(len(dtype))})+dtype, string([]byte{0xc4, byte(len(data))})+data
		body := "\x93" + shape + name + bytes
		return string([]byte{0xc7, byte(len(body)), 1}) + body
	}
	one := func(value string) string { return "\x81\xa1w" + value }
	good := array("\x92\x01\x02", "float32", "12345678")
	return map[string][2]string{
		"nothing":        {"", "damaged"},
		"a list":         {"\x91\x01", "not a map of parameters"},
		"cut short":      {one(good)[:12], "damaged"},
		"more":           {one(good) + "\x00", "damaged"},
		"twice":          {"\x82\xa1w" + good + "\xa1w" + good, `array "w" occurs twice`},
		"shape":          {one(array("\x92\x01\x03", "float32", "12345678")), "8 bytes do not fit F32[1 3]"},
		"negative shape": {one(array("\x91\xff", "float32", "")), "impossible shape"},
		"large shape": {one(array("\x92\xcf\x7f\xff\xff\xff\xff\xff\xff\xff\x02", "float32", "")),
			"impossible shape"},
		"shape of 2^64": {one(array("\x91\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "float32", "")), "impossible shape"},
		"rank 9": {one(array("\x99\x01\x01\x01\x01\x01\x01\x01\x01\x01", "float32", "1234")),
			"impossible shape"},
		"bytes of 4 GiB":   {one("\xc7\x0f\x01\x93\x90\xa7float32\xc6\xff\xff\xff\xff"), "damaged"},
		"array of 4 GiB":   {one("\xc9\xff\xff\xff\xff\x01\x93\x90"), "damaged"},
		"text of 4 GiB":    {one("\xdb\xff\xff\xff\xff"), "damaged"},
		"map of 2^32":      {"\xdf\xff\xff\xff\xff", "damaged"},
		"key of a number":  {"\x81\x01\x01", "a key is not a text"},
		"long key":         {"\x81\xda\x04\x01" + strings.Repeat("k", 1025) + "\x01", "too long"},
		"a list inside":    {one("\x91\x01"), `"w" is a list`},
		"unused head":      {one("\xc1"), "damaged"},
		"deep":             {strings.Repeat("\x81\xa1k", 100_000), "nested more than 64"},
		"many values":      {"\xdf\x00\x10\x00\x00" + strings.Repeat("\xa1k\x01", 1<<20), "more than 1000000 values"},
		"many arrays":      {"\xde\xff\xff" + strings.Repeat("\xa1k"+good, 1<<16), "more than 20000 arrays"},
		"long names":       {longNames(), "names of more than"},
		"numpy's":          {"\x83\xa2nd\xc3\xa4kind\xa0\xa4data\xc4\x01x", "may contain pickles"},
		"numpy's in bytes": {one("\x81\xc4\x02nd\xc3"), "may contain pickles"},
		"chunks": {one("\x83\xb9__msgpack_chunked_array__\xc3\xa5shape\x81\xa10\x03\xa6chunks\x81\xa10" + good),
			"8 bytes do not fit F32[3]"},
		"no chunks": {one("\x83\xb9__msgpack_chunked_array__\xc3\xa5shape\x81\xa10\x00\xa6chunks\x80"), "do not fit"},
		"chunks of two dtypes": {one("\x83\xb9__msgpack_chunked_array__\xc3\xa5shape\x81\xa10\x03\xa6chunks\x82\xa10" +
			good + "\xa11" + array("\x91\x01", "int32", "1234")), "damaged"},
		"chunks by another order": {one("\x83\xb9__msgpack_chunked_array__\xc3\xa6chunks\x81\xa10" + good +
			"\xa5shape\x81\xa10\x02"), "damaged"},
		"chunk 1": {one("\x83\xb9__msgpack_chunked_array__\xc3\xa5shape\x81\xa10\x02\xa6chunks\x81\xa11" + good),
			"damaged"},
	}
}

// longNames is a map in which each name is long because of those around it.
func longNames() string {
	key := "\xda\x04\x00" + strings.Repeat("k", 1024)
	return strings.Repeat("\x81"+key, 60) + "\xde\xff\xff" + strings.Repeat("\xa1k\x01", 1<<16)
}

func TestHostileMsgpack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.msgpack")
	for what, c := range hostileMsgpack() {
		must.Do(t, os.WriteFile(path, []byte(c[0]), 0o600))
		runtime.GC()
		_, err := openWithin(t, what, path, len(c[0]))
		line(t, err, "x.msgpack: ")
		line(t, err, c[1])
	}
	other := filepath.Join(t.TempDir(), "x.bin")
	os.WriteFile(other, []byte("\x80"), 0o600)
	_, err := OpenFiles(other)
	line(t, err, "neither safetensors nor")
}

func FuzzMsgpack(f *testing.F) {
	for _, name := range []string{"tree", "chunked", "layers"} {
		b := must.Get(os.ReadFile(filepath.Join(flaxFiles, name+".msgpack")))(f)
		f.Add(b)
	}
	for _, c := range hostileMsgpack() {
		if len(c[0]) < 2000 {
			f.Add([]byte(c[0]))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		size := int64(len(data))
		list, err := readMsgpack("x", bytes.NewReader(data), size)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error of more than one line: %q", err)
		}
		set := &Set{}
		for i := range list {
			x := &list[i]
			for _, s := range append(slices.Clone(x.chunks), x.data) {
				if s.offset < 0 || s.length < 0 || s.offset+s.length > size {
					t.Errorf("%+v is not within %d bytes", x, size)
				}
			}
			if x.unreadable != "" {
				continue
			}
			must.Equal(t, int64(len(must.Get(set.readFrom(bytes.NewReader(data), x))(t))), x.bytes, x, "bytes")
		}
	})
}
