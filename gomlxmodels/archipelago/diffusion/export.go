package diffusion

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/weights"
)

// version is the version of diffusers whose layout the folder has.
const version = "0.42.1"

// export writes the folder of a StableDiffusionPipeline.
func export(dir string, store *model.Store, n *networks) (parameters int, err error) {
	root := store.RootScope()
	text := n.text.Text
	for _, part := range []struct {
		folder, file string
		scope        *model.Scope
		rules        []weights.Rule
		config       map[string]any
	}{
		{"unet", bigFile, root.At("unet"), diffusion.UNetRules(&n.unet),
			merged(n.unet, map[string]any{"_class_name": "UNet2DConditionModel", "_diffusers_version": version,
				"sample_size": latents, "act_fn": "silu"})},
		{"vae", bigFile, root.At("vae"), diffusion.VAERules(&n.vae),
			merged(n.vae, map[string]any{"_class_name": "AutoencoderKL", "_diffusers_version": version,
				"sample_size": latents * n.vae.Factor(), "act_fn": "silu"})},
		{"text_encoder", weights.SingleFile, root, n.textRules(),
			merged(text, map[string]any{"architectures": []string{"CLIPTextModel"}, "model_type": "clip_text_model",
				"bos_token_id": tokens.StartID(), "pad_token_id": tokens.EndID(), "projection_dim": text.HiddenSize})},
	} {
		to := filepath.Join(dir, part.folder)
		if err := os.MkdirAll(to, 0o755); err != nil {
			return 0, err
		}
		list, err := diffusion.Export(part.scope, part.rules)
		if err != nil {
			return 0, err
		}
		for _, t := range list {
			parameters += len(t.Data)
		}
		if err := weights.Save(filepath.Join(to, part.file), list, map[string]string{"format": "pt"},
			weights.F16); err != nil {
			return 0, err
		}
		if err := trainer.WriteJSON(filepath.Join(to, "config.json"), part.config); err != nil {
			return 0, err
		}
	}
	for _, folder := range []string{"scheduler", "tokenizer"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return 0, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "scheduler", "scheduler_config.json"), []byte(schedulerConfig),
		0o644); err != nil {
		return 0, err
	}
	if err := tokens.Write(filepath.Join(dir, "tokenizer")); err != nil {
		return 0, err
	}
	return parameters, trainer.WriteJSON(filepath.Join(dir, "model_index.json"), map[string]any{
		"_class_name": "StableDiffusionPipeline", "_diffusers_version": version, "requires_safety_checker": false,
		"feature_extractor": []any{nil, nil}, "image_encoder": []any{nil, nil}, "safety_checker": []any{nil, nil},
		"scheduler": []any{"diffusers", "DDIMScheduler"}, "text_encoder": []any{"transformers", "CLIPTextModel"},
		"tokenizer": []any{"transformers", "CLIPTokenizer"},
		"unet":      []any{"diffusers", "UNet2DConditionModel"}, "vae": []any{"diffusers", "AutoencoderKL"},
	})
}

// merged returns a configuration as a map with other keys, which take precedence.
func merged(config any, others map[string]any) map[string]any {
	text, err := json.Marshal(config)
	if err != nil {
		panic(err) // the configurations are structs of numbers and strings
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		panic(err)
	}
	for key, value := range others {
		all[key] = value
	}
	return all
}
