package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

func TestSocketPath(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	path, err := SocketPath("/some/store")
	if err != nil || filepath.Dir(filepath.Dir(path)) != dir {
		t.Fatal(path, err)
	}
	must.Equal(t, must.Get(os.Stat(filepath.Dir(path)))(t).Mode().Perm(), 0o700, "the socket's folder")
	os.Chmod(filepath.Dir(path), 0o755)
	_ = must.Get(SocketPath("/some/store"))(t)
	info, _ := os.Stat(filepath.Dir(path))
	must.True(t, info.Mode().Perm() == 0o700, "an open folder stays open")
	long := filepath.Join(dir, strings.Repeat("long", 30))
	os.MkdirAll(long, 0o700)
	t.Setenv("XDG_RUNTIME_DIR", long)
	if path, err = SocketPath("/some/store"); err != nil || len(path) >= maxSocket {
		t.Errorf("%s, %v", path, err)
	}
	other, _ := SocketPath("/another/store")
	must.True(t, other != path, "two stores share a socket")
	link := filepath.Join(dir, "antipode2")
	t.Setenv("XDG_RUNTIME_DIR", link)
	os.MkdirAll(link, 0o700)
	os.Symlink("/", filepath.Join(link, "antipode"))
	if path, err := SocketPath("/some/store"); err == nil && strings.HasPrefix(path, link) {
		t.Error("a linked folder was taken")
	}
}

func TestBinaryIsAClearError(t *testing.T) {
	t.Setenv(BinaryVar, "")
	must.Fail(Binary(t.TempDir()))(t, "doctor")
}
