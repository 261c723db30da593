// Package cloud lets package remote reach object storage through gocloud.dev: Amazon S3 and services with its
// interface, and in programs that link their drivers Google Cloud Storage and Azure Blob Storage. Importing it is
// enough. With it the antipode command would link 240 packages more (604 without), so the command does not import it:
// the programs of kernel/cluster/clouds and kernel/cluster/beam do.
package cloud

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"os"

	gcaws "gocloud.dev/aws"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"antipode/internal/objecturl"
	"antipode/kernel/backend/remote"
)

func init() { remote.Register(open) }

// Service is what package main of kernel/cluster/clouds knows of the services that this package does not link.
type Service struct {
	Prepare func(*blob.Bucket)                        // lets each request be tried once
	Answer  func(err error) (status int, code string) // of HTTP and of the service; 0, "" for other errors
}

var service = Service{func(*blob.Bucket) {}, func(error) (int, string) { return 0, "" }}

// Use adds what is known of other services. It is called before a bucket is opened.
func Use(s Service) { service = s }

// bucket is a [remote.Driver].
type bucket struct{ *blob.Bucket }

func open(ctx context.Context, u objecturl.URL) (remote.Driver, error) {
	var b *blob.Bucket
	var err error
	switch {
	case u.Scheme == "s3":
		b, err = openS3(ctx, u)
	case blob.DefaultURLMux().ValidBucketScheme(u.Scheme):
		b, err = blob.OpenBucket(ctx, u.Scheme+"://"+u.Bucket+"?"+u.Options)
	default:
		return nil, remote.ErrNoDriver
	}
	if err != nil {
		return nil, explained(err)
	}
	service.Prepare(b)
	return bucket{b}, nil
}

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
	cfg.Region = cmp.Or(cfg.Region, "us-east-1")
	if _, anonymous := cfg.Credentials.(aws.AnonymousCredentials); !anonymous && options.Get("anonymous") == "" {
		if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
			return nil, remote.ErrNoCredentials
		}
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = pathStyle
		o.Retryer = aws.NopRetryer{} // remote.Bucket tries again, also where a body is cut
	})
	return s3blob.OpenBucket(ctx, client, u.Bucket, &s3blob.Options{
		RequestChecksumCalculation: cfg.RequestChecksumCalculation})
}

// Read is part of [remote.Driver].
func (b bucket) Read(ctx context.Context, key string, offset, n int64) (io.ReadCloser, int64, error) {
	r, err := b.NewRangeReader(ctx, key, offset, n, nil)
	if err != nil {
		return nil, 0, explained(err)
	}
	return reader{r}, r.Size(), nil
}

// reader explains the errors of a body.
type reader struct{ *blob.Reader }

// Read is part of [io.Reader].
func (r reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	return n, explained(err)
}

// Write is part of [remote.Driver].
func (b bucket) Write(ctx context.Context, key string, data []byte) error {
	return explained(b.WriteAll(ctx, key, data, nil))
}

// Stat is part of [remote.Driver].
func (b bucket) Stat(ctx context.Context, key string) (remote.Object, error) {
	a, err := b.Attributes(ctx, key)
	if err != nil {
		return remote.Object{}, explained(err)
	}
	return remote.Object{Key: key, Size: a.Size, MD5: a.MD5, ETag: a.ETag, Changed: a.ModTime}, nil
}

// listed is the number of objects of one request.
const listed = 1000

// List is part of [remote.Driver].
func (b bucket) List(ctx context.Context, prefix string, from []byte) (objects []remote.Object, next []byte,
	err error) {
	if from == nil {
		from = blob.FirstPageToken
	}
	page, next, err := b.ListPage(ctx, from, listed, &blob.ListOptions{Prefix: prefix})
	for _, o := range page {
		objects = append(objects, remote.Object{Key: o.Key, Size: o.Size, MD5: o.MD5, Changed: o.ModTime})
	}
	return objects, next, explained(err)
}

// Exists is part of [remote.Driver].
func (b bucket) Exists(ctx context.Context) (bool, error) { return b.IsAccessible(ctx) }

// kinds are those of the codes of errors after which another try would fail as well.
var kinds = map[gcerrors.ErrorCode]remote.Kind{
	gcerrors.NotFound: remote.NotFound, gcerrors.PermissionDenied: remote.Denied,
	gcerrors.InvalidArgument: remote.Refused, gcerrors.FailedPrecondition: remote.Refused,
	gcerrors.Unimplemented: remote.Refused,
}

// explained returns an error with what the service answered.
func explained(err error) error {
	if err == nil || err == io.EOF || errors.Is(err, remote.ErrNoCredentials) {
		return err
	}
	f := &remote.Failure{Err: err, Kind: kinds[gcerrors.Code(err)]}
	f.Status, f.Code = service.Answer(err)
	var status interface{ HTTPStatusCode() int }
	if errors.As(err, &status) {
		f.Status = status.HTTPStatusCode()
	}
	var code interface {
		error
		ErrorCode() string
		ErrorMessage() string
	}
	if errors.As(err, &code) {
		f.Code = code.ErrorCode()
	}
	return f
}
