package hfconfig

import (
	"encoding/json"
	"testing"
)

func TestRead(t *testing.T) {
	a, b, c := struct{ X, Y int }{1, 2}, struct{ X int }{3}, struct{ X int }{4}
	if err := Read(Part{"a", json.RawMessage(`{"X": 5}`), &a}, Part{"b", json.RawMessage("null"), &b}, Part{"c", nil, &c}); err != nil || a.X != 5 || a.Y != 2 || b.X != 3 || c.X != 4 {
		t.Error(a, b, c, err)
	}
	if err := Read(Part{"text_config", json.RawMessage(`{"X": "five"}`), &a}); err == nil || err.Error()[:12] != "text_config:" {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	if err := Check([]Size{{"a", 1, 1}, {"b", MaxDim, MaxDim}}); err != nil {
		t.Error(err)
	}
	for _, s := range []Size{{"b", 0, 5}, {"b", 6, 5}, {"b", -1, 5}} {
		if err := Check([]Size{{"a", 1, 1}, s}); err == nil || err.Error()[:2] != "b " {
			t.Error(s, err)
		}
	}
}
