package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// provision is the flag with which a runner starts the command of an environment of the type PROCESS.
const provision = "--provision_endpoint="

// boot makes this process a worker. Beam's own boot program does it for any pipeline: it copies the program from the
// runner, into one folder for all workers of a machine. Here the program is present, and is started again as it is.
func boot(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	id := fs.String("id", "", "")
	endpoint := fs.String(strings.Trim(provision, "-="), "", "")
	logging := fs.String("logging_endpoint", "", "")
	control := fs.String("control_endpoint", "", "")
	fs.String("artifact_endpoint", "", "")
	fs.String("semi_persist_dir", "", "")
	if err := fs.Parse(args); err != nil {
		return err
	}
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(ctx, *id), *endpoint)
	if err != nil {
		return fmt.Errorf("the runner's provision service at %s: %w", *endpoint, err)
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return fmt.Errorf("the runner's options: %w", err)
	}
	*logging = cmp.Or(info.GetLoggingEndpoint().GetUrl(), *logging)
	*control = cmp.Or(info.GetControlEndpoint().GetUrl(), *control)
	if *logging == "" || *control == "" {
		return errors.New("the runner names no endpoint for logging or control")
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	env := append(os.Environ(), "RUNNER_CAPABILITIES="+strings.Join(info.GetRunnerCapabilities(), " "),
		"STATUS_ENDPOINT="+info.GetStatusEndpoint().GetUrl())
	return syscall.Exec(program, []string{program, worker, "--id=" + *id, "--logging_endpoint=" + *logging,
		"--control_endpoint=" + *control, "--options=" + options}, env)
}
