//go:build checks

package generate_test

import (
	"cmp"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// killable is a program that runs docs/examples/exec_diffusers.py in its own process: it notes its pid and its finished
// items in a folder, and kills itself at the prompt "poison".
const killable = `import json, os, runpy, signal, sys
folder, adapter = sys.argv.pop(1), sys.argv.pop(1)
def note(name, text):
    with open(os.path.join(folder, name), "a") as f:
        f.write(f"{text}\n")
note("pids", os.getpid())
load, dump = json.loads, json.dumps
def loads(line, **options):
    message = load(line, **options)
    if isinstance(message, dict) and any(item.get("prompt") == "poison" for item in message.get("items", [])):
        os.write(2, b"cannot compute this\n")
        os.kill(os.getpid(), signal.SIGKILL)
    return message
def dumps(message, **options):
    if isinstance(message, dict) and message.get("type") in ("item", "progress"):
        note(message["type"], message.get("id", message.get("step")))
    return dump(message, **options)
json.loads, json.dumps = loads, dumps
runpy.run_path(adapter, run_name="__main__")
`

// TestDiffusers generates 20 rows with a tiny SDXL and a tiny SD 3, whose transformer is a DiT, while the program is
// killed twice and one row kills it: 19 images are those of a plain diffusers script within 1/255, and none is
// generated twice.
func TestDiffusers(t *testing.T) {
	dir := t.TempDir()
	testbackend.Python(t, []string{"diffusers", "torch", "transformers"},
		"../../../tools/pyref/exec_pipelines.py", dir)
	adapter := must.Get(filepath.Abs("../../../docs/examples/exec_diffusers.py"))(t)
	python := cmp.Or(os.Getenv("ANTIPODE_PYTHON"), "python3")
	for _, name := range []string{"sdxl", "sd3"} {
		t.Run(name, func(t *testing.T) {
			evaluator(t)
			notes := t.TempDir()
			script, program := filepath.Join(notes, "killable.py"), filepath.Join(notes, "program")
			for path, text := range map[string]string{script: killable,
				program: fmt.Sprintf("#!/bin/sh\nexec '%s' '%s' '%s' '%s' \"$@\"\n", python, script, notes, adapter)} {
				must.Do(t, os.WriteFile(path, []byte(text), 0o700))
			}
			t.Setenv(client.ExecVar, "")
			must.Do(t, gomlxmodels.AllowExec(program))
			var prompts []map[string]any
			for seed := range 20 {
				prompt := fmt.Sprintf("a boat and %d houses", seed)
				if seed == 13 {
					prompt = "poison"
				}
				prompts = append(prompts, map[string]any{"id": fmt.Sprint("p", seed), "prompt": prompt, "seed": seed})
			}
			images := gomlxmodels.Generate("exec:"+program, datasets.FromRows(prompts), gomlxmodels.GenerateOptions{
				Steps: 3, Guidance: 5, Width: 64, Height: 64,
				Exec: gomlxmodels.ExecOptions{Args: []string{filepath.Join(dir, name)}}})
			stop := make(chan struct{})
			killed := make(chan int)
			go func() { killed <- killTwice(notes, stop) }()
			f := rows(t, images)
			close(stop)
			must.Equal(t, <-killed, 2, "killed")
			worst := 0
			for i, outcome := range f.Texts("outcome") {
				reason := f.Texts("reason")[i]
				if i == 13 {
					if outcome != "failed" || !strings.HasPrefix(reason, "the program exited while working on this "+
						"row (2 times): signal: killed: cannot compute this") {
						t.Errorf("row %d is %s: %s", i, outcome, reason)
					}
					continue
				}
				if outcome != "ok" {
					t.Errorf("row %d is %s: %s", i, outcome, reason)
					continue
				}
				worst = max(worst, apart(pixels(t, f.Images("image")[i]), file(t, filepath.Join(dir,
					fmt.Sprintf("%s-%d.png", name, i)))))
			}
			if worst > 1 {
				t.Errorf("an image differs from diffusers' by %d/255", worst)
			}
			items := noted(notes, "item")
			if slices.Sort(items); len(items) != 19 || len(slices.Compact(items)) != 19 {
				t.Errorf("%d items generated: %v", len(items), items)
			}
			t.Logf("%d processes, %d items, worst difference %d/255", len(noted(notes, "pids")), len(items), worst)
		})
	}
}

// noted are the lines of a note.
func noted(dir, name string) []string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.Fields(string(text))
}

// killTwice kills the program in the batch after its second item, and the one after that in the batch after its eighth:
// the answers before are then received. It returns how many it killed.
func killTwice(dir string, stop chan struct{}) (kills int) {
	for _, after := range []int{2, 8} {
		steps := math.MaxInt
		for len(noted(dir, "progress")) <= steps {
			if steps == math.MaxInt && len(noted(dir, "item")) >= after {
				steps = len(noted(dir, "progress"))
			}
			select {
			case <-stop:
				return kills
			case <-time.After(time.Millisecond):
			}
		}
		pids := noted(dir, "pids")
		if pid, err := strconv.Atoi(pids[len(pids)-1]); err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
			kills++
		}
	}
	return kills
}

// file are the values of an image file.
func file(t *testing.T, path string) (out []uint32) {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	m := must.Get(png.Decode(f))(t)
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			r, g, b, _ := m.At(x, y).RGBA()
			out = append(out, r>>8, g>>8, b>>8)
		}
	}
	return out
}
