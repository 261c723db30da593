package commands

import (
	"context"
	"fmt"
	"strings"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/hub"
	"antipode/kernel/cell"
	"antipode/kernel/client"
)

// subcommand splits the arguments of a command with subcommands; missing or a flag, the first is usual.
func subcommand(args []string, usual string) (name string, rest []string) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return usual, args
	}
	return args[0], args[1:]
}

func models(ctx context.Context, args []string) error {
	what, args := subcommand(args, "list")
	switch what {
	case "list", "ls":
		if rest, err := parse(flags("models list", ""), args); err != nil || len(rest) == 0 {
			if err == nil {
				listModels()
			}
			return err
		}
		return usage("antipode models list takes no arguments")
	case "pull":
	default:
		return usage("antipode models [list | pull NAME]%s", hint("", client.Nearest(what, []string{"list", "pull"})))
	}
	fs := flags("models pull", "NAME")
	var revision string
	fs.StringVar(&revision, "revision", "", "the `REVISION` on the hub: a commit, branch, tag or refs/pr/N; default main. NAME@REVISION says the same")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usage("antipode models pull NAME [--revision REVISION]")
	}
	return pullModel(ctx, rest[0], revision)
}

// listModels prints what is known by name and whether it is here.
func listModels() {
	for _, m := range gomlxmodels.Known() {
		where, licence := "built in", m.Licence
		if m.Hub != "" {
			where = "not here: antipode models pull " + m.Name
			if s, err := hub.Find(m.Hub, "", ""); err == nil {
				where = s.Dir
			}
		}
		if licence == "" {
			licence = "licence: see its card"
		}
		fmt.Printf("  %-38s %s; adds %s\n", m.Name, m.About, m.Columns)
		fmt.Printf("  %-38s %s, %s parameters; %s\n", "", m.Architecture, m.Parameters, licence)
		fmt.Printf("  %-38s %s\n", "", where)
	}
	fmt.Println("\nAny folder of these architectures as transformers, timm or sentence-transformers write it (config.json, *.safetensors) can be given to --model too,\nand any such model on the hub: antipode models pull OWNER/NAME[@REVISION].")
}

func pullModel(ctx context.Context, name, revision string) error {
	id, pinned, ok := hub.Split(name)
	if m, known := gomlxmodels.Find(name); known {
		if m.Hub == "" {
			fmt.Printf("%s is built in: there is nothing to fetch\n", name)
			return nil
		}
		id, ok = m.Hub, true
	}
	if !ok {
		return usage("no model %q: `antipode models` lists names; a model on the hub is OWNER/NAME or OWNER/NAME@REVISION%s",
			name, gomlxmodels.Nearest(name))
	}
	if revision == "" {
		revision = pinned
	}
	bar := cell.NewProgress()
	s, err := hub.Pull(ctx, id, hub.Options{Revision: revision, Progress: func(file string, have, size int64) {
		const mega = 1 << 20
		bar.Update(client.Progress{Stage: "fetch " + file + " (MiB)", Done: int(have / mega), Total: int(size / mega)})
	}})
	bar.Close()
	if err != nil {
		return err
	}
	licence := "its card names no licence: read it before use"
	if s.Licence != "" {
		licence = "licence: " + s.Licence
	}
	fmt.Printf("%s at %s (%.0f MB; %s)\nlies in %s\n", id, strings.TrimSpace(s.Commit), float64(s.Bytes)/1e6, licence, s.Dir)
	return nil
}
