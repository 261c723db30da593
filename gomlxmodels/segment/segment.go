// Package segment is the stage that turns words into masks: it reads pictures and the words for what they show, and runs a
// CLIPSeg (package clipseg) on the device.
package segment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/checkpoint"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/tokenizers"
	"antipode/kernel/client"
)

// Version of the stage; see stage.Stage.
const Version = 1

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.SegmentOp, Version: Version, Open: open})
}

// worker segments with one model and one setting.
type worker struct {
	env       stage.Env
	args      gomlxmodels.SegmentArgs
	model     *clipseg.Model
	tokenizer *tokenizers.Tokenizer
	contents  string // digest of the model's files
	kind      string // of the device
	encoder   *clipseg.Encoder
	release   func()
}

func open(_ context.Context, env stage.Env, raw json.RawMessage) (stage.Worker, error) {
	w := &worker{env: env}
	if err := json.Unmarshal(raw, &w.args); err != nil {
		return nil, err
	}
	if _, _, err := w.args.Keep(); err != nil {
		return nil, err
	}
	dir, err := checkpoint.Folder(env, w.args.Model)
	if err != nil {
		return nil, err
	}
	if w.model, err = clipseg.Open(dir); err != nil {
		return nil, err
	}
	if w.tokenizer, err = tokenizers.Open(dir); err != nil {
		return nil, err
	}
	text := &w.model.Config().Text
	empty, err := w.tokenizer.Encode("", text.Context)
	if err != nil || w.tokenizer.Size() > text.VocabSize || text.End(empty.IDs) < 0 {
		return nil, fmt.Errorf("%s: the tokenizer (%d tokens) does not suit config.json (vocab_size %d, eos_token_id %d): they are of two models",
			dir, w.tokenizer.Size(), text.VocabSize, text.EndToken)
	}
	files := append(slices.Clone(w.model.Files()), w.tokenizer.Files()...)
	if w.contents, err = checkpoint.Digest(env, w.args.Model, files, w.model.Preprocess()); err != nil {
		return nil, err
	}
	w.kind, err = env.DeviceKind()
	return w, err
}

func (w *worker) Label() string { return "segment " + checkpoint.Name(w.args.Model) }
func (w *worker) Batch() int    { return clipseg.DefaultBatch }

func (w *worker) Digest() string {
	a := w.args
	return fmt.Sprintf("%s %q %q %g %s %s", w.contents, a.Prompt, a.Separator, a.Threshold, a.Components, w.kind)
}

func (w *worker) Check(columns []client.ColumnSpec) error {
	for _, need := range []client.ColumnSpec{{Name: "id", Kind: client.Text}, {Name: "image", Kind: client.Picture}, {Name: w.args.Object, Kind: client.Text}} {
		if !slices.Contains(columns, need) {
			return fmt.Errorf("segment needs the column %q (%s); there are: %s", need.Name, need.Kind, client.NameList(columns))
		}
	}
	return nil
}

func (w *worker) Outputs([]client.ColumnSpec) []client.ColumnSpec {
	return gomlxmodels.SegmentColumns()
}

func (w *worker) Key(row stage.Row) string {
	return strings.Join([]string{row.Image("image").SHA256, row.Text(w.args.Object), row.Text("outcome"), row.Text("reason")}, "\x00")
}

func (w *worker) Load(ctx context.Context) error {
	handle, err := w.env.Device()
	if err != nil {
		return err
	}
	backend := handle.(*device.Device).Backend
	value, release, err := w.env.Shared(fmt.Sprintf("%s (%.12s, %s)", w.Label(), w.contents, w.kind), func() (any, int64, func(), error) {
		var e *clipseg.Encoder
		err := w.env.OnDevice(ctx, func() (err error) {
			if e, err = clipseg.NewEncoder(backend, w.model, clipseg.Options{Batch: w.Batch()}); err == nil {
				err = e.Load()
			}
			return err
		})
		if err != nil {
			return nil, 0, nil, err
		}
		return e, e.Bytes(), func() { w.env.OnDevice(context.Background(), func() error { e.Close(); return nil }) }, nil
	})
	if err != nil {
		return err
	}
	w.encoder, w.release = value.(*clipseg.Encoder), release
	return nil
}

// item is a row, prepared.
type item struct {
	picture         *clipseg.Picture // nil = the row says itself why it has no picture
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
		return nil, "image", errors.New("the row has no image; give it one, or say why in a column outcome (refused, failed, skipped)")
	}
	names := w.args.Objects(it.objects)
	if len(names) == 0 {
		return nil, w.args.Object, errors.New("the row names no object to look for")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, "image", fmt.Errorf("%s cannot be read: %w", filepath.Base(file), errors.Unwrap(err))
	}
	rgb, err := preprocess.Decode(data)
	if err != nil {
		return nil, "image", fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	it.width, it.height, it.picture = rgb.Width, rgb.Height, &clipseg.Picture{}
	if it.picture.Pixels, err = w.model.Prepare(rgb); err != nil {
		return nil, "image", fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	for _, name := range names {
		text, err := w.tokenizer.Encode(strings.Replace(w.args.Prompt, "%s", name, 1), w.model.Config().Text.Context)
		if err != nil {
			return nil, w.args.Object, err
		}
		it.picture.Prompts = append(it.picture.Prompts, text.IDs)
	}
	return it, "", nil
}

// final says that an outcome is not the segmentation's to change.
func final(outcome string) bool {
	return !slices.Contains([]string{"", "ok", "unmasked"}, outcome)
}

func (w *worker) Compute(ctx context.Context, prepared []any) ([][]stage.Value, error) {
	var pictures []clipseg.Picture
	for _, p := range prepared {
		if it := p.(*item); it.picture != nil {
			pictures = append(pictures, *it.picture)
		}
	}
	var maps [][]clipseg.Map
	err := w.env.OnDevice(ctx, func() (err error) {
		maps, err = w.encoder.Segment(ctx, pictures)
		return err
	})
	if err != nil {
		return nil, err
	}
	out, failed := make([][]stage.Value, len(prepared)), make([]error, len(prepared))
	var wait sync.WaitGroup
	for i, p := range prepared {
		it := p.(*item)
		if it.picture == nil {
			out[i] = found{}.values(it)
			continue
		}
		var of []clipseg.Map
		of, maps = maps[0], maps[1:]
		wait.Go(func() {
			var f found
			f, failed[i] = w.find(it, of)
			out[i] = f.values(it)
		})
	}
	wait.Wait()
	return out, errors.Join(failed...)
}

func (w *worker) Close() {
	if w.release != nil {
		w.release()
	}
}
