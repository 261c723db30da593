// Package segment is the stage that adds masks: it finds objects in images by their names, with CLIPSeg (package
// clipseg), with a detector, whose boxes a segmenter turns into masks (packages groundingdino and sam), or with a
// program of the user (package execmodel).
package segment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/compute/dtypes"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/internal/fault"
)

// Version of the stage; see stage.Stage.
const Version = 1

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.SegmentOp, Version: Version, Open: open})
}

type finder interface {
	// contents identifies the models' files and what else its results depend on besides the arguments.
	contents() string
	batch() int
	load(ctx context.Context) (stage.Release, error)
	// prepare does the host's part for the image and the prompts of an item.
	prepare(rgb *preprocess.RGB, it *item) error
	// segment runs the models on prepared images, on the device's goroutine; a program, not on it. For each image there
	// is what makes its mask of the result, which runs on several goroutines at once. With an error there may be those
	// that are done, and nil for the others.
	segment(ctx context.Context, items []*item) (masks []func() (found, error), err error)
}

// textError is an error of the objects' names, not of the image.
type textError struct{ error }

// settings are what a model is opened with.
type settings struct {
	env   stage.Env
	args  gomlxmodels.SegmentArgs
	kind  string // of the device; "" = it is not used
	dtype dtypes.DType
}

// batch is the number of images in a call of the device.
func (s settings) batch() int { return stage.Batch(s.kind, clipseg.DefaultBatch) }

// worker segments with one set of arguments.
type worker struct {
	stage.Release
	settings
	name   string // of the model, for people
	finder finder
	judge  *judge // nil = no column presence
}

func open(ctx context.Context, env stage.Env, raw json.RawMessage) (_ *stage.Opened, err error) {
	w := &worker{settings: settings{env: env}}
	if err = json.Unmarshal(raw, &w.args); err == nil {
		w.args.Separator = cmp.Or(w.args.Separator, gomlxmodels.NoSeparator)
		err = w.args.Check()
	}
	if err != nil {
		return nil, err
	}
	w.name = hub.Name(w.args.Model)
	program := strings.HasPrefix(w.args.Model, gomlxmodels.Exec)
	if !program || w.args.Presence != "" {
		if w.kind, err = env.DeviceKind(); err != nil {
			return nil, err
		}
	}
	w.dtype = stage.Precision(cmp.Or(w.args.Precision, "float32"), w.kind, env.Note)
	switch {
	case program:
		err = w.openProgram(ctx)
	case w.args.Detector == "":
		w.finder, err = openCLIPSeg(w.settings)
	default:
		w.finder, err = openBoxes(w.settings)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	if w.args.Presence != "" {
		if w.judge, err = openJudge(w.settings); err != nil {
			return nil, err
		}
	}
	return stage.Of(w), nil
}

func (w *worker) Label() string { return "segment " + w.name }
func (w *worker) Batch() int    { return w.finder.batch() }

func (w *worker) Digest() string {
	a, judge := w.args, ""
	if w.judge != nil {
		judge = " " + w.judge.contents
	}
	if w.dtype != dtypes.Float32 {
		judge += " " + strings.ToLower(w.dtype.String())
	}
	return fmt.Sprintf("%s %q %q %g %s %s%s", w.finder.contents(), a.Template, a.Separator, a.Threshold, a.Components,
		w.kind, judge)
}

// Readings counts the images in which nothing was found.
func (w *worker) Readings(rows *table.Frame) []table.Reading {
	outcomes := rows.Texts("outcome")
	x := table.Reading{Source: w.Label(), Column: "mask", What: "unmasked", Majority: true}
	if first := slices.Index(outcomes, "unmasked"); first >= 0 {
		x.First = rows.Texts("reason")[first]
	}
	return []table.Reading{x.Count(rows, func(row int) (bool, bool) {
		return outcomes[row] == "unmasked", slices.Contains([]string{"ok", "unmasked"}, outcomes[row])
	})}
}

func (w *worker) Check(columns []table.ColumnSpec) error {
	return stage.Needs("segment", columns, append(datasets.Columns("id:text", "image:image"),
		table.ColumnSpec{Name: w.args.Text, Kind: table.KindText})...)
}

func (w *worker) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return w.args.Columns()
}

func (w *worker) Key(row stage.Row) string {
	return fmt.Sprintf("%s %q %q %q", stage.ImageKey(row.Image("image")), row.Text(w.args.Text),
		row.Text("outcome"), row.Text("reason"))
}

func (w *worker) Load(ctx context.Context) (err error) {
	if w.Release, err = w.finder.load(ctx); err != nil || w.judge == nil {
		return err
	}
	j := w.judge
	key := fmt.Sprintf("presence %s (%.12s, %s)", hub.Name(j.name), j.contents, w.kind)
	j.encoder, j.Release, err = stage.Load(ctx, w.env, key, j.load)
	return err
}

// item is a row, prepared.
type item struct {
	id              string
	image           table.Image
	names           []string // of the objects
	prompts         []string // the names in the template; nil = the outcome says why there is no image
	clipseg         clipseg.Image
	boxes           boxInput
	question        *question // for the judge; nil = no judge
	width, height   int
	objects         string
	outcome, reason string // the row's own
}

func (w *worker) Prepare(_ context.Context, row stage.Row) (*item, string, error) {
	it := &item{id: row.Text("id"), image: row.Image("image"), objects: row.Text(w.args.Text),
		outcome: row.Text("outcome"), reason: row.Text("reason")}
	if it.image.Path == "" {
		if final(it.outcome) {
			return it, "", nil
		}
		return nil, "image", stage.ErrNoImage
	}
	names := w.args.Objects(it.objects)
	if len(names) == 0 {
		return nil, w.args.Text, errors.New("the row names no object")
	}
	rgb, err := stage.ReadImage(it.image)
	if err != nil {
		return nil, "image", err
	}
	it.width, it.height, it.names = rgb.Width, rgb.Height, names
	for _, name := range names {
		it.prompts = append(it.prompts, strings.Replace(w.args.Template, "%s", name, 1))
	}
	if err = w.finder.prepare(rgb, it); errors.As(err, new(textError)) {
		return nil, w.args.Text, err
	} else if err != nil {
		return nil, "image", fmt.Errorf("%s: %w", filepath.Base(it.image.Path), err)
	}
	if w.judge != nil {
		if it.question, err = w.judge.prepare(rgb, names); err != nil {
			return nil, "image", fmt.Errorf("%s: %w", filepath.Base(it.image.Path), err)
		}
	}
	return it, "", nil
}

// final reports whether segmentation leaves an outcome as it is.
func final(outcome string) bool {
	return !slices.Contains([]string{"", "ok", "unmasked"}, outcome)
}

func (w *worker) Compute(ctx context.Context, prepared []*item) ([][]table.Value, error) {
	var items []*item
	var questions []*question
	for _, it := range prepared {
		if it.prompts != nil {
			items, questions = append(items, it), append(questions, it.question)
		}
	}
	var masks []func() (found, error)
	var presence []float64
	var err error
	segment := func() (err error) {
		masks, err = w.finder.segment(ctx, items)
		return err
	}
	if _, program := w.finder.(*program); program {
		err = segment()
	} else {
		err = w.env.OnDevice(ctx, segment)
	}
	if w.judge != nil && (err == nil || masks != nil) {
		err = errors.Join(err, w.env.OnDevice(ctx, func() (err error) {
			presence, err = w.judge.answer(ctx, questions)
			return err
		}))
	}
	if err != nil && (masks == nil || w.judge != nil && presence == nil) {
		return nil, err
	}
	out, failed := make([][]table.Value, len(prepared)), make([]error, len(prepared))
	var wait sync.WaitGroup
	for i, it := range prepared {
		if it.prompts == nil {
			out[i] = w.values(it, found{}, math.NaN())
			continue
		}
		find := masks[0]
		masks = masks[1:]
		sure := math.NaN()
		if w.judge != nil {
			sure, presence = presence[0], presence[1:]
		}
		if find == nil {
			continue
		}
		wait.Go(func() {
			failed[i] = fault.Catch(func() error {
				f, err := find()
				if err == nil {
					out[i] = w.values(it, f, sure)
				}
				return err
			})
		})
	}
	wait.Wait()
	return out, errors.Join(append(failed, err)...)
}

func (w *worker) Close() {
	w.Release.Close()
	if w.judge != nil {
		w.judge.Close()
	}
}
