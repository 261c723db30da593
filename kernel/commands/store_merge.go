package commands

import (
	"context"
	"errors"
	"fmt"
	"os"

	"antipode/kernel/engine"
	"antipode/kernel/store"
)

// mergeStores is `antipode store merge`.
func mergeStores(ctx context.Context, home string, args []string) error {
	fs := flags("store merge", "[--into HOME] [--strict] [--remove] STORE…\n"+
		"  copy the images, items, results and job states of other stores, whose folders these are, into the store;\n"+
		"  any number of times, in any order: the result is the same")
	into := fs.String("into", home, "the store's `FOLDER`")
	strict := fs.Bool("strict", false, fmt.Sprintf("fail if items of the same inputs differ: vectors by more than %g of "+
		"their largest value, or other values at all", store.Tolerance))
	remove := fs.Bool("remove", false, "remove what was copied from the other stores, and those that are then empty")
	folders, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(folders) == 0 {
		return usage("store merge: name the folders of the stores: antipode store merge STORE…")
	}
	s, err := store.Open(*into)
	if err != nil {
		return err
	}
	report, err := s.Merge(ctx, folders, store.MergeOptions{Difference: engine.Difference, Remove: *remove})
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	for _, path := range report.Damaged {
		fmt.Fprintf(os.Stderr, "damaged, left out: %s\n", path)
	}
	fmt.Println(report)
	if !report.Within() {
		if *strict {
			return errors.New("store merge: items of the same inputs differ; the line above has the numbers")
		}
		fmt.Fprintf(os.Stderr, "warning: items of the same inputs differ by more than %g of their largest value, or in "+
			"other values than vectors; they were computed on different devices\n", store.Tolerance)
	}
	return nil
}

// compactStore is `antipode store compact`.
func compactStore(home string, args []string) error {
	fs := flags("store compact", "\n  write small files of items again as few large ones")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usage("store compact: unexpected argument %q", rest[0])
	}
	s, err := store.Open(home)
	if err != nil {
		return err
	}
	done, err := s.Compact()
	if err = errors.Join(err, s.Close()); err != nil {
		if errors.Is(err, store.ErrInUse) {
			err = fmt.Errorf("%w; `antipode backend stop` ends an idle backend", err)
		}
		return fmt.Errorf("store compact: %w", err)
	}
	fmt.Printf("%d files of items are now %d\n", done.Before, done.After)
	return nil
}
