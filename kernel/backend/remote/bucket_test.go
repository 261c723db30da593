package remote_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/remote/remotetest"
)

func open(t *testing.T, u objecturl.URL) *remote.Bucket {
	t.Helper()
	b := must.Get(remote.Open(t.Context(), u))(t)
	t.Cleanup(func() { b.Close() })
	return b
}

// TestBucket writes, reads and lists objects, with keys in any script.
func TestBucket(t *testing.T) {
	b := open(t, remotetest.New(t).Parse(t, ""))
	large := bytes.Repeat([]byte("0123456789"), 1_200_000) // of several parts
	content := map[string][]byte{"a/1": []byte("one"), "a/भारत 1.png": []byte("two"), "b/large": large}
	for key, data := range content {
		for range 2 { // again, as after an interruption
			must.Do(t, b.Put(t.Context(), key, data))
		}
		got, err := b.Get(t.Context(), key)
		must.True(t, err == nil && bytes.Equal(got, data), "%s: %d bytes, %v", key, len(got), err)
		o, err := b.Stat(t.Context(), key)
		must.True(t, err == nil && o.Size == int64(len(data)) && o.Key == key, "%+v, %v", o, err)
	}
	must.Equal(t, string(must.Get(b.GetRange(t.Context(), "b/large", 12, 5))(t)), "23456")
	var keys []string
	if err := b.List(t.Context(), "a/", func(o remote.Object) error {
		keys = append(keys, o.Key)
		return nil
	}); err != nil || !slices.Equal(keys, []string{"a/1", "a/भारत 1.png"}) {
		t.Errorf("%q, %v", keys, err)
	}
	_, err := b.Get(t.Context(), "a/none")
	must.Is(err)(t, fs.ErrNotExist, "a/none: no such object")
}

// TestListAll lists more objects than one answer holds.
func TestListAll(t *testing.T) {
	b := open(t, remotetest.New(t).Parse(t, ""))
	for i := range 1005 {
		must.Do(t, b.Put(t.Context(), fmt.Sprintf("k/%04d", i), []byte{1}))
	}
	n := 0
	if err := b.List(t.Context(), "k/", func(o remote.Object) error {
		if o.Key != fmt.Sprintf("k/%04d", n) {
			t.Fatal(o.Key)
		}
		n++
		return nil
	}); err != nil || n != 1005 {
		t.Errorf("%d, %v", n, err)
	}
}

// TestFaults lets the first requests of each operation fail: within five tries it succeeds with the right content.
func TestFaults(t *testing.T) {
	s := remotetest.New(t)
	data := bytes.Repeat([]byte("content "), 10_000)
	for name, fault := range map[string]remotetest.Fault{"503": remotetest.Unavailable, "closed": remotetest.Broken,
		"cut": remotetest.Cut, "stall": remotetest.Stall} {
		t.Run(name, func(t *testing.T) {
			b := open(t, s.Parse(t, ""))
			count := []int64{1, 4, 5}
			if fault == remotetest.Stall {
				remote.Impatient(b)
				count = count[:1]
			}
			for _, failing := range count {
				try := func(what string, f func() error) {
					first := s.Requests.Load()
					s.Faults(func(n int64, _ *http.Request) remotetest.Fault {
						if n <= first+failing || failing == 5 {
							return fault
						}
						return remotetest.None
					})
					err := f()
					used := s.Requests.Load() - first
					if fault == remotetest.Broken { // net/http tries again itself where a connection was open before
						used = min(used, failing+1)
					}
					s.Faults(nil)
					switch {
					case failing < 5 && (err != nil || used != failing+1):
						t.Errorf("%s, %d failing requests: %d requests, %v", what, failing, used, err)
					case failing == 5 && (!errors.Is(err, remote.ErrUnreachable) || used > 6 ||
						strings.Contains(err.Error(), "\n")):
						t.Errorf("%s: %d requests, %v", what, used, err)
					}
				}
				key := fmt.Sprintf("%s-%d", name, failing)
				if fault != remotetest.Cut { // the answer to a write has no body
					try("put", func() error { return b.Put(t.Context(), key, data) })
				}
				must.Do(t, b.Put(t.Context(), key, data))
				try("get", func() error {
					got, err := b.Get(t.Context(), key)
					must.True(t, err != nil || bytes.Equal(got, data), "%d bytes", len(got))
					return err
				})
				if fault != remotetest.Cut {
					try("stat", func() error { _, err := b.Stat(t.Context(), key); return err })
				}
				try("list", func() error { return b.List(t.Context(), "", func(remote.Object) error { return nil }) })
			}
		})
	}
}

// TestOneLine checks the messages of what cannot succeed. It is not tried again.
func TestOneLine(t *testing.T) {
	s := remotetest.New(t)
	b := open(t, s.Parse(t, ""))
	elsewhere := s.Parse(t, "")
	elsewhere.Bucket = "elsewhere"
	missing := open(t, elsewhere)
	denied := func(int64, *http.Request) remotetest.Fault { return remotetest.Denied }
	for _, c := range []struct {
		name, want string
		faults     func(int64, *http.Request) remotetest.Fault
		f          func() error
	}{
		{"read denied", "access denied (SignatureDoesNotMatch); check the credentials", denied, func() error {
			_, err := b.Get(t.Context(), "x")
			return err
		}},
		{"write denied", "access denied (SignatureDoesNotMatch); check the credentials", denied,
			func() error { return b.Put(t.Context(), "x", []byte("1")) }},
		{"stat denied", "access denied", denied, func() error { _, err := b.Stat(t.Context(), "x"); return err }},
		{"read", "s3://elsewhere/: the bucket does not exist", nil, func() error {
			_, err := missing.Get(t.Context(), "x")
			return err
		}},
		{"stat", "s3://elsewhere/: the bucket does not exist", nil, func() error {
			_, err := missing.Stat(t.Context(), "x")
			return err
		}},
		{"write", "s3://elsewhere/: the bucket does not exist", nil,
			func() error { return missing.Put(t.Context(), "x", []byte("1")) }},
		{"list", "s3://elsewhere/: the bucket does not exist", nil,
			func() error { return missing.List(t.Context(), "x", nil) }},
	} {
		first := s.Requests.Load()
		s.Faults(c.faults)
		err := c.f()
		s.Faults(nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") ||
			strings.Contains(err.Error(), remotetest.Secret) {
			t.Errorf("%s: %v", c.name, err)
		}
		if n := s.Requests.Load() - first; n > 2 {
			t.Errorf("%s: %d requests", c.name, n)
		}
	}
}

// TestNoServer reports a server that does not answer and one that needs credentials which are missing.
func TestNoServer(t *testing.T) {
	remotetest.Environment(t)
	u := must.Get(objecturl.Parse("s3://lab/?endpoint=http://127.0.0.1:1"))(t)
	_, err := open(t, u).Get(t.Context(), "x")
	must.Is(err)(t, remote.ErrUnreachable, "connection refused")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	_, err = remote.Open(t.Context(), u)
	must.Is(err)(t, remote.ErrDenied, "no credentials were found")
	if u.Scheme = "gs"; true {
		_, err = remote.Open(t.Context(), u)
		must.Is(err)(t, remote.ErrNoDriver, "cd kernel/cluster/clouds && go")
	}
}
