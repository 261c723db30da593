package diffusion

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// What a UNet predicts: the noise, or a mixture of noise and image (Salimans and Ho 2022, arXiv 2202.00512).
const (
	PredictEpsilon = "epsilon"
	PredictV       = "v_prediction"
)

// epsilonStep is the global_step of the published 2.0 base model, which predicts noise.
const epsilonStep = 875000

// vDeviation is the standard deviation of a norm's bias above which a 2.x UNet is taken for one of v-prediction. The
// rule is of a program that many use; no published reason is known.
const vDeviation = 0.09

// prediction decides what the UNet of a single file predicts, and why: the first that applies of the option, a .yaml
// file of the same name, the file's metadata or marks, the number of training steps, and the size of one bias. A 1.x
// model predicts noise unless one of the first three says otherwise.
func (l *ldm) prediction(path, option string) (kind, why string, err error) {
	switch option {
	case "":
	case PredictEpsilon, PredictV:
		return option, "as requested", nil
	case "v":
		return PredictV, "as requested", nil
	default:
		return "", "", fmt.Errorf("prediction %q is not epsilon or v", option)
	}
	kind, why, err = yamlPrediction(strings.TrimSuffix(path, filepath.Ext(path)) + ".yaml")
	if kind != "" || err != nil {
		return kind, why, err
	}
	meta, err := metadata(path)
	if err != nil {
		return "", "", err
	}
	const key = "modelspec.prediction_type"
	switch stated := meta[key]; stated {
	case "":
	case "epsilon":
		return PredictEpsilon, key + " of its metadata", nil
	case "v", "v_prediction":
		return PredictV, key + " of its metadata", nil
	default:
		return "", "", fmt.Errorf("%s: %s %q is not epsilon or v; state --prediction", path, key, stated)
	}
	for _, mark := range []string{"v_pred", "ztsnr"} {
		if l.set.Has(mark) {
			return PredictV, "it has the tensor " + mark, nil
		}
	}
	if !l.openCLIP {
		return PredictEpsilon, "a 1.x model", nil
	}
	if step := l.set.GlobalStep(); step == epsilonStep {
		return PredictEpsilon, fmt.Sprintf("its global_step is %d", step), nil
	}
	name := fmt.Sprintf("%soutput_blocks.%d.1.transformer_blocks.0.norm1.bias", l.unet, l.levels*(l.layers+1)-1)
	values, err := l.set.Float32(name)
	if err != nil {
		return "", "", err
	}
	d := deviation(values)
	if d > vDeviation {
		return PredictV, fmt.Sprintf("the standard deviation of %s is %.4f, above %v", name, d, vDeviation), nil
	}
	return PredictEpsilon, fmt.Sprintf("the standard deviation of %s is %.4f, not above %v", name, d, vDeviation), nil
}

// deviation is the standard deviation of all values.
func deviation(values []float32) float64 {
	sum, squares, n := 0.0, 0.0, float64(len(values))
	for _, v := range values {
		sum += float64(v)
	}
	for _, v := range values {
		squares += (float64(v) - sum/n) * (float64(v) - sum/n)
	}
	return math.Sqrt(squares / n)
}

// parameterization is the line of a training configuration that says what a model predicts: eps where there is none.
var parameterization = regexp.MustCompile(`(?m)^\s*parameterization:\s*["']?([A-Za-z0-9_]+)["']?\s*(?:#.*)?$`)

// yamlPrediction reads the training configuration next to a file, if there is one.
func yamlPrediction(path string) (kind, why string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return "", "", err
	}
	stated := "eps"
	if line := parameterization.FindSubmatch(text); line != nil {
		stated = string(line[1])
	} else if !strings.Contains(string(text), "LatentDiffusion") { // of something else
		return "", "", nil
	}
	switch stated {
	case "eps":
		return PredictEpsilon, "parameterization in " + filepath.Base(path), nil
	case "v":
		return PredictV, "parameterization in " + filepath.Base(path), nil
	}
	return "", "", fmt.Errorf("%s: parameterization %q is not eps or v", path, stated)
}

// metadata is the __metadata__ of a safetensors file; none of a file of another format.
func metadata(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var length uint64
	if err := binary.Read(f, binary.LittleEndian, &length); err != nil || length > 100<<20 {
		return nil, nil
	}
	var header struct {
		Metadata map[string]string `json:"__metadata__"`
	}
	if err := json.NewDecoder(io.LimitReader(f, int64(length))).Decode(&header); err != nil {
		return nil, nil
	}
	return header.Metadata, nil
}
