package plugin

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// limits bound every step in time.
type limits struct {
	wheel    time.Duration // the wheel, from the first question to the unpacked plugin
	goxla    time.Duration // go-xla's installer, for the processor
	goxlaGPU time.Duration // go-xla's installer, with CUDA and NVIDIA's libraries
	connect  time.Duration // one connection
	stall    time.Duration // without a byte
	probe    time.Duration // loading a plugin for the first time
	retries  int           // further attempts of one download
	pause    time.Duration // before a further attempt
}

var usual = limits{
	wheel: 20 * time.Minute, goxla: 5 * time.Minute, goxlaGPU: 30 * time.Minute,
	connect: 15 * time.Second, stall: 30 * time.Second, probe: 90 * time.Second, retries: 2, pause: time.Second,
}

// web is an HTTP client that heeds the usual proxy and certificate variables and never waits for ever.
type web struct {
	client http.Client
	limits limits
}

// certificateEnvs name files of further certificate authorities, as Go, Python's requests, curl and pip know them.
var certificateEnvs = []string{"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"}

func newWeb(l limits) (*web, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	for _, name := range certificateEnvs {
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
			if proxies.HTTPSProxy == "" {
				proxies.HTTPSProxy = all
			}
			if proxies.HTTPProxy == "" {
				proxies.HTTPProxy = all
			}
		}
	}
	proxy := proxies.ProxyFunc()
	return &web{limits: l, client: http.Client{Transport: &http.Transport{
		Proxy:               func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DialContext:         (&net.Dialer{Timeout: l.connect}).DialContext,
		TLSHandshakeTimeout: l.connect,
		TLSClientConfig:     &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2:   true,
	}}}, nil
}

func (w *web) close() { w.client.CloseIdleConnections() }

// get asks for an address. Its body fails once no byte has come for the limit of stall; stop ends the request.
func (w *web) get(ctx context.Context, at *url.URL, header http.Header) (*http.Response, func(), error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := time.AfterFunc(w.limits.stall, func() { cancel(fmt.Errorf("no byte for %v", w.limits.stall)) })
	stop := func() { watch.Stop(); cancel(nil) }
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		stop()
		return nil, nil, errors.New("a malformed address")
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("User-Agent", "antipode")
	resp, err := w.client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		stop()
		return nil, nil, fmt.Errorf("%s: %w", at.Host, plain(err))
	}
	resp.Body = &watched{resp.Body, ctx, watch, w.limits.stall}
	return resp, func() { resp.Body.Close(); stop() }, nil
}

// plain drops the address from an error of net/http: it may hold a password.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// watched is a body that puts its watchdog off with every byte.
type watched struct {
	io.ReadCloser
	ctx   context.Context
	watch *time.Timer
	stall time.Duration
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

// errNotPinned is wrapped where a complete file is not the pinned one: trying again is no use.
var errNotPinned = errors.New("not the pinned file")

// download brings a file of known size and SHA-256 to the path file, taking up what an earlier attempt left there.
// What is complete and wrong is removed.
func (w *web) download(ctx context.Context, at *url.URL, file string, size int64, sum string) error {
	for attempt := 0; ; attempt++ {
		err := w.attempt(ctx, at, file, size, sum)
		if err == nil || ctx.Err() != nil || errors.Is(err, errNotPinned) || attempt >= w.limits.retries {
			if err != nil && ctx.Err() != nil {
				err = fmt.Errorf("%s: %w", at.Host, context.Cause(ctx))
			}
			return err
		}
		select {
		case <-time.After(w.limits.pause):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", at.Host, context.Cause(ctx))
		}
	}
}

func (w *web) attempt(ctx context.Context, at *url.URL, file string, size int64, sum string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	have, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if have > size {
		have = 0
	}
	resumed := have > 0
	if have < size {
		if have, resumed, err = w.fill(ctx, at, f, have, size); err != nil {
			return err
		}
	}
	if have != size {
		return fmt.Errorf("%s sent %d of %d bytes", at.Host, have, size)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(f, 0, size)); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		if err := os.Remove(file); err != nil {
			return err
		}
		err := fmt.Errorf("%s from %s: SHA-256 %s, it must be %s", path.Base(at.Path), at.Host, got, sum)
		if resumed {
			return err // the earlier part may be at fault: once more, from the start
		}
		return fmt.Errorf("%w: %w", errNotPinned, err)
	}
	return f.Sync()
}

// fill writes the rest of the file behind its first have bytes and returns how many bytes there are now, and whether
// the server went on where we asked it to.
func (w *web) fill(ctx context.Context, at *url.URL, f *os.File, have, size int64) (int64, bool, error) {
	header := http.Header{"Accept-Encoding": {"identity"}}
	if have > 0 {
		header.Set("Range", "bytes="+strconv.FormatInt(have, 10)+"-")
	}
	resp, stop, err := w.get(ctx, at, header)
	if err != nil {
		return have, false, err
	}
	defer stop()
	resumed := have > 0 && resp.StatusCode == http.StatusPartialContent &&
		strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have))
	if !resumed {
		have = 0
		if resp.StatusCode != http.StatusOK {
			if resp.StatusCode == http.StatusPartialContent || resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
				_ = f.Truncate(0) // a server that is confused about ranges gets a plain question next
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
	n, err := io.Copy(f, io.LimitReader(resp.Body, size-have+1))
	have += n
	if err != nil {
		return have, resumed, fmt.Errorf("%s, after %d of %d bytes: %w", at.Host, have, size, plain(err))
	}
	if have > size {
		_ = f.Truncate(0)
		return 0, false, fmt.Errorf("%w: %s sends more than the %d bytes of %s", errNotPinned, at.Host, size, path.Base(at.Path))
	}
	return have, resumed, nil
}
