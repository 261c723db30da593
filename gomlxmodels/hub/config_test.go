package hub

import (
	"antipode/internal/must"
	"cmp"
	"encoding/json"
	"errors"
	"testing"
)

func TestReadParts(t *testing.T) {
	a, b, c := struct{ X, Y int }{1, 2}, struct{ X int }{3}, struct{ X int }{4}
	if err := ReadParts(Part{"a", json.RawMessage(`{"X": 5}`), &a}, Part{"b", json.RawMessage("null"), &b},
		Part{"c", nil, &c}); err != nil || a.X != 5 || a.Y != 2 || b.X != 3 || c.X != 4 {
		t.Error(a, b, c, err)
	}
	if err := ReadParts(Part{"text_config", json.RawMessage(`{"X": "five"}`), &a}); err == nil ||
		err.Error()[:12] != "text_config:" {
		t.Error(err)
	}
}

func TestBetween(t *testing.T) {
	must.Do(t, errors.Join(Between("a", 1, 1, 1), Between("b", MaxDim, 1, MaxDim)))
	for _, v := range []int{0, 6, -1} {
		if err := cmp.Or(Between("a", 1, 1, 1), Between("b", v, 1, 5)); err == nil || err.Error()[:2] != "b " {
			t.Error(v, err)
		}
	}
}
