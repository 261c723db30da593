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

	"gocloud.dev/gcerrors"

	"antipode/kernel/backend/remote/internal/pause"
)

// Errors of a [Bucket].
var (
	ErrDenied      = errors.New("access denied")
	ErrUnreachable = errors.New("no usable answer") // another machine, or a later time, may succeed
)

// missing is the error for what does not exist.
type missing struct{ text string }

// Error is part of error.
func (m missing) Error() string { return m.text }

// Unwrap makes the error one of package fs.
func (m missing) Unwrap() error { return fs.ErrNotExist }

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
	if errors.Is(err, errNoCredentials) || errors.As(err, new(*fs.PathError)) {
		return true
	}
	if code := codeOf(err); slices.Contains(again, code) {
		return false
	}
	if status := statusOf(err); status >= 400 && status < 500 && status != http.StatusTooManyRequests &&
		status != http.StatusRequestTimeout || status >= 300 && status < 400 {
		return true
	}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound, gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.FailedPrecondition,
		gcerrors.Unimplemented:
		return true
	}
	return false
}

// statusOf returns the HTTP status of an answer of the service, 0 for other errors.
func statusOf(err error) int {
	var answer interface{ HTTPStatusCode() int }
	if errors.As(err, &answer) {
		return answer.HTTPStatusCode()
	}
	status, _ := driver.Answer(err)
	return status
}

// codeOf returns the error code of an answer of the service, "" for other errors.
func codeOf(err error) string {
	var answer interface {
		error
		ErrorCode() string
		ErrorMessage() string
	}
	if errors.As(err, &answer) {
		return answer.ErrorCode()
	}
	_, code := driver.Answer(err)
	return code
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
	at, code, status := b.name+key, codeOf(err), statusOf(err)
	if len(code) > 60 || strings.ContainsFunc(code, func(r rune) bool { return r <= ' ' || r > '~' }) {
		code = "" // of a server that speaks another protocol
	}
	switch kind := gcerrors.Code(err); {
	case code == "NoSuchBucket", kind == gcerrors.NotFound && b.blob != nil && !b.exists(ctx):
		return missing{b.name + ": the bucket does not exist; create it, or correct its name"}
	case kind == gcerrors.NotFound, errors.Is(err, fs.ErrNotExist):
		return missing{at + ": no such object"}
	case errors.Is(err, errNoCredentials):
		return fmt.Errorf("%s: %w: no credentials were found; %s", at, ErrDenied, b.checkCredentials())
	case kind == gcerrors.PermissionDenied, status == http.StatusForbidden, status == http.StatusUnauthorized,
		code == "ExpiredToken", code == "InvalidToken":
		if code != "" {
			code = " (" + code + ")"
		}
		return fmt.Errorf("%s: %w%s; %s", at, ErrDenied, code, b.checkCredentials())
	case status >= 300 && status < 400, code == "AuthorizationHeaderMalformed":
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
	there, err := b.blob.IsAccessible(ctx)
	return there || err != nil
}

// cause returns the innermost reason of an error.
func cause(err error) string {
	var network *net.OpError
	status := statusOf(err)
	switch {
	case errors.Is(err, errStalled), errors.Is(err, context.DeadlineExceeded):
		return "nothing was received in time"
	case status > 0 && codeOf(err) != "":
		return fmt.Sprintf("the service answers %d %s", status, codeOf(err))
	case status >= 400:
		return fmt.Sprintf("the service answers %d %s", status, http.StatusText(status))
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
