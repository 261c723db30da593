package commands

import (
	"context"
	"fmt"
	"strings"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/hub"
)

// runOr is run with the command list, or ls, which is the default.
func (own subcommands) runOr(ctx context.Context, list func() error, command, synopsis string, args []string) error {
	own["list"] = func(_ context.Context, args []string) error {
		if err := noArguments(flags(command+" list", ""), args); err != nil {
			return err
		}
		return list()
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		args = append([]string{"list"}, args...)
	} else if args[0] == "ls" {
		args = append([]string{"list"}, args[1:]...)
	}
	return own.run(ctx, command, synopsis, args)
}

const (
	modelsArgs = "[list | pull NAME | check NAME|DIR | convert FILE]"
	dataArgs   = "[list | pull NAME | check NAME DIR | images --in TABLE --url COLUMN]"
)

func models(ctx context.Context, args []string) error {
	return subcommands{"pull": pullModels, "check": checkModels, "convert": convertModel}.runOr(ctx,
		func() error { listModels(); return nil }, "models", modelsArgs, args)
}

// listModels prints the known models and whether they are downloaded.
func listModels() {
	for _, m := range gomlxmodels.Known() {
		adds := ""
		if m.Columns != "" {
			adds = "; adds " + m.Columns
		}
		fmt.Printf("  %-38s %s%s\n", m.Name, m.About, adds)
		fmt.Printf("  %-38s %s\n", "", facts(&m))
		fmt.Printf("  %-38s %s\n", "", whereabouts(&m))
	}
	for _, p := range gomlxmodels.Pairs() {
		fmt.Printf("  %-38s %s, of boxes of %s, as %s; %s\n", p.Name, p.Segmenter, p.Detector, p.Profile, p.About)
	}
	fmt.Println("\n--model also takes a folder of these architectures as transformers, diffusers, timm or " +
		"sentence-transformers write it (config.json and weights),\nand such a model of the hub: antipode models " +
		"pull OWNER/NAME[@REVISION].")
}

// facts are a model's class, size and license.
func facts(m *gomlxmodels.Model) string {
	var list []string
	if m.Architecture != "" {
		list = append(list, m.Architecture)
	}
	if m.Parameters != "" {
		list = append(list, m.Parameters+" parameters")
	}
	if m.Bytes > 0 {
		list = append(list, "about "+gigabytes(m.Bytes))
	}
	if m.Commit != "" {
		list = append(list, "at commit "+m.Commit)
	}
	return strings.Join(append(list, license(m.License, m)), ", ")
}

// license returns a license for people; stated is the one that was found, m the model if it is a known one.
func license(stated string, m *gomlxmodels.Model) string {
	switch {
	case stated == "" && (m == nil || m.License == ""):
		return "license not known: read its card before use"
	case stated == "":
		stated = m.License
	}
	if m != nil && m.NonCommercial {
		stated += ", no commercial use"
	}
	return "license " + stated
}

// whereabouts says where a known model is, or how it is obtained.
func whereabouts(m *gomlxmodels.Model) string {
	switch m.Status {
	case gomlxmodels.BuiltIn:
		return string(m.Status)
	case gomlxmodels.Archive:
		return "not on the hub: unpack its authors' archive and give the folder to --model"
	case gomlxmodels.ImportOnly:
		return "not run by Antipode: `antipode import` reads images that it made elsewhere"
	}
	where, pull := "", "antipode models pull "+m.Name
	if m.Status == gomlxmodels.Mirror {
		where, pull = fmt.Sprintf("unofficial copy %s of %s, which was removed; ", m.Hub, m.Formerly), pull+" --mirror"
	}
	if s, err := hub.FindKnown(*m); err == nil {
		return where + s.Dir
	}
	return where + "not downloaded: " + pull
}

// gigabytes returns a number of bytes for people.
func gigabytes(bytes int64) string {
	if bytes < 1e9 {
		return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}
