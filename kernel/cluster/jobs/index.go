package jobs

import (
	"fmt"
	"strconv"
	"strings"
)

// indexVariables are the environment variables with the number of a task, each with the number of the first task.
var indexVariables = []struct {
	name  string
	first int
}{
	{"SLURM_ARRAY_TASK_ID", 0},
	{"JOB_COMPLETION_INDEX", 0},      // Kubernetes
	{"AWS_BATCH_JOB_ARRAY_INDEX", 0}, //
	{"BATCH_TASK_INDEX", 0},          // Google Batch
	{"CLOUD_RUN_TASK_INDEX", 0},
	{"PBS_ARRAY_INDEX", 0},
	{"LSB_JOBINDEX", 1}, // LSF
	{"SGE_TASK_ID", 1},
}

// Index returns the shard of a task: that of text, "I/N", if it is given, else that of the scheduler's variables. The
// number of shards is always the job's: after a part of an array is submitted again, the scheduler's number of tasks is
// smaller.
func Index(text string, shards int, getenv func(string) string) (int, error) {
	if text != "" {
		i, n, both := strings.Cut(text, "/")
		index, err := strconv.Atoi(i)
		if err == nil && both {
			var of int
			if of, err = strconv.Atoi(n); err == nil && of != shards {
				return 0, fmt.Errorf("--shard %s: the job has %d shards, and their number is in the job's file alone",
					text, shards)
			}
		}
		if err != nil || !both {
			return 0, fmt.Errorf("--shard %s: write I/N, for example 3/%d", text, shards)
		}
		return within(index, shards, "--shard "+text)
	}
	index, from := -1, ""
	for _, v := range indexVariables {
		i, err := strconv.Atoi(getenv(v.name))
		if err != nil {
			continue // not set, or "undefined" as in SGE
		}
		i -= v.first
		if from != "" && i != index {
			return 0, fmt.Errorf("%s says shard %d and %s says %d; give --shard I/N", from, index, v.name, i)
		}
		if from == "" {
			index, from = i, v.name
		}
	}
	if from == "" {
		return 0, fmt.Errorf("no scheduler's variable has the number of this task; give --shard I/%d, I from 0", shards)
	}
	return within(index, shards, from)
}

func within(index, shards int, from string) (int, error) {
	if index < 0 || index >= shards {
		return 0, fmt.Errorf("%s: shards are numbered from 0 to %d", from, shards-1)
	}
	return index, nil
}
