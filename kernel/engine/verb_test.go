package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/kernel/client"
)

// TestVerbsForMetrics: a metric that runs others may do a table's verbs, and nothing else.
func TestVerbsForMetrics(t *testing.T) {
	f := client.NewFrame(datasets.Columns("id:text"))
	f.Add([]string{"a"})
	f.Add([]string{"b"})
	got, err := doVerb("head", json.RawMessage(`{"n": 1}`), []*client.Frame{f})
	if err != nil || strings.Join(got.Texts("id"), " ") != "a" {
		t.Errorf("%v, %v", got, err)
	}
	for _, op := range []string{"embed", "archipelago", "score", "masks"} {
		if _, err := doVerb(op, nil, []*client.Frame{f}); err == nil || !strings.Contains(err.Error(), "neither a score nor a verb") {
			t.Errorf("%s: %v", op, err)
		}
	}
	if _, err := doVerb("head", nil, nil); err == nil {
		t.Error("a verb on nothing is no error")
	}
}
