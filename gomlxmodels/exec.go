package gomlxmodels

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"antipode/datasets"
	"antipode/kernel/client"
)

// Exec is the prefix of the name of a model that is a program: "exec:./my_generator.py".
const Exec = "exec:"

// ExecOptions are the options of a model that is a program.
type ExecOptions struct {
	// Args are the program's arguments. Results depend on them.
	Args []string `json:"args,omitempty"`

	// Workers is the number of processes, 1 to 64; default 1. −1 starts one per visible GPU.
	Workers int `json:"workers,omitempty"`

	// Timeout is the time limit of a batch; default 20 minutes for a process's first batch, for which it loads the
	// weights, then 10 minutes or 20 times the median, whichever is longer.
	Timeout time.Duration `json:"timeout,omitempty"`

	// Idle is the time without output after which a process is ended and restarted; default 5 minutes.
	Idle time.Duration `json:"idle,omitempty"`

	// Env are names of variables of this process that the program receives although they look like secrets, for
	// example "HF_TOKEN". Others are inherited from the backend.
	Env []string `json:"env,omitempty"`

	// ShareDevice lets other models use the GPU while the program works.
	ShareDevice bool `json:"share_device,omitempty"`
}

// AllowExec allows a program to run as a model of this process: Generate("exec:"+path, …). It is the approval that a
// program needs, next to --model exec:PATH and --allow-exec PATH of the antipode command. It holds for the file as it
// is now, and for this process: a notebook, which runs a process per cell, declares it as a variable.
//
//	var allowed = models.AllowExec("./my_generator.py")
func AllowExec(path string) error { return client.AllowExec(path) }

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// execModel returns the name of a program with its absolute path, and reports wrong options.
func execModel(model string, o ExecOptions) (string, error) {
	path := strings.TrimPrefix(model, Exec)
	if !strings.ContainsRune(path, filepath.Separator) {
		return "", invalid(fmt.Errorf("%s: give the program's path, for example exec:./%s", model,
			cmp.Or(path, "generator.py")))
	}
	if o.Workers < -1 || o.Workers > 64 {
		return "", invalid(fmt.Errorf("workers %d: must be between 1 and 64, or -1 for one per GPU", o.Workers))
	}
	if o.Timeout < 0 || o.Idle < 0 {
		return "", invalid(errors.New("a time limit of the program is negative"))
	}
	for _, name := range o.Env {
		if !variableName.MatchString(name) {
			return "", invalid(fmt.Errorf("environment variable %q: give its name alone", name))
		}
	}
	abs, err := filepath.Abs(path)
	return Exec + abs, err
}

// resolveExec returns a model's name as a plan has it, of a program or another one, and reports wrong options of a
// program.
func resolveExec(model string, o ExecOptions) (string, error) {
	if strings.HasPrefix(model, Exec) {
		return execModel(model, o)
	}
	if err := notExec(o); err != nil {
		return "", err
	}
	return resolve(model)
}

// notExec reports options of a program for a model that is none.
func notExec(o ExecOptions) error {
	if len(o.Args) > 0 || o.Workers != 0 || o.Timeout != 0 || o.Idle != 0 || len(o.Env) > 0 || o.ShareDevice {
		return invalid(errors.New("arguments, workers, time limits and environment are for a program (a model named " +
			"exec:PATH)"))
	}
	return nil
}

// execSecrets lists the variables that a run with a program needs: the approval, and those that it is passed.
func execSecrets(t datasets.Table, model string, o ExecOptions) datasets.Table {
	if !strings.HasPrefix(model, Exec) {
		return t
	}
	for _, name := range append([]string{client.ExecVar}, o.Env...) {
		t = t.Secret(name)
	}
	return t
}
