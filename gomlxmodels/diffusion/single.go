package diffusion

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// FileOptions determine how a single file is read; the zero value of all but ConfigFrom is the default.
type FileOptions struct {
	// ConfigFrom is the folder of a pipeline of the same kind, whose tokenizer is used, and whose scheduler where it
	// fits the prediction type: such a file holds neither. A folder with only the tokenizer, or CLIP's, will do.
	ConfigFrom string
	// Prediction is what the UNet predicts: "epsilon" or "v". Default: what the file says, see [OpenFile].
	Prediction string
	// EMA selects the UNet's averaged weights, of a file that holds both. Diffusers reads the others.
	EMA bool
}

// OpenFile reads a Stable Diffusion 1.x or 2.x in a single file (.safetensors, .ckpt) under the names of the program it
// was trained with. Its configuration follows from the shapes of its tensors; every tensor must be known, and have the
// right shape. Other models, and UNets with other inputs than latents, are refused by name.
//
// What a 2.x UNet predicts is in few files. In this order: [FileOptions.Prediction]; "parameterization" in a .yaml file
// of the same name; the metadata modelspec.prediction_type, or tensors v_pred and ztsnr; a known global_step; the size
// of a bias. [Model.Corrections] says which of them decided. A 2.x of v-prediction generates 768×768 pixels by default,
// all others 512×512. The file has no safety checker.
func OpenFile(path string, o FileOptions) (m *Model, err error) {
	defer runner.Recovered("diffusion", &err)
	set, err := weights.OpenFiles(path)
	if err != nil {
		return nil, err
	}
	l, configs, err := openLDM(set)
	if err != nil {
		return nil, err
	}
	if l.ema = o.EMA; l.ema {
		if n := l.averages(); n <= 100 {
			return nil, fmt.Errorf("%s: no averaged weights (%d tensors %s…); leave the option out: a file of "+
				"averaged weights alone has them under the plain names", path, n, ldmEMA)
		}
	}
	kind, why, err := l.prediction(path, o.Prediction)
	if err != nil {
		return nil, err
	}
	if l.openCLIP && kind == PredictV {
		configs["unet"].(map[string]any)["sample_size"] = 96
		configs["vae"].(map[string]any)["sample_size"] = 768
	}
	m = &Model{dir: path, safety: SafetyAbsent, ldm: l, files: set.Files(),
		notes: []string{fmt.Sprintf("prediction type %s: %s", kind, why)}}
	if l.ema {
		m.notes = append(m.notes, "the UNet's averaged weights")
	}
	if err := m.configureFile(configs, kind, o.ConfigFrom); err != nil {
		return nil, err
	}
	for p := range m.sets {
		m.sets[p] = set
	}
	if err := l.match(m); err != nil {
		return nil, err
	}
	return m, m.fileTokenizer(o.ConfigFrom)
}

// averages counts the averaged weights.
func (l *ldm) averages() (n int) {
	for _, name := range l.set.Names() {
		if len(name) > len(ldmEMA) && name[:len(ldmEMA)] == ldmEMA {
			n++
		}
	}
	return n
}

// configureFile sets the configurations, and the scheduler.
func (m *Model) configureFile(configs map[string]any, prediction, from string) error {
	texts := map[string][]byte{}
	for name, config := range configs {
		var err error
		if texts[name], err = encode(config); err != nil {
			return err
		}
	}
	m.configs = texts
	text, err := ParseTextConfig(texts["text_encoder"])
	if err == nil {
		m.text = clipText{text}
		m.unet, err = ParseUNetConfig(texts["unet"])
	}
	if err == nil {
		m.vae, err = ParseVAEConfig(texts["vae"])
	}
	if err == nil {
		err = m.fit()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.dir, err)
	}
	return m.fileScheduler(prediction, from)
}

// fileScheduler takes the scheduler of a folder whose prediction type is the file's, else that of the published models.
// Where the file is marked for a signal-to-noise ratio of zero (ztsnr), the folder's must state whether it has one.
func (m *Model) fileScheduler(prediction, from string) (err error) {
	zero := prediction == PredictV && m.ldm.set.Has("ztsnr")
	path := filepath.Join(from, "scheduler", "scheduler_config.json")
	if text, err := os.ReadFile(path); err == nil {
		own := struct {
			Prediction string `json:"prediction_type"`
			Zero       *bool  `json:"rescale_betas_zero_snr"`
		}{Prediction: PredictEpsilon}
		if err := json.Unmarshal(text, &own); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if own.Prediction == prediction && (!zero || own.Zero != nil) {
			m.scheduler, m.files = text, append(m.files, path)
			return nil
		}
	}
	config := map[string]any{"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear",
		"num_train_timesteps": 1000, "prediction_type": prediction, "steps_offset": 1, "set_alpha_to_one": false,
		"clip_sample": false, "timestep_spacing": "leading", "_class_name": "PNDMScheduler", "skip_prk_steps": true}
	if prediction == PredictV {
		delete(config, "skip_prk_steps")
		config["_class_name"] = "DDIMScheduler"
		if zero {
			config["rescale_betas_zero_snr"], config["timestep_spacing"] = true, "trailing"
		}
	}
	m.scheduler, err = encode(config)
	return err
}

// padToken is the token that texts are filled up with: 2.x has another than 1.x, whose tokenizer it shares.
func (l *ldm) padToken() string {
	if l.openCLIP {
		return "!"
	}
	return "<|endoftext|>"
}

// fileTokenizer reads the tokenizer of another pipeline's folder.
func (m *Model) fileTokenizer(from string) error {
	if from == "" {
		return fmt.Errorf("%s: a single file has no tokenizer; name a folder that has the model's (config from)", m.dir)
	}
	dir := filepath.Join(from, "tokenizer")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = from
	}
	if err := m.useTokenizer(dir); err != nil {
		return err
	}
	pad := m.ldm.padToken()
	m.padding = m.tokenizer.ID(pad)
	if m.padding < 0 || m.ldm.openCLIP && m.padding != 0 {
		return fmt.Errorf("%s: the token %q has the id %d: not the tokenizer of this kind of model", dir, pad,
			m.padding)
	}
	return nil
}
