// Package embed is the stage that adds vectors of images and texts: it runs the encoder of the requested model on the
// device. Each kind of model is one file: vit.go, inception.go, clip.go,
// text.go, blip2.go.
package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/inception"
	"antipode/gomlxmodels/stage"
)

// Version of the stage; see stage.Stage.
const Version = 2

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.EmbedOp, Version: Version, Open: open})
}

// gpuBatch is the number of images of a call on an NVIDIA GPU, at least: an H100 embeds 1.8 to 3 times as many a second
// as one by one (docs/benchmarks.md).
const gpuBatch = 32

// kind is an opened model of one architecture, with the arguments of the stage.
type kind struct {
	files      []string // those that a digest of the model must cover
	parameters []any    // what else decides its output and was read from none of them
	choices    string   // the arguments of the plan that the output depends on
	needs      []table.ColumnSpec
	batch      int                                     // images or texts of a call
	whole      bool                                    // it embeds whole images only
	key        func(row stage.Row, masked bool) string // identifies the row's own inputs
	// load makes the encoder, for batches of images; it runs on the device's goroutine.
	load func(backend compute.Backend, dtype dtypes.DType, batch int) (encoder, error)
	// prepare is a row's work on the host; nil = the row has nothing to embed, and its outcome says why.
	prepare func(row stage.Row) (any, string, error)
	// encode embeds prepared rows, none of them nil, on the device's goroutine.
	encode func(ctx context.Context, e encoder, prepared []any) ([]any, error)
	// values returns a row's columns; embedding is one of encode's results, or nil.
	values func(embedding, prepared any, masked bool) []table.Value
}

// each returns an encode function that calls f, a method of an encoder, with prepared rows of its type.
func each[M encoder, P, E any](f func(M, context.Context, []P) ([]E, error)) func(context.Context, encoder,
	[]any) ([]any, error) {
	return func(ctx context.Context, e encoder, prepared []any) ([]any, error) {
		rows := make([]P, len(prepared))
		for i, p := range prepared {
			rows[i] = p.(P)
		}
		list, err := f(e.(M), ctx, rows)
		out := make([]any, len(list))
		for i, v := range list {
			out[i] = v
		}
		return out, err
	}
}

// encoder is a loaded model.
type encoder = stage.Loaded

// worker embeds with one model and one set of arguments.
type worker struct {
	stage.Release
	env     stage.Env
	args    gomlxmodels.EmbedArgs
	name    string // for people
	kind    *kind
	digest  string
	dtype   dtypes.DType
	encoder encoder
	masked  bool
}

func open(ctx context.Context, env stage.Env, raw json.RawMessage) (stage.Worker, error) {
	w := &worker{env: env}
	if err := json.Unmarshal(raw, &w.args); err != nil {
		return nil, err
	}
	if strings.HasPrefix(w.args.Model, gomlxmodels.Exec) {
		return openExec(ctx, env, w.args)
	}
	w.name = hub.Name(w.args.Model)
	dir, err := hub.Resolve(env, w.args.Model)
	if err != nil {
		return nil, err
	}
	switch w.args.Vector {
	case "", gomlxmodels.Full:
		if inception.Is(dir) {
			w.kind, err = openInception(dir, w.args)
		} else {
			w.kind, err = openViT(dir, w.args)
		}
	case gomlxmodels.Logits:
		w.kind, err = openInception(dir, w.args)
	case gomlxmodels.ClipImage, gomlxmodels.ClipImagePooled:
		w.kind, err = openCLIP(dir, w.args)
	case gomlxmodels.Blip2Image, gomlxmodels.Blip2Text:
		w.kind, err = openBLIP2(dir, w.args)
	case gomlxmodels.ClipText:
		var own bool
		if own, err = isCLIP(dir); own {
			w.kind, err = openCLIP(dir, w.args)
		} else if err == nil {
			w.kind, err = openSentences(dir, w.args)
		}
	default:
		w.kind, err = openSentences(dir, w.args)
	}
	if err != nil {
		return nil, err
	}
	model, err := hub.Digest(env, w.args.Model, w.kind.files, w.kind.parameters...)
	if err != nil {
		return nil, err
	}
	on, err := env.DeviceKind()
	if err != nil {
		return nil, err
	}
	if on == device.XLACUDA {
		w.kind.batch = max(w.kind.batch, gpuBatch)
	}
	w.dtype = stage.Precision(w.args.Precision, on, env.Note)
	w.digest = fmt.Sprintf("%s %s %s %s", model, w.kind.choices, strings.ToLower(w.dtype.String()), on)
	return w, nil
}

func (w *worker) Label() string            { return "embed " + w.name }
func (w *worker) Digest() string           { return w.digest }
func (w *worker) Batch() int               { return w.kind.batch }
func (w *worker) Key(row stage.Row) string { return w.kind.key(row, w.masked) }

func has(columns []table.ColumnSpec, name string, kind table.Kind) bool {
	return slices.Contains(columns, table.ColumnSpec{Name: name, Kind: kind})
}

func (w *worker) Check(columns []table.ColumnSpec) error {
	if err := stage.Needs("embed", columns, w.kind.needs...); err != nil {
		return err
	}
	if w.masked = has(columns, "mask", table.KindMask); w.masked && w.kind.whole {
		return errors.New("an Inception v3 embeds whole images, without object_only and background_only, and the " +
			"table has masks. Fix: embed before segmenting, or leave out the column mask")
	}
	return nil
}

func (w *worker) Outputs(columns []table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.EmbedColumns(w.args.Vector, has(columns, "mask", table.KindMask))
}

// Readings counts the texts that were cut to the encoder's context.
func (w *worker) Readings(rows *table.Frame) []table.Reading {
	cut := rows.Numbers(w.args.Vector + "_cut")
	if cut == nil {
		return nil
	}
	return []table.Reading{table.Reading{Source: w.Label(), Column: w.args.Against, What: "texts are longer than the " +
		"encoder's context and were cut (see the column " + w.args.Vector + "_cut)"}.Count(rows,
		func(row int) (bool, bool) { return cut[row] > 0, cut[row] == cut[row] })}
}

func (w *worker) Load(ctx context.Context) (err error) {
	key := fmt.Sprintf("%s (%.12s, %s, %s)", w.name, w.digest, w.kind.choices, strings.ToLower(w.dtype.String()))
	w.encoder, w.Release, err = stage.Load(ctx, w.env, key, func(backend compute.Backend) (encoder, error) {
		return w.kind.load(backend, w.dtype, w.kind.batch)
	})
	return err
}

func (w *worker) Prepare(_ context.Context, row stage.Row) (any, string, error) {
	return w.kind.prepare(row)
}

func (w *worker) Compute(ctx context.Context, prepared []any) ([][]table.Value, error) {
	var given []any
	for _, p := range prepared {
		if p != nil {
			given = append(given, p)
		}
	}
	var embeddings []any
	err := w.env.OnDevice(ctx, func() (err error) {
		embeddings, err = w.kind.encode(ctx, w.encoder, given)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([][]table.Value, len(prepared))
	for i, p := range prepared {
		var e any
		if p != nil {
			e, embeddings = embeddings[0], embeddings[1:]
		}
		out[i] = w.kind.values(e, p, w.masked)
	}
	return out, nil
}
