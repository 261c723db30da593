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

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/device"
)

// Model describes a network to the command.
type Model struct {
	Name     string   // on the command line, such as vit
	Defaults Settings // of the exported model's run; flags change them
	Out      string   // exported model folder, relative to the repository's root; "" for a phase that is not shipped
	Card     string   // text/template of the model card; its data is the report

	// Flags adds the model's own flags to those of "train"; may be nil.
	Flags func(f *flag.FlagSet)

	// New prepares a run after the flags are parsed. The job's settings are s with From filled in.
	New func(s Settings) (*Job, error)

	// Score evaluates a model folder on held-out data, through the API that users of the model call. size scales the
	// amount of data. The result is printed and stored in the report.
	Score func(ctx context.Context, backend compute.Backend, dir string, size int) (fmt.Stringer, error)
	Size  int // default size of Score

	// Sheet returns a contact sheet of a model folder's outputs; nil for models that generate no images.
	Sheet func(ctx context.Context, backend compute.Backend, dir string) (image.Image, error)
}

// ErrUsage reports a wrong command line.
var ErrUsage = errors.New("wrong usage")

// Run executes the command "train", "score" or "sheet" with the arguments that follow the model's name.
func (m Model) Run(ctx context.Context, command string, args []string) error {
	f := flag.NewFlagSet(command+" "+m.Name, flag.ContinueOnError)
	switch {
	case command == "train":
		return m.train(ctx, f, args)
	case command == "score":
		return m.score(ctx, f, args)
	case command == "sheet" && m.Sheet != nil:
		return m.sheet(ctx, f, args)
	}
	return ErrUsage
}

// train trains or resumes, exports and scores.
func (m Model) train(ctx context.Context, f *flag.FlagSet, args []string) error {
	s := m.Defaults
	s.World = archipelago.Version
	f.IntVar(&s.Steps, "steps", s.Steps, "number of steps")
	f.IntVar(&s.Batch, "batch", s.Batch, "examples per step")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of the initial weights and of the examples")
	f.Float64Var(&s.Rate, "rate", s.Rate, "peak learning rate")
	dir := f.String("dir", "", "folder of the run, for checkpoints and the loss curve (default: in the user cache "+
		"folder, named by the settings)")
	out := f.String("out", m.Out, "model folder to write at the end")
	size := f.Int("held-out", m.Size, "size of the held-out set")
	until := f.Int("until", 0, "stop after this step and export the model; the same command without this flag resumes "+
		"(default: the last step)")
	if m.Flags != nil {
		m.Flags(f)
	}
	if err := parse(f, args, 0); err != nil {
		return err
	}
	if s.Steps < 1 || s.Batch < 1 || !(s.Rate > 0) || *size < 1 || *until < 0 || *until > s.Steps {
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
	fmt.Fprintf(os.Stderr, "training on %s; run folder %s\n", d.Kind, folder)
	parameters, curve, err := job.RunAndExport(ctx, d.Backend, folder, *until, *out)
	if err != nil {
		return err
	}
	scores, err := m.Score(ctx, d.Backend, *out, *size)
	if err != nil {
		return err
	}
	fmt.Println(scores)
	return job.report(curve, parameters, d.Kind, scores).write(*out, m.Card)
}

func (m Model) runFolder(s Settings) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w; set -dir", err)
	}
	return filepath.Join(cache, "antipode", "training", fmt.Sprintf("%s-v%d-seed%d-%dx%d-%g", m.Name, s.World, s.Seed,
		s.Steps, s.Batch, s.Rate)), nil
}

func (m Model) score(ctx context.Context, f *flag.FlagSet, args []string) error {
	dir := f.String("model", m.Out, "model folder")
	size := f.Int("held-out", m.Size, "size of the held-out set")
	write := f.Bool("write", false, "write the scores into the folder's training.json and model card")
	if err := parse(f, args, 0); err != nil {
		return err
	}
	if *size < 1 || *dir == "" {
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
	if !*write {
		return nil
	}
	r, err := readReport(*dir)
	if err != nil {
		return err
	}
	r.HeldOut = scores
	return r.write(*dir, m.Card)
}

func (m Model) sheet(ctx context.Context, f *flag.FlagSet, args []string) error {
	dir := f.String("model", m.Out, "model folder")
	if err := parse(f, args, 1); err != nil {
		return err
	}
	if *dir == "" {
		return ErrUsage
	}
	d, err := device.Open("", "")
	if err != nil {
		return err
	}
	img, err := m.Sheet(ctx, d.Backend, *dir)
	if err != nil {
		return err
	}
	return WritePNG(f.Arg(0), img)
}

// parse parses flags and a number of positional arguments. The error is flag.ErrHelp for a request for help and
// [ErrUsage] for a mistake, which package flag has already reported.
func parse(f *flag.FlagSet, args []string, positional int) error {
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err != nil || f.NArg() != positional {
		return ErrUsage
	}
	return nil
}
