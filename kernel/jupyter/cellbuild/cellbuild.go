// Package cellbuild builds the programs of notebook cells as "go build" does, without what it repeats for every
// program: finding packages, hashing them, and asking every tool for its version. That takes longer than compiling and
// linking the program of a short cell.
//
// The first build of a folder is "go build". After it, "go list -export" says which packages the program may import and
// where the build cache holds them, and the next builds compile and link main.go against these files. Whatever is not
// as it was then (a file of a package that is being edited, go.mod, another import, a mistake in the program) is built
// by "go build" again, and its messages are what a user sees.
//
// For these files the packages are compiled once more, in the background: without debugging information, which the
// linker would read and drop, and without C. It takes half a minute of a processor and saves a third of each link.
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
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// ImportsVar is the environment variable with the packages that programs may import from the start, separated by
// spaces. A program whose imports "go build" accepted adds its own.
const ImportsVar = "ANTIPODE_CELL_IMPORTS"

// planDir is the folder of a copy of main.go, in the folder of the programs: the next program replaces main.go while
// the packages of this one are listed.
const planDir = "listed"

// patience is how long builds wait for a plan after it is begun. Listing packages that are compiled takes less.
const patience = 3 * time.Second

// linkFlags are the only flags of programs that are built without "go build".
const linkFlags = "-ldflags=-s -w"

// Builder builds the programs of one folder, one after another.
type Builder struct {
	plan   *plan      // nil: not known
	next   chan *plan // not nil: the next plan is being made since begun
	begun  time.Time
	direct int // programs built without "go build"
}

// plan is what a build needs to know of the packages.
type plan struct {
	imports  []string // what programs may import
	lang     string   // such as go1.26
	debug    string   // the program's default of GODEBUG
	compile  []byte   // an importcfg: the packages that the program may import
	link     []byte   // an importcfg: these and all that they import
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
	b.await(time.Until(b.begun.Add(patience)))
	if b.plan != nil && b.plan.build(cmd.Dir, a[3]) == nil {
		b.direct++
		return nil, nil
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		b.begin(cmd.Dir)
	}
	return out, err
}

// begin begins a plan with a copy of main.go, unless one is being made.
func (b *Builder) begin(dir string) {
	if b.next != nil || keep(dir) != nil {
		return
	}
	next, imports := make(chan *plan, 1), strings.Fields(os.Getenv(ImportsVar))
	if b.plan != nil {
		imports = b.plan.imports
	}
	go func() { next <- newPlan(dir, imports, withoutC) }()
	b.next, b.begun = next, time.Now()
}

// await takes the plan that is being made, if it is known within a time.
func (b *Builder) await(limit time.Duration) {
	if b.next == nil {
		return
	}
	select {
	case p := <-b.next:
		b.plan, b.next = p, nil
	case <-time.After(max(limit, time.Millisecond)):
	}
}

// keep copies main.go to planDir.
func keep(dir string) error {
	program, err := os.ReadFile(filepath.Join(dir, "main.go"))
	return errors.Join(err, os.MkdirAll(filepath.Join(dir, planDir), 0o700),
		os.WriteFile(filepath.Join(dir, planDir, "main.go"), program, 0o600))
}

// withoutC are the tags of Go's own resolvers of names of hosts and users. Programs that look names up (nothing in a
// notebook does unless it imports a package that does) keep the resolvers that "go build" chooses.
const withoutC = "-tags=netgo,osusergo"

// resolveNothing are packages that import net or os/user and look up no name.
var resolveNothing = regexp.MustCompile(`/datasets/client$|/gofrs/uuid$|/gonb/common$|^k8s\.io/klog/v2$`)

// Resolves reports whether a package with these imports may look up names of hosts or users, in ways that differ with
// the C library.
func Resolves(path string, imports []string) bool {
	direct := slices.Contains(imports, "net") || slices.Contains(imports, "os/user")
	return direct && !resolveNothing.MatchString(path)
}

// newPlan lists the packages. It returns nil if programs of this folder cannot be built without "go build".
func newPlan(dir string, imports []string, flags ...string) *plan {
	begun := time.Now()
	args := append([]string{"go", "list", "-gcflags=all=-dwarf=false", "-deps", "-export", "-json=ImportPath,Name," +
		"Dir,Export,DefaultGODEBUG,Standard,Imports,CgoFiles,EmbedFiles,Module"}, flags...)
	if nice, err := exec.LookPath("nice"); err == nil { // programs of cells go first
		args = append([]string{nice}, args...)
	}
	args = append(append(args, "./"+planDir), imports...)
	list := exec.Command(args[0], args[1:]...)
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil
	}
	env := exec.Command("go", "env", "GOTOOLDIR", "GOWORK")
	env.Dir = dir
	values, err := env.Output()
	if err != nil {
		return nil
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
			return nil
		}
		if len(flags) > 0 && Resolves(g.ImportPath, g.Imports) {
			return newPlan(dir, imports)
		}
		switch {
		case g.Name == "main" && g.Dir == filepath.Join(dir, planDir):
			if g.Module == nil {
				return nil
			}
			p.lang, p.debug = "go"+language(g.Module.GoVersion), g.DefaultGODEBUG
			for _, i := range g.Imports {
				if !slices.Contains(imports, i) {
					imports = append(imports, i)
				}
			}
			continue
		case len(g.CgoFiles) > 0 && !g.Standard:
			return nil // needs the linker of C
		case !g.Standard && (g.Module == nil || g.Module.Version == "" || g.Module.Replace != nil): // may be edited
			p.watch(g.Dir)
			for _, name := range g.EmbedFiles {
				file := filepath.Join(g.Dir, name)
				p.watch(file)
				p.watch(filepath.Dir(file)) // for new ones
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
	state, changed, err := p.current()
	if p.lang == "" || err != nil || changed.After(begun.Add(-50*time.Millisecond)) {
		return nil
	}
	p.imports, p.state = imports, state
	return p
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

// current hashes names, sizes and times of the watched files and of the files in watched folders. It also returns the
// latest time.
func (p *plan) current() (state uint64, changed time.Time, err error) {
	h := fnv.New64a()
	add := func(path string, info fs.FileInfo) {
		if info.ModTime().After(changed) {
			changed = info.ModTime()
		}
		if !info.IsDir() {
			fmt.Fprintf(h, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, path := range p.watched {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // such as go.sum
		} else if err != nil {
			return 0, changed, err
		}
		add(path, info)
		if !info.IsDir() {
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return 0, changed, err
		}
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(path, e.Name()))
			if err != nil {
				return 0, changed, err
			}
			add(e.Name(), info)
		}
	}
	return h.Sum64(), changed, nil
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
	if state, _, err := p.current(); err != nil || state != p.state {
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
