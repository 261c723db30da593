//go:build torture

package torture

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"antipode/internal/must"
)

// stages are the commands of a chain: generate first, then those that read its table.
var stages = []string{"generate", "segment", "embed", "caption"}

// prompts are those of a table, of which each has two images.
const prompts = 120

// rounds is the number of rounds of a scenario.
func rounds(t *testing.T) int {
	text := os.Getenv("ANTIPODE_TORTURE_ROUNDS")
	if text == "" {
		return 5
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("ANTIPODE_TORTURE_ROUNDS is %q", text)
	}
	return n
}

// fewer is the number of rounds of a scenario whose rounds are long.
func fewer(t *testing.T) int { return (rounds(t) + 4) / 5 }

// binaries are the programs under test.
type binaries struct{ antipode, echo string }

func build(t *testing.T) *binaries {
	t.Helper()
	dir := t.TempDir()
	b := &binaries{filepath.Join(dir, "antipode"), filepath.Join(dir, "echo")}
	for out, pkg := range map[string]string{b.antipode: "../..", b.echo: "../../docs/examples/echo_adapter"} {
		if text, err := exec.Command("go", "build", "-trimpath", "-o", out, pkg).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", pkg, err, text)
		}
	}
	return b
}

// world is a store with its runtime folder, and a folder of tables.
type world struct {
	*binaries
	home, run, out string
}

func (b *binaries) world(t *testing.T) *world {
	t.Helper()
	w := &world{b, filepath.Join(t.TempDir(), "store"), shortDir(t), t.TempDir()}
	must.Do(t, os.Mkdir(w.home, 0o700))
	t.Cleanup(w.stop)
	return w
}

// installed returns a world whose commands are the copy in its store, as those of kernels are: a round is shorter,
// because another program computes its digest at each start.
func (b *binaries) installed(t *testing.T) *world {
	t.Helper()
	w := b.world(t)
	w.must(t, w.antipode("backend", "start"))
	build := must.Get(os.ReadFile(filepath.Join(w.home, "bin", "current")))(t)
	w.binaries = &binaries{filepath.Join(w.home, "bin", strings.TrimSpace(string(build)), "antipode"), b.echo}
	return w
}

// shortDir is a temporary folder with a short path, as those of sockets are.
func shortDir(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "apt"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (w *world) antipode(args ...string) *exec.Cmd {
	cmd := exec.Command(w.binaries.antipode, args...)
	cmd.Env = append(os.Environ(), "ANTIPODE_HOME="+w.home, "XDG_RUNTIME_DIR="+w.run, "ANTIPODE_PLUGIN=none",
		"ANTIPODE_BIN=", "ANTIPODE_MODULE=")
	cmd.Dir = w.out
	return cmd
}

// command is that of a stage. It computes without a device.
func (w *world) command(stage string, more ...string) *exec.Cmd {
	args := []string{stage, "--model", "exec:" + w.echo, "--out", stage + ".csv"}
	switch stage {
	case "generate":
		args = append(args, "--prompts", "prompts.csv", "--n", "2", "--size", "16x16")
		var b strings.Builder
		b.WriteString("id,prompt,object\n")
		for i := range prompts {
			fmt.Fprintf(&b, "p%d,a boat and %d houses,boat\n", i, i)
		}
		_ = os.WriteFile(filepath.Join(w.out, "prompts.csv"), []byte(b.String()), 0o600)
	case "segment":
		args = append(args, "--in", "generate.csv", "--object", "object")
	case "ask":
		args = append(args, "--in", "generate.csv", "--question", "which?", "--choices", "this,that")
	case "table":
		args = []string{stage, "--in", "generate.csv", "--out", "table.csv"}
	case "score":
		args = []string{stage, "--metric", "precision-coverage", "--real", "embed.csv", "--gen", "embed.csv",
			"--vector", "full", "--by", "prompt_id", "--k", "1", "--cells", "none", "--resamples", "300", "--out",
			"score.csv"}
	default:
		args = append(args, "--in", "generate.csv")
	}
	return w.antipode(append(args, more...)...)
}

func (w *world) must(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", strings.Join(cmd.Args[1:], " "), err, text)
	}
}

// chain runs the stages before one, "" = all.
func (w *world) chain(t *testing.T, before string) {
	t.Helper()
	for _, stage := range stages {
		if stage == before {
			return
		}
		w.must(t, w.command(stage))
	}
}

// clean removes the tables.
func (w *world) clean(t *testing.T) {
	t.Helper()
	entries := must.Get(os.ReadDir(w.out))(t)
	for _, e := range entries {
		must.Do(t, os.RemoveAll(filepath.Join(w.out, e.Name())))
	}
}

// forget removes the results of a stage from the store, and its table.
func (w *world) forget(t *testing.T, stage string) {
	t.Helper()
	w.stop()
	items := must.Get(filepath.Glob(filepath.Join(w.home, "items", stage+"-*")))(t)
	if stage == "generate" {
		items = append(items, filepath.Join(w.home, "blobs"))
	}
	for _, path := range append(items, filepath.Join(w.out, stage+".csv"), filepath.Join(w.out, stage+".images")) {
		must.Do(t, os.RemoveAll(path))
	}
}

func (w *world) stop() {
	if len(w.processes(serves)) > 0 {
		_ = w.antipode("backend", "stop").Run()
	}
}

// backend returns the process of the backend, 0 if none runs.
func (w *world) backend() int {
	var status struct{ PID int }
	text, err := w.antipode("backend", "status", "--json").Output()
	if err != nil || json.Unmarshal(text, &status) != nil {
		return 0
	}
	return status.PID
}

// serves reports whether a command line is that of a backend.
func serves(_ int, line string) bool { return strings.Contains(line, "\x00backend\x00serve") }

// killBackend kills the backend without a warning, also one that is starting, and reports whether one ran.
func (w *world) killBackend() bool {
	pids := w.processes(serves)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(pids) > 0
}

// running is a command in a process group of its own.
type running struct {
	*exec.Cmd
	ended chan error
}

func start(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must.Do(t, cmd.Start())
	r := &running{cmd, make(chan error, 1)}
	go func() { r.ended <- cmd.Wait() }()
	return r
}

// kill kills the command and its children, and reports whether it ran.
func (r *running) kill() bool {
	ran := len(r.ended) == 0
	_ = syscall.Kill(-r.Process.Pid, syscall.SIGKILL)
	return ran
}

// sleep waits for a random part of the time that a command takes.
func sleep(took time.Duration) { time.Sleep(time.Duration(rand.Int64N(int64(took)))) }

// rows are those of a stage's table: the id, or else the number of the row, and the digest of all values, with the
// content of images for their paths.
func (w *world) rows(t *testing.T, stage string) (rows []string) {
	t.Helper()
	f, err := os.Open(filepath.Join(w.out, stage+".csv"))
	if err != nil {
		t.Errorf("%s: %v", stage, err)
		return nil
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil || len(records) == 0 {
		t.Errorf("%s: %v", stage, err)
		return nil
	}
	id, image := slices.Index(records[0], "id"), slices.Index(records[0], "image")
	for i, record := range records[1:] {
		name := fmt.Sprint(i)
		if id >= 0 {
			name = record[id]
		}
		if image >= 0 {
			data, err := os.ReadFile(filepath.Join(w.out, record[image]))
			if err != nil {
				t.Errorf("%s: %v", stage, err)
			}
			record[image] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		rows = append(rows, fmt.Sprintf("%s %x", name, sha256.Sum256(fmt.Appendf(nil, "%q", record))))
	}
	return rows
}

// count are the rows of a scenario that differ from those of an undisturbed run.
type count struct {
	rounds, lost, doubled, wrong int
	kills                        int    // rounds in which a process that ran was killed
	note                         string // printed after the result
}

// killed counts a round in which a process was killed, if one ran.
func (c *count) killed(ran bool) {
	if ran {
		c.kills++
	}
}

func (c *count) compare(t *testing.T, stage string, got, want []string) {
	t.Helper()
	seen := map[string]string{}
	for _, row := range got {
		id, _, _ := strings.Cut(row, " ")
		if seen[id] != "" {
			c.doubled++
		}
		seen[id] = row
	}
	lost, doubled, wrong := c.lost, c.doubled, c.wrong
	for _, row := range want {
		id, _, _ := strings.Cut(row, " ")
		switch seen[id] {
		case "":
			c.lost++
		case row:
		default:
			c.wrong++
		}
	}
	if len(want) == 0 || lost != c.lost || doubled != c.doubled || wrong != c.wrong {
		t.Errorf("%s: %d rows of %d: %d lost, %d doubled, %d wrong", stage, len(got), len(want), c.lost-lost,
			c.doubled-doubled, c.wrong-wrong)
	}
}

// table prints a line for each scenario: when it ends, because a night may be too short, and all at the end of the
// test. kills are the rounds of all scenarios in which a process was killed.
type table struct {
	t     *testing.T
	lines []string
	kills int
}

func newTable(t *testing.T) *table {
	tab := &table{t: t}
	t.Cleanup(func() {
		fmt.Printf("%-40s %7s %7s %6s %8s %6s %9s  %s\n%s\nprocesses were killed in %d rounds\n", "scenario", "rounds",
			"killed", "lost", "doubled", "wrong", "time", "result", strings.Join(tab.lines, "\n"), tab.kills)
	})
	return tab
}

func (tab *table) run(name string, n int, scenario func(t *testing.T, c *count)) {
	c, start, result := &count{rounds: n}, time.Now(), "" // "" = not selected by -run
	passed := tab.t.Run(name, func(t *testing.T) {
		result = "skipped"
		scenario(t, c)
		result = "ok"
	})
	if result == "" {
		return
	}
	if !passed {
		result = "FAILED"
	}
	tab.kills += c.kills
	line := fmt.Sprintf("%-40s %7d %7d %6d %8d %6d %9s  %s", name, n, c.kills, c.lost, c.doubled, c.wrong,
		time.Since(start).Round(time.Second/10), strings.TrimSpace(result+" "+c.note))
	fmt.Println(line)
	tab.lines = append(tab.lines, line)
}
