package commands

import (
	"context"
	"fmt"
	"strings"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/hub"
	"antipode/kernel/cell"
)

// listOrPull handles the subcommand list, the default, of a command. It returns the arguments of the other one, pull.
func listOrPull(command string, args []string, list func() error) (rest []string, pull bool, err error) {
	what := "list"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		what, args = args[0], args[1:]
	}
	switch what {
	case "list", "ls":
		if err := noArguments(flags(command+" list", ""), args); err != nil {
			return nil, false, err
		}
		return nil, false, list()
	case "pull":
		return args, true, nil
	}
	return nil, false, usage("antipode %s [list | pull NAME]%s", command,
		hint("", table.Nearest(what, []string{"list", "pull"})))
}

func models(ctx context.Context, args []string) error {
	args, pull, err := listOrPull("models", args, func() error { listModels(); return nil })
	if !pull {
		return err
	}
	fs := flags("models pull", "NAME")
	var revision string
	fs.StringVar(&revision, "revision", "", "the `REVISION` on the hub: a commit, branch, tag or refs/pr/N; default "+
		"main. NAME@REVISION is the same")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usage("antipode models pull NAME [--revision REVISION]")
	}
	return pullModel(ctx, rest[0], revision)
}

// listModels prints the known models and whether they are downloaded.
func listModels() {
	for _, m := range gomlxmodels.Known() {
		where, license := "built in", m.License
		if m.Hub != "" {
			where = "not downloaded: antipode models pull " + m.Name
			if s, err := hub.Find(m.Hub, "", ""); err == nil {
				where = s.Dir
			}
		}
		if license == "" {
			license = "license: see its card"
		}
		fmt.Printf("  %-38s %s; adds %s\n", m.Name, m.About, m.Columns)
		fmt.Printf("  %-38s %s, %s parameters; %s\n", "", m.Architecture, m.Parameters, license)
		fmt.Printf("  %-38s %s\n", "", where)
	}
	for _, p := range gomlxmodels.Pairs() {
		fmt.Printf("  %-38s %s, of boxes of %s, as %s; %s\n", p.Name, p.Segmenter, p.Detector, p.Profile, p.About)
	}
	fmt.Println("\n--model also takes a folder of these architectures as transformers, diffusers, timm or " +
		"sentence-transformers write it (config.json, *.safetensors),\nand such a model of the hub: " +
		"antipode models " +
		"pull OWNER/NAME[@REVISION].")
}

func pullModel(ctx context.Context, name, revision string) error {
	if p, ok := gomlxmodels.FindPair(name); ok {
		if revision != "" {
			return usage("%s is two models, %s and %s: a revision is one's", name, p.Segmenter, p.Detector)
		}
		if err := pullModel(ctx, p.Detector, ""); err != nil {
			return err
		}
		return pullModel(ctx, p.Segmenter, "")
	}
	id, pinned, ok := hub.Split(name)
	if m, known := gomlxmodels.Find(name); known {
		if m.Hub == "" {
			fmt.Printf("%s is built in: nothing to download\n", name)
			return nil
		}
		id, ok = m.Hub, true
	}
	if !ok {
		return usage("no model %q: `antipode models` lists names; a model on the hub is OWNER/NAME or "+
			"OWNER/NAME@REVISION%s",
			name, gomlxmodels.Nearest(name))
	}
	if revision == "" {
		revision = pinned
	}
	bar := cell.NewProgress()
	s, err := hub.Pull(ctx, id, hub.PullOptions{Revision: revision, Progress: func(file string, have, size int64) {
		const mega = 1 << 20
		bar.Update(table.Progress{Stage: "download " + file + " (MiB)", Done: int(have / mega),
			Total: int(size / mega)})
	}})
	bar.Close()
	if err != nil {
		return err
	}
	license := "its card states no license: read it before use"
	if s.License != "" {
		license = "license: " + s.License
	}
	fmt.Printf("%s at %s (%.0f MB; %s)\nin %s\n", id, strings.TrimSpace(s.Commit), float64(s.Bytes)/1e6, license,
		s.Dir)
	return nil
}
