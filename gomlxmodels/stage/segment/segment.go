// Package segment is the stage that adds masks: it runs CLIPSeg (package clipseg) on images and the names of the
// objects in them.
package segment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/compute"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/tokenizers"
)

// Version of the stage; see stage.Stage.
const Version = 1

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.SegmentOp, Version: Version, Open: open})
}

// worker segments with one model and one set of arguments.
type worker struct {
	stage.Release
	env       stage.Env
	args      gomlxmodels.SegmentArgs
	model     *clipseg.Model
	tokenizer *tokenizers.Tokenizer
	contents  string // digest of the model's files
	kind      string // of the device
	encoder   *clipseg.Encoder
	judge     *judge // nil = no column presence
}

const batch = clipseg.DefaultBatch

func open(_ context.Context, env stage.Env, raw json.RawMessage) (stage.Worker, error) {
	w := &worker{env: env}
	if err := json.Unmarshal(raw, &w.args); err != nil {
		return nil, err
	}
	if _, _, err := w.args.Keep(); err != nil {
		return nil, err
	}
	dir, err := hub.Resolve(env, w.args.Model)
	if err != nil {
		return nil, err
	}
	if w.model, err = clipseg.Open(dir); err != nil {
		return nil, err
	}
	if w.tokenizer, err = openTokenizer(dir, &w.model.Config().Text); err != nil {
		return nil, err
	}
	files := slices.Concat(w.model.Files(), w.tokenizer.Files())
	if w.contents, err = hub.Digest(env, w.args.Model, files, w.model.Preprocess()); err != nil {
		return nil, err
	}
	if w.args.Presence != "" {
		if w.judge, err = openJudge(env, w.args.Presence); err != nil {
			return nil, err
		}
	}
	w.kind, err = env.DeviceKind()
	return w, err
}

func (w *worker) Label() string { return "segment " + hub.Name(w.args.Model) }
func (w *worker) Batch() int    { return batch }

func (w *worker) Digest() string {
	a, judge := w.args, ""
	if w.judge != nil {
		judge = " " + w.judge.contents
	}
	return fmt.Sprintf("%s %q %q %g %s %s%s", w.contents, a.Prompt, a.Separator, a.Threshold, a.Components, w.kind,
		judge)
}

func (w *worker) Check(columns []table.ColumnSpec) error {
	return stage.Needs("segment", columns, append(datasets.Columns("id:text", "image:image"),
		table.ColumnSpec{Name: w.args.Object, Kind: table.KindText})...)
}

func (w *worker) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.SegmentColumns(w.judge != nil)
}

func (w *worker) Key(row stage.Row) string {
	return fmt.Sprintf("%s %q %q %q", row.Image("image").SHA256, row.Text(w.args.Object), row.Text("outcome"),
		row.Text("reason"))
}

func (w *worker) Load(ctx context.Context) (err error) {
	key := fmt.Sprintf("%s (%.12s, %s)", w.Label(), w.contents, w.kind)
	w.encoder, w.Release, err = stage.Load(ctx, w.env, key, func(backend compute.Backend) (*clipseg.Encoder, error) {
		e, err := clipseg.NewEncoder(backend, w.model, clipseg.Options{Batch: batch})
		if err == nil {
			err = e.Load()
		}
		return e, err
	})
	if err != nil || w.judge == nil {
		return err
	}
	j := w.judge
	key = fmt.Sprintf("presence %s (%.12s, %s)", hub.Name(j.name), j.contents, w.kind)
	j.encoder, j.Release, err = stage.Load(ctx, w.env, key, j.load)
	return err
}

// item is a row, prepared.
type item struct {
	image           *clipseg.Image // nil = the outcome says why there is no image
	question        *question      // for the judge; nil = no judge
	width, height   int
	objects         string
	outcome, reason string // the row's own
}

func (w *worker) Prepare(_ context.Context, row stage.Row) (any, string, error) {
	it := &item{objects: row.Text(w.args.Object), outcome: row.Text("outcome"), reason: row.Text("reason")}
	file := row.Image("image").Path
	if file == "" {
		if final(it.outcome) {
			return it, "", nil
		}
		return nil, "image", stage.ErrNoImage
	}
	names := w.args.Objects(it.objects)
	if len(names) == 0 {
		return nil, w.args.Object, errors.New("the row names no object")
	}
	rgb, err := stage.ReadImage(file)
	if err != nil {
		return nil, "image", err
	}
	it.width, it.height, it.image = rgb.Width, rgb.Height, &clipseg.Image{}
	if it.image.Pixels, err = w.model.Prepare(rgb); err != nil {
		return nil, "image", fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	for _, name := range names {
		text, err := w.tokenizer.Encode(strings.Replace(w.args.Prompt, "%s", name, 1), w.model.Config().Text.Context)
		if err != nil {
			return nil, w.args.Object, err
		}
		it.image.Prompts = append(it.image.Prompts, text.IDs)
	}
	if w.judge != nil {
		if it.question, err = w.judge.prepare(rgb, names); err != nil {
			return nil, "image", fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
	}
	return it, "", nil
}

// final reports whether segmentation leaves an outcome as it is.
func final(outcome string) bool {
	return !slices.Contains([]string{"", "ok", "unmasked"}, outcome)
}

func (w *worker) Compute(ctx context.Context, prepared []any) ([][]stage.Value, error) {
	var images []clipseg.Image
	var questions []*question
	for _, p := range prepared {
		if it := p.(*item); it.image != nil {
			images, questions = append(images, *it.image), append(questions, it.question)
		}
	}
	var maps [][]clipseg.Map
	var presence []float64
	err := w.env.OnDevice(ctx, func() (err error) {
		if maps, err = w.encoder.Segment(ctx, images); err == nil && w.judge != nil {
			presence, err = w.judge.answer(ctx, questions)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out, failed := make([][]stage.Value, len(prepared)), make([]error, len(prepared))
	var wait sync.WaitGroup
	for i, p := range prepared {
		it := p.(*item)
		if it.image == nil {
			out[i] = w.values(it, found{}, math.NaN())
			continue
		}
		var of []clipseg.Map
		of, maps = maps[0], maps[1:]
		sure := math.NaN()
		if w.judge != nil {
			sure, presence = presence[0], presence[1:]
		}
		wait.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					failed[i] = fmt.Errorf("segment: %v", r)
				}
			}()
			var f found
			f, failed[i] = w.find(it, of)
			out[i] = w.values(it, f, sure)
		})
	}
	wait.Wait()
	return out, errors.Join(failed...)
}

func (w *worker) Close() {
	w.Release.Close()
	if w.judge != nil {
		w.judge.Close()
	}
}
