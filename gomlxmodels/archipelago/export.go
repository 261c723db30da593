package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"text/template"

	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

// report is what a run leaves beside the weights, as training.json.
type report struct {
	Settings   settings       `json:"settings"`
	Parameters int            `json:"parameters"` // of the encoder and the classifier
	Pictures   int            `json:"pictures"`   // drawn for training, each seen once
	Device     string         `json:"device"`
	Cores      int            `json:"cores"`
	Minutes    float64        `json:"minutes"` // in steps, compiling left out
	Heads      [heads]string  `json:"heads"`
	Classes    map[string]int `json:"classes"`
	HeldOut    struct {
		Seed     uint64   `json:"seed"`
		Pictures int      `json:"pictures"`
		Accuracy accuracy `json:"accuracy"`
	} `json:"held_out"`
	Curve []point `json:"curve"`
}

// export writes the averaged weights as a Hugging Face folder, float16, with the other heads beside them.
func export(dir string, store *model.Store) (parameters int, err error) {
	scope := store.Scope(averageScope)
	pre := preprocess.Default(imageSize, imageSize)
	if err := vit.Save(dir, &shape, scope.At("vit"), pre, len(labels[headObject]), labels[headObject], weights.F16); err != nil {
		return 0, err
	}
	var rules []weights.Rule
	for h := headObject + 1; h < heads; h++ {
		name, n := headNames[h], len(labels[h])
		rules = append(rules, weights.Rule{Tensor: name + ".weight", Variable: "heads/" + name + "/weights", Shape: []int{n, shape.HiddenSize}},
			weights.Rule{Tensor: name + ".bias", Variable: "heads/" + name + "/bias", Shape: []int{n}})
	}
	list, err := weights.Export(scope, rules)
	if err != nil {
		return 0, err
	}
	return scope.At("vit").NumParameters(), weights.Save(filepath.Join(dir, headsFile), list, nil, weights.F16)
}

//go:embed card.md
var cardText string

// writeReport writes training.json and the model card, README.md, whose numbers come from it.
func writeReport(dir string, r report) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "training.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	card, err := template.New("card").Funcs(template.FuncMap{
		"percent": func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) },
	}).Parse(cardText)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "README.md"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := card.Execute(f, r); err != nil {
		return err
	}
	return f.Close()
}

// newReport fills in what is known before scoring.
func newReport(s settings, curve []point, parameters int, device string) report {
	r := report{Settings: s, Curve: curve, Parameters: parameters, Pictures: s.Steps * s.Batch, Device: device,
		Cores: runtime.NumCPU(), Heads: headNames, Classes: map[string]int{}}
	from := 0
	for _, p := range curve {
		r.Minutes += p.Seconds * float64(p.Step-from) / 60
		from = p.Step
	}
	for h := range heads {
		r.Classes[headNames[h]] = len(labels[h])
	}
	r.HeldOut.Seed = heldOutSeed
	r.Settings.World = archipelago.Version
	return r
}
