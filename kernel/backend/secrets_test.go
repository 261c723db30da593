package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
)

const testKey = "ANTIPODE_TEST_API_KEY"

// teller is a stage that returns the client's key.
type teller struct {
	slow
	env stage.Env
	row string
}

func (t teller) Digest() string                              { return "teller " + t.row }
func (teller) Outputs([]table.ColumnSpec) []table.ColumnSpec { return datasets.Columns("answer:text") }

func (t teller) Compute(_ context.Context, in []string) ([][]table.Value, error) {
	out := make([][]table.Value, len(in))
	for i := range in {
		out[i] = []table.Value{{Text: t.env.Secret(testKey)}}
	}
	return out, nil
}

func init() {
	stage.Register(stage.Stage{Name: "teller", Version: 1,
		Open: func(_ context.Context, env stage.Env, args json.RawMessage) (*stage.Opened, error) {
			return stage.Of(teller{env: env, row: string(args)}), nil
		}})
}

// TestSecretsOfTheClient: a run has the key of its own client, and none if that has none, whichever client started the
// backend.
func TestSecretsOfTheClient(t *testing.T) {
	b := connect(t)
	for i, key := range []string{"of the first", "of the second", ""} {
		t.Setenv(testKey, key)
		f := table.NewFrame(datasets.Columns("id:text"))
		f.Add([]string{"row"})
		plan := must.Get(datasets.Extend(datasets.FromFrame(f)).Derive("teller", fmt.Sprint(i),
			datasets.Columns("answer:text")...).
			Secret(testKey).Plan())(t)
		res := must.Get(b.Run(t.Context(), client.Request{Plan: plan}, nil))(t)
		got := res.Frame.Texts("answer")[0]
		must.True(t, got == key, "client %d with the key %q: the stage has %q", i, key, got)
	}
}
