package device

import (
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"antipode/datasets/client"
	"antipode/internal/glob"
)

// PathEnv names the folders to search for plugins, colon-separated; go-xla reads it too.
const PathEnv = "PJRT_PLUGIN_LIBRARY_PATH"

// Folders lists where plugins are looked for, first come first served: those of PJRT_PLUGIN_LIBRARY_PATH, those that
// go-xla installs into, those of LD_LIBRARY_PATH, and those that antipode unpacked into its store.
func Folders() []string {
	var folders []string
	for _, f := range filepath.SplitList(os.Getenv(PathEnv)) {
		if f != "" {
			folders = append(folders, f)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		if runtime.GOOS == "darwin" {
			support := filepath.Join(home, "Library", "Application Support")
			folders = append(folders, filepath.Join(support, "go-xla"), filepath.Join(support, "GoMLX", "PJRT"))
		} else {
			lib := filepath.Join(home, ".local", "lib")
			folders = append(folders, filepath.Join(lib, "go-xla"), filepath.Join(lib, "go-xla", "nvidia"),
				filepath.Join(lib, "gomlx", "pjrt"))
		}
	}
	folders = append(folders, "/usr/local/lib/go-xla", "/usr/local/lib/go-xla/nvidia", "/usr/local/lib/gomlx/pjrt")
	for _, f := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		if filepath.IsAbs(f) {
			folders = append(folders, f)
		}
	}
	if home, err := client.Home(); err == nil {
		folders = append(folders, StoreFolders(home)...)
	}
	return folders
}

// StoreFolders lists the folders of a store ($ANTIPODE_HOME) that plugins are unpacked into: plugins/NAME-VERSION.
func StoreFolders(home string) []string {
	if home == "" {
		return nil
	}
	folders := glob.In(home, "plugins/[^.]*")
	slices.SortFunc(folders, func(a, b string) int { // the newest version of a name first
		return slices.CompareFunc(numbers.FindAllString(b, -1), numbers.FindAllString(a, -1), func(x, y string) int {
			m, notM := strconv.Atoi(x)
			n, notN := strconv.Atoi(y)
			if notM == nil && notN == nil {
				return cmp.Compare(m, n)
			}
			return strings.Compare(x, y)
		})
	})
	return folders
}

// numbers are the numbers of a text and what is between them.
var numbers = regexp.MustCompile(`\d+|\D+`)

// Find returns the absolute path of the first plugin of a kind (XLACPU or XLACUDA) in [Folders], "" where there is
// none. It compares file names only; [Inspect] reads the file.
func Find(kind string) string { return FindIn(kind, Folders()...) }

// FindIn is [Find] in the given folders. A folder may also be the path of a plugin itself.
func FindIn(kind string, folders ...string) string {
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil && info.Mode().IsRegular() {
			if KindOf(folder) == kind {
				return absolute(folder)
			}
			continue
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		var found []string
		for _, e := range entries {
			if KindOf(e.Name()) == kind {
				found = append(found, filepath.Join(folder, e.Name()))
			}
		}
		// The plainest name first: go-xla makes it a link to the version it last installed.
		slices.SortFunc(found, func(a, b string) int {
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return strings.Compare(b, a)
		})
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return absolute(path)
			}
		}
	}
	return ""
}

// KindOf reads the kind off a plugin's file name (pjrt_c_api_NAME_plugin.so, pjrt-plugin-NAME.so, JAX's
// xla_cuda_plugin.so); "" where it is no name of a CPU or CUDA plugin.
func KindOf(path string) string {
	name := strings.ToLower(filepath.Base(path))
	ext := filepath.Ext(name)
	if ext != ".so" && ext != ".dylib" {
		return ""
	}
	name = strings.ReplaceAll(strings.TrimSuffix(name, ext), "-", "_")
	if !(strings.HasPrefix(name, "pjrt_c_api_") && strings.HasSuffix(name, "_plugin")) &&
		!strings.HasPrefix(name, "pjrt_plugin_") && name != "xla_cuda_plugin" {
		return ""
	}
	switch {
	case strings.Contains(name, "cuda"), strings.Contains(name, "nvidia"):
		return XLACUDA
	case strings.Contains(name, "cpu"):
		return XLACPU
	}
	return ""
}

// Inspect reports what is wrong with a plugin's file without loading it: loading a cut-off or foreign library may end
// the program. On Linux it reads the file's tables: complete, for this processor, with PJRT's entry point.
func Inspect(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoPlugin, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is not a file", ErrNoPlugin, path)
	}
	if runtime.GOOS != "linux" {
		return nil
	}
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s is not a complete shared library (%w): remove it", path, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Off+p.Filesz > uint64(info.Size()) {
			return fmt.Errorf("%s is cut off: its content ends at byte %d of %d: remove it", path, info.Size(),
				p.Off+p.Filesz)
		}
	}
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	if m, known := machines[runtime.GOARCH]; known && f.Machine != m {
		return fmt.Errorf("%s is built for %v, this program for %s", path, f.Machine, runtime.GOARCH)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return fmt.Errorf("%s: its symbols cannot be read (%w): remove it", path, err)
	}
	for _, s := range symbols {
		if s.Name == "GetPjrtApi" && s.Section != elf.SHN_UNDEF {
			return nil
		}
	}
	return fmt.Errorf("%s is no XLA plugin: it does not export GetPjrtApi", path)
}

// SeesNVIDIA reports whether an NVIDIA GPU can be seen: a GPU listed by the driver, a device file of one, or one that
// nvidia-smi lists. It asks once.
var SeesNVIDIA = sync.OnceValue(func() bool {
	if cards, _ := filepath.Glob("/proc/driver/nvidia/gpus/*"); len(cards) > 0 {
		return true
	}
	if cards, _ := filepath.Glob("/dev/nvidia[0-9]*"); len(cards) > 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	list := exec.CommandContext(ctx, "nvidia-smi", "--list-gpus")
	list.WaitDelay = time.Second
	out, err := list.Output()
	return err == nil && strings.Contains(string(out), "GPU ")
})

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
