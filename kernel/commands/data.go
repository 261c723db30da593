package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets/client"
	"antipode/datasets/manifest"
	"antipode/datasets/manifest/pull"
	"antipode/gomlxmodels/device"
	"antipode/internal/fetch"
	"antipode/kernel/doctor"
)

func data(ctx context.Context, args []string) error {
	home, err := client.Home()
	if err != nil {
		return err
	}
	pull := func(ctx context.Context, args []string) error { return pullData(ctx, home, args) }
	return subcommands{"pull": pull, "check": checkData, "images": dataImages}.runOr(ctx,
		func() error { return listData(home) }, "data", dataArgs, args)
}

func pullData(ctx context.Context, home string, args []string) error {
	fs := flags("data pull", "NAME")
	var o pull.Options
	fs.StringVar(&o.Dest, "to", "", "the target `DIR`; default: the store")
	fs.BoolVar(&o.All, "all", false, "also download optional files")
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
		fmt.Printf("%s: %s (%s)\nlicense: %s\ncite: %s\n", m.Name, m.Title, m.Origin, m.License, m.Citation)
		if m.Warning != "" {
			fmt.Println("note: " + m.Warning)
		}
		one := o
		if one.Dest == "" {
			one.Dest = filepath.Join(home, "data", name)
		}
		one.Progress = func(s pull.Step) { fmt.Printf("  %-10s %s %s\n", s.State, s.File, s.Note) }
		if err := pull.DataSet(ctx, name, one); err != nil {
			return err
		}
		if _, err := manifest.Find(name, manifest.FindOptions{Home: home}); err != nil && o.Dest == "" {
			return err // every file must be downloaded manually; the lines above say how
		}
		fmt.Printf("%s is in %s\n", name, one.Dest)
	}
	return nil
}

func listData(home string) error {
	for _, name := range manifest.Names() {
		m, err := manifest.Get(name)
		if err != nil {
			return err
		}
		where := "not downloaded: antipode data pull " + name
		if dir, err := manifest.Find(name, manifest.FindOptions{Home: home}); err == nil {
			where = dir
		}
		fmt.Printf("  %-12s %s; license: %s\n               %s\n", name, m.Title, m.License, where)
	}
	return nil
}

func runDoctor(ctx context.Context, args []string) error {
	fs := flags("doctor", "")
	asJSON := fs.Bool("json", false, "print JSON")
	list := fs.String("devices", "", devicesUsage)
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if *list != "" { // the check of the device reports a wrong one
		os.Setenv(device.ListEnv, *list)
	}
	home, _, err := setUp()
	if err != nil { // the check of the store reports why
		if home, err = client.Home(); err != nil {
			return err
		}
	}
	module, _ := moduleDir() // doctor reports a missing module
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
		return fmt.Errorf("an essential check failed; see the lines marked fail")
	}
	return nil
}
