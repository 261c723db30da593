package commands

import (
	"flag"
	"strconv"
	"strings"

	"antipode/gomlxmodels"
	"antipode/kernel/client"
)

// execUsage is the part of the help of --model about programs.
const execUsage = ", or exec:PATH, a program that runs the model (docs/adapters.md)"

// execFlags adds the flags of a model that is a program.
func execFlags(fs *flag.FlagSet, o *gomlxmodels.ExecOptions) {
	fs.Func("exec-arg", "an `ARGUMENT` of the program; may be given several times", func(s string) error {
		o.Args = append(o.Args, s)
		return nil
	})
	fs.Func("exec-env", "the `NAME` of a variable that the program receives although it looks like a secret; may be "+
		"given several times", func(s string) error {
		o.Env = append(o.Env, s)
		return nil
	})
	fs.Func("workers", "processes of the program, `N` or gpus: one per visible GPU; default 1",
		func(s string) (err error) {
			if o.Workers = -1; s != "gpus" {
				o.Workers, err = strconv.Atoi(s)
			}
			return err
		})
	fs.DurationVar(&o.Timeout, "exec-timeout", 0, "time limit of a batch of the program, for example 30m; default "+
		"20m for the first, then 10m or 20 times the median")
	fs.DurationVar(&o.Idle, "exec-idle", 0, "time without output after which the program is restarted; default 5m")
	fs.BoolVar(&o.ShareDevice, "share-device", false, "let other models use the GPU while the program works")
}

// allowExec allows the program that a --model names: on the command line, the user has.
func allowExec(model string) error {
	path, program := strings.CutPrefix(model, gomlxmodels.Exec)
	if !program || !strings.Contains(path, "/") {
		return nil // the stage reports a path without a separator
	}
	return client.AllowExec(path)
}
