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

// gpuCalls are the calls that a GPU's rows are computed in at once: the inputs of one go to the GPU while it computes
// the one before.
const gpuCalls = 4

// about is what is known of an opened model of one architecture, with the arguments of the stage.
type about struct {
	files      []string // those that a digest of the model must cover
	parameters []any    // what else decides its output and was read from none of them
	choices    string   // the arguments of the plan that the output depends on
	needs      []table.ColumnSpec
	batch      int                                     // images or texts of a call
	whole      bool                                    // it embeds whole images only
	key        func(row stage.Row, masked bool) string // identifies the row's own inputs
}

// kind is such a model with an encoder M, which makes embeddings E of prepared rows P.
type kind[M stage.Loaded, P, E any] struct {
	about
	// load makes the encoder, for batches of images; it runs on the device's goroutine.
	load func(backend compute.Backend, dtype dtypes.DType, batch int) (M, error)
	// prepare is a row's work on the host; nil = the row has nothing to embed, and its outcome says why.
	prepare func(row stage.Row) (*P, string, error)
	// encode embeds prepared rows on the device's goroutine.
	encode func(e M, ctx context.Context, prepared []P) ([]E, error)
	// values returns a row's columns; of a row without anything to embed, prepared is nil and embedding zero.
	values func(embedding E, prepared *P, masked bool) []table.Value
}

// opening is what a worker is opened with.
type opening struct {
	env  stage.Env
	args gomlxmodels.EmbedArgs
	name string // for people
	dir  string // of the model
}

// worker embeds with one model and one set of arguments.
type worker[M stage.Loaded, P, E any] struct {
	stage.Release
	opening
	kind    kind[M, P, E]
	calls   int // of the device for the rows of Compute
	digest  string
	dtype   dtypes.DType
	encoder M
	masked  bool
}

func open(ctx context.Context, env stage.Env, raw json.RawMessage) (_ *stage.Opened, err error) {
	o := opening{env: env}
	if err := json.Unmarshal(raw, &o.args); err != nil {
		return nil, err
	}
	if strings.HasPrefix(o.args.Model, gomlxmodels.Exec) {
		return openExec(ctx, env, o.args)
	}
	o.name = hub.Name(o.args.Model)
	if o.dir, err = hub.Resolve(env, o.args.Model); err != nil {
		return nil, err
	}
	switch o.args.Vector {
	case "", gomlxmodels.Full:
		if inception.Is(o.dir) {
			return openInception(o)
		}
		return openViT(o)
	case gomlxmodels.Logits:
		return openInception(o)
	case gomlxmodels.ClipImage, gomlxmodels.ClipImagePooled:
		return openCLIP(o)
	case gomlxmodels.Blip2Image, gomlxmodels.Blip2Text:
		return openBLIP2(o)
	case gomlxmodels.ClipText:
		own, err := isCLIP(o.dir)
		if err != nil {
			return nil, err
		}
		if own {
			return openCLIP(o)
		}
	}
	return openSentences(o)
}

// start returns a worker with an opened model.
func start[M stage.Loaded, P, E any](o opening, k kind[M, P, E]) (*stage.Opened, error) {
	model, err := hub.Digest(o.env, o.args.Model, k.files, k.parameters...)
	if err != nil {
		return nil, err
	}
	on, err := o.env.DeviceKind()
	if err != nil {
		return nil, err
	}
	calls := 1
	if k.batch = stage.Batch(on, k.batch); on == device.XLACUDA {
		calls = gpuCalls
	}
	w := &worker[M, P, E]{opening: o, kind: k, calls: calls, dtype: stage.Precision(o.args.Precision, on, o.env.Note)}
	w.digest = fmt.Sprintf("%s %s %s %s", model, k.choices, strings.ToLower(w.dtype.String()), on)
	return stage.Of(w), nil
}

func (w *worker[M, P, E]) Label() string            { return "embed " + w.name }
func (w *worker[M, P, E]) Digest() string           { return w.digest }
func (w *worker[M, P, E]) Batch() int               { return w.kind.batch * w.calls }
func (w *worker[M, P, E]) Key(row stage.Row) string { return w.kind.key(row, w.masked) }

func has(columns []table.ColumnSpec, name string, kind table.Kind) bool {
	return slices.Contains(columns, table.ColumnSpec{Name: name, Kind: kind})
}

func (w *worker[M, P, E]) Check(columns []table.ColumnSpec) error {
	if err := stage.Needs("embed", columns, w.kind.needs...); err != nil {
		return err
	}
	if w.masked = has(columns, "mask", table.KindMask); w.masked && w.kind.whole {
		return errors.New("an Inception v3 embeds whole images, without object_only and background_only, and the " +
			"table has masks. Fix: embed before segmenting, or leave out the column mask")
	}
	return nil
}

func (w *worker[M, P, E]) Outputs(columns []table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.EmbedColumns(w.args.Vector, has(columns, "mask", table.KindMask))
}

// Readings counts the texts that were cut to the encoder's context.
func (w *worker[M, P, E]) Readings(rows *table.Frame) []table.Reading {
	cut := rows.Numbers(w.args.Vector + "_cut")
	if cut == nil {
		return nil
	}
	return []table.Reading{table.Reading{Source: w.Label(), Column: w.args.Against, What: "texts are longer than the " +
		"encoder's context and were cut (see the column " + w.args.Vector + "_cut)"}.Count(rows,
		func(row int) (bool, bool) { return cut[row] > 0, cut[row] == cut[row] })}
}

func (w *worker[M, P, E]) Load(ctx context.Context) (err error) {
	key := fmt.Sprintf("%s (%.12s, %s, %s)", w.name, w.digest, w.kind.choices, strings.ToLower(w.dtype.String()))
	w.encoder, w.Release, err = stage.Load(ctx, w.env, key, func(backend compute.Backend) (M, error) {
		return w.kind.load(backend, w.dtype, w.kind.batch)
	})
	return err
}

func (w *worker[M, P, E]) Prepare(_ context.Context, row stage.Row) (*P, string, error) {
	return w.kind.prepare(row)
}

func (w *worker[M, P, E]) Compute(ctx context.Context, prepared []*P) ([][]table.Value, error) {
	var given []P
	for _, p := range prepared {
		if p != nil {
			given = append(given, *p)
		}
	}
	var embeddings []E
	err := w.env.OnDevice(ctx, func() (err error) {
		embeddings, err = w.kind.encode(w.encoder, ctx, given)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([][]table.Value, len(prepared))
	for i, p := range prepared {
		var e E
		if p != nil {
			e, embeddings = embeddings[0], embeddings[1:]
		}
		out[i] = w.kind.values(e, p, w.masked)
	}
	return out, nil
}
