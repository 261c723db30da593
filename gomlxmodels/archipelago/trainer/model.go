package trainer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"os"
	"path/filepath"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/device"
)

// Model is one of the networks, as the command knows it.
type Model struct {
	Name     string   // what the command calls it: vit
	Defaults Settings // of the shipped run; the flags change them
	Out      string   // where the shipped folder lies, from the repository's root; "" where the model is a step on the way and ships nothing
	Card     string   // text/template of the model card, filled in from a Report

	// Flags, if given, adds the model's own flags to those of "train"; New reads what they were set to.
	Flags func(f *flag.FlagSet)

	// New prepares a run. It may change what the settings cannot know, such as From.
	New func(s Settings) (*Job, error)

	// Export writes the model folder, float16, and says how many parameters it holds. The store's weights are the averaged ones.
	Export func(dir string, store *model.Store) (parameters int, err error)

	// Score measures a model folder on held-out data, through the doors that its users take, size being how much of it. What it returns
	// prints as a table and is kept in the report.
	Score func(ctx context.Context, backend compute.Backend, dir string, size int) (fmt.Stringer, error)
	Size  int // Score's size by default

	// Sheet, if given, draws what a model folder makes as a contact sheet.
	Sheet func(ctx context.Context, backend compute.Backend, dir string) (image.Image, error)
}

// ErrUsage says that the command line is wrong.
var ErrUsage = errors.New("wrong usage")

// Train is the command "train NAME": it trains, or goes on, exports and scores.
func (m Model) Train(ctx context.Context, args []string) error {
	s := m.Defaults
	s.World = archipelago.Version
	f := flag.NewFlagSet("train "+m.Name, flag.ContinueOnError)
	f.IntVar(&s.Steps, "steps", s.Steps, "steps in all")
	f.IntVar(&s.Batch, "batch", s.Batch, "examples a step")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of the start weights and of every example")
	f.Float64Var(&s.Rate, "rate", s.Rate, "highest learning rate")
	dir := f.String("dir", "", "folder of the run: checkpoints and loss curve (default: in the user cache folder, by settings)")
	out := f.String("out", m.Out, "model folder to write at the end")
	size := f.Int("held-out", m.Size, "how much held-out data to score on")
	until := f.Int("until", 0, "stop after this step and write the folder as far as it is; the same command without it goes on (default: the last)")
	if m.Flags != nil {
		m.Flags(f)
	}
	if err := f.Parse(args); err != nil {
		return flagError(err)
	}
	if s.Steps < 1 || s.Batch < 1 || !(s.Rate > 0) || *size < 1 || *until < 0 || *until > s.Steps || f.NArg() > 0 {
		return ErrUsage
	}
	if *until == 0 {
		*until = s.Steps
	}
	job, err := m.New(s)
	if err != nil {
		return err
	}
	if *dir == "" {
		if *dir, err = m.runFolder(s); err != nil {
			return err
		}
	}
	if *out == "" {
		*out = filepath.Join(*dir, "model")
	}
	folder := Folder(*dir)
	if err := folder.Open(job.Settings); err != nil {
		return err
	}
	d, err := device.Open("", "")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "training on %s, run in %s\n", d.Kind, folder)
	store, curve, err := job.Run(ctx, d.Backend, folder, *until)
	if err != nil {
		return err
	}
	defer store.Finalize()
	if err := UseAverage(store); err != nil {
		return err
	}
	parameters, err := m.Export(*out, store)
	if err != nil {
		return err
	}
	scores, err := m.Score(ctx, d.Backend, *out, *size)
	if err != nil {
		return err
	}
	fmt.Println(scores)
	r := job.report(curve, parameters, d.Kind)
	r.HeldOut = scores
	return r.write(*out, m.Card)
}

// runFolder is where a run lives by default.
func (m Model) runFolder(s Settings) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: give -dir", err)
	}
	return filepath.Join(cache, "antipode", "training", fmt.Sprintf("%s-v%d-seed%d-%dx%d-%g", m.Name, s.World, s.Seed, s.Steps, s.Batch, s.Rate)), nil
}

// RunScore is the command "score NAME".
func (m Model) RunScore(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("score "+m.Name, flag.ContinueOnError)
	dir := f.String("model", m.Out, "model folder")
	size := f.Int("held-out", m.Size, "how much held-out data to score on")
	if err := f.Parse(args); err != nil {
		return flagError(err)
	}
	if *size < 1 || *dir == "" || f.NArg() > 0 {
		return ErrUsage
	}
	d, err := device.Open("", "")
	if err != nil {
		return err
	}
	scores, err := m.Score(ctx, d.Backend, *dir, *size)
	if err != nil {
		return err
	}
	fmt.Println(scores)
	return nil
}

// RunSheet is the command "sheet NAME FILE.png".
func (m Model) RunSheet(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("sheet "+m.Name, flag.ContinueOnError)
	dir := f.String("model", m.Out, "model folder")
	if err := f.Parse(args); err != nil {
		return flagError(err)
	}
	if m.Sheet == nil || *dir == "" || f.NArg() != 1 {
		return ErrUsage
	}
	d, err := device.Open("", "")
	if err != nil {
		return err
	}
	picture, err := m.Sheet(ctx, d.Backend, *dir)
	if err != nil {
		return err
	}
	return WritePNG(f.Arg(0), picture)
}

// flagError keeps a request for help apart from a mistake, which the flag package has already explained.
func flagError(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return ErrUsage
}
