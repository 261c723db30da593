package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"antipode/kernel/backend/remote/internal/pause"
)

// Errors of a [Bucket].
var (
	ErrDenied      = errors.New("access denied")
	ErrUnreachable = errors.New("no usable answer") // another machine, or a later time, may succeed
)

// Failure is the answer of a service to a request that failed.
type Failure struct {
	Err    error
	Kind   Kind
	Status int    // of HTTP; 0 = not known
	Code   string // of the service; "" = not known
}

// Kind tells what another try of a request would do.
type Kind int

// Kinds of failures. All but Unknown are final.
const (
	Unknown  Kind = iota // another try may succeed
	NotFound             // the object or the bucket does not exist
	Denied               // the credentials do not allow it
	Refused              // the service does not accept such a request
)

// Error is part of error.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the driver's error.
func (f *Failure) Unwrap() error { return f.Err }

// told is an error with a text of its own.
type told struct {
	text string
	error
}

// Error is part of error.
func (t told) Error() string { return t.text }

// Unwrap returns the error that is told.
func (t told) Unwrap() error { return t.error }

// most is the number of tries of a request.
const most = 5

// try calls f until it succeeds or fails for good. f calls alive with the time until it will call it again.
func (b *Bucket) try(ctx context.Context, key string,
	f func(ctx context.Context, alive func(time.Duration)) error) (err error) {
	for n := range most {
		if n > 0 {
			wait := pause.First << (n - 1)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(wait/2 + rand.N(wait)):
			}
		}
		if err = b.once(ctx, f); err == nil || ctx.Err() != nil || final(err) {
			break
		}
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return b.explain(ctx, key, err)
}

// errStalled is the error of a try without progress.
var errStalled = errors.New("stalled")

// once is one try.
func (b *Bucket) once(ctx context.Context, f func(ctx context.Context, alive func(time.Duration)) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(b.stall, func() { cancel(errStalled) })
	defer watch.Stop()
	err := f(ctx, func(next time.Duration) { watch.Reset(next) })
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

// again are error codes of S3, below status 500, after which another try may succeed.
var again = []string{"BadDigest", "InvalidDigest", "RequestTimeout", "RequestTimeTooSkewed", "IncompleteBody",
	"XAmzContentChecksumMismatch", "OperationAborted"}

// final reports whether another try would fail as well.
func final(err error) bool {
	if errors.Is(err, ErrNoCredentials) || errors.As(err, new(*fs.PathError)) {
		return true
	}
	f := failureOf(err)
	if slices.Contains(again, f.Code) {
		return false
	}
	return f.Kind != Unknown || f.Status >= 300 && f.Status < 500 && f.Status != http.StatusTooManyRequests &&
		f.Status != http.StatusRequestTimeout
}

// failureOf returns what the service answered, the zero value for other errors.
func failureOf(err error) Failure {
	var f *Failure
	if errors.As(err, &f) {
		return *f
	}
	return Failure{}
}

// checkCredentials returns the fix for an error of credentials.
func (b *Bucket) checkCredentials() string {
	names := "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
	switch {
	case strings.HasPrefix(b.name, "gs:"):
		names = "GOOGLE_APPLICATION_CREDENTIALS, or those of gcloud auth application-default login"
	case strings.HasPrefix(b.name, "azblob:"):
		names = "AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY"
	}
	return "check the credentials in the environment (" + names + ") and the bucket's permissions; the backend has " +
		"those of the process that started it: `antipode backend stop`, then run this again"
}

// explain returns an error as one line without the request's details.
func (b *Bucket) explain(ctx context.Context, key string, err error) error {
	at, f := b.name+key, failureOf(err)
	code := f.Code
	if len(code) > 60 || strings.ContainsFunc(code, func(r rune) bool { return r <= ' ' || r > '~' }) {
		code = "" // of a server that speaks another protocol
	}
	switch {
	case code == "NoSuchBucket", f.Kind == NotFound && b.driver != nil && !b.exists(ctx):
		return told{b.name + ": the bucket does not exist; create it, or correct its name", fs.ErrNotExist}
	case f.Kind == NotFound, errors.Is(err, fs.ErrNotExist):
		return told{at + ": no such object", fs.ErrNotExist}
	case errors.Is(err, ErrNoCredentials):
		return fmt.Errorf("%s: %w: no credentials were found; %s", at, ErrDenied, b.checkCredentials())
	case f.Kind == Denied, f.Status == http.StatusForbidden, f.Status == http.StatusUnauthorized,
		code == "ExpiredToken", code == "InvalidToken":
		if code != "" {
			code = " (" + code + ")"
		}
		return fmt.Errorf("%s: %w%s; %s", at, ErrDenied, code, b.checkCredentials())
	case f.Status >= 300 && f.Status < 400, code == "AuthorizationHeaderMalformed":
		return fmt.Errorf("%s: the bucket is in another region; set AWS_REGION, or add ?region=NAME to the URL", at)
	case final(err):
		return fmt.Errorf("%s: %s", at, cause(err))
	}
	return fmt.Errorf("%s: %w after %d tries: %s; finished work is kept: run this again when the service answers", at,
		ErrUnreachable, most, cause(err))
}

// exists reports whether the bucket exists, as far as can be known.
func (b *Bucket) exists(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, b.stall)
	defer cancel()
	there, err := b.driver.Exists(ctx)
	return there || err != nil
}

// cause returns the innermost reason of an error.
func cause(err error) string {
	var network *net.OpError
	f := failureOf(err)
	switch {
	case errors.Is(err, errStalled), errors.Is(err, context.DeadlineExceeded):
		return "nothing was received in time"
	case f.Status > 0 && f.Code != "":
		return fmt.Sprintf("the service answers %d %s", f.Status, f.Code)
	case f.Status >= 400:
		return fmt.Sprintf("the service answers %d %s", f.Status, http.StatusText(f.Status))
	case errors.As(err, &network):
		return network.Error()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer is incomplete"
	}
	for inner := err; ; err = inner {
		if inner = errors.Unwrap(err); inner == nil {
			return err.Error()
		}
	}
}
