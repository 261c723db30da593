// Package remote reads and writes objects in object storage: Amazon S3 and services with its interface, folders, and
// in programs that link kernel/cluster/clouds Google Cloud Storage and Azure Blob Storage.
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
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	gcaws "gocloud.dev/aws"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/s3blob"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

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

// Bucket is a bucket, or a folder. Its methods are safe for concurrent use. They try five times, with pauses of random
// length in between, before they return an error of one line; it wraps [fs.ErrNotExist], [ErrDenied] or
// [ErrUnreachable].
type Bucket struct {
	blob  *blob.Bucket
	name  string        // SCHEME://BUCKET/
	stall time.Duration // without progress, after which a try has failed
}

// Open opens the bucket of a URL. A bucket that does not exist is an error when it is used.
func Open(ctx context.Context, u objecturl.URL) (*Bucket, error) {
	b := &Bucket{name: u.Scheme + "://" + u.Bucket + "/", stall: time.Minute}
	var err error
	switch u.Scheme {
	case "file":
		b.name = "file://" + strings.TrimSuffix(filepath.ToSlash(u.Bucket), "/") + "/"
		if err = os.MkdirAll(u.Bucket, 0o700); err == nil {
			b.blob, err = fileblob.OpenBucket(u.Bucket, &fileblob.Options{Metadata: fileblob.MetadataDontWrite,
				NoTempDir: true, DirFileMode: 0o700})
		}
	case "s3":
		b.blob, err = openS3(ctx, u)
	default:
		if !blob.DefaultURLMux().ValidBucketScheme(u.Scheme) {
			return nil, fmt.Errorf("%s is not in this build: it reads s3:// and file://; kernel/cluster/clouds builds "+
				"the command with gs:// and az://", b.name)
		}
		b.blob, err = blob.OpenBucket(ctx, u.Scheme+"://"+u.Bucket+"?"+u.Options)
	}
	if err != nil {
		return nil, b.explain(ctx, "", err)
	}
	driver.Prepare(b.blob)
	return b, nil
}

// Driver is what package main of kernel/cluster/clouds knows of the services that this package does not link.
type Driver struct {
	Prepare func(*blob.Bucket)                        // lets each request be tried once
	Answer  func(err error) (status int, code string) // of HTTP and of the service; 0, "" for other errors
}

var driver = Driver{func(*blob.Bucket) {}, func(error) (int, string) { return 0, "" }}

// Use sets the driver. It is called before a bucket is opened.
func Use(d Driver) { driver = d }

// openS3 opens a bucket of S3, or of the server that the option endpoint or AWS_ENDPOINT_URL names. Those seldom have
// a host name for each bucket and seldom a region.
func openS3(ctx context.Context, u objecturl.URL) (*blob.Bucket, error) {
	options, err := url.ParseQuery(u.Options)
	if err != nil {
		return nil, err
	}
	pathStyle := options.Get("endpoint")+os.Getenv("AWS_ENDPOINT_URL")+os.Getenv("AWS_ENDPOINT_URL_S3") != ""
	if chosen := options.Get("use_path_style"); chosen != "" {
		pathStyle = chosen == "true"
	}
	options.Del("use_path_style")
	cfg, err := gcaws.V2ConfigFromURLParams(ctx, options)
	if err != nil {
		return nil, err
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	if _, anonymous := cfg.Credentials.(aws.AnonymousCredentials); !anonymous && options.Get("anonymous") == "" {
		if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
			return nil, errNoCredentials
		}
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = pathStyle
		o.Retryer = aws.NopRetryer{} // Bucket tries again, also where a body is cut
	})
	return s3blob.OpenBucket(ctx, client, u.Bucket, &s3blob.Options{
		RequestChecksumCalculation: cfg.RequestChecksumCalculation})
}

// Close ends the use of the bucket.
func (b *Bucket) Close() error { return b.blob.Close() }

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
		from, err := b.blob.NewRangeReader(ctx, key, offset, n, nil)
		if err != nil {
			return err
		}
		defer from.Close()
		want := from.Size() - offset
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
		return b.blob.WriteAll(ctx, key, data, nil)
	})
}

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, key string) (o Object, err error) {
	err = b.try(ctx, key, func(ctx context.Context, _ func(time.Duration)) error {
		a, err := b.blob.Attributes(ctx, key)
		if err == nil {
			o = Object{Key: key, Size: a.Size, MD5: a.MD5, ETag: a.ETag, Changed: a.ModTime}
		}
		return err
	})
	return o, err
}

// listed is the number of objects of one request.
const listed = 1000

// List calls f for each object whose key begins with a prefix, in the order of the keys, until it returns an error.
func (b *Bucket) List(ctx context.Context, prefix string, f func(Object) error) error {
	for token := blob.FirstPageToken; len(token) > 0; {
		var page []*blob.ListObject
		var next []byte
		if err := b.try(ctx, prefix, func(ctx context.Context, _ func(time.Duration)) (err error) {
			page, next, err = b.blob.ListPage(ctx, token, listed, &blob.ListOptions{Prefix: prefix})
			return err
		}); err != nil {
			return err
		}
		for _, o := range page {
			if err := f(Object{Key: o.Key, Size: o.Size, MD5: o.MD5, Changed: o.ModTime}); err != nil {
				return err
			}
		}
		token = next
	}
	return nil
}

// errNoCredentials is the error where the provider's chain has no credentials.
var errNoCredentials = errors.New("no credentials")
