//go:build scale

package scale

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"antipode/internal/must"
	"antipode/kernel/cluster/jobs"
	"antipode/test/testbackend"
)

// decoder decodes a file strictly as a Job of Kubernetes, in a module of its own.
const decoder = `package main

import (
	"fmt"
	"os"

	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	data, err := os.ReadFile(os.Args[1])
	var job batch.Job
	if err == nil {
		err = yaml.UnmarshalStrict(data, &job)
	}
	gpu := job.Spec.Template.Spec.Containers
	if err != nil || job.Spec.CompletionMode == nil || *job.Spec.CompletionMode != batch.IndexedCompletion ||
		len(gpu) != 1 || len(gpu[0].Resources.Limits) != 1 || len(job.Spec.PodFailurePolicy.Rules) != 3 {
		fmt.Println(err, job)
		os.Exit(1)
	}
	fmt.Println(job.Name, *job.Spec.Completions, *job.Spec.BackoffLimitPerIndex)
}
`

// TestKubernetes decodes the Indexed Job strictly against the types of Kubernetes.
func TestKubernetes(t *testing.T) {
	files := must.Get(jobs.Script("k8s", &jobs.Job{ID: "9f31c02d5b7a6e84", Shards: 64},
		jobs.ScriptOptions{Job: "/shared/it's a job.json", Store: "/shared/store"}))(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": decoder, "job.yaml": files[0].Text,
		"go.mod": "module decode\n\ngo 1.24\n\nrequire (\n\tk8s.io/api v0.34.1\n\tsigs.k8s.io/yaml v1.6.0\n)\n"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		return cmd.CombinedOutput()
	}
	if out, err := run("mod", "tidy"); err != nil {
		testbackend.Missing(t, "k8s", "the types of Kubernetes cannot be downloaded: "+string(out))
	}
	must.Equal(t, string(must.Get(run("run", ".", "job.yaml"))(t)), "antipode-9f31c02d5b7a6e84 64 3\n")
}
