package gomlxmodels

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
)

// Exec is the prefix of the name of a model that is a program: "exec:./my_generator.py".
const Exec = "exec:"

// ExecOptions are the options of a model that is a program.
type ExecOptions struct {
	// Args are the program's arguments. Results depend on them.
	Args []string `json:"args,omitempty" flag:"exec-arg" repeated:"true" help:"an ARGUMENT of the program; may be given several times"`

	// Workers is the number of processes, 1 to 64; default 1. −1 starts one per visible GPU.
	Workers int `json:"workers,omitempty" min:"-1" max:"64" word:"gpus=-1" help:"processes of the program, or gpus: one per visible GPU; default 1"`

	// Timeout is the time limit of a batch; default 20 minutes for a process's first batch, for which it loads the
	// weights, then 10 minutes or 20 times the median, whichever is longer.
	Timeout time.Duration `json:"timeout,omitempty" flag:"exec-timeout" min:"0" help:"time limit of a batch, for example 30m; default 20m for the first, then 10m or 20 times the median"`

	// Idle is the time without output after which a process is ended and restarted; default 5 minutes.
	Idle time.Duration `json:"idle,omitempty" flag:"exec-idle" min:"0" help:"time without output after which the program is restarted; default 5m"`

	// Env are names of variables of this process that the program receives although they look like secrets, for
	// example "HF_TOKEN". Others are inherited from the backend.
	Env []string `json:"env,omitempty" flag:"exec-env" repeated:"true" help:"the NAME of a variable that the program receives although it looks like a secret; may be given several times"`

	// ShareDevice lets other models use the GPU while the program works.
	ShareDevice bool `json:"share_device,omitempty" help:"let other models use the GPU while the program works"`
}

// AllowExec allows a program to run as a model of this process: Generate("exec:"+path, …). It is the approval that a
// program needs, next to --model exec:PATH and --allow-exec PATH of the antipode command. It holds for the file as it
// is now, and for this process: a notebook, which runs a process per cell, declares it as a variable.
//
//	var allowed = models.AllowExec("./my_generator.py")
func AllowExec(path string) error { return client.AllowExec(path) }

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// resolveModel returns a model's name as a plan has it, that of a program with its absolute path.
func resolveModel(model string, o ExecOptions) (string, error) {
	path, program := strings.CutPrefix(model, Exec)
	if !program {
		return resolve(model)
	}
	if !strings.ContainsRune(path, filepath.Separator) {
		return "", invalid(fmt.Errorf("%s: give the program's path, for example exec:./%s", model,
			cmp.Or(path, "generator.py")))
	}
	for _, name := range o.Env {
		if !variableName.MatchString(name) {
			return "", invalid(fmt.Errorf("environment variable %q: give its name alone", name))
		}
	}
	abs, err := filepath.Abs(path)
	return Exec + abs, err
}

// kindOf returns "exec" for a program and the other kind for a model that is none.
func kindOf(model, other string) string {
	if strings.HasPrefix(model, Exec) {
		return "exec"
	}
	return other
}

// execSecrets lists the variables that a run with a program needs: the approval, and those that it is passed.
func execSecrets(t datasets.Table, model string, o ExecOptions) datasets.Table {
	if !strings.HasPrefix(model, Exec) {
		return t
	}
	for _, name := range append([]string{client.ExecVar}, o.Env...) {
		t = datasets.Extend(t).Secret(name).Table
	}
	return t
}
