// Package remote reads and writes objects in object storage. The services are reached by a [Driver]: package cloud has
// that of Amazon S3 and, in programs that link them, Google Cloud Storage and Azure Blob Storage. The antipode command
// itself links no driver; the command of kernel/cluster/clouds does. A file:// URL is a path, which needs no driver.
//
// Credentials come from where the provider's own tools take them: the environment, configuration files and the
// platform. They are in no URL, plan, record or message.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"antipode/internal/objecturl"
)

// Object describes an object.
type Object struct {
	Key     string
	Size    int64
	MD5     []byte    // nil where the service does not know it
	ETag    string    // changes with the content; "" in lists
	Changed time.Time // when it was written
}

// Driver sends requests to one bucket, each once. Its errors are, or wrap, a [*Failure] if the service has answered.
// Its methods are safe for concurrent use.
type Driver interface {
	// Read returns n bytes of an object from an offset, all from there if n is negative, and the size of the object.
	Read(ctx context.Context, key string, offset, n int64) (body io.ReadCloser, size int64, err error)
	// Write writes an object: it is complete or not there. An existing one is replaced.
	Write(ctx context.Context, key string, data []byte) error
	// Stat describes an object.
	Stat(ctx context.Context, key string) (Object, error)
	// List returns the first objects whose keys begin with a prefix, in the order of the keys, and where the next call
	// goes on; from is nil for the first call, and next is empty after the last objects.
	List(ctx context.Context, prefix string, from []byte) (objects []Object, next []byte, err error)
	// Exists reports whether the bucket exists.
	Exists(ctx context.Context) (bool, error)
	// Close ends the use of the bucket.
	Close() error
}

// Errors of the function that opens a [Driver].
var (
	ErrNoDriver      = errors.New("no driver") // of a service that the program does not link
	ErrNoCredentials = errors.New("no credentials")
)

var openDriver = func(context.Context, objecturl.URL) (Driver, error) { return nil, ErrNoDriver }

// Register sets the function that opens the driver of a URL's bucket. The package that has the drivers calls it in its
// init function.
func Register(open func(context.Context, objecturl.URL) (Driver, error)) { openDriver = open }

// Bucket is a bucket. Its methods are safe for concurrent use. They try five times, with pauses of random length in
// between, before they return an error of one line; it wraps [fs.ErrNotExist], [ErrDenied] or [ErrUnreachable].
type Bucket struct {
	driver Driver
	name   string        // SCHEME://BUCKET/
	stall  time.Duration // without progress, after which a try has failed
}

// Open opens the bucket of a URL. A bucket that does not exist is an error when it is used.
func Open(ctx context.Context, u objecturl.URL) (*Bucket, error) {
	b := &Bucket{name: u.Scheme + "://" + u.Bucket + "/", stall: time.Minute}
	var err error
	b.driver, err = openDriver(ctx, u)
	switch {
	case errors.Is(err, ErrNoDriver):
		return nil, fmt.Errorf("%s: %w for %s:// in this program; build the antipode command with object storage: "+
			"cd kernel/cluster/clouds && go build -o antipode .", b.name, ErrNoDriver, u.Scheme)
	case err != nil:
		return nil, b.explain(ctx, "", err)
	}
	return b, nil
}

// Close ends the use of the bucket.
func (b *Bucket) Close() error { return b.driver.Close() }

// Get returns the content of an object.
func (b *Bucket) Get(ctx context.Context, key string) ([]byte, error) {
	return b.GetRange(ctx, key, 0, -1)
}

// GetRange returns n bytes of an object from an offset, or all from there if n is negative.
func (b *Bucket) GetRange(ctx context.Context, key string, offset, n int64) ([]byte, error) {
	var content bytes.Buffer
	err := b.read(ctx, key, offset, n, func() (io.Writer, error) {
		content.Reset()
		return &content, nil
	})
	return content.Bytes(), err
}

// Download writes the content of an object to a file, from its beginning.
func (b *Bucket) Download(ctx context.Context, key string, to *os.File) error {
	return b.read(ctx, key, 0, -1, func() (io.Writer, error) {
		if _, err := to.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		return to, to.Truncate(0)
	})
}

// read copies a part of an object to what begin returns, which is called for each try.
func (b *Bucket) read(ctx context.Context, key string, offset, n int64, begin func() (io.Writer, error)) error {
	return b.try(ctx, key, func(ctx context.Context, alive func(time.Duration)) error {
		to, err := begin()
		if err != nil {
			return err
		}
		from, size, err := b.driver.Read(ctx, key, offset, n)
		if err != nil {
			return err
		}
		defer from.Close()
		want := size - offset
		if n >= 0 {
			want = min(want, n)
		}
		got, err := io.Copy(to, watched{from, func() { alive(b.stall) }})
		if err == nil && got != want {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
}

// watched is a reader that reports each read.
type watched struct {
	io.Reader
	alive func()
}

// Read is part of [io.Reader].
func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.alive()
	return n, err
}

// slowest is the speed of a write, in bytes a second, below which it counts as stalled.
const slowest = 64 << 10

// Put writes an object: it is complete or not there. An existing one is replaced.
func (b *Bucket) Put(ctx context.Context, key string, data []byte) error {
	return b.try(ctx, key, func(ctx context.Context, alive func(time.Duration)) error {
		alive(b.stall + time.Duration(len(data)/slowest)*time.Second)
		return b.driver.Write(ctx, key, data)
	})
}

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, key string) (o Object, err error) {
	err = b.try(ctx, key, func(ctx context.Context, _ func(time.Duration)) (err error) {
		o, err = b.driver.Stat(ctx, key)
		return err
	})
	return o, err
}

// List calls f for each object whose key begins with a prefix, in the order of the keys, until it returns an error.
func (b *Bucket) List(ctx context.Context, prefix string, f func(Object) error) error {
	for from := []byte(nil); ; {
		var page []Object
		var next []byte
		if err := b.try(ctx, prefix, func(ctx context.Context, _ func(time.Duration)) (err error) {
			page, next, err = b.driver.List(ctx, prefix, from)
			return err
		}); err != nil {
			return err
		}
		for _, o := range page {
			if err := f(o); err != nil {
				return err
			}
		}
		if from = next; len(from) == 0 {
			return nil
		}
	}
}
