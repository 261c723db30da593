//go:build docs

package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/gomlxmodels/device"
	"antipode/internal/must"
	"antipode/kernel/backend/plugin"
	"antipode/kernel/jupyter/notebook"
	"antipode/test/testbackend"
)

// exceptions are the commands that are not executed, by how they begin, each with the reason. check is what is executed
// in their place: "help" runs them with --help, which parses the flags before it; "package" lists the Go package they
// run; otherwise a command, or "" for none.
var exceptions = []struct{ begins, why, check string }{
	{"go test ./...", "it would run itself; .ci/run does it", ""},
	{"go test -tags checks ", "an hour, with the reference libraries", "package"},
	{"PYTHON=python3 go run ", "an hour, with the reference libraries", "package"},
	{"go run ./tools/bench cells ", "needs a real model", "package"},
	{"go run ./tools/bench large ", "minutes, and gigabytes of memory", "package"},
	{"go run ./tools/bench growth", "minutes, and gigabytes of memory", "package"},
	{"antipode lab ", "opens a browser", "antipode help lab"},
	{"antipode view e.parquet", "serves until it is interrupted; kernel/view has a test of it", "help"},
	{"antipode view g.images ", "serves until it is interrupted; kernel/view has a test of it", "help"},
	{"antipode models pull ", "gigabytes from the network", "help"},
	{"antipode models check stable-diffusion-v1-5", "needs a real model", "help"},
	{"antipode models convert ", "needs a real model", "help"},
	{"antipode generate --model stable-diffusion-v1-5 ", "needs a real model", "help"},
	{"antipode segment --model clipseg ", "needs a real model", "help"},
	{"antipode embed --model vit-base-patch16-224 ", "needs a real model", "help"},
	{"antipode embed --model clip-vit-base-patch32 ", "needs a real model", "help"},
	{"antipode embed --model dinov2-base ", "needs a real model", "help"},
	{"antipode embed --model inception-fid ", "needs a real model", "help"},
	{"antipode import --dir exports ", "needs images of Midjourney; kernel/commands has a test of it", "help"},
	{"antipode data check ", "needs an archive of a data set; kernel/commands has a test of it", "help"},
	{"antipode data images ", "needs a table of URLs and the network; kernel/commands has a test of it", "help"},
	{"antipode generate --model exec:./exec_diffusers.py ", "needs diffusers and a real model", "help"},
	{"antipode annotate make --task visage ", "needs SeeGULL and ViSAGe; kernel/annotate has a test", "help"},
	{"antipode store merge ", "needs a bucket; kernel/commands has a test of it", "help"},
	{"antipode ask --model chat:", "needs a server; kernel/backend/all has a test of it", "help"},
	{"antipode score --metric calibrated", "needs labels by people; metrics has a test of it", "help"},
	{"antipode annotate collect ", "needs the files of raters; kernel/commands has a test of it", "help"},
	{"antipode score --metric visage-association --in showings.csv", "as above", "help"},
	{"antipode score --metric agreement --in ratings.csv", "as above", "help"},
	{"python3 translate.py ", "needs transformers and a real model", ""},
	{"pip install ", "needs Python and the network", ""},
	{"papermill ", "needs Python; integrations/papermill has a test", ""},
}

// packagePath is a package, or a pattern of packages, of a go command.
var packagePath = regexp.MustCompile(`\./\S+`)

// reader is a newcomer: an empty home folder, the Go toolchain with its caches, and nothing else.
type reader struct {
	t    *testing.T
	home string
	work string // where commands run
	env  []string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	var found plugin.Choice
	if home, err := client.Home(); err == nil {
		found = plugin.Current(home)
	}
	if found.Kind == device.Go || found.Path == "" {
		testbackend.Missing(t, "xla", "no XLA plugin: antipode doctor tells how to get one")
	}
	root := must.Get(os.MkdirTemp("", "docs"))(t) // short: the path of a socket must fit
	t.Cleanup(func() { os.RemoveAll(root) })
	r := &reader{t: t, home: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	for _, dir := range []string{r.home, r.work} {
		must.Do(t, os.Mkdir(dir, 0o755))
	}
	for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN"} {
		out := must.Get(exec.Command("go", "env", name).Output())(t)
		r.env = append(r.env, name+"="+strings.TrimSpace(string(out)))
	}
	path := filepath.Join(r.home, "go", "bin") + string(filepath.ListSeparator) + os.Getenv("PATH")
	r.env = append(r.env, "HOME="+r.home, "PATH="+path, "TERM=dumb", "TMPDIR="+root, plugin.Env+"="+found.Path)
	t.Cleanup(func() { r.shell(r.work, "antipode backend stop") })
	return r
}

// shell executes a command and returns what it printed.
func (r *reader) shell(dir, command string) (string, error) {
	cmd := exec.CommandContext(r.t.Context(), "bash", "-euo", "pipefail", "-c", command)
	if r.t.Context().Err() != nil { // in a cleanup
		cmd = exec.Command("bash", "-euo", "pipefail", "-c", command)
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, r.env, time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// follow executes a statement of a page as a reader would: go commands in the folder of the repository, the others
// elsewhere.
func (r *reader) follow(page, statement string) {
	r.t.Helper()
	command, dir := statement, r.work
	if strings.HasPrefix(statement, "go ") {
		dir = root
	}
	if strings.HasPrefix(statement, tour) {
		if testing.Short() {
			r.t.Logf("%s: not executed with -short: %s", page, statement)
			return
		}
		defer r.tidy("tour.out.ipynb", "tour.out.html")
	}
	for i, e := range exceptions {
		if !strings.HasPrefix(statement, e.begins) {
			continue
		}
		seen[i] = true
		switch e.check {
		case "help":
			command = statement + " --help"
		case "package":
			command, dir = "go list "+packagePath.FindString(statement), root
			r.flags(page, statement)
		default:
			command, dir = e.check, root
		}
		r.t.Logf("%s: not executed (%s): %s", page, e.why, statement)
		break
	}
	if command == "" {
		return
	}
	start := time.Now()
	if out, err := r.shell(dir, command); err != nil {
		r.t.Fatalf("%s: %s\n%v\n%s", page, command, err, out)
	}
	r.t.Logf("%s: %.1f s: %s", page, time.Since(start).Seconds(), command)
}

// tour is the first command of README.md. It takes minutes.
const tour = "go run . run notebooks/tour.ipynb"

// tidy removes what a command left in the folder of the repository.
func (r *reader) tidy(names ...string) {
	for _, name := range names {
		if err := os.Remove(filepath.Join(root, name)); err != nil {
			r.t.Error(err)
		}
	}
}

var longFlag = regexp.MustCompile(` -([a-z]+)`)

// flags checks that the program a statement runs defines the flags it gives.
func (r *reader) flags(page, statement string) {
	r.t.Helper()
	if strings.HasPrefix(statement, "go test") {
		return
	}
	files := must.Get(filepath.Glob(filepath.Join(root, packagePath.FindString(statement), "*.go")))(r.t)
	var source strings.Builder
	for _, name := range files {
		data := must.Get(os.ReadFile(name))(r.t)
		source.Write(data)
	}
	for _, m := range longFlag.FindAllStringSubmatch(statement, -1) {
		defined := regexp.MustCompile(`[(,{] ?"` + m[1] + `"[,:] `)
		if !defined.MatchString(source.String()) {
			r.t.Errorf("%s: the program has no flag -%s: %s", page, m[1], statement)
		}
	}
}

// seen are the exceptions that a page needed.
var seen = map[int]bool{}

// run executes a Go example as a cell of a notebook.
func (r *reader) run(page, code string) {
	r.t.Helper()
	nb := notebook.Notebook{Minor: 5, Cells: []*notebook.Cell{{Type: notebook.Code, ID: "example", Source: code}},
		Metadata: map[string]any{"kernelspec": map[string]any{"name": "antipode", "language": "go"}}}
	must.Do(r.t, nb.Save(filepath.Join(r.work, "example.ipynb")))
	start := time.Now()
	if out, err := r.shell(r.work, "antipode run example.ipynb"); err != nil {
		r.t.Fatalf("%s: %v\n%s\n%s", page, err, code, out)
	}
	done := must.Get(notebook.Read(filepath.Join(r.work, "example.out.ipynb")))(r.t)
	if len(done.Cells[0].Outputs) == 0 {
		r.t.Errorf("%s: the example shows nothing:\n%s", page, code)
	}
	r.t.Logf("%s: %.1f s: Go example of %d lines", page, time.Since(start).Seconds(), strings.Count(code, "\n"))
}

// TestPages follows README.md and docs/*.md from the first line to the last.
func TestPages(t *testing.T) {
	blocks, spans := read(t)
	r := newReader(t)
	examples := plotExamples(t)
	shell, goCode := 0, 0
	for _, b := range blocks {
		switch b.language {
		case "sh":
			for _, s := range statements(b.code) {
				shell++
				r.follow(b.page, s)
			}
		case "go":
			goCode++
			if b.page != "gallery.md" {
				r.run(b.page, b.code)
			} else if code := strings.TrimSuffix(squeeze(b.code), "plots.Show(fig)"); code == "" ||
				!strings.Contains(examples, code) {
				t.Errorf("gallery.md: not part of an example of package plots, which go test ./plots runs:\n%s", b.code)
			}
		case "text":
		default:
			t.Errorf("%s: a code block in the language %q, which no test executes:\n%s", b.page, b.language, b.code)
		}
	}
	must.True(t, shell >= 25 && goCode >= 40, "only %d shell commands and %d Go examples found", shell, goCode)
	for i, e := range exceptions {
		must.True(t, seen[i], "no page has the command %q any more: remove the exception", e.begins)
	}
	for _, s := range spans {
		if name, ok := strings.CutPrefix(s, "antipode "); ok {
			if name, _, _ = strings.Cut(name, " "); strings.HasPrefix(name, "-") {
				continue
			}
			if out, err := r.shell(r.work, "antipode help "+name); err != nil {
				t.Errorf("`%s`: %v: %s", s, err, out)
			}
		}
	}
	t.Run("tables", func(t *testing.T) {
		script := must.Get(filepath.Abs("tables.py"))(t)
		t.Log(testbackend.Python(t, []string{"pandas", "polars", "duckdb", "pyarrow"}, script, r.work))
	})
}

// plotExamples is the code of package plots' examples, squeezed.
func plotExamples(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "plots", "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	var all strings.Builder
	for _, name := range files {
		data := must.Get(os.ReadFile(name))(t)
		all.WriteString(squeeze(string(data)))
	}
	return all.String()
}

// squeeze drops white space, which the gallery lays out its own way.
func squeeze(code string) string { return strings.Join(strings.Fields(code), "") }
