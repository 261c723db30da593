package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage/apimodel"
	"antipode/internal/plaintext"
	"antipode/kernel/backend"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
)

// storeArgs are the arguments of the command store.
const storeArgs = "[ls | show RESULT | verify RESULT|--record DIR | gc | merge STORE… | compact]"

func storeCommand(ctx context.Context, args []string) error {
	what := "ls"
	if len(args) > 0 {
		what, args = args[0], args[1:]
	}
	home, err := client.Home()
	if err != nil {
		return err
	}
	switch what {
	case "gc":
		return collect(ctx, home, args)
	case "merge":
		return mergeStores(ctx, home, args)
	case "compact":
		return compactStore(home, args)
	}
	s, err := store.Open(home)
	if err != nil {
		return err
	}
	defer s.Close()
	switch what {
	case "ls":
		if err := noArguments(flags("store ls", "\n  Lists what is in the store, and its results."), args); err != nil {
			return err
		}
		return listStore(s)
	case "show":
		rest, err := parseN(flags("store show", "RESULT"), args, 1, "antipode store show RESULT")
		if err != nil {
			return err
		}
		return showRecord(s, rest[0])
	case "verify":
		fs := flags("store verify", "RESULT | --record DIR [--files DIR] [--digest DIGEST] [--backend KIND]")
		dir := fs.String("record", "", "recompute the results of a record, the folder `DIR` of antipode record")
		files := fs.String("files", ".", "with --record, the folder `DIR` with the notebook's files")
		digest := fs.String("digest", "", "with --record, its `DIGEST` as published")
		fs.Func("backend", "compute on the backend `KIND`: go, xla:cpu or xla:cuda; default the best there is",
			restrictBackend)
		fs.Func("allow-exec", "a `PATH` of a program that the result was made with, to run it again",
			client.AllowExec)
		rest, err := parse(fs, args)
		if err != nil {
			return err
		}
		if *dir != "" && len(rest) == 0 {
			return verifyRecord(ctx, s, *dir, *files, *digest)
		}
		if len(rest) != 1 || *dir != "" {
			return usage("antipode store verify RESULT, or antipode store verify --record DIR")
		}
		return verify(ctx, s, rest[0])
	}
	return usage("antipode store " + storeArgs)
}

func listStore(s *store.Store) error {
	use, err := s.Usage()
	if err != nil {
		return err
	}
	fmt.Println(s.Dir())
	for _, p := range slices.Sorted(maps.Keys(use)) {
		fmt.Printf("  %-12s %10.1f MiB\n", p, float64(use[p])/(1<<20))
	}
	recs, err := s.Records()
	if err != nil {
		return err
	}
	for _, r := range recs {
		name := r.Plan.Op
		if r.Saved != "" {
			name = plaintext.OneLine(r.Saved)
		}
		fmt.Printf("  %.12s  %s  %6d rows  %d computed, %d found  %s\n", r.ID, r.Finished.Local().Format(time.DateTime),
			r.Rows, r.Computed, r.Found, name)
	}
	return nil
}

// showRecord prints a run record, and its readings as a table.
func showRecord(s *store.Store, id string) error {
	rec, err := s.Record(id)
	if err != nil {
		return err
	}
	fmt.Printf("result    %s\nrows      %d (%d items computed, %d found)\nfinished  %s\n", rec.ID, rec.Rows,
		rec.Computed,
		rec.Found, rec.Finished.Local().Format(time.DateTime))
	if rec.Saved != "" {
		fmt.Println("saved    ", plaintext.OneLine(rec.Saved))
	}
	for _, model := range slices.Sorted(maps.Keys(rec.Models)) {
		fmt.Printf("model     %s %.12s %s\n", plaintext.OneLine(model), rec.Models[model],
			plaintext.OneLine(rec.Sources[model]))
	}
	for _, note := range rec.Notes {
		fmt.Println("note     ", plaintext.OneLine(note))
	}
	for _, b := range rec.Bad {
		fmt.Println("left out ", plaintext.OneLine(b.Error()))
	}
	if len(rec.Readings) == 0 {
		return nil
	}
	fmt.Println("\nwhat reading the values lost or guessed:")
	fmt.Println(datasets.Format(table.ReadingsFrame(rec.Readings), 200))
	return nil
}

func verify(ctx context.Context, s *store.Store, id string) error {
	rec, err := s.Record(id)
	if err != nil {
		return err
	}
	e, err := all.NewEngine(s.Dir(), "verify")
	if err != nil {
		return err
	}
	defer e.Close()
	fmt.Fprintf(os.Stderr, "recomputing %.12s from its record\n", rec.ID)
	digest, err := e.Verify(ctx, rec, nil)
	mark := notRepeatable(rec.Plan, time.Now())
	switch {
	case errors.Is(err, apimodel.ErrShutDown):
		return fmt.Errorf("result %.12s is %w: its answers are not stored, and %s", rec.ID, engine.ErrNotVerifiable,
			mark)
	case err != nil:
		return err
	case digest != rec.Result:
		return fmt.Errorf("result %.12s differs when recomputed: rows %.12s, recorded %.12s", rec.ID,
			digest, rec.Result)
	case mark != "":
		mark = "; its images are stored answers, " + mark
	}
	fmt.Printf("result %.12s: %d rows, identical when recomputed (%.12s)%s\n", rec.ID, rec.Rows, digest, mark)
	return nil
}

// notRepeatable reports that a plan has images by an API whose model was shut down, "" if it has none.
func notRepeatable(plan *table.Plan, now time.Time) string {
	for p := range plan.All() {
		var a gomlxmodels.GenerateArgs
		if p.Op == gomlxmodels.GenerateOp && json.Unmarshal(p.Args, &a) == nil {
			if model, api := strings.CutPrefix(a.Model, gomlxmodels.API); api {
				if date := apimodel.ShutDown(model, a.API.BaseURL, now); date != "" {
					return "not repeatable: model shut down " + date
				}
			}
		}
	}
	return ""
}

func collect(ctx context.Context, home string, args []string) error {
	fs := flags("store gc", "")
	keep := fs.String("keep", "30d", "remove files not used for this time, for example 12h or `30d`")
	limit := fs.String("max", "", "maximal size of the store, for example `50GB`; empty = any size")
	dry := fs.Bool("dry-run", false, "list the files that would be removed")
	if err := noArguments(fs, args); err != nil {
		return err
	}
	gc := store.GC{DryRun: *dry}
	var err error
	if gc.Keep, err = duration(*keep); err != nil {
		return usageError{err}
	}
	if gc.Max, err = size(*limit); err != nil {
		return usageError{err}
	}
	removed, stays, err := backend.Collect(ctx, home, gc)
	if err != nil {
		return fmt.Errorf("store gc: %w", err)
	}
	if !*dry {
		removeUnused(home)
	}
	var bytes int64
	for _, r := range removed {
		bytes += r.Size
		if *dry {
			fmt.Printf("  %s  %s\n", r.Used.Local().Format(time.DateTime), r.Path)
		}
	}
	verb := "removed"
	if *dry {
		verb = "would remove"
	}
	fmt.Printf("%s %d files, %.1f MiB; %.1f MiB stay\n", verb, len(removed), float64(bytes)/(1<<20),
		float64(stays)/(1<<20))
	return nil
}

func duration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || !(n >= 0 && n < 100_000) { // a Duration holds 106,751 days
			return 0, fmt.Errorf("--keep %q: use a time such as 12h or 30d, of fewer than 100000 days", s)
		}
		return time.Duration(n * 24 * float64(time.Hour)), nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("--keep %q: use a time such as 12h or 30d", s)
	}
	return d, nil
}

func size(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	units := []struct {
		name  string
		bytes float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}
	for _, u := range units {
		if number, ok := strings.CutSuffix(strings.ToUpper(s), u.name); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil || !(n*u.bytes >= 1 && n*u.bytes < 1<<63) {
				break
			}
			return int64(n * u.bytes), nil
		}
	}
	return 0, fmt.Errorf("--max %q: use a size such as 50GB", s)
}
