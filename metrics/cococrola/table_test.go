package cococrola

import (
	"context"
	"encoding/json"
	"testing"

	"antipode/kernel/client"
	"antipode/metrics"
)

// scoresOf runs cococrola-scores as the backend does; words may be nil.
func scoresOf(pictures, words *client.Frame, options map[string]string, seed int64) (*client.Frame, error) {
	args, frames := metrics.Args{Metric: "cococrola-scores", Roles: []string{"in"}, Options: options, Seed: seed}, []*client.Frame{pictures}
	if words != nil {
		args.Roles, frames = append(args.Roles, "words"), append(frames, words)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return metrics.Evaluate(context.Background(), raw, frames, metrics.Call{})
}

func evaluate(t *testing.T, g golden, options map[string]string) *client.Frame {
	t.Helper()
	pictures, words := g.frame(t)
	f, err := scoresOf(pictures, words, options, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	return f
}
