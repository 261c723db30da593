package engine

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/fault"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/store"
)

// workers returns the number of goroutines that resolve the paths of a table.
func (o origin) workers() int {
	if objecturl.IsRemote(o.dir) || objecturl.IsRemote(o.root) {
		return store.Requests
	}
	return runtime.NumCPU()
}

// folder returns the folder of a table's file, or the URL of its prefix.
func folder(table string) string {
	if u, err := objecturl.Parse(table); err == nil {
		return u.Dir().String()
	}
	return filepath.Dir(table)
}

// file returns the file of an absolute path, or a copy of an object.
func (r *run) file(path string) (string, error) {
	if !objecturl.IsRemote(path) {
		r.traced(path, "")
		return path, nil
	}
	u, err := objecturl.Parse(path)
	if err != nil {
		return "", err
	}
	local, digest, err := r.e.objects.Fetch(r.ctx, u)
	r.traced(path, digest)
	return local, err
}

// image returns the file of an image or mask of a table, and its digest. An object whose digest the table contains is
// not read: its file exists when fetch has provided it.
func (r *run) image(o origin, img table.Image) (file, digest string, err error) {
	u, isObject, err := o.object(img.Path)
	switch {
	case err != nil:
		return "", "", err
	case isObject && img.SHA256 == "":
		return r.e.objects.Fetch(r.ctx, u)
	case isObject && !remote.IsDigest(img.SHA256):
		return "", "", errors.New("its column sha256 does not hold a SHA-256 in hexadecimal")
	case isObject:
		return r.e.objects.Path(u, img.SHA256), img.SHA256, nil
	}
	root := o.root
	if objecturl.IsRemote(root) {
		root = o.dir
	}
	if file, err = inside(o.dir, root, img.Path, r.store.Dir()); err != nil {
		return "", "", err
	}
	digest, err = r.e.Store.FileDigest(file)
	r.traced(file, digest)
	return file, digest, plain(err)
}

// object returns the object that a path of a table names, false if it names a file. One that is not below the root is
// an error.
func (o origin) object(path string) (u objecturl.URL, is bool, err error) {
	if datasets.IsURL(path) && !objecturl.IsRemote(path) {
		return u, false, errURL
	}
	base := o.dir
	if !objecturl.IsRemote(base) {
		if !objecturl.IsRemote(path) {
			return u, false, nil
		}
		base = o.root
	}
	if !objecturl.IsRemote(o.root) {
		return u, false, errOutside
	}
	prefix, err := objecturl.Parse(base)
	if err != nil {
		return u, false, err
	}
	root, err := objecturl.Parse(o.root)
	if err != nil {
		return u, false, err
	}
	if u, err = prefix.Prefix().At(path); errors.Is(err, objecturl.ErrOutside) {
		return u, false, errOutside
	} else if err != nil {
		return u, false, err
	}
	if _, below := root.Prefix().Rel(u); !below {
		return u, false, errOutside
	}
	return u, true, nil
}

// fetch provides the files of a row's images that are objects, or in the object storage of a task's store. On an error
// it returns the column.
func (r *run) fetch(ctx context.Context, f *table.Frame, row int) (column string, err error) {
	for i := range f.Columns {
		if c := &f.Columns[i]; c.Kind == table.KindImage {
			u, known := r.e.objects.URL(c.Images[row].Path)
			if known {
				err = r.e.objects.Ensure(ctx, u, c.Images[row].SHA256)
			} else {
				err = r.store.Provide(c.Images[row])
			}
			if err != nil {
				return c.Name, err
			}
		}
	}
	return "", nil
}

// shownImages is the number of rows of a result whose images are fetched for the client.
const shownImages = 1000

// show fetches the images of a result's first rows, which a client may show.
func (r *run) show(f *table.Frame) {
	var failed broken
	fault.Spread(min(f.Len(), shownImages), store.Requests, func(row int) {
		if !failed.is() {
			if _, err := r.fetch(r.ctx, f, row); err != nil {
				failed.add(err)
			}
		}
	})
	if failed.is() {
		r.note("not all images can be shown: %v", failed.err)
	}
}

// outage reports whether an error is not one of a row, but of the storage or the run.
func outage(err error) bool {
	return errors.Is(err, remote.ErrUnreachable) || errors.Is(err, remote.ErrDenied) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// broken is the first error of goroutines after which the others have nothing to do.
type broken struct {
	mu  sync.Mutex
	err error
}

func (b *broken) is() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil
}

func (b *broken) add(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

// set adds an error if it is an outage, and reports whether it is one.
func (b *broken) set(err error) bool {
	if !outage(err) {
		return false
	}
	b.add(err)
	return true
}

// saveObject writes a table under the URL that the request names.
func (r *run) saveObject(f *table.Frame) error {
	u, err := objecturl.Parse(r.req.Save)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	if err := EncodeTable(&data, u.Name(), f); err != nil {
		return fmt.Errorf("cannot write %s: %w", u.Plain(), err)
	}
	b, err := r.e.objects.Bucket(r.ctx, u)
	if err == nil {
		err = b.Put(r.ctx, u.Key, data.Bytes())
	}
	if err != nil {
		return fmt.Errorf("cannot write the table: %w", err)
	}
	return nil
}

// uploaded returns the paths of images in a table under a URL. Images of the same bucket stay where they are; others
// are written as objects below the prefix NAME.images/, unless they are there, so that the table can be read without
// this machine. They are complete before the table is written.
func (r *run) uploaded(f *table.Frame, images []table.Image) ([]table.Image, error) {
	u, err := objecturl.Parse(r.req.Save)
	if err != nil {
		return nil, err
	}
	b, err := r.e.objects.Bucket(r.ctx, u)
	if err != nil {
		return nil, fmt.Errorf("cannot write the table: %w", err)
	}
	dir := u.Dir()
	prefix := strings.TrimSuffix(u.Key, path.Ext(u.Key)) + ".images/"
	ids, out := f.Texts("id"), make([]table.Image, len(images))
	var rows []int // whose images are written
	for i, img := range images {
		out[i] = img
		if img.Path == "" {
			continue
		}
		from, known := r.e.objects.URL(img.Path)
		if known && from.Scheme == u.Scheme && from.Bucket == u.Bucket && from.Options == u.Options {
			out[i].Path = from.Plain()
			if rel, below := dir.Rel(from); below {
				out[i].Path = rel
			}
			continue
		}
		out[i].Path = strings.TrimPrefix(prefix, dir.Key) + imageName(ids, i, 0, img)
		rows = append(rows, i)
	}
	if len(rows) == 0 {
		return out, nil
	}
	present := map[string][]byte{} // key → MD5
	err = b.List(r.ctx, prefix, func(o remote.Object) error {
		present[o.Key] = o.MD5
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot write the images: %w", err)
	}
	var failed broken
	fault.Spread(len(rows), store.Requests, func(at int) {
		if failed.is() {
			return
		}
		row := rows[at]
		data, err := r.imageData(f, row, images[row])
		if err != nil {
			failed.add(fmt.Errorf("cannot write the image of row %d: %w", row+1, err))
			return
		}
		key, sum := dir.Key+out[row].Path, md5.Sum(data)
		if bytes.Equal(present[key], sum[:]) {
			return
		}
		if err := b.Put(r.ctx, key, data); err != nil {
			failed.add(fmt.Errorf("cannot write the image of row %d: %w", row+1, err))
		}
	})
	return out, failed.err
}

// imageData returns the content of an image, which has its digest.
func (r *run) imageData(f *table.Frame, row int, img table.Image) ([]byte, error) {
	if _, err := r.fetch(r.ctx, f, row); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(img.Path)
	if err != nil {
		return nil, plain(err)
	}
	if sum := sha256.Sum256(data); img.SHA256 != "" && hex.EncodeToString(sum[:]) != img.SHA256 {
		return nil, fmt.Errorf("%s has changed since it was read; run this again", filepath.Base(img.Path))
	}
	return data, nil
}
