package commands

import (
	"cmp"
	"context"
	"flag"
	"os"
	"strings"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	askstage "antipode/gomlxmodels/stage/ask"
)

func ask(ctx context.Context, args []string) error {
	var o gomlxmodels.AskOptions
	var own struct {
		Questions string `json:"questions" kind:"TABLE" help:"the TABLE of questions, each of which is asked about each image: columns id, question, choices (A|B|…) and optionally wanted, the answer wanted"`
		On        string `json:"on" kind:"COLUMN" help:"ask a question about the images with an equal value in this COLUMN alone, for example prompt_id"`
	}
	s, t, err := readStage(ctx, "ask", "chat:`NAME`, a model behind an OpenAI-compatible chat API (OPENAI_API_KEY, "+
		"OPENAI_BASE_URL), exec:PATH, a program that answers questions about images (docs/adapters.md), or a BLIP "+
		"(blip-vqa-base, or a folder)",
		&o, args, func(fs *flag.FlagSet) { addOwn(fs, &own) })
	if err != nil {
		return err
	}
	if own.Questions != "" {
		q, err := s.open(ctx, own.Questions, s.read)
		if err != nil {
			return err
		}
		switch {
		case o.Question != "" && !strings.Contains(o.Question, "{"):
			return usage("ask: --questions gives the questions; leave out --question, or write {COLUMN} in it")
		case o.Choices != nil && table.Position(q.Columns(), "choices") >= 0:
			return usage("ask: the table of questions has the choices; leave out --choices")
		}
		var columns []string
		if own.On != "" {
			columns = []string{own.On}
		}
		t = t.Questions(q, columns...)
	} else if o.Question == "" || o.Choices == nil || own.On != "" {
		return usage("give --model chat:NAME, exec:PATH or a BLIP, and --question TEXT with --choices A,B,…, or " +
			"--questions TABLE")
	}
	answers := gomlxmodels.Ask(s.model, t, o)
	if _, err := answers.Plan(); err == nil && strings.HasPrefix(s.model, gomlxmodels.Chat) && collecting(ctx) == nil {
		a := gomlxmodels.AskArgs{Model: s.model, AskOptions: o}
		a.Chat.BaseURL = cmp.Or(o.Chat.BaseURL, os.Getenv("OPENAI_BASE_URL"))
		if err := estimate(ctx, t, a.Requests(), askstage.ClientOptions(a)); err != nil {
			return err
		}
	}
	return s.save(ctx, answers)
}
