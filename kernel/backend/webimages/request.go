package webimages

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"antipode/gomlxmodels/preprocess"
	"antipode/internal/fetch"
	"antipode/internal/imagefile"
)

// accepted are the formats that are decoded.
const accepted = "image/jpeg, image/png, image/webp, image/gif, image/tiff, image/bmp, image/*;q=0.5"

// request sends one request of a task and decides what its answer means.
func (r *run) request(ctx context.Context, t *task) answer {
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, t.at.String(), nil)
	if err != nil {
		return t.failed("not a valid URL")
	}
	req.Header.Set("User-Agent", r.UserAgent)
	req.Header.Set("Accept", accepted)
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := r.client.Do(req)
	if err != nil {
		return r.noAnswer(ctx, limited, t, err)
	}
	defer resp.Body.Close()
	switch status := resp.StatusCode; {
	case status == http.StatusOK:
		return r.image(ctx, limited, t, resp)
	case status >= 300 && status < 400 && resp.Header.Get("Location") != "":
		return t.redirected(resp)
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500:
		wait, given := retryAfter(resp.Header.Get("Retry-After"), time.Now())
		if !given && status == http.StatusTooManyRequests {
			wait = r.backoff(t.attempts)
		}
		return answer{task: t, again: statusText(status), wait: wait}
	default:
		return t.failed(statusText(status))
	}
}

func (t *task) failed(reason string) answer {
	return answer{task: t, entry: &entry{URL: t.url, Reason: reason}}
}

// redirected returns the address that a redirect names. One that cannot be requested is the end of the task.
func (t *task) redirected(resp *http.Response) answer {
	to, err := resp.Location()
	if err != nil {
		return t.failed("a redirect to an invalid URL")
	}
	if to, err = parse(to.String()); err != nil {
		return t.failed("redirected: " + err.Error())
	}
	return answer{task: t, redirect: to}
}

// noAnswer explains a request without an answer.
func (r *run) noAnswer(ctx, limited context.Context, t *task, err error) answer {
	if ctx.Err() != nil {
		return answer{task: t, err: ctx.Err()}
	}
	err = fetch.Plain(err)
	var dns *net.DNSError
	var refused *net.OpError
	var certificate *tls.CertificateVerificationError
	a := answer{task: t, silent: true}
	switch {
	case errors.Is(err, fetch.ErrNotPublic):
		return t.failed("a loopback, private or reserved address, which is not requested")
	case errors.As(err, &dns) && dns.IsNotFound:
		a = t.failed(fmt.Sprintf("the host %s does not exist", t.at.Hostname()))
		a.gone = true
		return a
	case errors.As(err, &certificate):
		return t.failed("no secure connection: the certificate of " + t.at.Hostname() + " is not valid")
	case limited.Err() != nil:
		a.again = fmt.Sprintf("no answer within %v", r.Timeout)
	case errors.As(err, &dns):
		a.again = fmt.Sprintf("the name %s cannot be resolved", t.at.Hostname())
	case errors.As(err, &refused) && refused.Op == "dial":
		a.again = "no connection: " + cause(err)
	default:
		a.again = "no answer: " + cause(err)
	}
	return a
}

// cause returns the reason of a network error without addresses and ports, which differ from run to run.
func cause(err error) string {
	var number syscall.Errno
	var timeout net.Error
	switch {
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return err.Error()
}

// image reads and checks the image of an answer.
func (r *run) image(ctx, limited context.Context, t *task, resp *http.Response) answer {
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && !isImage(kind) {
		return t.failed(kind + " instead of an image")
	}
	large := fmt.Sprintf("larger than %d bytes", r.MaxBytes)
	if resp.ContentLength > r.MaxBytes {
		return t.failed(large)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, r.MaxBytes+1))
	switch {
	case int64(len(data)) > r.MaxBytes:
		return t.failed(large)
	case err == nil:
	case ctx.Err() != nil:
		return answer{task: t, err: ctx.Err()}
	case limited.Err() != nil:
		return answer{task: t, again: fmt.Sprintf("not complete within %v", r.Timeout)}
	default:
		return answer{task: t, again: "the answer is cut off: " + cause(err)}
	}
	extension, err := imagefile.Extension(data)
	if err == nil {
		err = r.decodable(data)
	}
	if err != nil {
		return t.failed(err.Error())
	}
	e, err := r.journal.store(t.url, data, extension)
	if err != nil {
		return answer{task: t, err: fmt.Errorf("cannot store an image: %w", err)}
	}
	return answer{task: t, entry: &e}
}

// decodable decodes an image, of at most [imagefile.MaxPixels].
func (r *run) decodable(data []byte) error {
	r.decoding <- struct{}{}
	defer func() { <-r.decoding }()
	_, err := preprocess.Decode(data)
	return err
}

// isImage reports whether a content type may be that of an image: servers send unknown files as a stream of bytes.
func isImage(kind string) bool {
	return strings.HasPrefix(kind, "image/") || kind == "application/octet-stream" || kind == "binary/octet-stream"
}

// retryAfter parses a Retry-After header: seconds, or a date.
func retryAfter(text string, now time.Time) (wait time.Duration, given bool) {
	text = strings.TrimSpace(text)
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// statusText returns a status as "404 Not Found".
func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprint(status, " ", http.StatusText(status)))
}
