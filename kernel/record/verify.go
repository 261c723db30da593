package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets/manifest"
	"antipode/datasets/table"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
)

// Options are the options of [Record.Recompute].
type Options struct {
	Engine *engine.Engine
	Files  string // the folder with the notebook's files
	Say    func(line string)
}

// verifier recomputes the results of a record.
type verifier struct {
	*Record
	o       Options
	scratch *store.Store
	saved   map[string]string // paths of the tables that the notebook saved, made again, by those in places
	failed  map[string]string // results that are not verifiable, by the paths of these tables
}

// Recompute computes every result of the record from its plan, on this machine and device, in an empty store. A table
// that the notebook saved and read is made again. The error is that of the context or the store.
func (r *Record) Recompute(ctx context.Context, o Options) (*Report, error) {
	scratch, remove, err := o.Engine.Store.Scratch()
	if err != nil {
		return nil, err
	}
	defer remove()
	v := &verifier{Record: r, o: o, scratch: scratch, saved: map[string]string{}, failed: map[string]string{}}
	report := newReport()
	for i, res := range r.Results {
		o.Say(fmt.Sprintf("recomputing %d of %d: %s", i+1, len(r.Results), res.Name))
		f, err := v.recompute(ctx, res)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			err = report.compare(res, f, o.Engine.DeviceKind())
		}
		if err != nil {
			report.add(res, NotVerifiable, "", 0, 0, err.Error())
			v.failed[res.Saved] = res.Name
		}
	}
	return report, nil
}

func (v *verifier) recompute(ctx context.Context, res *Result) (*table.Frame, error) {
	to := ""
	if res.Saved != "" {
		to = filepath.Join(v.scratch.Dir(), "saved", res.Name, path.Base(res.Saved))
	}
	unsaved := res.Record
	unsaved.Saved, unsaved.Notes, unsaved.Readings, unsaved.Bad = "", nil, nil, nil
	here, err := resolved(unsaved, v.find)
	if err != nil {
		return nil, err
	}
	here.Saved, here.Bad = to, res.Bad
	again, err := v.o.Engine.Recompute(ctx, &here, v.scratch, nil)
	if err != nil {
		return nil, err
	}
	for _, model := range slices.Sorted(maps.Keys(here.Models)) {
		if is := again.Trace.Models[model]; is != "" && is != here.Models[model] {
			return nil, fmt.Errorf("the model %s is another one here: SHA-256 %.12s instead of %.12s; fix: get that "+
				"of %s", model, is, here.Models[model], licensesFile)
		}
	}
	if to != "" {
		v.saved[res.Saved] = to
	}
	return again.Frame, nil
}

// find returns the path of this machine for one of a record. A file that was read, and every such file in a folder,
// must be the same.
func (v *verifier) find(placed string) (string, error) {
	if made, ok := v.saved[placed]; ok {
		return made, nil
	}
	if by := v.failed[placed]; by != "" {
		return "", fmt.Errorf("it reads %s, which is not verifiable: see %s", placed, by)
	}
	if name, kept := strings.CutPrefix(placed, "store:/kept/"); kept && filepath.IsLocal(name) {
		return filepath.Abs(filepath.Join(v.Dir, "kept", name))
	}
	file, err := v.here(placed)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s is not here; fix: put it at %s (--files)", placed, file)
	}
	for name, digest := range v.read {
		if name != placed && !strings.HasPrefix(name, placed+"/") {
			continue
		}
		one, err := v.here(name)
		if err != nil {
			return "", err
		}
		if is, err := v.o.Engine.Store.FileDigest(one); err != nil || is != digest {
			return "", fmt.Errorf("%s is missing or another file here, %s: SHA-256 %.12s instead of %.12s; fix: put "+
				"the right one there", name, one, is, digest)
		}
	}
	return filepath.Abs(file)
}

// here returns the path of this machine for one of a record.
func (v *verifier) here(placed string) (string, error) {
	kind, rest, _ := strings.Cut(placed, ":")
	rest = filepath.FromSlash(path.Clean("/" + rest))
	switch kind {
	case "store":
		return filepath.Join(v.o.Engine.Store.Dir(), rest), nil
	case "dataset":
		name, file, _ := strings.Cut(rest[1:], "/")
		dir, err := manifest.Find(name, manifest.FindOptions{Home: v.o.Engine.Store.Dir()})
		return filepath.Join(dir, file), err
	}
	return filepath.Join(v.o.Files, rest), nil
}
