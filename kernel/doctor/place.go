package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"antipode/datasets/client"
	"antipode/kernel/backend/store"
	"antipode/kernel/jupyter"
)

// storeFolder checks the store: its owner, whether it can be written, its size.
func storeFolder(ctx context.Context, home string) Check {
	fix := client.HomeVar + " can name another folder"
	info, err := os.Stat(home)
	if errors.Is(err, fs.ErrNotExist) {
		parent := existing(home)
		if err := writable(parent); err != nil {
			return fail(fix, "%s is missing and cannot be created: %v", home, err)
		}
		return ok("%s, made when first needed", home)
	}
	if err != nil {
		return fail(fix, "%v", err)
	}
	if !info.IsDir() {
		return fail(fix, "%s is not a folder", home)
	}
	if st, is := info.Sys().(*syscall.Stat_t); is && int(st.Uid) != os.Getuid() && os.Getenv(client.SharedVar) != "1" {
		return fail(fix, "%s belongs to the user with id %d, you are %d", home, st.Uid, os.Getuid())
	}
	if err := writable(home); err != nil {
		return fail(fmt.Sprintf("chmod u+rwx %s, or name another folder in %s", home, client.HomeVar),
			"%s cannot be written: %v", home, err)
	}
	if _, err := client.Programs(home); err != nil {
		return fail("chmod go-w "+home, "%v", err)
	}
	if os.Getenv(client.SharedVar) == "1" {
		return ok("%s, %s; shared (%s=1)", home, size(ctx, home), client.SharedVar)
	}
	return ok("%s, %s", home, size(ctx, home))
}

// existing returns the nearest existing folder at or above a path.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// writable creates a file in a folder and removes it.
func writable(folder string) error {
	f, err := os.CreateTemp(folder, ".doctor-")
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			return fmt.Errorf("%s: %w", folder, p.Err)
		}
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// size sums the sizes of a folder's files, for at most half a second.
func size(ctx context.Context, folder string) string {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	var bytes int64
	files := 0
	err := filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !e.Type().IsRegular() {
			return nil // removed in the meantime, or a folder
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
			files++
		}
		return nil
	})
	if err != nil {
		return fmt.Sprintf("more than %s in more than %d files", amount(bytes), files)
	}
	return fmt.Sprintf("%s in %d files", amount(bytes), files)
}

func amount(bytes int64) string {
	if bytes < 1e9 {
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// Required free disk space: a plugin needs 0.27 GB, the tools and models of a first run about 1 GB.
const (
	scarce = 3e9
	tooFew = 3e8
)

// disk checks the free space.
func disk(home string) Check {
	fix := "antipode store gc --dry-run lists what can be removed; " + client.HomeVar +
		" can name a folder on another disk"
	at := existing(home)
	free, err := store.FreeSpace(at)
	if err != nil {
		return warn(fix, "the free space at %s is unknown: %v", at, err)
	}
	return diskCheck(at, free, fix)
}

func diskCheck(at string, free int64, fix string) Check {
	switch {
	case free < tooFew:
		return fail(fix, "%s free at %s", amount(free), at)
	case free < scarce:
		return warn(fix, "%s free at %s", amount(free), at)
	}
	return ok("%s free at %s", amount(free), at)
}

// backend checks whether the backend's socket can be created, and whether a backend answers.
func backend(ctx context.Context, home string) Check {
	b, err := client.ConnectTo(home)
	if err != nil {
		return fail("set XDG_RUNTIME_DIR or TMPDIR to a short folder of your own", "%v", err)
	}
	b.Patience = limit * 2 / 3
	state := "not running, started when needed"
	switch h, err := b.Hello(ctx); {
	case err == nil:
		state = fmt.Sprintf("running, process %d", h.PID)
	case !errors.Is(err, client.ErrNoBackend):
		return warn("antipode backend stop ends it; finished items are kept", "a backend runs, but does not answer; "+
			"socket %s", b.Socket)
	}
	return ok("%s; socket %s (%d of 100 bytes)", state, b.Socket, len(b.Socket))
}

// kernelTools checks GoNB and goimports, which are built at first use.
func kernelTools(home string) Check {
	var parts []string
	missing := false
	for _, name := range []string{"gonb", "goimports"} {
		if tool(home, name) == "" {
			missing = true
			parts = append(parts, name+" not built yet")
		} else {
			parts = append(parts, name+" built")
		}
	}
	if missing {
		parts = append(parts, "the first notebook builds what is missing, in some seconds")
	}
	return ok("%s", strings.Join(parts, ", "))
}

// tool returns the path of a program that was built into the store, or "".
func tool(home, name string) string {
	programs, err := client.Programs(home)
	if err != nil {
		return ""
	}
	folders, err := os.ReadDir(programs)
	if err != nil {
		return ""
	}
	for _, f := range folders {
		path := filepath.Join(programs, f.Name(), name)
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o100 != 0 {
			return path
		}
	}
	return ""
}

// jupyterState checks Jupyter and Antipode's kernelspec. Neither is needed for antipode run.
func jupyterState() Check {
	const install = "pip install jupyterlab (needs Python), then antipode install; antipode run needs neither"
	path, err := exec.LookPath("jupyter")
	if err != nil {
		if path, err = exec.LookPath("jupyter-lab"); err != nil {
			return warn(install, "no jupyter on PATH: antipode lab cannot open notebooks")
		}
	}
	for _, folder := range jupyterFolders() {
		file := filepath.Join(folder, "kernels", jupyter.SpecName, "kernel.json")
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var spec struct {
			Argv []string `json:"argv"`
		}
		if err := json.Unmarshal(data, &spec); err != nil || len(spec.Argv) == 0 {
			return warn("antipode install writes it again", "%s is damaged", file)
		}
		if _, err := exec.LookPath(spec.Argv[0]); err != nil {
			return warn("antipode install writes it again", "%s starts %s, which does not exist", file, spec.Argv[0])
		}
		return ok("%s, kernel %q at %s", path, jupyter.DisplayName, filepath.Dir(file))
	}
	return warn("antipode install", "%s, but the kernel %q is not in it", path, jupyter.DisplayName)
}

// jupyterFolders lists the folders in which Jupyter finds kernels of the user and of the system.
func jupyterFolders() []string {
	var folders []string
	for _, f := range filepath.SplitList(os.Getenv("JUPYTER_PATH")) {
		if f != "" {
			folders = append(folders, f)
		}
	}
	if kernels, err := jupyter.KernelsDir(); err == nil {
		folders = append(folders, filepath.Dir(kernels))
	}
	return append(folders, "/usr/local/share/jupyter", "/usr/share/jupyter")
}
