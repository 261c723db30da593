package execmodel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/internal/atomicfile"
)

// Model is a program that a stage uses.
type Model struct {
	Ready *Ready
	stage.Release
	env     stage.Env
	group   *Group
	options gomlxmodels.ExecOptions
	digest  string
	times   []time.Time // of the files that the program lists, when it was asked
}

// Open opens the program of a model's name for a task. The user must have approved it, as the file is now: a regular,
// executable file that, like its folder, not everybody may write to. options are sent to the program with hello;
// results depend on them.
//
// The program's ready message is stored, and used again while the files that it lists have the same size and time; else
// its processes are ended and it is asked again. A program that lists none is started and asked once in each run.
func Open(ctx context.Context, env stage.Env, model string, o gomlxmodels.ExecOptions, task string,
	options map[string]string) (*Model, error) {
	program, digest, err := Inspect(strings.TrimPrefix(model, gomlxmodels.Exec))
	if err != nil {
		return nil, err
	}
	switch client.Allowed(env.Secret(client.ExecVar), program) {
	case digest:
	case "":
		return nil, fmt.Errorf("exec: %s is not approved. Fix: call models.AllowExec in the cell, or give "+
			"--allow-exec %[1]s", program)
	default:
		return nil, fmt.Errorf("exec: %s changed since it was approved. Fix: start the run again", program)
	}
	secrets := map[string]string{}
	for _, name := range o.Env {
		if value := env.Secret(name); value != "" {
			secrets[name] = value
		}
	}
	m := &Model{env: env, options: o}
	m.digest = fmt.Sprintf("exec %d %s %q %q", Protocol, digest, o.Args, options)
	key := hash(m.digest + " " + task)
	dir := filepath.Join(env.ModelDir(), "exec")
	settings := hash(fmt.Sprint(o.Workers, o.Timeout, o.Idle, secrets)) // a process with other ones is another
	value, release, err := env.Shared(fmt.Sprintf("exec %s (%.12s %.6s)", filepath.Base(program), key, settings),
		func() (any, int64, func(), error) {
			log := ""
			if os.MkdirAll(dir, 0o700) == nil {
				log = filepath.Join(dir, key[:12])
			}
			g, err := New(Options{Program: program, Digest: digest, Args: o.Args, Task: task, Workers: o.Workers,
				Timeout: o.Timeout, Idle: o.Idle, Secrets: secrets, Log: log, Options: options})
			if err != nil {
				return nil, 0, nil, err
			}
			return g, 1, g.Close, nil // its memory is not this process's
		})
	if err != nil {
		return nil, err
	}
	m.group, m.Release = value.(*Group), release
	if m.Ready, err = m.ready(ctx, filepath.Join(dir, key+".json")); err != nil {
		release()
		return nil, err
	}
	m.digest += " " + m.Ready.identity()
	name := m.Ready.Name + " " + m.Ready.Version
	if task == Generate && m.Ready.Capabilities.Seed == SeedNone {
		name += " (seeded: false)" // the seed only counts the images of a prompt
	}
	source := m.Ready.Model.ID
	if source != "" && m.Ready.Model.Revision != "" {
		source += "@" + m.Ready.Model.Revision
	}
	env.NoteModel(name, m.Ready.Model.Digest, source)
	env.NoteModel(gomlxmodels.Exec+program, digest, "")
	return m, nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// stored is a ready message with the state of its files.
type stored struct {
	Ready *Ready
	Times []time.Time
}

// ready returns what the program reports, from the store if that is current.
func (m *Model) ready(ctx context.Context, path string) (*Ready, error) {
	var s stored
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &s) == nil && s.Ready != nil &&
		len(s.Times) == 2*len(s.Ready.Model.Files) {
		now, err := times(s.Ready)
		if m.times = now; err == nil && equal(now, s.Times) {
			m.group.Expect(s.Ready, func() { os.Remove(path) })
			return s.Ready, nil
		}
	}
	if !m.env.First("exec "+path) && len(s.Times) == 0 {
		return m.group.Ready(ctx)
	}
	r, err := m.ask(ctx)
	if err != nil || len(m.times) == 0 {
		return r, err
	}
	text, err := json.Marshal(stored{r, m.times})
	if err != nil {
		return nil, err
	}
	_ = atomicfile.Write(path, text) // without it the next run starts the program
	return r, nil
}

// ask starts the program anew and returns what it reports, for files that did not change since before it started.
func (m *Model) ask(ctx context.Context) (*Ready, error) {
	for range 5 {
		if err := m.group.Restart(ctx); err != nil {
			return nil, err
		}
		start, before := time.Now(), m.times
		r, err := m.group.Ready(ctx)
		if err != nil {
			return nil, err
		}
		if m.times, err = times(r); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(m.times, func(t time.Time) bool { return t.After(start) }) ||
			equal(before, m.times) { // also of a clock that is ahead
			return r, nil
		}
	}
	return nil, fmt.Errorf("exec %s: the files that it lists change while it starts. Fix: start the run again when "+
		"they "+
		"are written", m.group.name())
}

// unchanged returns an error if a file that the program lists has changed since it was asked.
func (m *Model) unchanged() error {
	if now, err := times(m.Ready); err != nil || !equal(now, m.times) {
		return fmt.Errorf("exec %s: a file that it lists changed during the run. Fix: start the run again",
			m.Ready.Name)
	}
	return nil
}

func equal(a, b []time.Time) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// times returns when the listed files were modified, and when they were replaced or their times set: a copy keeps the
// first. A file of another size than listed is an error.
func times(r *Ready) (t []time.Time, err error) {
	for _, f := range r.Model.Files {
		info, err := os.Stat(f.Path)
		if err != nil {
			return nil, fmt.Errorf("exec: %s lists a file that cannot be read: %w", r.Name, err)
		}
		if info.Size() != f.Size {
			return nil, fmt.Errorf("exec: %s lists %s with %d bytes; it has %d", r.Name, f.Path, f.Size, info.Size())
		}
		t = append(t, info.ModTime(), changed(info))
	}
	return t, nil
}

// Digest covers the protocol, the program, its arguments and what it reports about itself and its model.
func (m *Model) Digest() string { return m.digest }

// Batch returns the number of items that the processes work on at a time: one each where items cost money, so that each
// is stored as soon as it is answered.
func (m *Model) Batch() int {
	if m.Ready.Paid {
		return m.group.Workers()
	}
	return m.Ready.MaxBatch * m.group.Workers()
}

// Run answers items and reports progress to the stage's run. Unless the program computes on the CPU, other models wait
// for the device meanwhile. See [Group.Run].
func (m *Model) Run(ctx context.Context, items []Item) (answers []Answer, err error) {
	run := func() (err error) {
		answers, err = m.group.Run(ctx, items, func(share float64) { stage.Step(ctx, int(1000*share), 1000) })
		return err
	}
	if m.Ready.DeviceKind == "cpu" || m.options.ShareDevice {
		err = run()
	} else {
		err = m.env.OnDevice(ctx, run)
	}
	changed := m.unchanged()
	if answers == nil || changed != nil {
		answers = make([]Answer, len(items))
	}
	return answers, errors.Join(err, changed)
}

// Unchanged returns an error if the item's image file has another digest than the table.
func (i *Item) Unchanged() error {
	if i.Image == "" {
		return nil
	}
	_, err := stage.ImageFile(table.Image{SHA256: i.SHA256, Path: i.Image})
	return err
}

// RunRows is [Model.Run] for the items of rows, which have one image. The answers of a row are nil if not all of its
// items are answered, or if the image has changed while the program read it, and then there is an error.
func (m *Model) RunRows(ctx context.Context, rows [][]Item) ([][]Answer, error) {
	answers, err := m.Run(ctx, slices.Concat(rows...))
	out := make([][]Answer, len(rows))
	for i, items := range rows {
		of := answers[:len(items)]
		answers = answers[len(items):]
		if slices.ContainsFunc(of, func(a Answer) bool { return a.Outcome == "" }) {
			continue
		}
		if len(items) > 0 {
			if changed := items[0].Unchanged(); changed != nil {
				err = errors.Join(err, fmt.Errorf("row %q: %w", items[0].ID, changed))
				continue
			}
		}
		out[i] = of
	}
	return out, err
}

// RunGiven is Run for prepared rows of a stage whose rows have no outcome: an item is nil if there is nothing to
// compute. A row's answer is ok, the zero Answer if there was nothing to compute, or nil if it is not computed; then
// there is an error.
func (m *Model) RunGiven(ctx context.Context, prepared []*Item) ([]*Answer, error) {
	rows := make([][]Item, len(prepared))
	for i, it := range prepared {
		if it != nil {
			rows[i] = []Item{*it}
		}
	}
	answers, err := m.RunRows(ctx, rows)
	out := make([]*Answer, len(prepared))
	for i, of := range answers {
		switch {
		case rows[i] == nil:
			out[i] = &Answer{}
		case of != nil && of[0].Outcome == OK:
			out[i] = &of[0]
		case err == nil:
			a := of[0]
			err = fmt.Errorf("exec %s: row %q is %s: %s", m.Ready.Name, clip(a.ID, 100), a.Outcome, a.Reason)
		}
	}
	return out, err
}

// Load does nothing: processes start when they are needed.
func (m *Model) Load(context.Context) error { return nil }

// Unsupported is the error of an option that the program does not support.
func (m *Model) Unsupported(format string, args ...any) error {
	return &table.Error{Code: table.CodeUsage, Message: fmt.Sprintf("exec %s: ", m.Ready.Name) +
		fmt.Sprintf(format, args...)}
}

// Transient starts the reason of an answer that another run should request again.
const Transient = "may pass: "

// Result returns an answer's outcome and reason, as tables have them.
func (a *Answer) Result() (outcome, reason string) {
	if a.Transient && a.Outcome == Failed {
		return a.Outcome, Transient + a.Reason
	}
	return a.Outcome, a.Reason
}
