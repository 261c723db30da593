package jupyter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
)

// A message survives the wire; one that was changed on it, or signed with another key, is refused.
func TestMessage(t *testing.T) {
	key := []byte("key")
	m := must.Get(newMessage("session", "execute_request", map[string]any{"code": "é\n%%"}, nil))(t)
	frames := must.Get(m.frames(key))(t)
	wire := append([][]byte{[]byte("identity")}, frames...)
	back, err := parseMessage(wire, key)
	must.True(t, err == nil && back.Header == m.Header && string(back.Content) == string(m.Content),
		"came back as %+v, %v; sent %+v", back, err, m)
	must.Is(parseMessage(wire, []byte("other")))(t, errBadMessage) // another key
	for i := range frames[1:] {
		changed := slices.Clone(wire)
		changed[i+2] = []byte("{\"x\":1}")
		must.Is(parseMessage(changed, key))(t, errBadMessage)
	}
	for n := range wire {
		must.Is(parseMessage(wire[:n], key))(t, errBadMessage)
	}
}

// The hidden first cell imports what the module has, and gives cells the user's temporary folder.
func TestPrelude(t *testing.T) {
	module := t.TempDir()
	for _, p := range []string{"datasets", "datasets/cell", "metrics"} {
		must.Do(t, os.MkdirAll(filepath.Join(module, p), 0o755))
		if p != "metrics" { // a folder without Go files is no package
			must.Do(t, os.WriteFile(filepath.Join(module, p, "x.go"), nil, 0o644))
		}
	}
	t.Setenv("TMPDIR", `/a "b`)
	got := prelude(module)
	must.Has(t, got, "%noautoget\n", "%goflags \"-ldflags=-s -w\"\n", "\t\"antipode/datasets\"\n",
		"\t\"antipode/datasets/cell\"\n", "\t\"fmt\"\n", `os.Setenv("TMPDIR", "/a \"b")`)
	must.True(t, !strings.Contains(got, "metrics") && strings.HasSuffix(got, "\n%%\n"), "the prelude is\n%s", got)
	t.Setenv("TMPDIR", "")
	if got := prelude(module); !strings.Contains(got, `os.Unsetenv("TMPDIR")`) {
		t.Errorf("the prelude is\n%s", got)
	}
}

// What a workspace refuses is taken out of GOFLAGS, the rest stays.
func TestGoFlags(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=mod -tags=x -modfile=y.mod --mod=vendor -trimpath")
	if got, want := goFlags(), "-tags=x -trimpath"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every patch applies to the GoNB that go.mod names.
func TestPatches(t *testing.T) {
	source := must.Get(gonbSource(t.Context(), "../.."))(t)
	copied := t.TempDir()
	must.Do(t, copySource(copied, source))
	for want := len(patches); want >= 0; want -= len(patches) { // all, and none of what is patched already
		if applied, err := applyPatches(copied); err != nil || applied != want {
			t.Errorf("%d of %d patches apply (%v), want %d: where GoNB's source has changed, see which are "+
				"still needed", applied, len(patches), err, want)
		}
	}
}
