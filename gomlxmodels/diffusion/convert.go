package diffusion

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/internal/newdir"
	"antipode/gomlxmodels/weights"
)

// SaveFolder writes the model of a single file ([OpenFile]) as the folder of a StableDiffusionPipeline, which diffusers
// and [Open] read: safetensors, configurations, the tokenizer. dir must not exist, or be empty; it is complete or not
// written. Weights stay half-precision where all of a network's are, else they are float32. One network is in memory at
// a time, in float32.
func (m *Model) SaveFolder(ctx context.Context, dir string) error {
	if m.ldm == nil {
		return fmt.Errorf("%s is a folder already", m.dir)
	}
	return newdir.Write(dir, func(to string) error { return m.save(ctx, to) })
}

// save writes the files of the folder.
func (m *Model) save(ctx context.Context, to string) error {
	if err := m.saveConfigs(to); err != nil {
		return err
	}
	for _, n := range []struct {
		folder, file string
		parts        []part
	}{{"text_encoder", "model", []part{textPart}}, {"unet", "diffusion_pytorch_model", []part{unetPart}},
		{"vae", "diffusion_pytorch_model", []part{encoderPart, decoderPart}}} {
		if err := ctx.Err(); err != nil {
			return err
		}
		list, format, err := m.oldTensors(n.parts)
		if err != nil {
			return err
		}
		if err := weights.Save(filepath.Join(to, n.folder, n.file+".safetensors"), list,
			map[string]string{"format": "pt"}, format); err != nil {
			return err
		}
	}
	return m.saveTokenizer(filepath.Join(to, "tokenizer"))
}

// saveConfigs writes the configurations, each in its folder.
func (m *Model) saveConfigs(to string) error {
	var scheduler struct {
		Class string `json:"_class_name"`
	}
	if err := json.Unmarshal(m.scheduler, &scheduler); err != nil {
		return err
	}
	index, err := encode(map[string]any{"_class_name": "StableDiffusionPipeline",
		"text_encoder":   [2]string{"transformers", "CLIPTextModel"},
		"tokenizer":      [2]string{"transformers", "CLIPTokenizer"},
		"unet":           [2]string{"diffusers", "UNet2DConditionModel"},
		"vae":            [2]string{"diffusers", "AutoencoderKL"},
		"scheduler":      [2]string{"diffusers", scheduler.Class},
		"safety_checker": [2]any{}, "feature_extractor": [2]any{}, "requires_safety_checker": false})
	if err != nil {
		return err
	}
	files := map[string][]byte{"model_index.json": index, "scheduler/scheduler_config.json": m.scheduler}
	for folder, text := range m.configs {
		files[folder+"/config.json"] = text
	}
	for name, text := range files {
		path := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// oldTensors reads networks of a single file as tensors in the names of a folder. Both tables fill the same variables,
// cut into tensors differently: a variable is joined by the one and cut by the other.
func (m *Model) oldTensors(parts []part) (list []weights.Tensor, format weights.Format, err error) {
	format = weights.F16
	for _, p := range parts {
		variables := map[string][]float32{}
		for _, r := range m.ldm.rules(p, m.rules(p)) {
			if r.Variable == "" {
				continue
			}
			if t, _ := m.ldm.set.Info(r.Tensor); t.DType != "F16" {
				format = weights.F32
			}
			values, err := m.ldm.set.Float32(r.Tensor)
			if err != nil {
				return nil, "", err
			}
			variables[r.Variable] = append(variables[r.Variable], values...) // parts are in order
		}
		for _, r := range m.rules(p) {
			if r.Variable == "" {
				continue
			}
			values := variables[r.Variable]
			if n := len(values) / max(1, r.Parts); r.Parts > 1 {
				values = values[r.Part*n : (r.Part+1)*n]
			}
			list = append(list, weights.Tensor{Name: r.Tensor, Shape: r.Shape, Data: values})
		}
	}
	return list, format, nil
}

// saveTokenizer copies the tokenizer's files, and states the token that texts are filled up with.
func (m *Model) saveTokenizer(to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	pad, err := json.Marshal(m.ldm.padToken())
	if err != nil {
		return err
	}
	texts := map[string][]byte{"tokenizer_config.json": fmt.Appendf(nil,
		`{"tokenizer_class": "CLIPTokenizer", "model_max_length": %d}`, m.length)}
	for _, path := range m.tokenizer.Files() {
		if texts[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	for name, text := range texts {
		if (name == "tokenizer_config.json" || name == "special_tokens_map.json") && m.padding != m.tokenizer.PadID() {
			var all map[string]json.RawMessage
			if err := json.Unmarshal(text, &all); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			all["pad_token"] = pad
			if text, err = encode(all); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(to, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
