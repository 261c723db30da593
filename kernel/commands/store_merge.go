package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"antipode/internal/objecturl"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
)

// mergeStores is `antipode store merge`.
func mergeStores(ctx context.Context, home string, args []string) error {
	fs := flags("store merge", "[--into HOME|URL] [--strict] [--remove] STORE…\n"+
		"  copy the images, items, results and job states of other stores, named by their folders or URLs, into the\n"+
		"  store; any number of times, in any order: the result is the same")
	into := fs.String("into", home, "the store's `FOLDER`, or the URL of a store in object storage, into which the "+
		"stores in folders are copied, or without STORE this one")
	strict := fs.Bool("strict", false, fmt.Sprintf("fail, and change nothing, if items of the same inputs differ: "+
		"vectors by more than "+
		"%g of their largest value, or other values at all", store.Tolerance))
	remove := fs.Bool("remove", false, "remove what was copied from the other stores, and those that are then empty")
	folders, err := parse(fs, args)
	if err != nil {
		return err
	}
	for _, path := range append(pointers(folders), into) {
		if *path, err = objecturl.Local(*path); err != nil {
			return usageError{err}
		}
	}
	if objecturl.IsRemote(*into) {
		return pushStores(ctx, home, *into, folders, *strict || *remove)
	}
	if len(folders) == 0 {
		return usage("store merge: name the folders of the stores: antipode store merge STORE…")
	}
	if *remove && slices.ContainsFunc(folders, objecturl.IsRemote) {
		return usage("store merge: --remove is for stores in folders")
	}
	s, err := store.Open(*into)
	if err != nil {
		return err
	}
	fetched, done, err := fetchStores(ctx, s.Dir(), folders)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	report, err := s.Merge(ctx, fetched, store.MergeOptions{Difference: engine.Difference, Strict: *strict,
		Remove: *remove})
	if err == nil {
		err = done()
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	for _, path := range report.Damaged {
		fmt.Fprintf(os.Stderr, "damaged, left out: %s\n", path)
	}
	fmt.Println(report)
	if line := report.Warning(); line != "" {
		fmt.Fprintln(os.Stderr, "warning: "+line)
	}
	return nil
}

// pointers returns the places of texts.
func pointers(list []string) []*string {
	out := make([]*string, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
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
