package main

import (
	"context"
	"testing"

	"antipode/gomlxmodels/archipelago/trainer"
)

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"train"}, {"train", "nothing"}, {"score", "vit", "extra"},
		{"train", "vit", "-steps", "0"}, {"sheet", "a", "b"}} {
		if err := run(context.Background(), args); err != trainer.ErrUsage {
			t.Errorf("%q: %v", args, err)
		}
	}
}
