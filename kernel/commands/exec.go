package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets/client"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage/execmodel"
	"antipode/internal/atomicfile"
)

// execUsage is the part of the help of --model about programs.
const execUsage = ", or exec:PATH, a program that runs the model (docs/adapters.md)"

// allowExec allows the program that a --model names: on the command line, the user has.
func allowExec(model string) error {
	path, program := strings.CutPrefix(model, gomlxmodels.Exec)
	if !program || !strings.Contains(path, "/") {
		return nil // the stage reports a path without a separator
	}
	return client.AllowExec(path)
}

// checkAdapter tests a program against the protocol.
func checkAdapter(ctx context.Context, args []string) error {
	var o gomlxmodels.ExecOptions
	fs := flags("check-adapter", "")
	addOptions(fs, &o, "workers", "share-device")
	task := fs.String("task", execmodel.Generate, "what the program does: "+strings.Join(execmodel.Tasks, ", "))
	var check execmodel.CheckOptions
	fs.BoolVar(&check.Quick, "quick", false, "omit the tests that load the weights again")
	fs.IntVar(&check.Steps, "steps", 0, "denoising steps of an image in the tests; default the program's")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if !slices.Contains(execmodel.Tasks, *task) {
		return usage("--task %q: must be one of %s", *task, strings.Join(execmodel.Tasks, ", "))
	}
	if len(rest) != 1 || !strings.HasPrefix(rest[0], gomlxmodels.Exec) {
		return usage("check-adapter takes one program: antipode check-adapter exec:./PROGRAM")
	}
	program, digest, err := execmodel.Inspect(strings.TrimPrefix(rest[0], gomlxmodels.Exec))
	if err != nil {
		return usageError{err}
	}
	secrets := map[string]string{}
	for _, name := range o.Env {
		secrets[name] = os.Getenv(name)
	}
	result, err := execmodel.Check(ctx, execmodel.Options{Program: program, Digest: digest, Args: o.Args, Task: *task,
		Timeout: o.Timeout, Idle: o.Idle, Secrets: secrets}, check, printFinding)
	if err != nil {
		return err
	}
	if result.Ready != nil {
		if err := compareVersions(program, *task, o.Args, result); err != nil {
			return err
		}
	}
	if !result.Passed {
		return errors.New("the program does not conform to the protocol; see the lines FAIL")
	}
	return nil
}

func printFinding(f execmodel.Finding) {
	state, detail := "ok  ", ""
	switch {
	case f.Err != nil:
		state, detail = "FAIL", ": "+oneLine(f.Err)
	case f.Skipped != "":
		state, detail = "skip", ": "+f.Skipped
	}
	fmt.Printf("%s %2d  %s%s\n", state, f.Number, f.Title, detail)
}

// compareVersions warns if the program's answer to a fixed item changed since its last check, and its version did not.
func compareVersions(program, task string, args []string, now *execmodel.Checked) error {
	type state struct{ Version, Model, Device, Image string }
	current := state{now.Ready.Version, now.Ready.Model.Digest, now.Ready.DeviceKind + " " + now.Ready.DType, now.Image}
	home, err := client.Home()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", program, task, args))
	path := filepath.Join(home, "models", "exec", "check-"+hex.EncodeToString(sum[:12])+".json")
	var last state
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &last) == nil {
		image := last.Image
		if last.Image = current.Image; last == current && image != current.Image {
			say("warning: answers changed since the last check, and the version is %q still. Fix: raise the version, "+
				"or stored results of both are mixed", current.Version)
		}
	}
	text, err := json.Marshal(current)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, text)
}
