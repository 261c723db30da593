package commands

import (
	"context"

	"antipode/gomlxmodels"
)

func ask(ctx context.Context, args []string) error {
	var s stageFlags
	var o gomlxmodels.AskOptions
	var model string
	fs := flags("ask", "--model exec:PATH --question TEXT --choices A,B,… --in TABLE --out TABLE [--permute] …")
	fs.StringVar(&model, "model", "", "exec:`PATH`, a program that answers questions about images (docs/adapters.md)")
	addOptions(fs, &o)
	s.add(fs)
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if model == "" || o.Question == "" || o.Choices == nil {
		return usage("give --model exec:PATH, --question TEXT and --choices A,B,…")
	}
	if err := allowExec(model); err != nil {
		return err
	}
	t, err := s.table(ctx)
	if err != nil {
		return err
	}
	return s.save(ctx, gomlxmodels.Ask(model, t, o))
}
