package trainer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"text/template"
)

// Report is what a run leaves beside the weights, as training.json, and what a model card's text is filled in from.
type Report struct {
	Settings   Settings `json:"settings"`
	Parameters int      `json:"parameters"` // of the exported network
	Examples   int      `json:"examples"`   // drawn for training, each seen once
	Device     string   `json:"device"`
	Cores      int      `json:"cores"`
	Minutes    float64  `json:"minutes"` // in steps, compiling left out
	Losses     []string `json:"losses"`
	HeldOut    any      `json:"held_out"` // a model's own scores
	Curve      []Point  `json:"curve"`
}

// report fills in what is known before scoring.
func (j *Job) report(curve []Point, parameters int, device string) Report {
	r := Report{Settings: j.Settings, Curve: curve, Parameters: parameters, Examples: j.Settings.Steps * j.Settings.Batch, Device: device,
		Cores: runtime.NumCPU(), Losses: j.Losses}
	from := 0
	for _, p := range curve {
		r.Minutes += p.Seconds * float64(p.Step-from) / 60
		from = p.Step
	}
	return r
}

// write writes training.json and the model card, README.md, whose numbers come from the report.
func (r Report) write(dir, card string) error {
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
