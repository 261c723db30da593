package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/device"
)

const usage = `usage: archipelago train vit | score vit | sheet FILE.png   (-h after a command lists its flags)
`

// shippedViT is where the repository keeps the weights, from its root.
const shippedViT = "gomlxmodels/archipelago/weights/archipelago-vit"

var errUsage = errors.New("wrong usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
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
		return errUsage
	}
	command, what, rest := args[0], args[1], args[2:]
	switch {
	case command == "train" && what == "vit":
		return trainViT(ctx, rest)
	case command == "score" && what == "vit":
		return scoreViT(ctx, rest)
	case command == "sheet" && len(rest) == 0:
		return sheet(what)
	}
	return errUsage
}

func trainViT(ctx context.Context, args []string) error {
	s := settings{World: archipelago.Version}
	f := flag.NewFlagSet("train vit", flag.ContinueOnError)
	f.IntVar(&s.Steps, "steps", 2000, "steps in all")
	f.IntVar(&s.Batch, "batch", 48, "pictures a step")
	f.Uint64Var(&s.Seed, "seed", 1, "seed of the start weights and of every picture")
	f.Float64Var(&s.Rate, "rate", 1.2e-3, "highest learning rate")
	dir := f.String("dir", "", "folder of the run: checkpoints and loss curve (default: in the user cache folder, by settings)")
	out := f.String("out", shippedViT, "model folder to write at the end")
	perCell := f.Int("held-out", 32, "held-out pictures for each island and object")
	if err := f.Parse(args); err != nil {
		return flagError(err)
	}
	if s.Steps < 1 || s.Batch < 1 || !(s.Rate > 0) || *perCell < 1 || f.NArg() > 0 {
		return errUsage
	}
	if *dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("%w: give -dir", err)
		}
		*dir = filepath.Join(cache, "antipode", "training", fmt.Sprintf("vit-v%d-seed%d-%dx%d-%g", s.World, s.Seed, s.Steps, s.Batch, s.Rate))
	}
	folder := runFolder(*dir)
	if err := folder.open(s); err != nil {
		return err
	}
	d, err := device.Open("", "")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "training on %s, run in %s\n", d.Kind, folder)
	store, curve, err := train(ctx, d.Backend, s, folder, s.Steps)
	if err != nil {
		return err
	}
	parameters, err := export(*out, store)
	if err != nil {
		return err
	}
	r := newReport(s, curve, parameters, d.Kind)
	if r.HeldOut.Accuracy, r.HeldOut.Pictures, err = score(ctx, d.Backend, *out, *perCell); err != nil {
		return err
	}
	printAccuracy(r.HeldOut.Accuracy, r.HeldOut.Pictures)
	return writeReport(*out, r)
}

func scoreViT(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("score vit", flag.ContinueOnError)
	dir := f.String("model", shippedViT, "model folder")
	perCell := f.Int("held-out", 32, "held-out pictures for each island and object")
	if err := f.Parse(args); err != nil {
		return flagError(err)
	}
	if *perCell < 1 || f.NArg() > 0 {
		return errUsage
	}
	d, err := device.Open("", "")
	if err != nil {
		return err
	}
	a, n, err := score(ctx, d.Backend, *dir, *perCell)
	if err != nil {
		return err
	}
	printAccuracy(a, n)
	return nil
}

// flagError keeps a request for help apart from a mistake, which the flag package has already explained.
func flagError(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return errUsage
}

func printAccuracy(a accuracy, pictures int) {
	fmt.Printf("accuracy on %d held-out pictures\n%-17s", pictures, "")
	for _, h := range headNames {
		fmt.Printf("%9s", h)
	}
	fmt.Println()
	for _, v := range viewNames {
		fmt.Printf("%-17s", v)
		for _, h := range headNames {
			fmt.Printf("%9.3f", a[v][h])
		}
		fmt.Println()
	}
}
