package cellbuild

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/internal/must"
	_ "antipode/test/memdir"
)

// Each step changes a workspace as a user at work does. A build has the result of "go build", whoever made it.
func TestBuilder(t *testing.T) {
	dir, dep := t.TempDir(), t.TempDir()
	must.Write(t, filepath.Join(dir, "go.mod"), "module cells\n\ngo 1.26.0\n")
	must.Write(t, filepath.Join(dir, "go.work"), "go 1.26.0\nuse .\nuse "+dep+"\n")
	must.Write(t, filepath.Join(dep, "go.mod"), "module dep\n\ngo 1.26.0\n")
	must.Write(t, filepath.Join(dep, "dep.go"), "package dep\nfunc Name() string { return \"first\" }\n")
	must.Write(t, filepath.Join(dep, "internal", "own", "own.go"), "package own\n")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "")
	t.Setenv("GOPROXY", "off")
	t.Setenv(ImportsVar, "fmt dep")
	program := filepath.Join(dir, "program")
	var b Builder
	for _, step := range []struct {
		name, imports, body string
		before              func()
		direct              bool
		printed, failure    string
	}{
		{name: "first", imports: `"fmt"`, body: `fmt.Print("a")`, printed: "a"},
		{name: "again", imports: `"fmt"`, body: `fmt.Print("b")`, direct: true, printed: "b"},
		{name: "package that may be imported", imports: `"fmt"; "dep"`, body: `fmt.Print(dep.Name())`, direct: true,
			printed: "first"},
		{name: "mistake", imports: `"fmt"`, body: `fmt.Print(x)`, failure: "./main.go:4:32: undefined: x\n"},
		{name: "without the mistake", imports: `"fmt"`, body: `fmt.Print("c")`, direct: true, printed: "c"},
		{name: "another import", imports: `"os"; "strings"`, body: `os.Stdout.WriteString(strings.ToUpper("d"))`,
			printed: "D"},
		{name: "another import again", imports: `"os"; "strings"`, body: `os.Stdout.WriteString(strings.Repeat("e", 2))`,
			direct: true, printed: "ee"},
		{name: "edited package", imports: `"fmt"; "dep"`, body: `fmt.Print(dep.Name())`, printed: "second",
			before: func() {
				must.Write(t, filepath.Join(dep, "dep.go"), "package dep\nfunc Name() string { return \"second\" }\n")
			}},
		{name: "file added to a package", imports: `"fmt"; "dep"`, body: `fmt.Print(dep.N)`, printed: "3",
			before: func() { must.Write(t, filepath.Join(dep, "n.go"), "package dep\nconst N = 3\n") }},
		{name: "after the edit", imports: `"fmt"; "dep"`, body: `fmt.Print(dep.Name(), dep.N)`, direct: true,
			printed: "second3"},
		{name: "internal package", imports: `_ "dep/internal/own"`, failure: "use of internal package dep/internal/own"},
		{name: "file missing in the cache", imports: `"fmt"`, body: `fmt.Print("f")`, printed: "f",
			before: func() {
				b.plan.link = bytes.ReplaceAll(b.plan.link, []byte("packagefile fmt="), []byte("packagefile fmt=/x"))
			}},
		{name: "another go.mod", imports: `"fmt"`, body: `fmt.Print("g")`, printed: "g",
			before: func() { must.Write(t, filepath.Join(dir, "go.mod"), "module cells\n\ngo 1.26.0 // edited\n") }},
		{name: "second file", imports: `"fmt"`, body: `fmt.Print(more)`, printed: "h",
			before: func() { must.Write(t, filepath.Join(dir, "more.go"), "package main\nconst more = \"h\"\n") }},
	} {
		t.Run(step.name, func(t *testing.T) {
			b.await(time.Minute)
			built := b.direct
			must.Write(t, filepath.Join(dir, "main.go"),
				"package main\nimport ("+step.imports+")\n\nfunc main() { _ = 0; "+step.body+" }\n")
			if step.before != nil {
				step.before()
			}
			cmd := exec.Command("go", "build", "-o", program, linkFlags)
			cmd.Dir = dir
			out, err := b.CombinedOutput(cmd)
			if step.failure != "" {
				must.True(t, err != nil && strings.Contains(string(out), step.failure),
					"error %v, printed %q; want %q", err, out, step.failure)
				return
			}
			if err != nil || len(out) > 0 {
				t.Fatalf("%v: %s", err, out)
			}
			must.Equal(t, string(must.Get(exec.Command(program).CombinedOutput())(t)), step.printed,
				"the program printed")
			must.Equal(t, b.direct > built, step.direct, "built without go build")
		})
	}
	b.await(time.Minute) // no command of this package runs on
}

// Programs that look up names are linked with C where "go build" would.
func TestResolvers(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "go.mod"), "module cells\n\ngo 1.26.0\n")
	t.Setenv("GOWORK", "off")
	out := must.Get(exec.Command("go", "env", "CGO_ENABLED").Output())(t)
	for path, cgo := range map[string]bool{"os/exec": false, "net": true, "os/user": true} {
		must.Write(t, filepath.Join(dir, "main.go"), "package main\nimport _ \""+path+"\"\nfunc main() {}\n")
		must.Do(t, keep(dir))
		time.Sleep(60 * time.Millisecond) // a plan counts files that are newer as changed
		p := newPlan(dir, nil, withoutC)
		must.EqualSlices(t, p.imports, []string{path})
		must.Equal(t, bytes.Contains(p.link, []byte("runtime/cgo=")), cgo && string(out) == "1\n")
	}
}
