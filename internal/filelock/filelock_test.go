package filelock

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"antipode/internal/must"
)

// TestTry: an exclusive lock excludes all others, and a failed change of a shared lock can be undone.
func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f := must.Get(os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600))(t)
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b, c := open(), open(), open()
	must.Do(t, Share(a))
	must.Do(t, Share(b))
	if locked, err := Try(a); locked || err != nil {
		t.Errorf("%v, %v while another opening shares the lock", locked, err)
	}
	must.Do(t, Share(a))
	must.Do(t, b.Close())
	if locked, err := Try(c); locked || err != nil {
		t.Errorf("%v, %v while another opening shares the lock again", locked, err)
	}
	if locked, err := Try(a); !locked || err != nil {
		t.Errorf("%v, %v, want the lock", locked, err)
	}
	if f, err := Open(path); f != nil || err != nil {
		t.Errorf("%v, %v while the file is locked", f, err)
	}
	must.Fail(Open(filepath.Join(path, "x")))(t) // a file that cannot be opened
}

// TestWait: who waited for a lock whose file was removed locks the new file.
func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first := must.Get(Open(path))(t)
	locked := make(chan func())
	go func() {
		unlock, err := Wait(t.Context(), path)
		if err != nil {
			t.Error(err)
		}
		locked <- unlock
	}()
	time.Sleep(20 * time.Millisecond)
	Remove(path) // a lock that is held stays
	if !Same(first, path) {
		t.Fatal("the file of a lock that is held was removed")
	}
	soon, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	must.Is(Wait(soon, path))(t, context.DeadlineExceeded)
	must.Do(t, os.Remove(path))
	must.Do(t, first.Close())
	unlock := <-locked
	f, err := Open(path)
	must.True(t, f == nil && err == nil, "%v, %v while the lock is held", f, err)
	unlock()
	if Remove(path); Same(first, path) {
		t.Error("the file is still there")
	}
	must.Fail(os.Stat(path))(t) // the file of a free lock was not removed
}
