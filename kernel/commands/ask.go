package commands

import (
	"context"

	"antipode/datasets"
	"antipode/gomlxmodels"
)

func ask(ctx context.Context, args []string) error {
	var s stageFlags
	var o gomlxmodels.AskOptions
	var model, choices string
	fs := flags("ask", "--model exec:PATH --question TEXT --choices A,B,… --in TABLE --out TABLE [--permute] …")
	s.add(fs)
	fs.StringVar(&model, "model", "", "exec:`PATH`, a program that answers questions about images (docs/adapters.md)")
	fs.StringVar(&o.Question, "question", "", "the question about each image")
	fs.StringVar(&choices, "choices", "", "the answers to choose from, `A,B,…`")
	fs.BoolVar(&o.Permute, "permute", false, "ask twice, with the choices reversed too, and average the probabilities")
	fs.StringVar(&o.System, "system", "", "the system message, for models that take one")
	fs.StringVar(&o.Column, "column", "answer", "the `NAME` of the answer's column, with which the others start")
	execFlags(fs, &o.Exec)
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if model == "" || o.Question == "" || choices == "" {
		return usage("give --model exec:PATH, --question TEXT and --choices A,B,…")
	}
	if err := allowExec(model); err != nil {
		return err
	}
	t, err := s.table(ctx)
	if err != nil {
		return err
	}
	o.Choices, o.Seed = datasets.SplitColumns(choices), s.seed
	return s.save(ctx, gomlxmodels.Ask(model, t, o))
}
