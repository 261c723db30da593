// Package fetch downloads files of known size and checksum over HTTP. It uses the common proxy and certificate
// variables, resumes and retries downloads, and has a timeout for every step.
package fetch

import (
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"antipode/internal/filelock"

	"golang.org/x/net/http/httpproxy"
)

// Limits are the timeouts and retries of a client.
type Limits struct {
	Connect time.Duration // one connection
	Stall   time.Duration // without a byte
	Retries int           // further attempts of one download
	Pause   time.Duration // before a further attempt

	// Public refuses connections to addresses that are not on the public internet, before and after redirects, with an
	// error that wraps [ErrNotPublic]. A proxy of the environment may have any address.
	Public bool
}

// Usual are the limits for users.
var Usual = Limits{Connect: 15 * time.Second, Stall: 30 * time.Second, Retries: 2, Pause: time.Second}

// Client is an HTTP client within [Limits].
type Client struct {
	client http.Client
	limits Limits
}

// CertificateEnvs are the variables of Go, Python's requests, curl and pip that name a file with further certificate
// authorities.
var CertificateEnvs = []string{"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"}

// New returns a client. An unusable certificate file is an error. Close the client when done.
func New(l Limits) (*Client, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	for _, name := range CertificateEnvs {
		file := os.Getenv(name)
		if info, err := os.Stat(file); file == "" || (err == nil && info.IsDir()) {
			continue
		}
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: %s holds no certificate", name, file)
		}
	}
	proxies := httpproxy.FromEnvironment()
	for _, name := range []string{"ALL_PROXY", "all_proxy"} {
		if all := os.Getenv(name); all != "" {
			proxies.HTTPSProxy = cmp.Or(proxies.HTTPSProxy, all)
			proxies.HTTPProxy = cmp.Or(proxies.HTTPProxy, all)
		}
	}
	proxy, dialer := proxies.ProxyFunc(), net.Dialer{Timeout: l.Connect}
	var transport roundTripper = &http.Transport{
		Proxy:               func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: l.Connect,
		TLSClientConfig:     &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2:   true,
	}
	if l.Public {
		transport = newPublicOnly(transport.(*http.Transport), dialer, proxy)
	}
	return &Client{limits: l, client: http.Client{Transport: &watching{stall: l.Stall, roundTripper: transport},
		CheckRedirect: redirect}}, nil
}

// redirect removes the secret of a request that is redirected to another scheme, host or port; net/http sends it to
// other ports and to subdomains.
func redirect(r *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	if from := via[0].URL; r.URL.Scheme != from.Scheme || r.URL.Host != from.Host {
		r.Header.Del("Authorization")
	}
	return nil
}

// roundTripper is a transport whose idle connections can be closed.
type roundTripper interface {
	http.RoundTripper
	CloseIdleConnections()
}

// HTTP returns the underlying client. Its requests use the proxies, the certificates and the timeouts, without retries.
func (c *Client) HTTP() *http.Client { return &c.client }

// Close ends idle connections.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Get requests a URL. Reading the body fails if no byte arrives within the stall limit; stop ends the request.
func (c *Client) Get(ctx context.Context, at *url.URL, header http.Header) (resp *http.Response, stop func(),
	err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, nil, errors.New("a malformed address")
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("User-Agent", "antipode")
	if resp, err = c.client.Do(req); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", at.Host, Plain(err))
	}
	return resp, func() { resp.Body.Close() }, nil
}

// Plain removes the URL, which may contain a password, from an error of net/http.
func Plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// watching cancels a request if no byte of its response arrives for the time stall.
type watching struct {
	roundTripper
	stall time.Duration
}

// RoundTrip is part of [http.RoundTripper].
func (t *watching) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	watch := time.AfterFunc(t.stall, func() { cancel(fmt.Errorf("no byte for %v", t.stall)) })
	resp, err := t.roundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		watch.Stop()
		cancel(nil)
		return nil, err
	}
	resp.Body = &watched{resp.Body, ctx, cancel, watch, t.stall}
	return resp, nil
}

// watched is a body that resets the timer of [watching] with every byte.
type watched struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  *time.Timer
	stall  time.Duration
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.Reset(b.stall)
	}
	if err != nil && err != io.EOF {
		if cause := context.Cause(b.ctx); cause != nil {
			err = cause
		}
	}
	return n, err
}

func (b *watched) Close() error {
	b.watch.Stop()
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// ErrNotPinned is wrapped by the error for a complete file with another size or checksum; such a download is not
// retried.
var ErrNotPinned = errors.New("not the pinned file")

// Want is the expected content of a file: its size and one checksum.
type Want struct {
	Size    int64
	SHA256  string // lower-case hex
	GitBlob string // git's id of the bytes (SHA-1), where there is no SHA256

	// Header contains further headers of the request. On a redirect to another host, headers with secrets are removed.
	Header http.Header

	// Progress receives the number of bytes downloaded so far; may be nil.
	Progress func(have int64)
}

func (w Want) hash() (hash.Hash, string, string) {
	if w.SHA256 == "" {
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", w.Size)
		return h, "git blob", w.GitBlob
	}
	return sha256.New(), "SHA-256", w.SHA256
}

// Download downloads a file to a path and resumes an earlier attempt. A complete file with a wrong checksum is removed.
func (c *Client) Download(ctx context.Context, at *url.URL, file string, want Want) error {
	for attempt := 0; ; attempt++ {
		err := c.attempt(ctx, at, file, want)
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrNotPinned) || attempt >= c.limits.Retries {
			if err != nil && ctx.Err() != nil {
				err = fmt.Errorf("%s: %w", at.Host, context.Cause(ctx))
			}
			return err
		}
		select {
		case <-time.After(c.limits.Pause):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", at.Host, context.Cause(ctx))
		}
	}
}

// alone locks a file against other downloads to the same path until it is closed. It fails if there is one, or if one
// has just renamed the file.
func alone(f *os.File) error {
	if locked, err := filelock.Try(f); err != nil || locked && filelock.Same(f, f.Name()) {
		return err
	}
	return fmt.Errorf("another process is downloading to %s", filepath.Base(f.Name()))
}

func (c *Client) attempt(ctx context.Context, at *url.URL, file string, want Want) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := alone(f); err != nil {
		return err
	}
	have, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if have > want.Size {
		have = 0
	}
	resumed := have > 0
	if have < want.Size {
		if have, resumed, err = c.fill(ctx, at, f, have, want); err != nil {
			return err
		}
	}
	if have != want.Size {
		return fmt.Errorf("%s sent %d of %d bytes", at.Host, have, want.Size)
	}
	sums, kind, sum := want.hash()
	if _, err := io.Copy(sums, io.NewSectionReader(f, 0, want.Size)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sums.Sum(nil)); got != sum {
		if err := os.Remove(file); err != nil {
			return err
		}
		err := fmt.Errorf("%s from %s: %s %s, it must be %s", path.Base(at.Path), at.Host, kind, got, sum)
		if resumed {
			return err // the earlier part may be wrong: start again
		}
		return fmt.Errorf("%w: %w", ErrNotPinned, err)
	}
	return f.Sync()
}

// fill appends the rest of the file to its first have bytes. It returns the new number of bytes and whether the server
// resumed at have.
func (c *Client) fill(ctx context.Context, at *url.URL, f *os.File, have int64, want Want) (int64, bool, error) {
	header := want.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Accept-Encoding", "identity")
	if have > 0 {
		header.Set("Range", "bytes="+strconv.FormatInt(have, 10)+"-")
	}
	resp, stop, err := c.Get(ctx, at, header)
	if err != nil {
		return have, false, err
	}
	defer stop()
	resumed := have > 0 && resp.StatusCode == http.StatusPartialContent &&
		strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have))
	if !resumed {
		have = 0
		if resp.StatusCode != http.StatusOK {
			if resp.StatusCode == http.StatusPartialContent ||
				resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
				_ = f.Truncate(0) // request the whole file next
			}
			return 0, false, fmt.Errorf("%s answers %q for %s", at.Host, resp.Status, path.Base(at.Path))
		}
	}
	if err := f.Truncate(have); err != nil {
		return 0, false, err
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return 0, false, err
	}
	size, start := want.Size, have
	body := io.LimitReader(resp.Body, size-have+1)
	if want.Progress != nil {
		body = io.TeeReader(body, counter(func(n int64) { want.Progress(min(start+n, size)) }))
	}
	n, err := io.Copy(f, body)
	have += n
	if err != nil {
		return have, resumed, fmt.Errorf("%s, after %d of %d bytes: %w", at.Host, have, size, Plain(err))
	}
	if have > size {
		_ = f.Truncate(0)
		return 0, false, fmt.Errorf("%w: %s sends more than the %d bytes of %s", ErrNotPinned, at.Host, size,
			path.Base(at.Path))
	}
	return have, resumed, nil
}

// counter returns a writer that reports the number of bytes written so far.
func counter(tell func(int64)) io.Writer { return &counting{tell: tell} }

type counting struct {
	n    int64
	tell func(int64)
}

func (c *counting) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	c.tell(c.n)
	return len(p), nil
}
