package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets/manifest"
	"antipode/internal/fetch"
	"antipode/kernel/client"
	"antipode/kernel/doctor"
)

func data(ctx context.Context, args []string) error {
	home, err := client.Home()
	if err != nil {
		return err
	}
	what, args := subcommand(args, "list")
	switch what {
	case "list", "ls":
		if rest, err := parse(flags("data list", ""), args); err != nil || len(rest) == 0 {
			if err == nil {
				err = listData(home)
			}
			return err
		}
		return usage("antipode data list takes no arguments")
	case "pull":
	default:
		return usage("antipode data [list | pull NAME]%s", hint("", client.Nearest(what, []string{"list", "pull"})))
	}
	fs := flags("data pull", "NAME")
	var o manifest.Options
	fs.StringVar(&o.Dest, "to", "", "the `DIR` to put it into; default: the store")
	fs.BoolVar(&o.All, "all", false, "also fetch the files that are optional")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return usage("antipode data pull NAME; names: %s", strings.Join(manifest.Names(), ", "))
	}
	web, err := fetch.New(fetch.Usual)
	if err != nil {
		return err
	}
	defer web.Close()
	o.Client = web.HTTP()
	for _, name := range rest {
		m, err := manifest.Get(name)
		if err != nil {
			return usageError{err}
		}
		fmt.Printf("%s: %s (%s)\nlicence: %s\ncite: %s\n", m.Name, m.Title, m.Origin, m.Licence, m.Citation)
		if m.Warning != "" {
			fmt.Println("note: " + m.Warning)
		}
		one := o
		if one.Dest == "" {
			one.Dest = filepath.Join(home, "data", name)
		}
		one.Progress = func(s manifest.Step) { fmt.Printf("  %-10s %s %s\n", s.State, s.File, s.Note) }
		if err := manifest.Pull(ctx, name, one); err != nil {
			return err
		}
		if _, err := manifest.Find(name, manifest.Where{Home: home}); err != nil && o.Dest == "" {
			return err // every file is one to get by hand: the lines above say how
		}
		fmt.Printf("%s lies in %s\n", name, one.Dest)
	}
	return nil
}

func listData(home string) error {
	for _, name := range manifest.Names() {
		m, err := manifest.Get(name)
		if err != nil {
			return err
		}
		where := "not here: antipode data pull " + name
		if dir, err := manifest.Find(name, manifest.Where{Home: home}); err == nil {
			where = dir
		}
		fmt.Printf("  %-12s %s; licence: %s\n               %s\n", name, m.Title, m.Licence, where)
	}
	return nil
}

func runDoctor(ctx context.Context, args []string) error {
	fs := flags("doctor", "[--json]")
	asJSON := fs.Bool("json", false, "print JSON")
	if _, err := parse(fs, args); err != nil {
		return err
	}
	home, _, err := setUp()
	if err != nil {
		return err
	}
	module, _ := moduleDir() // doctor says so itself where it is missing
	checks := doctor.Report(ctx, home, module)
	if *asJSON {
		err = doctor.JSON(os.Stdout, checks)
	} else {
		err = doctor.Text(os.Stdout, checks)
	}
	if err != nil {
		return err
	}
	if doctor.Failed(checks) {
		return fmt.Errorf("something essential is missing: see the lines that say fail")
	}
	return nil
}
