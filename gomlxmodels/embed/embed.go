// Package embed is the stage that gives images their vectors: it reads pictures and masks, and runs the encoder of the
// asked model (package vit) on the device.
package embed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/vit"
	"antipode/kernel/client"
)

// Version of the stage; see stage.Stage.
const Version = 1

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.EmbedOp, Version: Version, Open: open})
}

// builtin are the models shipped inside the program, by name: the files of their folders.
var builtin = map[string]fs.FS{}

// RegisterBuiltin makes a shipped model known under its name.
func RegisterBuiltin(name string, files fs.FS) { builtin[name] = files }

// worker embeds with one model and one setting.
type worker struct {
	env     stage.Env
	args    gomlxmodels.EmbedArgs
	name    string // for people
	model   *vit.Model
	digest  string
	encoder *vit.Encoder
	release func()
	masked  bool
	dtype   dtypes.DType
}

func open(_ context.Context, env stage.Env, raw json.RawMessage) (stage.Worker, error) {
	w := &worker{env: env}
	if err := json.Unmarshal(raw, &w.args); err != nil {
		return nil, err
	}
	dir := w.args.Model
	w.name = filepath.Base(dir)
	if files, ok := builtin[dir]; ok {
		var err error
		if dir, err = unpack(filepath.Join(env.ModelDir(), dir), files); err != nil {
			return nil, err
		}
	}
	var err error
	if w.model, err = vit.Open(dir); err != nil {
		return nil, err
	}
	h := sha256.New()
	for _, file := range w.model.Files() {
		d, err := env.FileDigest(file)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(h, "%s %s\n", filepath.Base(file), d)
	}
	pre, err := json.Marshal(w.model.Preprocess())
	if err != nil {
		return nil, err
	}
	h.Write(pre)
	kind, err := env.DeviceKind()
	if err != nil {
		return nil, err
	}
	model := hex.EncodeToString(h.Sum(nil))
	if noter, ok := env.(interface{ Model(name, digest string) }); ok {
		noter.Model(w.args.Model, model)
	}
	w.dtype = precision(w.args.Precision, kind)
	w.digest = fmt.Sprintf("%s %s %s %s %s %s", model, w.args.Masking, w.args.Fill, w.args.PatchRule, strings.ToLower(w.dtype.String()), kind)
	return w, nil
}

// precision is what the model computes in, asked for or by the device's kind.
func precision(asked, kind string) dtypes.DType {
	if asked == "bfloat16" || asked != "float32" && kind == device.XLACUDA {
		return dtypes.BFloat16
	}
	return dtypes.Float32
}

// unpack writes a shipped model's files to a folder, once, and puts back any that changed.
func unpack(dir string, files fs.FS) (string, error) {
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(path))
		if old, err := os.ReadFile(target); err == nil && bytes.Equal(old, data) {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		tmp := target + fmt.Sprintf(".%d.tmp", os.Getpid())
		if err := os.WriteFile(tmp, data, 0o644); err != nil {
			return err
		}
		return os.Rename(tmp, target)
	})
	return dir, err
}

func (w *worker) Label() string  { return "embed " + w.name }
func (w *worker) Digest() string { return w.digest }
func (w *worker) Batch() int     { return batchSize(w.model) }

// batchSize is how many pictures one call of the device takes: more for small models, whose calls cost little.
func batchSize(m *vit.Model) int {
	const work = 8 * 86e6 * 197 // a ViT-B/16 at 224 pixels, eight pictures
	perImage := float64(m.Parameters()) * float64(m.Config().Patches()+m.Config().Prefix())
	n := int(work / perImage)
	return max(vit.DefaultBatch, min(64, n-n%8))
}

func has(columns []client.ColumnSpec, name string, kind client.Kind) bool {
	return slices.Contains(columns, client.ColumnSpec{Name: name, Kind: kind})
}

func (w *worker) Check(columns []client.ColumnSpec) error {
	for _, need := range []client.ColumnSpec{{Name: "id", Kind: client.Text}, {Name: "image", Kind: client.Picture}} {
		if !has(columns, need.Name, need.Kind) {
			return fmt.Errorf("embed needs the column %q (%s); there are: %s", need.Name, need.Kind, client.NameList(columns))
		}
	}
	w.masked = has(columns, "mask", client.Masked)
	return nil
}

func (w *worker) Outputs(columns []client.ColumnSpec) []client.ColumnSpec {
	return gomlxmodels.EmbedColumns(has(columns, "mask", client.Masked))
}

func (w *worker) Key(row stage.Row) string {
	m := row.Mask("mask")
	return fmt.Sprintf("%s\x00%v\x00%d %d\x00%s", row.Image("image").SHA256, w.masked, m.Size[0], m.Size[1], m.Counts)
}

func (w *worker) Load(ctx context.Context) error {
	handle, err := w.env.Device()
	if err != nil {
		return err
	}
	d := handle.(*device.Device)
	key := fmt.Sprintf("%s (%.12s, %s)", w.name, w.digest, w.args.Masking)
	value, release, err := w.env.Shared(key, func() (any, int64, func(), error) {
		var e *vit.Encoder
		err := w.env.OnDevice(ctx, func() (err error) {
			e, err = vit.NewEncoder(d.Backend, w.model, vit.Options{Masking: vit.Masking(w.args.Masking), Batch: w.Batch(), DType: w.dtype})
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
	w.encoder, w.release = value.(*vit.Encoder), release
	return nil
}

func (w *worker) Prepare(_ context.Context, row stage.Row) (any, string, error) {
	rgb, m, column, err := picture(row)
	if err != nil {
		return nil, column, err
	}
	if rgb == nil {
		return (*vit.Prepared)(nil), "", nil // the row stays, without vectors
	}
	p, err := w.model.Prepare(rgb, m, vit.PrepareOptions{Fill: preprocess.Fill(w.args.Fill), Rule: preprocess.Rule(w.args.PatchRule)})
	if err != nil {
		return nil, "image", fmt.Errorf("%s: %w", filepath.Base(row.Image("image").Path), err)
	}
	return p, "", nil
}

func (w *worker) Compute(ctx context.Context, prepared []any) ([][]stage.Value, error) {
	var pictures []*vit.Prepared
	for _, p := range prepared {
		if p := p.(*vit.Prepared); p != nil {
			pictures = append(pictures, p)
		}
	}
	var embeddings []vit.Embedding
	err := w.env.OnDevice(ctx, func() (err error) {
		embeddings, err = w.encoder.Encode(ctx, pictures)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([][]stage.Value, len(prepared))
	for i, p := range prepared {
		var e vit.Embedding
		patches := [2]float64{math.NaN(), math.NaN()}
		if p := p.(*vit.Prepared); p != nil {
			e, embeddings = embeddings[0], embeddings[1:]
			if p.Object != nil {
				patches = [2]float64{float64(e.ObjectPatches), float64(e.BackgroundPatches)}
			}
		}
		out[i] = []stage.Value{{Vector: e.Full}}
		if w.masked {
			out[i] = append(out[i], stage.Value{Vector: e.ObjectOnly}, stage.Value{Vector: e.BackgroundOnly}, stage.Value{Number: patches[0]}, stage.Value{Number: patches[1]})
		}
	}
	return out, nil
}

func (w *worker) Close() {
	if w.release != nil {
		w.release()
	}
}
