// Package cellbuild builds the programs of notebook cells as "go build" does, without what it repeats for every
// program: finding packages, hashing them, and asking every tool for its version. That takes longer than compiling and
// linking the program of a short cell.
//
// The first build of a folder is "go build". After it, "go list -export" says which packages the program may import and
// where the build cache holds them, and the next builds compile and link main.go against these files. Whatever is not
// as it was then (a file of a package that is being edited, go.mod, another import, a mistake in the program) is built
// by "go build" again, and its messages are what a user sees.
//
// The source of this package is built into GoNB, so it imports the standard library only.
package cellbuild

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// ImportsVar is the environment variable with the packages that programs may import from the start, separated by
// spaces. A program whose imports "go build" accepted adds its own.
const ImportsVar = "ANTIPODE_CELL_IMPORTS"

// linkFlags are the only flags of programs that are built without "go build".
const linkFlags = "-ldflags=-s -w"

// Builder builds the programs of one folder, one after another.
type Builder struct {
	mu      sync.Mutex
	imports []string // what programs may import
	plan    *plan    // nil: not known
	direct  int      // programs built without "go build"
}

// plan is what a build needs to know of the packages.
type plan struct {
	lang     string // such as go1.26
	debug    string // the program's default of GODEBUG
	compile  []byte // an importcfg: the packages that the program may import
	link     []byte // an importcfg: these and all that they import
	watched  []string
	state    uint64 // of the watched files
	compiler string
	linker   string
}

// goPackage is a package as "go list -json" describes it.
type goPackage struct {
	ImportPath, Name, Dir, Export, DefaultGODEBUG string
	Standard                                      bool
	Imports, CgoFiles, EmbedFiles                 []string
	Module                                        *struct {
		Version, GoMod, GoVersion string
		Replace                   *struct{ Path string }
	}
}

// CombinedOutput runs a "go build -o PROGRAM -ldflags=-s -w" in a folder, or does the same faster. It returns what the
// command printed. It runs any other command as it is.
func (b *Builder) CombinedOutput(cmd *exec.Cmd) ([]byte, error) {
	a := cmd.Args
	if len(a) != 5 || a[1] != "build" || a[2] != "-o" || a[4] != linkFlags || cmd.Env != nil ||
		os.Getenv("GOFLAGS") != "" {
		return cmd.CombinedOutput()
	}
	b.mu.Lock() // also waits for the plan that the last build began
	if b.plan != nil && b.plan.build(cmd.Dir, a[3]) == nil {
		b.direct++
		b.mu.Unlock()
		return nil, nil
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.mu.Unlock()
		return out, err
	}
	go func() { // while the program runs
		defer b.mu.Unlock()
		b.plan, b.imports = newPlan(cmd.Dir, b.imports)
	}()
	return out, nil
}

// newPlan lists the packages. It returns nil if programs of this folder cannot be built without "go build".
func newPlan(dir string, imports []string) (*plan, []string) {
	if imports == nil {
		imports = strings.Fields(os.Getenv(ImportsVar))
	}
	list := exec.Command("go", append([]string{"list", "-deps", "-export", "-json=ImportPath,Name,Dir,Export," +
		"DefaultGODEBUG,Standard,Imports,CgoFiles,EmbedFiles,Module", "."}, imports...)...)
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, nil
	}
	env := exec.Command("go", "env", "GOTOOLDIR", "GOWORK")
	env.Dir = dir
	values, err := env.Output()
	if err != nil {
		return nil, nil
	}
	tools, work, _ := strings.Cut(strings.TrimSpace(string(values)), "\n")
	p := &plan{compiler: filepath.Join(tools, "compile"), linker: filepath.Join(tools, "link")}
	p.watch(p.compiler, p.linker, work, strings.TrimSuffix(work, "work")+"work.sum",
		filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum"))
	files := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var g goPackage
		if err := decoder.Decode(&g); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil
		}
		switch {
		case g.Name == "main" && g.Dir == dir:
			if g.Module == nil {
				return nil, nil
			}
			p.lang, p.debug = "go"+language(g.Module.GoVersion), g.DefaultGODEBUG
			for _, i := range g.Imports {
				if !slices.Contains(imports, i) {
					imports = append(imports, i)
				}
			}
			continue
		case len(g.CgoFiles) > 0 && !g.Standard:
			return nil, imports // needs the linker of C
		case !g.Standard && (g.Module == nil || g.Module.Version == "" || g.Module.Replace != nil): // may be edited
			p.watch(g.Dir)
			for _, name := range g.EmbedFiles {
				p.watch(filepath.Join(g.Dir, name))
			}
			if g.Module != nil {
				p.watch(g.Module.GoMod)
			}
		}
		if g.Export != "" { // unsafe has none
			files[g.ImportPath] = g.Export
			p.link = fmt.Appendf(p.link, "packagefile %s=%s\n", g.ImportPath, g.Export)
		}
	}
	for _, i := range imports {
		if files[i] != "" {
			p.compile = fmt.Appendf(p.compile, "packagefile %s=%s\n", i, files[i])
		}
	}
	p.state, err = p.current()
	if p.lang == "" || err != nil {
		return nil, imports
	}
	return p, imports
}

// language cuts a version of Go to that of the language: 1.26.5 is 1.26.
func language(version string) string {
	if parts := strings.SplitN(version, ".", 3); len(parts) == 3 {
		return parts[0] + "." + parts[1]
	}
	return version
}

func (p *plan) watch(paths ...string) {
	for _, path := range paths {
		if path != "" && !slices.Contains(p.watched, path) {
			p.watched = append(p.watched, path)
		}
	}
}

// current hashes names, sizes and times of the watched files and of the files in watched folders.
func (p *plan) current() (uint64, error) {
	h := fnv.New64a()
	add := func(path string, info fs.FileInfo) {
		if !info.IsDir() {
			fmt.Fprintf(h, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, path := range p.watched {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // such as go.sum
		} else if err != nil {
			return 0, err
		}
		add(path, info)
		if !info.IsDir() {
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(path, e.Name()))
			if err != nil {
				return 0, err
			}
			add(e.Name(), info)
		}
	}
	return h.Sum64(), nil
}

// build compiles and links the program in dir. Any error means that "go build" has to be asked.
func (p *plan) build(dir, program string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".go", ".s", ".c", ".cc", ".cpp", ".cxx", ".h", ".m", ".f", ".syso":
			if e.Name() != "main.go" {
				return fmt.Errorf("cellbuild: %s is part of the program", e.Name())
			}
		}
	}
	if state, err := p.current(); err != nil || state != p.state {
		return errors.Join(errors.New("cellbuild: a package or a module has changed"), err)
	}
	work, err := os.MkdirTemp("", "cellbuild-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	object, compile, link := filepath.Join(work, "main.a"), filepath.Join(work, "compile"), filepath.Join(work, "link")
	linked := program + ".new" // the program of the cell before may still run
	defer os.Remove(linked)
	if err := errors.Join(os.WriteFile(compile, p.compile, 0o600), os.WriteFile(link, p.link, 0o600)); err != nil {
		return err
	}
	linkArgs := []string{"-o", linked, "-importcfg", link, "-buildmode=exe", "-s", "-w"}
	if p.debug != "" {
		linkArgs = append(linkArgs, "-X=runtime.godebugDefault="+p.debug)
	}
	if err := run(dir, p.compiler, "-o", object, "-p", "main", "-lang="+p.lang, "-complete", "-nolocalimports",
		fmt.Sprintf("-c=%d", min(4, runtime.NumCPU())), "-importcfg", compile, "-pack", "./main.go"); err != nil {
		return err
	}
	if err := run(dir, p.linker, append(linkArgs, object)...); err != nil {
		return err
	}
	return os.Rename(linked, program)
}

func run(dir, tool string, args ...string) error {
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOGC=off") // a tool ends before collecting garbage pays
	return cmd.Run()
}
