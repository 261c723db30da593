package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/stage"
	"antipode/internal/plaintext"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/plugin"
	"antipode/kernel/backend/store"
	"antipode/kernel/cluster/jobs"
	"antipode/kernel/jupyter/runner"
	"antipode/kernel/record"
)

const recordArgs = "NOTEBOOK --out DIR [-p name=value]… [--images] [--author NAME] [--license TEXT]"

// recordNotebook runs a notebook and writes what its conclusions rest on into a folder.
func recordNotebook(ctx context.Context, args []string) (err error) {
	var dir string
	var params list
	run := record.Run{Started: time.Now()}
	set := flags("record", "")
	set.StringVar(&dir, "out", "", "the folder `DIR`: a new or an empty one")
	set.Var(&params, "p", "a parameter, `name=value`; may be given several times")
	set.BoolVar(&run.Images, "images", false, "copy the images of the results: see whether their licenses allow that")
	set.StringVar(&run.License, "license", "", "the license of the record, as `TEXT` or the URL of one")
	set.StringVar(&run.Author, "author", "", "the `NAME` of who publishes the record")
	set.Func("allow-exec", "a `PATH` of a program that cells may run as a model (exec:PATH), repeatable",
		client.AllowExec)
	rest, err := parse(set, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 || dir == "" {
		return usage("antipode record %s", recordArgs)
	}
	if err := missingNotebook("record", rest[0]); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usage("--out %s: not an empty folder; give a new one", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer func() {
		if err != nil { // the folder is complete or not there
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	name := filepath.Join(dir, strings.TrimSuffix(filepath.Base(rest[0]), ".ipynb"))
	run.Notebook, run.Params = rest[0], params
	run.Journal, err = journaled(ctx, runner.Options{Notebook: rest[0], Params: params, Out: name + ".ipynb",
		HTML: name + ".html"})
	if err != nil {
		return err
	}
	n, digest, err := writeRecord(ctx, dir, run)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	fmt.Printf("wrote %s: %d results; digest %s\npublish the digest: `antipode store verify --record %[1]s "+
		"--digest DIGEST` compares it\n", dir, n, digest)
	return nil
}

// journaled runs a notebook and returns the runs of its tables.
func journaled(ctx context.Context, o runner.Options) ([]client.Entry, error) {
	f, err := os.CreateTemp("", "antipode-journal-")
	if err == nil {
		defer os.Remove(f.Name())
		err = errors.Join(f.Close(), os.Setenv(client.JournalVar, f.Name()))
	}
	if err != nil {
		return nil, err
	}
	defer os.Unsetenv(client.JournalVar)
	if err := execute(ctx, o); err != nil {
		return nil, err
	}
	return record.ReadJournal(f.Name())
}

func writeRecord(ctx context.Context, dir string, run record.Run) (n int, digest string, err error) {
	build, err := jobs.Build()
	home, err2 := client.Home()
	if err = cmp.Or(err, err2); err == nil {
		run.Store, err = store.Open(home)
	}
	if err != nil {
		return 0, "", err
	}
	defer run.Store.Close()
	run.Rows, run.Ended = request, time.Now()
	info, _ := debug.ReadBuildInfo()
	run.Version = moduleVersion(info) + ", build " + build
	choice := plugin.Current(home)
	precision := strings.ToLower(stage.Precision("", choice.Kind, nil).String())
	run.Environment = []string{"Go=" + runtime.Version(), "platform=" + runtime.GOOS + "/" + runtime.GOARCH,
		"processor features=" + engine.Features(), fmt.Sprint("processor cores=", runtime.NumCPU()),
		"device=" + choice.Kind, "plugin=" + strings.TrimSpace(cmp.Or(choice.Version, "none")+" "+choice.SHA256),
		"precision=" + precision + " unless a plan says otherwise"}
	return record.Write(ctx, dir, run)
}

// verifyRecord checks a record and recomputes its results.
func verifyRecord(ctx context.Context, s *store.Store, dir, files, digest string) error {
	r, err := record.Open(dir)
	if err != nil {
		return err
	}
	if digest != "" && digest != r.Digest {
		r.Problems = append(r.Problems, "the record has another digest than "+digest)
	}
	fmt.Printf("record %s, digest %s\n", dir, r.Digest)
	for _, p := range r.Problems {
		fmt.Println("problem:", plaintext.OneLine(p))
	}
	e, err := all.NewEngine(s.Dir(), "verify")
	if err != nil {
		return err
	}
	defer e.Close()
	found, err := r.Recompute(ctx, record.Options{Engine: e, Files: files,
		Say: func(line string) { say("%s", line) }})
	if err != nil {
		return err
	}
	fmt.Print(datasets.Format(found.Results, 0))
	for _, reason := range found.Reasons {
		fmt.Println(plaintext.OneLine(reason))
	}
	if found.Digits.Len() > 0 {
		fmt.Println("\ndigits that agree, and the largest difference relative to the column's largest value:")
		fmt.Print(datasets.Format(found.Digits, 0))
	}
	if found.Changes.Len() > 0 {
		fmt.Println("\nconclusions that change:")
		fmt.Print(datasets.Format(found.Changes, 0))
	}
	n := found.Count
	fmt.Printf("\n%d results on %s: %d identical, %d equal, %d different, %d not verifiable; "+
		"conclusions that change: %d; problems with files: %d\n", len(r.Results),
		cmp.Or(e.DeviceKind(), "plain Go, without networks"), n[record.Identical], n[record.Equal],
		n[record.Different], n[record.NotVerifiable], found.Changes.Len(), len(r.Problems))
	switch {
	case len(r.Problems) > 0 || n[record.Different] > 0:
		return exitError{errors.New("the record is not what this machine computes"), exitDifferent}
	case n[record.NotVerifiable] > 0:
		return fmt.Errorf("some results are %w here: see above", engine.ErrNotVerifiable)
	}
	return nil
}

// restrictBackend lets this process compute on one kind of backend only.
func restrictBackend(kind string) error {
	if !slices.Contains([]string{device.Go, device.XLACPU, device.XLACUDA}, kind) {
		return fmt.Errorf("%q: use %s, %s or %s", kind, device.Go, device.XLACPU, device.XLACUDA)
	}
	return os.Setenv("GOMLX_BACKEND", kind)
}
