package weights

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
)

const torchFiles = "testdata/torch"

// sameTensors compares all tensors of two sets: names, shapes, dtypes and bytes.
func sameTensors(t *testing.T, got, want *Set) {
	t.Helper()
	if !slices.Equal(got.Names(), want.Names()) {
		t.Fatalf("tensors %v, want %v", got.Names(), want.Names())
	}
	for _, name := range want.Names() {
		a, b := got.tensors[name], want.tensors[name]
		if a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) {
			t.Errorf("%s: %s%v, want %s%v", name, a.DType, a.Shape, b.DType, b.Shape)
			continue
		}
		var x, y []byte
		must.Do(t, got.read(a, func(raw []byte) { x = append(x, raw...) }))
		must.Do(t, want.read(b, func(raw []byte) { y = append(y, raw...) }))
		if !bytes.Equal(x, y) {
			t.Errorf("%s: %x, want %x", name, x, y)
		}
	}
}

// TestTorchFiles compares what torch.save wrote with a safetensors copy.
func TestTorchFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(torchFiles, "*.bin"))
	if err != nil || len(files) < 16 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".bin"), func(t *testing.T) {
			got := must.Get(OpenFiles(path))(t)
			want := must.Get(OpenFiles(strings.TrimSuffix(path, ".bin") + ".safetensors"))(t)
			sameTensors(t, got, want)
			step := int64(0)
			if strings.Contains(path, "lightning") {
				step = 875000
			}
			if got.GlobalStep() != step || !slices.Equal(got.Files(), []string{path}) || got.Dir() != torchFiles {
				t.Errorf("step %d, files %v", got.GlobalStep(), got.Files())
			}
		})
	}
	got := must.Get(Open(filepath.Join(torchFiles, "shards")))(t)
	want := must.Get(OpenFiles(filepath.Join(torchFiles, "shards.safetensors")))(t)
	sameTensors(t, got, want)
	must.Equal(t, len(got.Files()), 3, "files")
}

func TestTorchRefused(t *testing.T) {
	for file, want := range map[string]string{
		"script.pt":      "TorchScript archive (code/__torch__/torch/nn/modules/linear.py). Fix: save model.",
		"module.bin":     `whole-model pickle of class "models.Net" has no state dict. Fix: save model.state_dict()`,
		"module_old.bin": `whole-model pickle of class "models.Net" has no state dict. Fix: save model.state_dict()`,
		"two.bin":        `2 state dicts, with the keys "state_dict", "model". Fix: save one of them alone`,
		"none.bin":       `no state dict: top level has keys "cfg", "ema", "net". Fix: save model.state_dict()`,
		"list.bin":       "no state dict: the file holds no dictionary",
		"pickle.bin":     "pickle of another program. Fix: save the state dict with torch.save",
		"tar.bin":        "torch archive of before 2018 (tar). Fix: load it with torch",
	} {
		path := filepath.Join(torchFiles, "refused", file)
		_, err := OpenFiles(path)
		line(t, err, "open weights: "+path+": "+want)
	}
	for content, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid sha256:00": "pointer of Git LFS",
		"": "neither safetensors nor", "PK\x03\x04": "the zip archive is damaged", "\x93NUMPY\x01\x00": "neither",
	} {
		path := filepath.Join(t.TempDir(), "x.bin")
		os.WriteFile(path, []byte(content), 0o600)
		_, err := OpenFiles(path)
		line(t, err, path+": ")
		line(t, err, want)
	}
	_, err := OpenFiles(t.TempDir())
	line(t, err, "not a file")
}

// TestUnreadable reads a file with tensors that cannot be read, which is an error only where one is needed.
func TestUnreadable(t *testing.T) {
	set := must.Get(OpenFiles(filepath.Join(torchFiles, "refused", "unreadable.bin")))(t)
	must.EqualSlices(t, set.Names(), []string{"a", "complex", "meta", "quantized", "sparse"}, "names")
	rules := []Rule{{Tensor: "a", Variable: "a", Shape: []int{2}}}
	for _, name := range []string{"complex", "meta", "quantized", "sparse"} {
		rules = append(rules, Rule{Tensor: name, Shape: []int{3}})
	}
	store := model.NewStore()
	defer store.Finalize()
	must.Do(t, Load(store.Scope("/net"), set, rules, dtypes.Float32))
	for i, want := range []string{"", "its dtype is complex64", "it is a meta tensor, without data", "it is quantized",
		"it is sparse"} {
		if i == 0 {
			continue
		}
		needed := slices.Clone(rules)
		needed[i].Variable = "x"
		line(t, Match(set, needed), `tensor "`+rules[i].Tensor+`" cannot be read: `+want+". Fix: save it as a dense tensor")
		_, err := set.Float32(rules[i].Tensor)
		line(t, err, "cannot be read: "+want)
	}
}

// TestTied matches a file in which some tensors are further names of others.
func TestTied(t *testing.T) {
	set := must.Get(OpenFiles(filepath.Join(torchFiles, "views.bin")))(t)
	var rules []Rule
	for _, name := range set.Names() {
		info, _ := set.Info(name)
		rules = append(rules, Rule{Tensor: name, Shape: info.Shape, Variable: name})
	}
	without := func(name string) []Rule {
		return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.Tensor == name })
	}
	must.Do(t, Match(set, without("tied")))
	for _, name := range []string{"slice", "transposed", "scalar", "empty.view"} {
		line(t, Match(set, without(name)), "1 tensor the model does not use: "+name)
	}
	line(t, Match(set, slices.DeleteFunc(without("tied"), func(r Rule) bool { return r.Tensor == "base" })),
		"2 tensors the model does not use: base, tied")
	if !set.Same("base", "tied") || set.Same("base", "transposed") || set.Same("base", "none") {
		t.Error("which tensors are the same")
	}
}
