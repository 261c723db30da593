package gomlxmodels

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"antipode/datasets"
	"antipode/datasets/table"
)

// AskOp is the operation of [Ask] in a plan.
const AskOp = "ask"

// AskOptions are the options of [Ask].
type AskOptions struct {
	// Question is the question about each image, for example "Is a person visible?". Required.
	Question string `json:"question" required:"true" help:"the question about each image"`

	// Choices are the answers of which the model chooses one, 2 to 64; required. A choice such as "cannot tell" lets it
	// choose none of the others.
	Choices []string `json:"choices" help:"the answers to choose from"`

	// System is the system message, for models that take one; default none.
	System string `json:"system,omitempty" help:"the system message, for models that take one"`

	// Column is the name of the column of the answer, with which the names of the others start; default "answer".
	Column string `json:"column" default:"answer" help:"the name of the answer's column, with which the others start"`

	// Seed is the seed of answers that are sampled, 0 (default) to 2^53.
	Seed int64 `json:"seed,omitempty" min:"0" max:"9007199254740992" help:"the seed of answers that are sampled"`

	// Permute asks twice, with the choices in their order and reversed: models prefer the choice at some positions. The
	// probabilities are averaged, and the answer is the most probable choice. Without probabilities it is the choice
	// of both orders, and none if they differ, with a reason.
	Permute bool `json:"permute,omitempty" help:"ask twice, with the choices reversed too, and average the probabilities"`

	// Exec are the options of the program.
	Exec ExecOptions `json:"exec,omitzero" group:"Programs (exec:PATH)"`
}

// AskArgs are the arguments of an ask stage in a plan.
type AskArgs struct {
	Model string `json:"model"` // a program
	AskOptions
}

// Ask asks a model a question about each image, with fixed choices. The model is a program ("exec:PATH", see
// docs/adapters.md), for example one that runs a vision-language model. An answer about a person is what the model
// perceives, not a fact about the person. Added are
//
//   - answer, one of the choices;
//   - answer_p_CHOICE, for each choice its probability; they sum to 1, and are null if the program gives none;
//   - answer_source, where the probabilities come from: "logits" of the choices at the position of the answer,
//     "samples", the shares of several answers, or "none";
//   - answer_text, what the model wrote;
//   - answer_outcome and answer_reason: "ok", "refused" or "failed". The columns outcome and reason of the image
//     remain.
//
// Columns of these names are replaced. A row without an image whose outcome is refused, failed or skipped has no answer
// and no outcome of it. The table needs the columns id and image.
func Ask(model string, images datasets.Table, o AskOptions) datasets.Table {
	fail := func(err error) datasets.Table { return datasets.Extend(images).Fail(fmt.Errorf("Ask: %w", err)).Table }
	args := AskArgs{model, o}
	err := invalid(args.Check())
	if err != nil {
		return fail(err)
	}
	if args.Model, err = resolveModel(model, o.Exec); err != nil {
		return fail(err)
	}
	answers := datasets.Extend(images).Need("id", table.KindText).Need("image", table.KindImage).
		Derive(AskOp, args, args.Columns()...).Table
	return execSecrets(answers, model, o.Exec)
}

// Check completes and validates the arguments.
func (a *AskArgs) Check() error {
	if err := check(&a.AskOptions, "exec"); err != nil {
		return err
	}
	switch {
	case !strings.HasPrefix(a.Model, Exec):
		return fmt.Errorf("model %q: questions are for programs (exec:PATH); no other model answers them", a.Model)
	case strings.TrimSpace(a.Question) == "":
		return errors.New("the question is missing")
	case len(a.Choices) < 2 || len(a.Choices) > 64:
		return fmt.Errorf("%d choices: give 2 to 64", len(a.Choices))
	}
	for i, c := range a.Choices {
		if c == "" || c != strings.TrimSpace(c) || strings.ContainsFunc(c, unicode.IsControl) ||
			slices.Contains(a.Choices[:i], c) {
			return fmt.Errorf("choice %q: choices are different texts on one line, without space around them", c)
		}
	}
	return nil
}

// Orders returns the choices as they are given and, with Permute, reversed.
func (a *AskArgs) Orders() [][]string {
	orders := [][]string{a.Choices}
	if a.Permute {
		reversed := slices.Clone(a.Choices)
		slices.Reverse(reversed)
		orders = append(orders, reversed)
	}
	return orders
}

// Columns returns the columns that the stage adds.
func (a *AskArgs) Columns() []table.ColumnSpec {
	columns := []table.ColumnSpec{{Name: a.Column, Kind: table.KindText}}
	for _, c := range a.Choices {
		columns = append(columns, table.ColumnSpec{Name: a.Column + "_p_" + c, Kind: table.KindNumber})
	}
	for _, name := range []string{"_source", "_text", "_outcome", "_reason"} {
		columns = append(columns, table.ColumnSpec{Name: a.Column + name, Kind: table.KindText})
	}
	return columns
}
