// Package labels finds the label under which a paper prints a model: "Stable Diffusion" for stable-diffusion-v1-5.
package labels

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"antipode/datasets/table"
)

// Help describes the option that holds labels.
const Help = "labels of models in the paper's table, each as MODEL=LABEL; others by the paper's list of names"

// Models relates the models of a table to the labels that a paper prints.
type Models struct {
	Printed []string          // the labels
	Names   map[string]string // label of a model by its name, in lower case, without the owner
}

// Of returns the model of the table for each label; labels without a model are missing. given has MODEL=LABEL for some
// models; the others are labeled if their name is a label, whatever the case, or in Names, with or without an owner and
// a revision, and no other model was given the label. Models without a label are left out. Two models of one label are
// an error, and so is an entry of given whose model or label does not exist.
func (m Models) Of(models, given []string) (map[string]string, error) {
	models = slices.Compact(slices.Sorted(slices.Values(models)))
	out, labeled := map[string]string{}, map[string]bool{}
	put := func(label, model string) error {
		if other, twice := out[label]; twice {
			return fmt.Errorf("the models %s and %s are both %q in the paper; select one of them with Where, or label "+
				"one with the option labels", other, model, label)
		}
		out[label], labeled[model] = model, true
		return nil
	}
	for _, g := range given {
		model, label, ok := strings.Cut(g, "=")
		model, label = strings.TrimSpace(model), strings.TrimSpace(label)
		switch {
		case !ok:
			return nil, fmt.Errorf("labels: %q is not MODEL=LABEL", g)
		case !slices.Contains(models, model):
			return nil, fmt.Errorf("labels: the table has no model %q%s; there are: %s", model,
				table.Hint(model, models), strings.Join(models, ", "))
		case !slices.Contains(m.Printed, label):
			return nil, fmt.Errorf("labels: the paper prints no model %q%s; it prints: %s", label,
				table.Hint(label, m.Printed), strings.Join(m.Printed, ", "))
		}
		if err := put(label, model); err != nil {
			return nil, err
		}
	}
	chosen := maps.Clone(out)
	for _, model := range models {
		label := m.label(model)
		if label == "" || labeled[model] || chosen[label] != "" {
			continue
		}
		if err := put(label, model); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// label returns the label of a model without one of the user's, "" if it has none.
func (m Models) label(model string) string {
	if i := slices.IndexFunc(m.Printed, func(l string) bool { return strings.EqualFold(l, model) }); i >= 0 {
		return m.Printed[i]
	}
	name, _, _ := strings.Cut(strings.ToLower(model), "@")
	return m.Names[name[strings.LastIndex(name, "/")+1:]]
}

// Note returns the sentence on how many of a paper's cells were computed; with none, it names the models of the table
// and the labels.
func (m Models) Note(what string, computed, printed int, models []string) string {
	note := fmt.Sprintf("%s: %d of %d printed cells computed", what, computed, printed)
	if computed == 0 {
		note += fmt.Sprintf("; the models of the table are %s, those of the paper %s: set the option labels, "+
			"MODEL=LABEL", strings.Join(slices.Compact(slices.Sorted(slices.Values(models))), ", "),
			strings.Join(m.Printed, ", "))
	}
	return note
}
