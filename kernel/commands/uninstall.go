package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"antipode/datasets/client"
	"antipode/internal/filelock"
	"antipode/internal/glob"
	"antipode/kernel/jupyter"
)

var storeParts = strings.Fields(".backend .lock backend.log backend.log.old bin blobs cache data files.idx items " +
	"jobs kept models module plugins results tasks")

// temporary are the patterns of the temporary folders of this program.
var temporary = strings.Fields("apk-* apm-* antipode-exec-* antipode-check-* antipode-out-* antipode-xla-*")

// uninstall removes what Antipode has written outside of the user's own folders.
func uninstall(ctx context.Context, args []string) error {
	fs := flags("uninstall", "")
	yes := fs.Bool("yes", false, "remove the store, with all results in it, without asking")
	if err := noArguments(fs, args); err != nil {
		return err
	}
	dir, err := jupyter.Uninstall()
	if err != nil {
		return err
	}
	fmt.Printf("removed the kernel from Jupyter (%s)\n", dir)
	home, err := client.Home()
	if err != nil {
		return err
	}
	b, err := client.ConnectTo(home)
	if err == nil {
		err = b.Stop(ctx, false)
	}
	if err != nil && !errors.Is(err, client.ErrNoBackend) {
		return err
	}
	if _, err := os.Stat(home); err == nil {
		remove := *yes || confirm(ctx, fmt.Sprintf("remove the store %s, with all results in it? [y/N] ", home))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !remove {
			fmt.Printf("kept the store %s; `antipode uninstall --yes` removes it\n", home)
		} else if err := removeStore(home); err != nil {
			return err
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		_ = os.RemoveAll(filepath.Join(cache, client.SharedPrograms))
	}
	filelock.Remove(b.Socket + ".lock")
	_ = os.Remove(filepath.Dir(b.Socket)) // fails if there are sockets of other stores
	if n := sweep(0); n > 0 {
		fmt.Printf("removed %d temporary folders\n", n)
	}
	if self, err := os.Executable(); err == nil {
		fmt.Printf("the command itself stays: %s\n", self)
	}
	return nil
}

// confirm asks a question on the terminal. Without an answer, or when ctx ends, it is "no".
func confirm(ctx context.Context, question string) bool {
	fmt.Print(question)
	answer := make(chan string, 1)
	go func() {
		text, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil {
			fmt.Println()
		}
		answer <- text
	}()
	select {
	case text := <-answer:
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(text)))
	case <-ctx.Done():
		return false
	}
}

// removeStore removes the parts of a store, and its folder unless that contains something else.
func removeStore(home string) error {
	scratch := glob.In(home, "verify-*") // of a process that was killed
	for _, part := range storeParts {
		scratch = append(scratch, filepath.Join(home, part))
	}
	for _, path := range scratch {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if err := os.Remove(home); err != nil {
		fmt.Printf("removed the store in %s; the folder has other files and stays\n", home)
		return nil
	}
	fmt.Printf("removed the store %s\n", home)
	return nil
}

// sweep removes temporary folders that killed processes of the user have left, unless they were changed within a time,
// and returns their number.
func sweep(within time.Duration) (n int) {
	for _, pattern := range temporary {
		folders := glob.In(os.TempDir(), pattern)
		for _, folder := range folders {
			info, err := os.Lstat(folder)
			if err != nil || !info.IsDir() || !client.OwnedByUser(info) || time.Since(info.ModTime()) < within ||
				usedByProcess(folder) {
				continue
			}
			if os.RemoveAll(folder) == nil {
				n++
			}
		}
	}
	return n
}

// usedByProcess reports whether a process of the user has a folder open or names it in its arguments or environment;
// where the system does not tell, it reports true.
func usedByProcess(folder string) bool {
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	for _, p := range processes {
		for _, file := range []string{"cmdline", "environ"} {
			if data, err := os.ReadFile(filepath.Join(p, file)); err == nil && strings.Contains(string(data), folder) {
				return true
			}
		}
		links, _ := fs.Glob(os.DirFS(p), "fd/*")
		for _, link := range append(links, "cwd") {
			if to, err := os.Readlink(filepath.Join(p, link)); err == nil && strings.HasPrefix(to+"/", folder+"/") {
				return true
			}
		}
	}
	return len(processes) == 0
}
