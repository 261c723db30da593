package commands

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"antipode/internal/atomicfile"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/store"
)

// fetchStores copies what a store lacks of those under URLs into folders of it, which take their places. They have
// temporary names that follow from the URLs: a copy that was interrupted goes on. done removes them.
func fetchStores(ctx context.Context, home string, stores []string) (folders []string, done func() error, err error) {
	var temporary []string
	for _, s := range stores {
		if !objecturl.IsRemote(s) {
			folders = append(folders, s)
			continue
		}
		from, err := objecturl.Parse(s)
		if err != nil {
			return nil, nil, usageError{err}
		}
		sum := sha256.Sum256([]byte(from.String()))
		folder := atomicfile.TempName(filepath.Join(home, fmt.Sprintf("merge-%x", sum[:6])))
		copied, err := remote.Pull(ctx, from, home, folder)
		if err != nil {
			return nil, nil, fmt.Errorf("store merge: %w", err)
		}
		leftOut(copied)
		fmt.Printf("%s: %s\n", from.Prefix().Plain(), copied)
		folders, temporary = append(folders, folder), append(temporary, folder)
	}
	return folders, func() (err error) {
		for _, folder := range temporary {
			err = errors.Join(err, os.RemoveAll(folder))
		}
		return err
	}, nil
}

// pushStores copies stores into one in object storage.
func pushStores(ctx context.Context, home, into string, folders []string, options bool) error {
	to, err := objecturl.Parse(into)
	if err != nil {
		return usageError{err}
	}
	if options {
		return usage("store merge: --strict and --remove are for merges into a folder")
	}
	if len(folders) == 0 {
		folders = []string{home}
	}
	for _, folder := range folders {
		if objecturl.IsRemote(folder) {
			return usage("store merge: %s and --into are both URLs; merge it into a folder first", folder)
		}
		if err := store.Check(folder); err != nil {
			return fmt.Errorf("store merge: %w", err)
		}
		s, err := store.Open(folder)
		if err != nil {
			return err
		}
		copied, err := remote.Push(ctx, folder, to)
		if err = errors.Join(err, s.Close()); err != nil {
			return fmt.Errorf("store merge: %w", err)
		}
		leftOut(copied)
		fmt.Printf("%s: %s\n", to.Prefix().Plain(), copied)
	}
	return nil
}

func leftOut(c remote.Copied) {
	for _, name := range c.Left {
		fmt.Fprintf(os.Stderr, "damaged, left out: %s\n", name)
	}
}
