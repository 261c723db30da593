//go:build cgo && !noxla

package xla

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"

	"antipode/gomlxmodels/device"
)

func init() { device.Use(open) }

// open loads the plugin by its path. go-xla would search folders fixed when the program started, load each library
// it meets there, and fetch one where it finds none: a path avoids all three.
func open(kind, plugin string) (compute.Backend, error) {
	xla.EnableAutoInstall(false)
	path, remove, err := plainPath(kind, plugin)
	if err != nil {
		return nil, err
	}
	defer remove()
	config := path
	if kind == device.XLACPU {
		// The plugin makes four devices of one processor, with a thread for each at least; one is enough, and obeys
		// NPROC. A plugin that does not know the option refuses it by name.
		b, err := xla.NewWithOptions(config, pjrt.NamedValuesMap{"cpu_device_count": int64(1)})
		if err == nil || !strings.Contains(err.Error(), "cpu_device_count") {
			return opened(b, err)
		}
	} else {
		// Float32 means float32 here (the speed of a GPU comes from bfloat16), and a GPU shares no memory with us,
		// whatever the path is called.
		config += ",tf32=false,noshared_buffers"
		prepareCUDA(path)
	}
	return opened(xla.NewWithOptions(config, nil))
}

// prepareCUDA sets what the CUDA plugin and NVIDIA's libraries read from the environment, unless the user set it.
func prepareCUDA(plugin string) {
	set := func(name, value string) {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, value)
		}
	}
	// Float32 means float32 in convolutions too: cuDNN rounds their factors to TF32 by default.
	set("NVIDIA_TF32_OVERRIDE", "0")
	// Without Triton's kernels for products a network compiles in a third of the time and is as fast.
	const triton = "--xla_gpu_enable_triton_gemm"
	if flags := os.Getenv("XLA_FLAGS"); !strings.Contains(flags, triton) {
		_ = os.Setenv("XLA_FLAGS", strings.TrimSpace(flags+" "+triton+"=false"))
	}
	// go-xla warns that the plugin will not find NVIDIA's libraries where they are in the place that JAX's packages
	// give them: nvidia next to jax_plugins.
	packages := filepath.Dir(filepath.Dir(filepath.Dir(plugin)))
	if info, err := os.Stat(filepath.Join(packages, "nvidia")); err == nil && info.IsDir() {
		set("GOPJRT_CUDA_CHECKS", "no")
	}
}

// opened keeps a nil pointer from becoming a backend that is not nil.
func opened(b *xla.Backend, err error) (compute.Backend, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

// plainPath gives a path that go-xla reads as we mean it: it takes a comma for the start of options, and the letters
// "cuda" or "nvidia" anywhere in a path for a CUDA plugin. A CPU plugin in such a place is loaded through a link; a
// CUDA plugin is not, because it finds its libraries by its place.
func plainPath(kind, plugin string) (path string, remove func(), err error) {
	nothing := func() {}
	upper := strings.ToUpper(plugin)
	misread := kind == device.XLACPU && (strings.Contains(upper, "CUDA") || strings.Contains(upper, "NVIDIA") ||
		!strings.Contains(upper, "CPU"))
	if !misread && !strings.Contains(plugin, ",") {
		return plugin, nothing, nil
	}
	if kind == device.XLACUDA {
		return "", nothing, fmt.Errorf("its path holds a comma: move the folder")
	}
	folder, err := os.MkdirTemp("", "antipode-xla-")
	if err != nil {
		return "", nothing, err
	}
	path = filepath.Join(folder, "pjrt_c_api_cpu_plugin.so")
	if err := os.Symlink(plugin, path); err != nil {
		_ = os.RemoveAll(folder)
		return "", nothing, err
	}
	return path, func() { _ = os.RemoveAll(folder) }, nil
}
