package sam

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
)

// TestConvert writes a checkpoint of segment-anything as a folder, and compares it with the one that transformers saved
// of the same model (tools/pyref/original_sam.py, which compares the outputs of both programs).
func TestConvert(t *testing.T) {
	set := must.Get(weights.OpenFiles(filepath.Join("testdata", "original", "small.pth")))(t)
	dir := filepath.Join(t.TempDir(), "folder")
	if err := Convert(set, dir); err != nil || !IsOriginal(set) {
		t.Fatal(err)
	}
	got := must.Get(Open(dir))(t)
	want := must.Get(Open(filepath.Join("testdata", "original", "wanted")))(t)
	own, reference := *got.cfg, *want.cfg
	own.Vision.MLPRatio, own.Vision.MLPDim, reference.Vision.MLPDim = reference.Vision.MLPRatio, nil, nil
	if !reflect.DeepEqual(own, reference) {
		t.Errorf("configuration %+v, want %+v", own, reference)
	}
	if a, b := got.Preprocess(), want.Preprocess(); !reflect.DeepEqual(a, b) {
		t.Errorf("preprocessing %+v, want %+v", a, b)
	}
	names := want.Weights.Names()
	modeltest.SameTensors(t, want.Weights, got.Weights, len(names))
	if len(names) < 180 {
		t.Errorf("%d tensors", len(names))
	}
}

// TestConvertRefuses gives it checkpoints with a tensor missing, unknown or of another shape.
func TestConvertRefuses(t *testing.T) {
	path := filepath.Join("testdata", "original", "small.pth")
	set := must.Get(weights.OpenFiles(path))(t)
	for want, change := range map[string]func(all map[string]weights.Tensor){
		"1 tensor missing: vision_encoder.neck.conv2.weight": func(all map[string]weights.Tensor) {
			delete(all, "image_encoder.neck.2.weight")
		},
		"does not use: mask_decoder.new": func(all map[string]weights.Tensor) {
			all["mask_decoder.new"] = weights.Tensor{Name: "mask_decoder.new", Shape: []int{1}, Data: []float32{0}}
		},
		`no tensor "mask_decoder.iou_token.weight" of 2`: func(all map[string]weights.Tensor) {
			delete(all, "mask_decoder.iou_token.weight")
		},
		`"vision_encoder.neck.conv1.weight" has shape [16 12 2 1]`: func(all map[string]weights.Tensor) {
			v := all["image_encoder.neck.0.weight"]
			v.Shape = []int{16, 12, 2, 1}
			all[v.Name] = v
		},
	} {
		all := map[string]weights.Tensor{}
		for _, name := range set.Names() {
			values := must.Get(set.Float32(name))(t)
			info, _ := set.Info(name)
			all[name] = weights.Tensor{Name: name, Shape: info.Shape, Data: values}
		}
		change(all)
		var list []weights.Tensor
		for _, v := range all {
			list = append(list, v)
		}
		root := t.TempDir()
		file := filepath.Join(root, "sam.safetensors")
		must.Do(t, weights.Save(file, list, nil, weights.F32))
		changed := must.Get(weights.OpenFiles(file))(t)
		err := Convert(changed, filepath.Join(root, "out"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), file) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line of %s with %q", err, file, want)
		}
		if left, _ := os.ReadDir(root); len(left) != 1 {
			t.Errorf("%v is left", left)
		}
	}
}
