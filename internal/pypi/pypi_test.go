package pypi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

func TestIndexes(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, name := range []string{"PIP_NO_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL",
		"PIP_CONFIG_FILE", "VIRTUAL_ENV", "PIP_EXTRA_INDEX_URL"} {
		t.Setenv(name, "")
	}
	if got := Indexes(); len(got) != 1 || got[0] != publicIndex {
		if _, err := os.Stat("/etc/pip.conf"); err != nil { // a machine may have its own
			t.Errorf("by default: %v", got)
		}
	}
	file := filepath.Join(t.TempDir(), "pip.conf")
	must.Do(t, os.WriteFile(file,
		[]byte("# ours\n[global]\ntimeout = 5\nindex-url = http://global.test/simple\n[install]\nindex_url: "+
			"http://install.test/simple\n"), 0o600))
	t.Setenv("PIP_CONFIG_FILE", file)
	for _, step := range []struct{ name, value, want string }{
		{"PIP_CONFIG_FILE", file, "http://install.test/simple"},
		{"PIP_EXTRA_INDEX_URL", "http://a.test http://b.test",
			"http://install.test/simple http://a.test http://b.test"},
		{"PIP_INDEX_URL", "http://pip.test", "http://pip.test http://a.test http://b.test"},
		{"UV_INDEX_URL", "http://uv.test", "http://uv.test http://a.test http://b.test"},
		{"PIP_NO_INDEX", "1", ""},
	} {
		t.Setenv(step.name, step.value)
		must.Equal(t, strings.Join(Indexes(), " "), step.want, "with", step.name)
	}
}
