package commands

import (
	"context"

	"antipode/gomlxmodels"
)

func ask(ctx context.Context, args []string) error {
	var o gomlxmodels.AskOptions
	s, t, err := readStage(ctx, "ask", "exec:`PATH`, a program that answers questions about images (docs/adapters.md)",
		&o, args)
	if err != nil {
		return err
	}
	if o.Question == "" || o.Choices == nil {
		return usage("give --model exec:PATH, --question TEXT and --choices A,B,…")
	}
	return s.save(ctx, gomlxmodels.Ask(s.model, t, o))
}
