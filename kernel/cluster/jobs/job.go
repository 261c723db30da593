// Package jobs describes array jobs: a plan whose rows are dealt to a number of shards, each computed by one task of a
// scheduler (Slurm, Kubernetes, AWS Batch). The tasks fill a store; the user's own command then finds every item in it
// and writes its table, as on one machine.
//
// A [Job] is a file. [Phases] cuts a plan where an operation needs the whole table between two stages, [Shard] adds the
// choice of a shard's rows to a plan, [Index] finds the number of the task in the scheduler's variables, [Status] is
// what a task reports while it works, and [Script] writes the scheduler's file.
package jobs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/atomicfile"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/store"
)

// Protocol is the version of job files.
const Protocol = 1

// MaxShards is the largest number of shards of a job.
const MaxShards = 100_000

// Job is an array job: the content of its file. It holds no secrets.
type Job struct {
	Protocol int         `json:"protocol"`
	ID       string      `json:"id"` // see [Job.Digest]
	Shards   int         `json:"shards"`
	Plan     *table.Plan `json:"plan"` // of the phase, without the choice of rows
	Phase    int         `json:"phase"`
	Of       int         `json:"of"`
	SkipBad  bool        `json:"skip_bad"`
	Batch    int         `json:"batch"` // rows per call of a model; 0 = the stage's default
	Store    string      `json:"store"` // that the tasks fill, a folder or a URL; %i is the shard's number
	Tables   []Table     `json:"tables,omitempty"`

	Models map[string]string `json:"models,omitempty"` // model → digest
	Stages map[string]int    `json:"stages,omitempty"` // stage → version
	Device string            `json:"device,omitempty"` // the kind that tasks must have; "" = any
	Build  string            `json:"build"`

	Command []string `json:"command"` // the user's own, several with "--" between them
}

// Table is a file or folder that the plan reads.
type Table struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // of a file; of a folder that of the names and sizes of its images
	Rows   int    `json:"rows"`
}

// Digest returns the id of a job: 16 hexadecimal digits of the SHA-256 of its plan, tables, models and number of
// shards. It does not depend on the folders that tables and models are in.
func (j *Job) Digest() string {
	data, err := json.Marshal(j.Plan)
	if err != nil { // its arguments are not JSON
		data = []byte(j.Plan.Digest())
	}
	plan := string(data)
	replace := func(text, by string) {
		if quoted, err := json.Marshal(text); err == nil {
			plan = strings.ReplaceAll(plan, string(quoted), strconv.Quote(by))
		}
	}
	for _, t := range j.Tables {
		replace(t.Path, t.SHA256)
	}
	for _, name := range slices.Sorted(maps.Keys(j.Models)) {
		replace(name, j.Models[name])
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %d\x00%s", Protocol, j.Shards, j.Phase, len(j.Tables), plan)
	for _, t := range j.Tables {
		fmt.Fprintf(h, "\x00%s", t.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Write writes the job's file. A file of another job is not replaced.
func (j *Job) Write(path string) error {
	if old, err := Read(path); err == nil && old.ID != j.ID {
		return fmt.Errorf("%s is another job (%s); remove it, or name another file with --out", path, old.ID)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'))
}

// Read reads a job's file and checks it.
func Read(path string) (*Job, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the job: %w", err)
	}
	j, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not a job of this version of antipode: %w", filepath.Base(path), err)
	}
	return j, nil
}

// Decode decodes the content of a job's file and checks it.
func Decode(data []byte) (*Job, error) {
	j := &Job{}
	var b bytes.Buffer // without white space in the arguments of plans, so that equal parts have equal digests
	err := json.Compact(&b, data)
	if err == nil {
		err = json.Unmarshal(b.Bytes(), j)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case j.Protocol != Protocol:
		return nil, fmt.Errorf("its protocol is %d, not %d; make it again with this build", j.Protocol, Protocol)
	case j.Shards < 1 || j.Shards > MaxShards:
		return nil, fmt.Errorf("%d shards are not between 1 and %d", j.Shards, MaxShards)
	case j.Plan == nil:
		return nil, errors.New("it has no plan")
	case j.Phase < 1 || j.Phase > j.Of:
		return nil, fmt.Errorf("phase %d of %d", j.Phase, j.Of)
	case j.Batch < 0:
		return nil, fmt.Errorf("batches of %d rows", j.Batch)
	}
	if err := j.Plan.Check(); err != nil {
		return nil, err
	}
	if id := j.Digest(); id != j.ID {
		return nil, fmt.Errorf("its content was changed: its id is %.16q, not %q; make it again", j.ID, id)
	}
	return j, nil
}

// StoreOf returns the store of a shard: folder, or the job's if it is "", with the shard's number for %i.
func (j *Job) StoreOf(folder string, index int) string {
	return strings.ReplaceAll(cmp.Or(folder, j.Store), "%i", strconv.Itoa(index))
}

// Tables lists the files, folders and objects that a plan reads, in the order of their paths. Objects are read through
// the cache.
func Tables(ctx context.Context, plan *table.Plan, objects *remote.Cache) ([]Table, error) {
	paths := map[string]string{} // path → operation
	for p := range plan.All() {
		var a struct{ Path, Dir string }
		if len(p.Inputs) == 0 && json.Unmarshal(p.Args, &a) == nil {
			switch p.Op {
			case "csv", "parquet", "folder":
				paths[a.Path] = p.Op
			case datasets.ImportedOp:
				paths[a.Dir] = "folder"
			}
		}
	}
	var list []Table
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		t, err := describe(ctx, path, paths[path], objects)
		if err != nil {
			return nil, fmt.Errorf("cannot read the table %s: %w", path, err)
		}
		list = append(list, t)
	}
	return list, nil
}

func describe(ctx context.Context, path, op string, objects *remote.Cache) (t Table, err error) {
	t.Path = path
	file := path
	switch {
	case op == "folder":
		t.SHA256, t.Rows, err = folderDigest(ctx, path, objects)
		return t, err
	case objecturl.IsRemote(path):
		u, err := objecturl.Parse(path)
		if err != nil {
			return t, err
		}
		if file, t.SHA256, err = objects.Fetch(ctx, u); err != nil {
			return t, err
		}
	default:
		if t.SHA256, err = store.HashFile(path); err != nil {
			return t, err
		}
	}
	t.Rows, err = countRows(file, op)
	return t, err
}

// folderDigest returns the SHA-256 of the names and sizes of the images in a folder, and their number.
func folderDigest(ctx context.Context, dir string, objects *remote.Cache) (string, int, error) {
	files, sizes, err := imageFiles(ctx, dir, objects)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	for _, name := range files.Paths {
		fmt.Fprintf(h, "%s\x00%d\x00", name, sizes[name])
	}
	return hex.EncodeToString(h.Sum(nil)), len(files.Paths), nil
}

// imageFiles returns the images in a folder, or below the URL of a prefix, and the sizes of files by name.
func imageFiles(ctx context.Context, dir string, objects *remote.Cache) (files datasets.ImageFiles,
	sizes map[string]int64, err error) {
	if objecturl.IsRemote(dir) {
		u, err := objecturl.Parse(dir)
		if err != nil {
			return files, nil, err
		}
		sizes, err = objects.List(ctx, u)
		return datasets.ImageFilesOf(slices.Collect(maps.Keys(sizes))), sizes, err
	}
	if files, err = datasets.ListImageFiles(os.DirFS(dir)); err != nil {
		return files, nil, err
	}
	sizes = map[string]int64{}
	for _, name := range files.Paths {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return files, nil, err
		}
		sizes[name] = info.Size()
	}
	return files, sizes, nil
}

// Verify reports a table that is not the one that the job was made with.
func (j *Job) Verify(ctx context.Context, objects *remote.Cache) error {
	now, err := Tables(ctx, j.Plan, objects)
	if err != nil {
		return err
	}
	for i, t := range j.Tables {
		if i >= len(now) || now[i].Path != t.Path {
			return fmt.Errorf("the job's plan does not read %s; make the job again", t.Path)
		}
		if now[i].SHA256 != t.SHA256 {
			return fmt.Errorf("%s has changed since the job was made (SHA-256 %.12s…, the job says %.12s…); make "+
				"the job again", t.Path, now[i].SHA256, t.SHA256)
		}
	}
	return nil
}
