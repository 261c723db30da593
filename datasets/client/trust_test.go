package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
)

// A store that others may write to is refused; ANTIPODE_SHARED_STORE=1 permits it with programs elsewhere.
func TestPrograms(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "store")
	bin := filepath.Join(home, "bin")
	must.Equal(t, must.Get(Programs(home))(t), bin, "a new store")
	must.Do(t, os.MkdirAll(bin, 0o700))
	for _, step := range []struct {
		name   string
		change func() error
		want   string
	}{
		{"private", func() error { return nil }, ""},
		{"group", func() error { return os.Chmod(home, 0o770) }, "chmod go-w " + home},
		{"others", func() error { return os.Chmod(home, 0o702) }, "can be written by other users"},
		{"programs", func() error { os.Chmod(home, 0o755); return os.Chmod(bin, 0o777) }, bin + " can be written"},
		{"owner", func() error { os.Chmod(bin, 0o700); return os.Chown(home, 12345, -1) }, "belongs to another user"},
	} {
		if err := step.change(); err != nil {
			t.Logf("%s: %v", step.name, err) // only root gives files away
			continue
		}
		t.Setenv(SharedVar, "")
		t.Setenv(BinaryVar, filepath.Join(bin, "antipode"))
		_, err := Programs(home)
		_, binaryErr := Binary(home)
		if (err == nil) != (step.want == "") || (binaryErr == nil) != (err == nil) ||
			err != nil && !strings.Contains(err.Error(), step.want) {
			t.Errorf("%s: %v, %v, want %q", step.name, err, binaryErr, step.want)
		}
		t.Setenv(SharedVar, "1")
		must.Equal(t, strings.HasPrefix(must.Get(Programs(home))(t), home), step.want == "", step.name, "shared")
	}
}

// A program with another SHA-256 is not started, and a backend that runs one gets no key.
func TestVerify(t *testing.T) {
	home := t.TempDir()
	t.Setenv("TMPDIR", home)
	t.Setenv("XDG_RUNTIME_DIR", "")
	program, started := filepath.Join(home, "bin", "0123456789ab", "antipode"), filepath.Join(home, "started")
	must.Do(t, os.MkdirAll(filepath.Dir(program), 0o700))
	text := "#!/bin/sh\ntouch " + started + "\nexit 1\n"
	must.Do(t, os.WriteFile(program, []byte(text), 0o700))
	b := must.Get(ConnectTo(home))(t)
	sum := sha256.Sum256([]byte(text))
	for _, digest := range []string{strings.Repeat("0", 64), hex.EncodeToString(sum[:])} { // the second one starts it
		runs := digest == hex.EncodeToString(sum[:])
		t.Setenv(DigestVar, digest)
		err := b.start(context.Background(), program)
		_, statErr := os.Stat(started)
		if err == nil || strings.Contains(err.Error(), "was changed") == runs || (statErr == nil) != runs {
			t.Errorf("digest %s: %v, %v", digest, err, statErr)
		}
	}
	if runtime.GOOS != "linux" {
		t.Skip("missing: linux, which tells the process behind a socket")
	}
	l := must.Get(net.Listen("unix", b.Socket))(t)
	defer l.Close()
	t.Setenv(DigestVar, strings.Repeat("0", 64))
	// a key for another program
	must.Fail(b.once(t.Context(), Request{Secrets: map[string]string{"KEY": "k"}}, nil))(t, "was changed")
}

// A backend that ends within an answer is one that does not run, so that [Ask] starts another.
func TestCutAnswer(t *testing.T) {
	b := &Backend{Socket: filepath.Join(t.TempDir(), "b")}
	for _, answer := range []string{"", "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n{\"Data\": \"iVB"} {
		l := must.Get(net.Listen("unix", b.Socket))(t)
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, _ = c.Read(make([]byte, 1000))
				_, _ = c.Write([]byte(answer))
				_ = c.Close()
			}
		}()
		var reply struct{ Data []byte }
		must.Is(b.Post(t.Context(), "/v1/paint", 1, &reply))(t, ErrNoBackend, b.Socket)
		must.Do(t, l.Close())
	}
}

// TestCutFrame: a backend that ends within a result is one that died, which is started again.
func TestCutFrame(t *testing.T) {
	b := &Backend{Socket: filepath.Join(t.TempDir(), "b")}
	l := must.Get(net.Listen("unix", b.Socket))(t)
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, _ = c.Read(make([]byte, 1000))
			_, _ = c.Write([]byte("HTTP/1.0 200 OK\r\n\r\n{\"result\":{},\"frame_bytes\":1000}\n0123456789"))
			_ = c.Close()
		}
	}()
	_, err := b.once(t.Context(), Request{Plan: &table.Plan{Op: "x"}}, func(table.Progress) {})
	must.Is(err)(t, errDied)
}
