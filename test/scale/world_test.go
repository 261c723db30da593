//go:build scale

package scale

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/client"
	"antipode/gomlxmodels/device"
	"antipode/internal/must"
	"antipode/kernel/backend/plugin"
	"antipode/test/testbackend"
)

// programs are the command, and echo a program for models that needs no device.
type programs struct{ antipode, echo string }

func build(t *testing.T) *programs {
	t.Helper()
	dir := t.TempDir()
	p := &programs{filepath.Join(dir, "antipode"), filepath.Join(dir, "echo")}
	for out, pkg := range map[string]string{p.antipode: "../..", p.echo: "../../docs/examples/echo_adapter"} {
		if text, err := exec.Command("go", "build", "-trimpath", "-o", out, pkg).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", pkg, err, text)
		}
	}
	return p
}

// desk is a folder in which commands run, with a store.
type desk struct {
	*programs
	dir, home, runtime string
	env                []string
}

func (p *programs) desk(t *testing.T, env ...string) *desk {
	t.Helper()
	runtime := must.Get(os.MkdirTemp("", "aps"))(t) // short: the path of a socket must fit
	d := &desk{p, t.TempDir(), t.TempDir(), runtime, env}
	t.Cleanup(func() {
		_ = d.command("backend", "stop").Run()
		os.RemoveAll(runtime)
	})
	return d
}

// onXLA returns a desk whose commands compute with the XLA plugin of the user's store.
func (p *programs) onXLA(t *testing.T) *desk {
	t.Helper()
	home := must.Get(client.Home())(t)
	found := plugin.Current(home)
	if found.Kind == device.Go || found.Path == "" {
		testbackend.Missing(t, "xla", "no XLA plugin: antipode doctor tells how to get one")
	}
	return p.desk(t, plugin.Env+"="+found.Path)
}

func (d *desk) chainJob(t *testing.T, shards int) {
	t.Helper()
	words := []string{"job", "make", "--shards", fmt.Sprint(shards)}
	for _, line := range chain {
		words = append(append(words, "--"), strings.Fields(line)...)
	}
	d.run(t, words...)
}

func (d *desk) command(args ...string) *exec.Cmd {
	cmd := exec.Command(d.antipode, args...)
	cmd.Dir = d.dir
	cmd.Env = append(append(os.Environ(), "XDG_RUNTIME_DIR="+d.runtime, "ANTIPODE_HOME="+d.home, "ANTIPODE_BIN=",
		"ANTIPODE_MODULE="), d.env...)
	return cmd
}

// run runs a command and returns what it printed on standard output.
func (d *desk) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := d.command(args...)
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("antipode %s: %v: %s%s", strings.Join(args, " "), err, out, problem.String())
	}
	return string(out)
}

// prompts writes a table of n prompts.
func (d *desk) prompts(t *testing.T, n int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,prompt,object\n")
	for i := range n {
		fmt.Fprintf(&b, "p%d,a boat in %s with %d houses,boat\n", i, []string{"Velmora", "Tarrish", "Brackwyn"}[i%3], i)
	}
	must.Do(t, os.WriteFile(filepath.Join(d.dir, "prompts.csv"), []byte(b.String()), 0o600))
}

// tables returns the tables and images that the commands have written, and removes them.
func (d *desk) tables(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.parquet", "*.images/*"} {
		names := must.Get(filepath.Glob(filepath.Join(d.dir, pattern)))(t)
		for _, name := range names {
			data := must.Get(os.ReadFile(name))(t)
			rel := must.Get(filepath.Rel(d.dir, name))(t)
			out[rel] = string(data)
			must.Do(t, os.Remove(name))
		}
	}
	return out
}

// equal compares tables and images with those of one machine.
func equal(t *testing.T, title string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		must.True(t, got[name] == want[name], "%s: %s differs from that of one machine", title, name)
	}
	must.True(t, len(got) == len(want) && len(want) != 0, "%s: %d files, want %d", title, len(got), len(want))
}
