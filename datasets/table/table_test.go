package table

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"antipode/internal/must"
)

func sample() *Frame {
	return &Frame{Columns: []Column{
		TextColumn("id", []string{"a", "नमस्ते\n", ""}), NumberColumn("n", []float64{1, math.NaN(), math.Inf(-1)}),
		VectorColumn("full", [][]float32{{1, 2}, nil, {}}),
		ImageColumn("image", []Image{{SHA256: "ab", Path: "/x"}, {}, {}}),
		MaskColumn("mask", []Mask{{Size: [2]int{2, 3}, Counts: "06"}, {}, {}}),
	}}
}

func TestFrameRoundTrip(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, sample().Encode(&b))
	got := must.Get(Decode(&b))(t)
	must.Equal(t, cmp.Diff(sample(), got, cmpopts.EquateNaNs()), "")
	if got.Vectors("full")[1] != nil || got.Vectors("full")[2] == nil {
		t.Error("null and empty vectors must stay apart")
	}
}

// TestShown: a text in X_shown is displayed in place of that of X, and the column X_shown is not.
func TestShown(t *testing.T) {
	f := &Frame{Columns: []Column{TextColumn("prompt_shown", []string{"", "masked"}),
		TextColumn("prompt", []string{"a", "b"}), NumberColumn("n", []float64{1, 2}),
		NumberColumn("prompt_shown_shown", []float64{1, 2}), TextColumn("x_shown", []string{"c", "d"})}}
	want := &Frame{Columns: []Column{TextColumn("prompt", []string{"a", "masked"}), f.Columns[2], f.Columns[3],
		f.Columns[4]}}
	must.Equal(t, cmp.Diff(want, f.Shown()), "")
	must.Equal(t, f.Texts("prompt")[1], "b", "Shown changed the frame")
}

// FuzzDecode looks for streams that make Decode panic or use memory without bound.
func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	sample().Encode(&b)
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-3])
	f.Add([]byte("APF1\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if frame, err := Decode(bytes.NewReader(data)); err == nil {
			if err := frame.Check(); err != nil && !strings.Contains(err.Error(), "twice") {
				t.Error(err)
			}
		}
	})
}

func TestFrameCheck(t *testing.T) {
	for name, f := range map[string]*Frame{
		"length": {Columns: []Column{TextColumn("a", []string{"x"}), NumberColumn("b", nil)}},
		"twice":  {Columns: []Column{TextColumn("a", []string{"x"}), TextColumn("a", []string{"x"})}},
	} {
		if f.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPlanDigest(t *testing.T) {
	a := &Plan{Op: "where", Args: []byte(`{"x":1}`), Inputs: []*Plan{{Op: "csv"}}, Line: "here"}
	b := &Plan{Op: "where", Args: []byte(`{"x":1}`), Inputs: []*Plan{{Op: "csv"}}, Line: "there"}
	c := &Plan{Op: "where", Args: []byte(`{"x":1}`), Inputs: []*Plan{{Op: "csv"}, {Op: "csv"}}}
	if a.Digest() != b.Digest() || a.Digest() == c.Digest() {
		t.Error("the digest must depend on the plan, not on the line")
	}
}

// TestMatchSeeds: rows are told apart by all digits of a number.
func TestMatchSeeds(t *testing.T) {
	of := func(seeds ...float64) *Frame {
		prompts := make([]string, len(seeds))
		return &Frame{Columns: []Column{TextColumn("prompt_id", prompts), NumberColumn("seed", seeds)}}
	}
	a := of(1234567, 1234568, 0)
	pairs, _, err := Match(a, of(1234568, 1234567, math.Copysign(0, -1)), nil)
	if err != nil || fmt.Sprint(pairs) != "[[0 1] [1 0] [2 2]]" {
		t.Errorf("%v, %v", pairs, err)
	}
	if a.Key(0, "seed") == a.Key(1, "seed") {
		t.Errorf("both rows have the key %q", a.Key(0, "seed"))
	}
}
