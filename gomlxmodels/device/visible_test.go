package device

import (
	"antipode/internal/must"
	"fmt"
	"strings"
	"testing"
)

// TestSelect: lists of devices, the parent's own list, and what is no device.
func TestSelect(t *testing.T) {
	for _, c := range []struct {
		cuda, list, want string // cuda "-" = not set; want of an error: a part of its text
	}{
		{"-", "", "[GPU-a GPU-b GPU-c] 0 false"}, {"-", "auto", "[GPU-a GPU-b GPU-c] 0 false"},
		{"-", "0,2", "[GPU-a GPU-c] 0 true"}, {"-", "GPU-b", "[GPU-b] 0 true"}, {"-", "GPU-z", "[GPU-z] 0 true"},
		{"-", "cpu", "[] 1 true"}, {"-", "cpu:2", "[] 2 true"},
		{"4,5,6", "auto", "[4 5 6] 0 false"}, {"4,5,6", "0, 2", "[4 6] 0 true"}, {"4,-1,6", "auto", "[4] 0 false"},
		{"", "auto", "[] 0 false"}, {"MIG-x,GPU-y", "1", "[GPU-y] 0 true"},
		{"4,5", "2", "there is no GPU 2: 2 are visible"}, {"", "0", "0 are visible"},
		{"GPU-y", "GPU-z", "is not in CUDA"},
		{"-", "0,0", "twice"}, {"-", "cpu:0", "not from 1 to 64"}, {"-", "cpu2", "not from 1"},
		{"-", "cpu:65", "not from 1"},
		{"-", "gpu", `"gpu" is no device`}, {"-", "0,", `"" is no device`}, {"-", "-1", "there is no GPU -1"},
	} {
		visible := func() []string { return []string{"GPU-a", "GPU-b", "GPU-c"} }
		t.Setenv(CUDAEnv, "")
		if c.cuda != "-" {
			t.Setenv(CUDAEnv, c.cuda)
			visible = func() []string { return SplitGPUs(c.cuda) }
		}
		s, err := selectFrom(c.list, visible)
		got := fmt.Sprint(s.GPUs, s.CPUs, s.Explicit)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("CUDA_VISIBLE_DEVICES=%s, list %q: %s, want %s", c.cuda, c.list, got, c.want)
		}
	}
}

// TestListGPUs: what nvidia-smi prints, with a GPU that is divided.
func TestListGPUs(t *testing.T) {
	got := parseGPUs(`GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-1)
  MIG 3g.20gb     Device  0: (UUID: MIG-1a)
  MIG 3g.20gb     Device  1: (UUID: MIG-1b)
GPU 2: NVIDIA A100-SXM4-40GB (UUID: GPU-2)
`)
	must.Equal(t, fmt.Sprint(got), "[GPU-0 MIG-1a MIG-1b GPU-2]", got)
	if got := parseGPUs("No devices were found\n"); got != nil {
		t.Errorf("no GPU: %s", got)
	}
}
