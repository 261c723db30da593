package jobs

import (
	"context"
	"errors"
	"path/filepath"

	"antipode/datasets/client"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/store"
)

// Store is the store that tasks fill, in a folder or under a URL.
type Store struct {
	*store.Store
	Files Files         // of the folder or URL
	far   *remote.Store // nil for a folder
}

// folder is the folder of the user's store with what tasks compute before it is in object storage.
const folder = "tasks"

// OpenStore opens the store in a folder or under a URL. What is written under a URL is first written into a folder with
// a name in the user's store; what an earlier task has left there is written now.
func OpenStore(ctx context.Context, at, name string, o store.WorkerOptions) (*Store, error) {
	if !objecturl.IsRemote(at) {
		s, err := store.OpenWorker(at, o)
		return &Store{Store: s, Files: Folder(at)}, err
	}
	u, err := objecturl.Parse(at)
	if err != nil {
		return nil, mismatch{err}
	}
	home, err := client.Home()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(home, folder, name)
	far, err := remote.OpenStore(context.WithoutCancel(ctx), u, dir) // what is finished is written after a signal, too
	if err != nil {
		return nil, err
	}
	o.Remote = far
	s, err := store.OpenWorker(dir, o)
	if err == nil {
		if err = far.Push(); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(err, far.Close())
	}
	return &Store{s, far, far}, nil
}

// Closed takes the result of [store.Store.Close]. The folder of what is in object storage is removed, unless another
// task uses it.
func (s *Store) Closed(err error) error {
	if s.far == nil || err != nil {
		return err
	}
	if err = store.Remove(s.Dir()); errors.Is(err, store.ErrInUse) {
		err = nil
	}
	return err
}

// Release ends the use of object storage.
func (s *Store) Release() error {
	if s == nil || s.far == nil {
		return nil
	}
	return s.far.Close()
}
