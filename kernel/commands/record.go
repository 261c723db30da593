package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	var o runner.Options
	var dir string
	var params list
	run := record.Run{Started: time.Now()}
	fs := flags("record", "")
	fs.StringVar(&dir, "out", "", "the folder `DIR`: a new or an empty one")
	fs.Var(&params, "p", "a parameter, `name=value`; may be given several times")
	fs.BoolVar(&run.Images, "images", false, "copy the images of the results: see whether their licenses allow that")
	fs.StringVar(&run.License, "license", "", "the license of the record, as `TEXT` or the URL of one")
	fs.StringVar(&run.Author, "author", "", "the `NAME` of who publishes the record")
	fs.Func("allow-exec", "a `PATH` of a program that cells may run as a model (exec:PATH); may be given several times",
		client.AllowExec)
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 || dir == "" {
		return usage("antipode record %s", recordArgs)
	}
	if err := missingNotebook("record", rest[0]); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		return usage("--out %s: not an empty folder; give a new one", dir)
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	temp, err := os.MkdirTemp(parent, ".record-") // the folder is complete or not there
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer os.RemoveAll(temp)
	name := strings.TrimSuffix(filepath.Base(rest[0]), ".ipynb")
	folder := filepath.Join(temp, "record")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	o = runner.Options{Notebook: rest[0], Params: params, Out: filepath.Join(folder, name+".ipynb"),
		HTML: filepath.Join(folder, name+".html"), Silent: true}
	run.Notebook, run.Params = rest[0], params
	if run.Journal, err = journaled(ctx, o, filepath.Join(temp, "journal")); err != nil {
		return err
	}
	run.Ended = time.Now()
	n, digest, err := writeRecord(ctx, folder, run)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("record: %w", err)
	}
	if err := os.Rename(folder, dir); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	fmt.Printf("wrote %s: %d results; digest %s\npublish the digest: `antipode store verify --record %s --digest DIGEST` "+
		"compares it\n", dir, n, digest, dir)
	return nil
}

// journaled runs a notebook and returns the runs of its tables.
func journaled(ctx context.Context, o runner.Options, journal string) ([]client.Entry, error) {
	journal, err := filepath.Abs(journal) // cells have another working directory
	if err != nil {
		return nil, err
	}
	if err := os.Setenv(client.JournalVar, journal); err != nil {
		return nil, err
	}
	defer os.Unsetenv(client.JournalVar)
	if err := execute(ctx, o); err != nil {
		return nil, err
	}
	return client.ReadJournal(journal)
}

func writeRecord(ctx context.Context, dir string, run record.Run) (n int, digest string, err error) {
	if run.Home, err = client.Home(); err != nil {
		return 0, "", err
	}
	if run.Store, err = store.Open(run.Home); err != nil {
		return 0, "", err
	}
	defer run.Store.Close()
	run.Rows = request
	build, err := jobs.Build()
	if err != nil {
		return 0, "", err
	}
	info, _ := debug.ReadBuildInfo()
	run.Software = record.Property{Name: "antipode", Value: moduleVersion(info) + ", build " + build}
	choice := plugin.Current(run.Home)
	precision := "float32 unless a plan says otherwise"
	if choice.Kind == device.XLACUDA {
		precision = "bfloat16 unless a plan says otherwise"
	}
	for _, p := range [][2]string{{"Go", runtime.Version()}, {"platform", runtime.GOOS + "/" + runtime.GOARCH},
		{"processor features", engine.Features()}, {"processor cores", fmt.Sprint(runtime.NumCPU())},
		{"device", choice.Kind}, {"plugin", strings.TrimSpace(choice.Version + " " + choice.SHA256)},
		{"precision", precision}} {
		if p[1] != "" {
			run.Environment = append(run.Environment, record.Property{Name: p[0], Value: p[1]})
		}
	}
	return record.Write(ctx, dir, run)
}

// verifyRecord checks a record and recomputes its results.
func verifyRecord(ctx context.Context, s *store.Store, dir, files, digest string) error {
	r, err := record.Open(dir)
	if err != nil {
		return err
	}
	if digest != "" && digest != r.Digest {
		r.Problems = append(r.Problems, fmt.Sprintf("the record has the digest %s, not %s", r.Digest, digest))
	}
	fmt.Printf("record %s, digest %s\n", dir, r.Digest)
	for _, p := range r.Problems {
		fmt.Println("problem:", p)
	}
	e, err := all.NewEngine(s.Dir(), "verify")
	if err != nil {
		return err
	}
	defer e.Close()
	outcomes, err := r.Recompute(ctx, record.Options{Engine: e, Home: s.Dir(), Files: files,
		Say: func(line string) { say("%s", line) }})
	if err != nil {
		return err
	}
	results, digits, changes := record.Summary(outcomes)
	fmt.Print(datasets.Format(results, 0))
	for _, o := range outcomes {
		if o.Reason != "" {
			fmt.Printf("%s: %s\n", o.Result.Name(), plaintext.OneLine(o.Reason))
		}
	}
	if digits.Len() > 0 {
		fmt.Println("\ndigits that agree, and the largest difference relative to the column's largest value:")
		fmt.Print(datasets.Format(digits, 0))
	}
	if changes.Len() > 0 {
		fmt.Println("\nconclusions that change:")
		fmt.Print(datasets.Format(changes, 0))
	}
	count := func(status record.Status) (n int) {
		for _, o := range outcomes {
			if o.Status == status {
				n++
			}
		}
		return n
	}
	here := cmp.Or(e.DeviceKind(), "plain Go, without networks")
	fmt.Printf("\n%d results on %s: %d identical, %d equal, %d different, %d not verifiable; conclusions that "+
		"change: %d; problems with files: %d\n", len(outcomes), here, count(record.Identical), count(record.Equal),
		count(record.Different), count(record.NotVerifiable), changes.Len(), len(r.Problems))
	switch {
	case len(r.Problems) > 0 || count(record.Different) > 0:
		return exitError{errors.New("the record is not what this machine computes"), exitDifferent}
	case slices.ContainsFunc(outcomes, func(o *record.Outcome) bool { return o.Status == record.NotVerifiable }):
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
