package jobs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"antipode/internal/plaintext"
)

var (
	//go:embed job.sbatch.txt
	slurmScript string
	//go:embed job.k8s.txt
	kubernetesJob string
)

// Schedulers lists those that [Script] knows.
var Schedulers = []string{"slurm", "k8s", "aws"}

// File is a file for a scheduler.
type File struct {
	Suffix string // of its name, after the job's
	Text   string
	Submit string // the command that submits the job; %s is the file
}

// ScriptOptions are the paths in a scheduler's file, as the tasks see them.
type ScriptOptions struct {
	Job   string   // the job's file
	Store string   // as of antipode work --store
	Allow []string // programs that tasks may run as models
}

// Script returns the files of a scheduler for a job, which users edit: they know partitions, images and queues.
func Script(scheduler string, j *Job, o ScriptOptions) ([]File, error) {
	for _, path := range append([]string{o.Job, o.Store}, o.Allow...) {
		if plaintext.OneLine(path) != path {
			return nil, fmt.Errorf("the path %q has control characters, which no scheduler's file can hold", path)
		}
	}
	switch scheduler {
	case "slurm":
		return []File{{".sbatch", slurm(j, o), "sbatch %s"}}, nil
	case "k8s":
		return []File{{".k8s.yaml", kubernetes(j, o), "kubectl create -f %s"}}, nil
	case "aws":
		return aws(j, o)
	}
	return nil, fmt.Errorf("no scheduler %q: use one of %s", scheduler, strings.Join(Schedulers, ", "))
}

// arguments are those of antipode work in a task.
func (o *ScriptOptions) arguments() []string {
	list := []string{"work", o.Job, "--store", o.Store}
	for _, program := range o.Allow {
		list = append(list, "--allow-exec", program)
	}
	return list
}

// slurm returns an sbatch script. USR1 comes two minutes before the time limit: the task drains and requeues itself.
// TERM comes from scancel and from pre-emption: the task drains, and Slurm decides whether it is requeued.
func slurm(j *Job, o ScriptOptions) string {
	quoted := o.arguments()
	for i, a := range quoted {
		quoted[i] = shellQuote(a)
	}
	return fmt.Sprintf(slurmScript, j.ID, j.Shards-1, strings.Join(quoted, " "))
}

// shellQuote quotes a word of a shell command where it needs it.
func shellQuote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.ContainsRune("/._-:=@%+,", c))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// kubernetes returns an Indexed Job. Its volume is mounted at the folder of the job's file, so that the paths in it
// hold.
func kubernetes(j *Job, o ScriptOptions) string {
	quoted := append([]string{"antipode"}, append(o.arguments(), "--grace", "100s")...)
	for i, a := range quoted {
		text, _ := json.Marshal(a) // a JSON string is a YAML string
		quoted[i] = string(text)
	}
	folder, _ := json.Marshal(filepath.Dir(o.Job))
	return fmt.Sprintf(kubernetesJob, j.ID, j.Shards, max(1, j.Shards/10), strings.Join(quoted, ", "), folder)
}

// aws returns the definition of a job of AWS Batch and its submission.
func aws(j *Job, o ScriptOptions) ([]File, error) {
	if j.Shards < 2 || j.Shards > 10_000 {
		return nil, fmt.Errorf("arrays of AWS Batch have 2 to 10,000 tasks, not %d", j.Shards)
	}
	type object map[string]any
	name := "antipode-" + j.ID
	retry := func(code string) object { return object{"onExitCode": code, "action": "RETRY"} }
	definition := object{
		"jobDefinitionName": name,
		"type":              "container",
		"containerProperties": object{
			"image":   "IMAGE",
			"command": append([]string{"antipode"}, o.arguments()...),
			"resourceRequirements": []object{{"type": "GPU", "value": "1"}, {"type": "VCPU", "value": "4"},
				{"type": "MEMORY", "value": "16384"}},
			"mountPoints": []object{{"sourceVolume": "shared", "containerPath": filepath.Dir(o.Job)}},
			"volumes": []object{{"name": "shared",
				"efsVolumeConfiguration": object{"fileSystemId": "FILESYSTEM"}}},
		},
		"retryStrategy": object{"attempts": 10, "evaluateOnExit": []object{retry("75"), retry("69"), retry("137"),
			{"onStatusReason": "Host EC2*", "action": "RETRY"}, {"onReason": "*", "action": "EXIT"}}},
	}
	submission := object{"jobName": name, "jobQueue": "QUEUE", "jobDefinition": name,
		"arrayProperties": object{"size": j.Shards}}
	var files []File
	for _, f := range []struct {
		suffix, command string
		content         object
	}{{".aws-definition.json", "aws batch register-job-definition --cli-input-json file://%s", definition},
		{".aws-job.json", "aws batch submit-job --cli-input-json file://%s", submission}} {
		text, err := json.MarshalIndent(f.content, "", " ")
		if err != nil {
			return nil, err
		}
		files = append(files, File{f.suffix, string(text) + "\n", f.command})
	}
	return files, nil
}
