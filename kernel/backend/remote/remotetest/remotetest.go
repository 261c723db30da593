// Package remotetest serves a bucket of S3 in the process of a test, and lets its requests fail.
package remotetest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"antipode/internal/objecturl"
	_ "antipode/kernel/backend/remote/cloud"
	"antipode/kernel/backend/remote/internal/pause"
)

// Secret is the secret access key of the tests.
const Secret = "a-Secret/Access+Key-of-tests-0123456789"

// Fault is what happens to a request.
type Fault int

// Faults.
const (
	None        Fault = iota
	Unavailable       // the answer is 503 SlowDown
	Broken            // the connection is closed without an answer
	Cut               // the second half of the answer's body is missing
	Denied            // the answer is 403 SignatureDoesNotMatch
	Stall             // nothing is answered until the client gives up
)

// Server is a server of S3 on the loopback interface, with the bucket "lab".
type Server struct {
	URL      string // http://127.0.0.1:PORT
	Requests atomic.Int64

	mu    sync.Mutex
	fault func(n int64, r *http.Request) Fault
}

var hurry sync.Once

// New starts a server, which ends with the test, sets the credentials in the environment, and lets this process try
// requests again without long pauses from now on.
func New(t testing.TB) *Server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("lab"); err != nil {
		t.Fatal(err)
	}
	hurry.Do(func() { pause.First = time.Millisecond })
	s := &Server{}
	fake := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.Requests.Add(1)
		s.mu.Lock()
		fault := s.fault
		s.mu.Unlock()
		if fault != nil {
			if f := fault(n, r); f != None {
				fail(w, r, f, fake)
				return
			}
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	s.URL = server.URL
	Environment(t)
	return s
}

// Environment sets credentials, and removes what else the environment says about S3.
func Environment(t testing.TB) {
	for _, name := range []string{"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "TESTKEY")
	t.Setenv("AWS_SECRET_ACCESS_KEY", Secret)
}

// Faults lets requests fail as f says, which receives their number and the request; nil = none.
func (s *Server) Faults(f func(n int64, r *http.Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Object returns the URL of an object in the bucket.
func (s *Server) Object(key string) string {
	return "s3://lab/" + key + "?endpoint=" + url.QueryEscape(s.URL)
}

// Parse is Object, parsed.
func (s *Server) Parse(t testing.TB, key string) objecturl.URL {
	t.Helper()
	u, err := objecturl.Parse(s.Object(key))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func fail(w http.ResponseWriter, r *http.Request, f Fault, server http.Handler) {
	switch f {
	case Unavailable:
		answer(w, http.StatusServiceUnavailable, "SlowDown")
	case Denied:
		answer(w, http.StatusForbidden, "SignatureDoesNotMatch")
	case Broken:
		panic(http.ErrAbortHandler)
	case Stall:
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
	case Cut:
		whole := httptest.NewRecorder()
		server.ServeHTTP(whole, r)
		body := whole.Body.Bytes()
		for name, values := range whole.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.WriteHeader(whole.Code)
		_, _ = w.Write(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	}
}

func answer(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, strings.ToLower(code))
}
