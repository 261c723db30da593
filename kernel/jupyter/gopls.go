package jupyter

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// goplsModule is the module file of gopls, in the module's folder.
const goplsModule = "kernel/jupyter/gopls.mod"

// BuildGopls builds gopls beside the tools, where it is missing; a kernel started after that completes and inspects. It
// takes a minute or two at low priority, and a notebook does without it: [Lab] does it in the background.
func BuildGopls(ctx context.Context, opts Options) error {
	dir, err := Tools(ctx, opts.ModuleDir, opts.Home, opts.Say)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "gopls")
	if exists(path) {
		return nil
	}
	unlock, err := lockFile(filepath.Join(dir, ".lock-gopls"))
	if err != nil {
		return fmt.Errorf("jupyter: locking %s: %w", dir, err)
	}
	defer unlock()
	if exists(path) {
		return nil
	}
	args := []string{"go", "build", "-modfile=" + goplsModule, "-ldflags=-s -w", "-o", filepath.Join(dir, ".gopls"), "golang.org/x/tools/gopls"}
	if nice, err := exec.LookPath("nice"); err == nil {
		args = append([]string{nice, "-n", "10"}, args...)
	}
	if err := run(ctx, opts.ModuleDir, "off", args...); err != nil {
		return fmt.Errorf("jupyter: building gopls: %w", err)
	}
	if err := os.Rename(filepath.Join(dir, ".gopls"), path); err != nil {
		return fmt.Errorf("jupyter: %w", err)
	}
	return nil
}
