package diffusion

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
)

// TestPrediction decides what a 2.x model predicts, by each rule in turn.
func TestPrediction(t *testing.T) {
	wide := func(d float32) []weights.Tensor { // of two values, whose standard deviation is d
		return []weights.Tensor{{Name: ldmUNet + "output_blocks.11.1.transformer_blocks.0.norm1.bias", Shape: []int{2},
			Data: []float32{1 - d, 1 + d}}}
	}
	mark := func(name string) []weights.Tensor {
		return append(wide(0), weights.Tensor{Name: name, Shape: []int{1}, Data: []float32{0}})
	}
	for _, c := range []struct {
		option, yaml string
		metadata     map[string]string
		tensors      []weights.Tensor
		old          bool
		kind, why    string
	}{
		{tensors: wide(0.091), kind: PredictV, why: "norm1.bias is 0.0910, above 0.09"},
		{tensors: wide(0.089), kind: PredictEpsilon, why: "norm1.bias is 0.0890, not above 0.09"},
		{tensors: mark("v_pred"), kind: PredictV, why: "the tensor v_pred"},
		{tensors: mark("ztsnr"), kind: PredictV, why: "the tensor ztsnr"},
		{tensors: mark("v_pred"), metadata: map[string]string{"modelspec.prediction_type": "epsilon"},
			kind: PredictEpsilon, why: "modelspec.prediction_type"},
		{tensors: wide(0), metadata: map[string]string{"modelspec.prediction_type": "v"}, kind: PredictV,
			why: "modelspec.prediction_type"},
		{tensors: wide(0), yaml: "model:\n  params:\n    parameterization: \"v\" # of 768\n",
			metadata: map[string]string{"modelspec.prediction_type": "epsilon"}, kind: PredictV,
			why: "parameterization in model.yaml"},
		{tensors: wide(1), yaml: "target: ldm.models.diffusion.ddpm.LatentDiffusion\n", kind: PredictEpsilon,
			why: "model.yaml"},
		{tensors: wide(1), yaml: "other: file\n", kind: PredictV, why: "above"},
		{tensors: wide(0), option: "v", yaml: "parameterization: eps\n", kind: PredictV, why: "requested"},
		{tensors: wide(1), option: "epsilon", kind: PredictEpsilon, why: "requested"},
		{tensors: wide(1), old: true, kind: PredictEpsilon, why: "a 1.x model"},
		{tensors: mark("v_pred"), old: true, kind: PredictV, why: "v_pred"},
		{tensors: wide(0), option: "x", why: `prediction "x" is not epsilon or v`},
		{tensors: wide(0), yaml: "parameterization: x0", why: `model.yaml: parameterization "x0" is not eps or v`},
		{tensors: wide(0), metadata: map[string]string{"modelspec.prediction_type": "flow"}, why: `"flow" is not`},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "model.safetensors")
		must.Do(t, weights.Save(path, c.tensors, c.metadata, weights.F32))
		if c.yaml != "" {
			must.Do(t, os.WriteFile(filepath.Join(dir, "model.yaml"), []byte(c.yaml), 0o600))
		}
		set := must.Get(weights.OpenFiles(path))(t)
		l := &ldm{set: set, unet: ldmUNet, openCLIP: !c.old, levels: 4, layers: 2}
		kind, why, err := l.prediction(path, c.option)
		if err != nil {
			why = err.Error()
		}
		if kind != c.kind || !strings.Contains(why, c.why) || (err == nil) != (kind != "") {
			t.Errorf("%+v: %s: %s", c, kind, why)
		}
	}
}

// TestFileKinds refuses other checkpoints, each by its name.
func TestFileKinds(t *testing.T) {
	first := ldmUNet + "input_blocks.0.0.weight"
	for want, shapes := range map[string]map[string][]int{
		"a checkpoint of Stable Diffusion XL (tensor": {first: {8, 4, 3, 3}, "conditioner.embedders.0.x": {1}},
		"with class embeddings (Stable Diffusion XL or unCL": {
			first: {8, 4, 3, 3}, ldmUNet + "label_emb.0.0.weight": {1}},
		"a checkpoint of ControlNet (tensor":                  {"control_model.input_blocks.0.0.weight": {1}},
		`a checkpoint of FLUX (tensor "double_blocks.0.x")`:   {"double_blocks.0.x": {1}},
		"a checkpoint of FLUX (tensor \"model":                {ldmUNet + "double_blocks.0.x": {1}},
		`of Stable Diffusion 3 (tensor "joint_blocks.0.x")`:   {"joint_blocks.0.x": {1}},
		"a checkpoint of Stable Diffusion 3 (tensor \"model":  {ldmUNet + "joint_blocks.0.x": {1}},
		"a checkpoint of LoRA, which changes another model":   {"lora_unet_x": {1}},
		"an inpainting model (9 input channels)":              {first: {8, 9, 3, 3}},
		"InstructPix2Pix (8 input channels)":                  {first: {8, 8, 3, 3}},
		"an upscaler (7 input channels)":                      {first: {8, 7, 3, 3}},
		"a depth-to-image model (5 input channels)":           {first: {8, 5, 3, 3}},
		"a UNet of 3 input channels, not 4":                   {first: {8, 3, 3, 3}},
		"no Stable Diffusion in the original names: no tenso": {"down_blocks.0.x": {1}},
		`no tensor "cond_stage_model.transformer.text_model`:  {first: {8, 4, 3, 3}},
	} {
		path := filepath.Join(t.TempDir(), "model.safetensors")
		sparse(t, path, shapes, nil)
		_, err := OpenFile(path, FileOptions{ConfigFrom: clipFolder})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line of %s with %q", err, path, want)
		}
	}
}

// TestFileStrict refuses files of the right kind with a tensor missing, too many, or of another shape, and options that
// do not fit.
func TestFileStrict(t *testing.T) {
	golden := readNames(t)["one"].Shapes
	for want, c := range map[string]struct {
		change func(shapes map[string][]int)
		o      FileOptions
	}{
		"1 tensor missing: " + ldmUNet + "out.2.bias": {change: func(s map[string][]int) {
			delete(s, ldmUNet+"out.2.bias")
		}},
		"does not use: extra.weight": {change: func(s map[string][]int) {
			s["extra.weight"] = []int{2}
		}},
		"does not use: " + ldmVAE + "more": {change: func(s map[string][]int) {
			s[ldmVAE+"more"] = []int{2}
		}},
		"has shape [320 2], the configuration": {change: func(s map[string][]int) {
			s[ldmUNet+"input_blocks.1.1.norm.weight"] = []int{320, 2}
		}},
		"no averaged weights (0 tensors model_ema.…)": {o: FileOptions{EMA: true}},
		"a single file has no tokenizer":              {o: FileOptions{ConfigFrom: "none"}},
		`prediction "noise" is not epsilon or v`:      {o: FileOptions{Prediction: "noise"}},
		"alt2/tokenizer: the token":                   {o: FileOptions{ConfigFrom: filepath.Join("testdata", "alt2")}},
	} {
		shapes := map[string][]int{}
		for name, shape := range golden {
			shapes[name] = shape
		}
		if c.change != nil {
			c.change(shapes)
		}
		switch c.o.ConfigFrom {
		case "":
			c.o.ConfigFrom = clipFolder
		case "none":
			c.o.ConfigFrom = ""
		}
		path := filepath.Join(t.TempDir(), "model.safetensors")
		sparse(t, path, shapes, nil)
		must.Fail(OpenFile(path, c.o))(t, want)
	}
}

// TestFileScheduler takes the scheduler of the other folder where it is of the same prediction type, and 2.x's padding.
func TestFileScheduler(t *testing.T) {
	bare := modeltest.CopyOf(t, "sd1")
	must.Do(t, os.RemoveAll(filepath.Join(bare, "scheduler")))
	for kind, golden := range readNames(t) {
		path := filepath.Join(t.TempDir(), "model.safetensors")
		sparse(t, path, golden.Shapes, nil)
		for _, c := range []struct{ from, prediction, class string }{{clipFolder, "epsilon", "DDIMScheduler"},
			{clipFolder, "v", "DDIMScheduler"}, {bare, "epsilon", "PNDMScheduler"}, {bare, "v", "DDIMScheduler"}} {
			m := must.Get(OpenFile(path, FileOptions{ConfigFrom: c.from, Prediction: c.prediction}))(t)
			stated := map[string]string{"v": PredictV, "epsilon": PredictEpsilon}[c.prediction]
			from := strings.Contains(fmt.Sprint(m.Files()), "scheduler_config.json")
			if s := string(m.scheduler); !strings.Contains(s, c.class) || !strings.Contains(s, stated) ||
				from != (c.from == clipFolder && c.prediction == "epsilon") {
				t.Errorf("%s %+v: files %v, scheduler %s", kind, c, m.Files(), s)
			}
			side, pad := 512, m.tokenizer.EndID()
			if kind == "two" {
				pad = 0
				if c.prediction == "v" {
					side = 768
				}
			}
			if w, h := m.Size(); w != side || h != side || m.padding != pad {
				t.Errorf("%s %+v: size %d×%d, padding %d; want %d, %d", kind, c, w, h, m.padding, side, pad)
			}
			must.Get(m.plan(group{steps: 5}))(t)
		}
	}
	shapes := readNames(t)["two"].Shapes
	shapes["ztsnr"] = []int{1}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	sparse(t, path, shapes, nil)
	from := modeltest.CopyOf(t, "sd1")
	scheduler := filepath.Join(from, "scheduler", "scheduler_config.json")
	modeltest.Edit(t, scheduler, map[string]any{"prediction_type": PredictV, "rescale_betas_zero_snr": nil})
	for i, stated := range []bool{true, false} { // by the file's mark, then by the folder
		m := must.Get(OpenFile(path, FileOptions{ConfigFrom: from}))(t)
		got := strings.ReplaceAll(string(m.scheduler), " ", "")
		if want := fmt.Sprintf(`"rescale_betas_zero_snr":%v`, stated); !strings.Contains(got, want) ||
			strings.Contains(got, `"trailing"`) != stated || slices.Contains(m.Files(), scheduler) != (i == 1) {
			t.Errorf("scheduler %s, want %s; files %v", got, want, m.Files())
		}
		modeltest.Edit(t, scheduler, map[string]any{"rescale_betas_zero_snr": false})
	}
}
