package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"antipode/gomlxmodels/archipelago/blip"
	"antipode/gomlxmodels/archipelago/clip"
	"antipode/gomlxmodels/archipelago/clipseg"
	"antipode/gomlxmodels/archipelago/diffusion"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/vae"
	"antipode/gomlxmodels/archipelago/vit"
	_ "antipode/gomlxmodels/device/xla"
)

// models lists the models that can be trained.
var models = slices.Concat([]trainer.Model{vit.Model, vae.Model, vae.Decoder, clip.Model,
	clipseg.Model, blip.Model, diffusion.Base},
	diffusion.Fair, diffusion.Injected)

func usage() string {
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return "usage: archipelago train NAME | score NAME | sheet FILE.png | sheet NAME FILE.png   (-h after a name " +
		"prints its flags; names: " + strings.Join(names, ", ") + ")"
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, trainer.ErrUsage):
		fmt.Fprintln(os.Stderr, usage())
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "archipelago:", err)
		if ctx.Err() != nil {
			os.Exit(130)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return trainer.ErrUsage
	}
	command, what, rest := args[0], args[1], args[2:]
	if command == "sheet" && len(rest) == 0 {
		return sheet(what)
	}
	for _, m := range models {
		if m.Name == what {
			return m.Run(ctx, command, rest)
		}
	}
	return trainer.ErrUsage
}
