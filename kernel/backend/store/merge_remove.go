package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// remove removes the files of a source that the store has, and the folders that are then empty, but its own.
func (m *merging) remove(source *Store) error {
	if err := source.lockAlone(); err != nil {
		return err
	}
	var folders []string
	for _, part := range append([]string{jobsDir, "models", "data"}, parts...) {
		err := filepath.WalkDir(filepath.Join(source.dir, part), func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir():
				folders = append(folders, path)
			case m.kept[path]:
				return os.Remove(path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, folder := range slices.Backward(folders) {
		_ = os.Remove(folder) // if it is empty
	}
	return nil
}

// removeEmpty removes the folder of a source that has nothing else than its lock and its index.
func removeEmpty(source *Store) error {
	if list, err := os.ReadDir(source.dir); err != nil || slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		return e.Name() != lockFile && e.Name() != indexFile
	}) {
		return err
	}
	return errors.Join(ifThere(os.Remove(filepath.Join(source.dir, indexFile))),
		os.Remove(filepath.Join(source.dir, lockFile)), os.Remove(source.dir))
}
