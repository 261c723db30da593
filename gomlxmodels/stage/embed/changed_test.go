package embed_test

import (
	"context"
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	_ "antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
	"antipode/test/stagetest"
)

// changer is a stage that computes nothing: it changes files in the middle of a run.
type changer struct{ change func() }

func (changer) Label() string                                 { return "change files" }
func (changer) Digest() string                                { return "" }
func (changer) Check([]table.ColumnSpec) error                { return nil }
func (changer) Outputs([]table.ColumnSpec) []table.ColumnSpec { return datasets.Columns("note:text") }
func (changer) Key(row stage.Row) string                      { return row.Image("image").SHA256 }
func (changer) Batch() int                                    { return 16 }
func (changer) Load(context.Context) error                    { return nil }
func (changer) Close()                                        {}

func (changer) Prepare(context.Context, stage.Row) ([]table.Value, string, error) {
	return []table.Value{{}}, "", nil
}

func (c changer) Compute(_ context.Context, rows [][]table.Value) ([][]table.Value, error) {
	c.change()
	return rows, nil
}

// TestImageChanges replaces an image after the table was read and before the image is: the row is bad, and nothing is
// stored under the digest of the old content, which is computed when the file is restored.
func TestImageChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.png")
	content := func(side int) []byte {
		return must.Get(os.ReadFile(stagetest.Image(t, image.NewRGBA(image.Rect(0, 0, side, side))).Path))(t)
	}
	set := func(data []byte) {
		must.Do(t, os.WriteFile(file, data, 0o600))
	}
	before, after := content(2), content(3)
	set(before)
	stage.Register(stage.Stage{Name: "changer", Version: 1,
		Open: func(context.Context, stage.Env, json.RawMessage) (*stage.Opened, error) {
			return stage.Of(changer{func() { set(after) }}), nil
		}})
	s := must.Get(store.Open(t.TempDir()))(t)
	e := engine.New(s, engine.Options{})
	defer e.Close()
	plan := must.Get(datasets.Extend(datasets.Folder(filepath.Dir(file))).Derive("changer", nil,
		datasets.Columns("note:text")...).
		Derive(stage.Decodable, nil, datasets.Columns(stage.Pixels+":number")...).Plan())(t)
	must.Fail(e.Run(t.Context(), client.Request{Plan: plan}, nil))(t, "a.png", "has changed")
	set(before)
	res := must.Get(e.Run(t.Context(), client.Request{Plan: plan}, nil))(t)
	must.Equal(t, res.Frame.Numbers(stage.Pixels)[0], 4, "pixels are stored for an image of 4")
}
