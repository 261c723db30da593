package trainer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"text/template"
)

// report describes a run: the content of training.json in the model folder, and the data of the model card's template.
type report struct {
	Settings   Settings `json:"settings"`
	Parameters int      `json:"parameters"` // of the exported network
	Examples   int      `json:"examples"`   // in training; each is used once
	Device     string   `json:"device"`
	Cores      int      `json:"cores"`
	Minutes    float64  `json:"minutes"` // of training steps, without compilation
	Losses     []string `json:"losses"`
	HeldOut    any      `json:"held_out"` // the result of Model.Score
	Curve      []Point  `json:"curve"`
}

func (j *Job) report(curve []Point, parameters int, device string, heldOut any) report {
	r := report{Settings: j.Settings, Curve: curve, Parameters: parameters,
		Examples: j.Settings.Steps * j.Settings.Batch, Device: device,
		Cores: runtime.NumCPU(), Losses: j.Losses, HeldOut: heldOut}
	from := 0
	for _, p := range curve {
		r.Minutes += p.Seconds * float64(p.Step-from) / 60
		from = p.Step
	}
	return r
}

// readReport reads the training.json of a model folder.
func readReport(dir string) (r report, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "training.json"))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: training.json: %w", dir, err)
	}
	return r, nil
}

// write writes training.json and the model card, README.md.
func (r report) write(dir, card string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "training.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	t, err := template.New("card").Funcs(template.FuncMap{
		"percent": func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) },
	}).Parse(card)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "README.md"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.Execute(f, r); err != nil {
		return err
	}
	return f.Close()
}
