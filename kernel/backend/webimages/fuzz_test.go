package webimages

import (
	"testing"
	"time"
)

// FuzzAddress: an address that is accepted is one of HTTP with a host.
func FuzzAddress(f *testing.F) {
	for _, text := range []string{"https://example.org/a.png", "http://[::1]/x",
		"ftp://a/b", "//a", "http://a@b:1/?q#f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if u, err := parse(text); err == nil && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			t.Errorf("%q is accepted as %v", text, u)
		}
	})
}

// FuzzRetryAfter: a server's wish to wait is never negative.
func FuzzRetryAfter(f *testing.F) {
	for _, text := range []string{"3", "-1", "99999999999999999999", "Wed, 21 Oct 2026 07:28:00 GMT", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if wait, given := retryAfter(text, time.Unix(1e9, 0)); wait < 0 || wait > 0 && !given {
			t.Errorf("%q: %v, %v", text, wait, given)
		}
	})
}
