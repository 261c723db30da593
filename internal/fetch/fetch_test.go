package fetch_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/internal/fetch"
	"antipode/internal/filelock"
	"antipode/internal/must"
)

var quick = fetch.Limits{Connect: 5 * time.Second, Stall: 200 * time.Millisecond, Retries: 2, Pause: time.Millisecond}

func client(t *testing.T) *fetch.Client {
	t.Helper()
	c := must.Get(fetch.New(quick))(t)
	t.Cleanup(c.Close)
	return c
}

// answers serves what f writes, and returns its address.
func answers(t *testing.T, f http.HandlerFunc) *url.URL {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return must.Get(url.Parse(server.URL + "/file.bin"))(t)
}

// TestStall: a server that falls silent, before its answer or within it, is left; one that is slow is not. The same
// holds for those who use the client under it, also behind a redirect.
func TestStall(t *testing.T) {
	for name, f := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"half a body": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "half")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"behind a redirect": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/file.bin" {
				http.Redirect(w, r, "/other", http.StatusFound)
				return
			}
			<-r.Context().Done()
		},
		"slow": func(w http.ResponseWriter, _ *http.Request) {
			for range 5 {
				time.Sleep(quick.Stall / 2)
				fmt.Fprint(w, "x")
				w.(http.Flusher).Flush()
			}
		},
	} {
		at := answers(t, f)
		for door, get := range map[string]func(context.Context) (string, error){
			"Get": func(ctx context.Context) (string, error) {
				resp, stop, err := client(t).Get(ctx, at, nil)
				if err != nil {
					return "", err
				}
				defer stop()
				data, err := io.ReadAll(resp.Body)
				return string(data), err
			},
			"HTTP": func(ctx context.Context) (string, error) {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
				if err != nil {
					return "", err
				}
				resp, err := client(t).HTTP().Do(req)
				if err != nil {
					return "", err
				}
				defer resp.Body.Close()
				data, err := io.ReadAll(resp.Body)
				return string(data), err
			},
		} {
			t.Run(name+", "+door, func(t *testing.T) {
				t.Parallel()
				start := time.Now()
				text, err := get(t.Context())
				if name == "slow" {
					must.True(t, text == "xxxxx" && err == nil, "%q, %v", text, err)
					return
				}
				if err == nil || !strings.Contains(err.Error(), "no byte for 200ms") ||
					time.Since(start) > 20*quick.Stall {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				ctx, cancel := context.WithTimeout(t.Context(), quick.Stall/4)
				defer cancel()
				must.Is(get(ctx))(t, context.DeadlineExceeded) // with a deadline
			})
		}
	}
}

// TestRedirect: a secret is sent to the requested host and port alone.
func TestRedirect(t *testing.T) {
	secret := map[string]string{}
	keep := func(w http.ResponseWriter, r *http.Request) { secret[r.URL.Path] = r.Header.Get("Authorization") }
	other := answers(t, keep)
	at := answers(t, func(w http.ResponseWriter, r *http.Request) {
		switch keep(w, r); r.URL.Path {
		case "/file.bin":
			http.Redirect(w, r, "/same", http.StatusFound)
		case "/same":
			http.Redirect(w, r, other.JoinPath("..", "other").String(), http.StatusFound)
		}
	})
	_, stop, err := client(t).Get(t.Context(), at, http.Header{"Authorization": {"Bearer geheim"}})
	must.Do(t, err)
	stop()
	must.Equal(t, fmt.Sprint(secret), "map[/file.bin:Bearer geheim /other: /same:Bearer geheim]", "sent")
}

// TestDownloadGoesOn: what an attempt left is taken up, by another call as by a further attempt; a wrong file is
// removed.
func TestDownloadGoesOn(t *testing.T) {
	const text = "the pinned file"
	sum := sha256.Sum256([]byte(text))
	want := fetch.Want{Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
	asked := 0
	at := answers(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			fmt.Fprint(w, text[:6])
			return // the rest never comes
		}
		must.Equal(t, r.Header.Get("Range"), "bytes=6-", "requested")
		http.ServeContent(w, r, "file.bin", time.Time{}, strings.NewReader(text))
	})
	file := filepath.Join(t.TempDir(), "file.bin")
	must.Do(t, client(t).Download(t.Context(), at, file, want))
	data, err := os.ReadFile(file)
	must.True(t, string(data) == text && err == nil && asked == 2, "%q, %v, %d requests", data, err, asked)
	must.Do(t, os.Truncate(file, 6))
	if err := client(t).Download(t.Context(), at, file, want); err != nil || asked != 3 {
		t.Errorf("taken up: %v, %d requests", err, asked)
	}
	want.SHA256 = strings.Repeat("0", 64)
	must.Do(t, os.Remove(file))
	wrong := answers(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
	must.Is(client(t).Download(t.Context(), wrong, file, want))(t, fetch.ErrNotPinned) // a wrong file
	must.Fail(os.Stat(file))(t)                                                        // a wrong file is left
}

// TestCertificates: a further authority is taken from any of the variables, and a file that holds none is an error
// that names it.
func TestCertificates(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		fmt.Fprint(w, "ok")
	}))
	defer server.Close()
	for _, name := range append(fetch.CertificateEnvs, "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy") {
		t.Setenv(name, "")
	}
	must.Fail(client(t).HTTP().Get(server.URL))(t) // an unknown authority was trusted
	file := filepath.Join(t.TempDir(), "ca.pem")
	must.Do(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		0o644))
	for _, name := range fetch.CertificateEnvs[1:] {
		t.Setenv(name, file)
		resp, err := client(t).HTTP().Get(server.URL)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		resp.Body.Close()
		t.Setenv(name, "")
	}
	must.Do(t, os.WriteFile(file, []byte("no certificate"), 0o644))
	t.Setenv("PIP_CERT", file)
	must.Fail(fetch.New(quick))(t, "PIP_CERT: "+file+" holds no certificate")
}

// TestDownloadAlone: two downloads do not write one file.
func TestDownloadAlone(t *testing.T) {
	at := answers(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "other bytes") })
	file := filepath.Join(t.TempDir(), "file.bin")
	f, err := os.Create(file)
	if err == nil {
		defer f.Close()
		_, err = filelock.Try(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	// a file that another process is downloading
	must.Fail(client(t).Download(t.Context(), at, file, fetch.Want{Size: 11}))(t, "another process")
	must.Equal(t, len(must.Get(os.ReadFile(file))(t)), 0)
}
