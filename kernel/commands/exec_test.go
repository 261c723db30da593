package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/test/stagetest"
)

// TestCheckAdapter checks the echo adapter, and a program that prints.
func TestCheckAdapter(t *testing.T) {
	run := inProcess(t)
	dir := t.TempDir()
	t.Setenv(client.HomeVar, filepath.Join(dir, "home"))
	echo := stagetest.Echo(t, dir)
	printed, err := run("check-adapter", "exec:"+echo)
	must.True(t, err == nil && strings.Count(printed, "ok ") == 16, "%v\n%s", err, printed)
	for _, task := range []string{"segment", "caption", "ask", "embed"} {
		printed, err := run("check-adapter", "exec:"+echo, "--task", task, "--quick")
		must.True(t, err == nil && strings.Count(printed, "ok ")+strings.Count(printed, "skip ") == 16,
			"%v\n%s", err, printed)
	}
	// generate refuses a masked prompt, and sends the one that is displayed masked
	for name, c := range map[string][2]string{"masked.csv": {"a masked 1 (not rated) person", "masked 1 (not rated)"},
		"prompts.csv": {"a loud person,a masked 1 (not rated) person", ""}} {
		file := filepath.Join(dir, name)
		header := "id,prompt"
		if c[1] == "" {
			header += ",prompt_shown"
		}
		must.Do(t, os.WriteFile(file, []byte(header+"\np1,"+c[0]+"\n"), 0o600))
		_, err := run("generate", "--model", "exec:"+echo, "--prompts", file, "--out",
			filepath.Join(dir, "out", name))
		if c[1] == "" && err != nil || c[1] != "" && (err == nil || !strings.Contains(err.Error(), c[1])) {
			t.Errorf("%s: %v", name, err)
		}
	}
	prints := filepath.Join(dir, "prints")
	must.Do(t, os.WriteFile(prints, []byte("#!/bin/sh\necho Loading\nexec "+echo+"\n"), 0o700))
	printed, err = run("check-adapter", "exec:"+prints)
	if err == nil || !strings.HasPrefix(printed, `FAIL  1  ready within 60 s, with valid fields: line 1 of stdout is `+
		`not JSON: "Loading". Fix: send prints to stderr`) {
		t.Errorf("%v\n%s", err, printed)
	}
	for _, args := range []string{"check-adapter", "check-adapter " + echo, "check-adapter exec:echo",
		"check-adapter exec:" + dir, "check-adapter exec:" + echo + " --task plot"} {
		misused(run(strings.Fields(args)...))(t)
	}
}
