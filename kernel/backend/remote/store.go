package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"antipode/internal/atomicfile"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/store"
)

// parts are the folders of a store that other stores can use. Files of blobs and items are written once, under a name
// that follows from their content, so that copying them in any order, again, or by several machines at once gives the
// same store; of two results of one name the last that is copied stays.
var parts = []string{"blobs/", "items/", "results/"}

// Copied reports what [Push] or [Pull] did.
type Copied struct {
	Files, Present int      // copied; there already
	Bytes          int64    // of the copied files
	Left           []string // damaged files
}

// String returns a line with the numbers.
func (c Copied) String() string {
	line := fmt.Sprintf("%d files copied (%.1f MB), %d there already", c.Files, float64(c.Bytes)/1e6, c.Present)
	if len(c.Left) > 0 {
		line += fmt.Sprintf(", %d left out", len(c.Left))
	}
	return line
}

// copying is a copy in progress.
type copying struct {
	mu sync.Mutex
	Copied
}

func (c *copying) add(f func(*Copied)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.Copied)
}

// Push writes the files of the store in a folder below a prefix of object storage, except those that are there and
// those that are damaged. Results come last: what they use is complete. A push that was interrupted can be repeated.
func Push(ctx context.Context, home string, to objecturl.URL) (Copied, error) {
	var c copying
	b, err := Open(ctx, to)
	if err != nil {
		return c.Copied, err
	}
	defer b.Close()
	prefix := to.Prefix().Key
	for _, part := range parts {
		present := map[string]Object{}
		if err := b.List(ctx, prefix+part, func(o Object) error {
			present[o.Key] = o
			return nil
		}); err != nil {
			return c.Copied, err
		}
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(store.Requests)
		err := store.Files(home, part, func(name string, _ fs.FileInfo) error {
			file := filepath.Join(home, filepath.FromSlash(name))
			group.Go(func() error { return c.push(groupCtx, b, prefix+name, present[prefix+name], name, file) })
			return groupCtx.Err()
		})
		if err = cmp.Or(group.Wait(), err); err != nil {
			return c.Copied, err
		}
	}
	slices.Sort(c.Left)
	return c.Copied, ctx.Err()
}

// push writes a file unless the object is the same.
func (c *copying) push(ctx context.Context, b *Bucket, key string, there Object, name, file string) error {
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // packed anew meanwhile
	case err != nil:
		return err
	case !store.Portable(name, data):
		c.add(func(c *Copied) { c.Left = append(c.Left, file) })
		return nil
	case there.same(data):
		c.add(func(c *Copied) { c.Present++ })
		return nil
	}
	if err := b.Put(ctx, key, data); err != nil {
		return err
	}
	c.add(func(c *Copied) { c.Files, c.Bytes = c.Files+1, c.Bytes+int64(len(data)) })
	return nil
}

// same reports whether an object has a content, as far as a list tells.
func (o Object) same(data []byte) bool {
	if o.Key == "" || o.Size != int64(len(data)) {
		return false
	}
	sum := md5.Sum(data)
	return o.MD5 == nil || bytes.Equal(o.MD5, sum[:])
}

// Pull copies the files of a store below a prefix of object storage into a folder, from which [store.Store.Merge] takes
// them, except those that the store in the folder home has, those that are in the folder already, and those that are
// damaged.
func Pull(ctx context.Context, from objecturl.URL, home, folder string) (Copied, error) {
	var c copying
	b, err := Open(ctx, from)
	if err != nil {
		return c.Copied, err
	}
	defer b.Close()
	prefix, found := from.Prefix().Key, false
	for _, part := range parts {
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(store.Requests)
		err := b.List(ctx, prefix+part, func(o Object) error {
			name, local := strings.CutPrefix(o.Key, prefix)
			if !local || !filepath.IsLocal(filepath.FromSlash(name)) || atomicfile.IsTemporary(name) {
				return nil
			}
			found = true
			group.Go(func() error { return c.pull(groupCtx, b, o, name, home, folder) })
			return groupCtx.Err()
		})
		if err = cmp.Or(group.Wait(), err); err != nil { // the second one may follow from the first
			return c.Copied, err
		}
	}
	if !found {
		return c.Copied, fmt.Errorf("%s is no store: there are no objects below its folders %s", from.Prefix().Plain(),
			strings.Join(parts, ", "))
	}
	slices.Sort(c.Left)
	return c.Copied, os.MkdirAll(filepath.Join(folder, "items"), 0o700)
}

// pull copies an object unless a file of the two folders is the same.
func (c *copying) pull(ctx context.Context, b *Bucket, o Object, name, home, folder string) error {
	to := filepath.Join(folder, filepath.FromSlash(name))
	there := []string{to}
	if !strings.HasPrefix(name, "results/") { // a result is merged with all its files
		there = append(there, filepath.Join(home, filepath.FromSlash(name)))
	}
	for _, file := range there {
		data, err := os.ReadFile(file)
		if err == nil && o.same(data) && store.Portable(name, data) {
			c.add(func(c *Copied) { c.Present++ })
			return nil
		}
	}
	data, err := b.Get(ctx, o.Key)
	if err != nil {
		return err
	}
	if !store.Portable(name, data) {
		c.add(func(c *Copied) { c.Left = append(c.Left, b.name+o.Key) })
		return nil
	}
	if err := store.WriteFile(to, data); err != nil {
		return err
	}
	c.add(func(c *Copied) { c.Files, c.Bytes = c.Files+1, c.Bytes+int64(len(data)) })
	return nil
}
