package device

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ListEnv names the devices that the resident backend uses; see [Select].
const ListEnv = "ANTIPODE_DEVICES"

// CUDAEnv limits and numbers the NVIDIA GPUs of a process.
const CUDAEnv = "CUDA_VISIBLE_DEVICES"

// maxCPUs is the largest number of processes on the processor.
const maxCPUs = 64

// Selection is the devices that a user chose.
type Selection struct {
	GPUs     []string // values of [CUDAEnv], one for each
	CPUs     int      // processes on the processor; 0 = GPUs
	Explicit bool     // the list was not "auto"
}

// Select returns the devices of a list: "auto" or "" is every visible NVIDIA GPU, "0,2" the first and the third of
// them, "GPU-8a5f…" one by its UUID, and "cpu:2" two processes on the processor, for tests. The visible GPUs are those
// of CUDA_VISIBLE_DEVICES, which a scheduler sets to the ones that a job was given, or else all.
func Select(list string) (Selection, error) { return selectFrom(list, VisibleGPUs) }

func selectFrom(list string, visible func() []string) (s Selection, err error) {
	fail := func(format string, args ...any) (Selection, error) {
		return Selection{}, fmt.Errorf("%s=%s: %s; use auto, numbers of GPUs such as 0,2, UUIDs, or cpu:2", ListEnv,
			list, fmt.Sprintf(format, args...))
	}
	if list == "" || list == "auto" {
		return Selection{GPUs: visible()}, nil
	}
	s.Explicit = true
	if number, cpu := strings.CutPrefix(list, "cpu"); cpu {
		s.CPUs = 1
		if number != "" {
			n, err := strconv.Atoi(strings.TrimPrefix(number, ":"))
			if err != nil || number[0] != ':' || n < 1 || n > maxCPUs {
				return fail("the number of processes is not from 1 to %d", maxCPUs)
			}
			s.CPUs = n
		}
		return s, nil
	}
	gpus := visible()
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		at, err := strconv.Atoi(name)
		switch {
		case err == nil && at >= 0 && at < len(gpus):
			name = gpus[at]
		case err == nil:
			return fail("there is no GPU %d: %d are visible", at, len(gpus))
		case !strings.HasPrefix(name, "GPU-") && !strings.HasPrefix(name, "MIG-"):
			return fail("%q is no device", name)
		case os.Getenv(CUDAEnv) != "" && slices.ContainsFunc(gpus, isUUID) && !slices.Contains(gpus, name):
			return fail("%s is not in %s", name, CUDAEnv)
		}
		if slices.Contains(s.GPUs, name) {
			return fail("%s is named twice", name)
		}
		s.GPUs = append(s.GPUs, name)
	}
	return s, nil
}

func isUUID(gpu string) bool { return strings.HasPrefix(gpu, "GPU-") || strings.HasPrefix(gpu, "MIG-") }

// VisibleGPUs returns the values of CUDA_VISIBLE_DEVICES that stand for one visible GPU each.
func VisibleGPUs() []string {
	if list, set := os.LookupEnv(CUDAEnv); set {
		return SplitGPUs(list)
	}
	if !SeesNVIDIA() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	smi := exec.CommandContext(ctx, "nvidia-smi", "--list-gpus")
	smi.WaitDelay = time.Second
	if out, err := smi.Output(); err == nil {
		return parseGPUs(string(out))
	}
	files, _ := filepath.Glob("/dev/nvidia[0-9]*") // in a container, those that it was given
	var gpus []string
	for i := range files {
		gpus = append(gpus, strconv.Itoa(i))
	}
	return gpus
}

// SplitGPUs splits a value of CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES. Like CUDA it ends at the first entry that is
// no device.
func SplitGPUs(list string) (gpus []string) {
	for gpu := range strings.SplitSeq(list, ",") {
		gpu = strings.TrimSpace(gpu)
		if number, err := strconv.Atoi(gpu); gpu == "" || err == nil && number < 0 {
			break
		}
		gpus = append(gpus, gpu)
	}
	return gpus
}

// parseGPUs returns the UUIDs of the GPUs that nvidia-smi lists, and of the parts (MIG) of those that are divided.
func parseGPUs(list string) (gpus []string) {
	whole := -1 // position of the GPU whose parts may follow
	for line := range strings.Lines(list) {
		_, id, found := strings.Cut(line, "(UUID: ")
		id, _, closed := strings.Cut(id, ")")
		switch {
		case !found || !closed:
		case strings.HasPrefix(line, "GPU "):
			whole = len(gpus)
			gpus = append(gpus, id)
		case whole >= 0 && strings.HasPrefix(strings.TrimSpace(line), "MIG "):
			if len(gpus) == whole+1 && !strings.HasPrefix(gpus[whole], "MIG-") {
				gpus = gpus[:whole]
			}
			gpus = append(gpus, id)
		}
	}
	return gpus
}
