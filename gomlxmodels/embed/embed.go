// Package embed is the stage that gives pictures and texts their vectors: it reads them, and runs the encoder of the asked
// model on the device. Each kind of model is one file: vit.go, clip.go, text.go, blip2.go.
package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/checkpoint"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stagekit"
	"antipode/kernel/client"
)

// Version of the stage; see stage.Stage.
const Version = 1

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.EmbedOp, Version: Version, Open: open})
}

// kind is an opened model of one architecture, with the settings it is asked to work by.
type kind interface {
	// files are those a digest of the model must cover, settings what else decides its output and was read from none of them.
	files() []string
	settings() []any
	// choices are the settings of the plan that decide the output.
	choices() string
	// needs are the columns it reads.
	needs() []client.ColumnSpec
	// key names a row's own inputs.
	key(row stage.Row) string
	batch() int
	// load makes the encoder; it runs on the device's goroutine.
	load(backend compute.Backend, dtype dtypes.DType) (encoder, error)
	// prepare is a row's host work; nil = the row has nothing to embed, and says so itself.
	prepare(row stage.Row) (any, string, error)
	// encode embeds what was prepared, none of it nil, on the device's goroutine; values gives a row's, e one of encode's results or nil.
	encode(ctx context.Context, e encoder, prepared []any) ([]any, error)
	values(embedding, prepared any, masked bool) []stage.Value
}

// encoder is a loaded model.
type encoder = stagekit.Model

// worker embeds with one model and one setting.
type worker struct {
	env     stage.Env
	args    gomlxmodels.EmbedArgs
	name    string // for people
	kind    kind
	digest  string
	dtype   dtypes.DType
	encoder encoder
	release func()
	masked  bool
}

func open(_ context.Context, env stage.Env, raw json.RawMessage) (stage.Worker, error) {
	w := &worker{env: env}
	if err := json.Unmarshal(raw, &w.args); err != nil {
		return nil, err
	}
	w.name = checkpoint.Name(w.args.Model)
	dir, err := checkpoint.Folder(env, w.args.Model)
	if err != nil {
		return nil, err
	}
	switch w.args.Vector {
	case "", gomlxmodels.Full:
		w.kind, err = openViT(dir, w.args)
	case gomlxmodels.ClipImage:
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
	model, err := checkpoint.Digest(env, w.args.Model, w.kind.files(), w.kind.settings()...)
	if err != nil {
		return nil, err
	}
	device, err := env.DeviceKind()
	if err != nil {
		return nil, err
	}
	w.dtype = stagekit.Precision(w.args.Precision, device)
	w.digest = fmt.Sprintf("%s %s %s %s", model, w.kind.choices(), strings.ToLower(w.dtype.String()), device)
	return w, nil
}

func (w *worker) Label() string            { return "embed " + w.name }
func (w *worker) Digest() string           { return w.digest }
func (w *worker) Batch() int               { return w.kind.batch() }
func (w *worker) Key(row stage.Row) string { return w.kind.key(row) }

func has(columns []client.ColumnSpec, name string, kind client.Kind) bool {
	return slices.Contains(columns, client.ColumnSpec{Name: name, Kind: kind})
}

func (w *worker) Check(columns []client.ColumnSpec) error {
	if err := stage.Needs("embed", columns, w.kind.needs()...); err != nil {
		return err
	}
	w.masked = has(columns, "mask", client.Masked)
	if v, ok := w.kind.(*vitKind); ok {
		v.masked = w.masked
	}
	return nil
}

func (w *worker) Outputs(columns []client.ColumnSpec) []client.ColumnSpec {
	return gomlxmodels.EmbedColumns(w.args.Vector, has(columns, "mask", client.Masked))
}

func (w *worker) Load(ctx context.Context) (err error) {
	key := fmt.Sprintf("%s (%.12s, %s)", w.name, w.digest, w.kind.choices())
	w.encoder, w.release, err = stagekit.Load(ctx, w.env, key, func(backend compute.Backend) (encoder, error) {
		return w.kind.load(backend, w.dtype)
	})
	return err
}

func (w *worker) Prepare(_ context.Context, row stage.Row) (any, string, error) {
	return w.kind.prepare(row)
}

func (w *worker) Compute(ctx context.Context, prepared []any) ([][]stage.Value, error) {
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
	out := make([][]stage.Value, len(prepared))
	for i, p := range prepared {
		var e any
		if p != nil {
			e, embeddings = embeddings[0], embeddings[1:]
		}
		out[i] = w.kind.values(e, p, w.masked)
	}
	return out, nil
}

func (w *worker) Close() {
	if w.release != nil {
		w.release()
	}
}

// absent says that a row has nothing to embed and says why in its outcome.
func absent(row stage.Row) bool {
	return slices.Contains([]string{"refused", "failed", "skipped"}, row.Text("outcome"))
}
