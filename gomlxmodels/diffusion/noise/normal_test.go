package noise

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"antipode/internal/must"
)

// index is testdata/latents.json.
type index struct {
	Seeds  []uint64 `json:"seeds"`
	Turns  []int    `json:"turns"`
	SHA256 []string `json:"sha256"`
}

func golden(t *testing.T) index {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/latents.json"))(t)
	var x index
	must.Do(t, json.Unmarshal(text, &x))
	return x
}

func floats(t *testing.T, name string) []float32 {
	t.Helper()
	data := must.Get(os.ReadFile("testdata/" + name))(t)
	out := make([]float32, len(data)/4)
	_ = must.Get(binary.Decode(data, binary.LittleEndian, out))(t)
	return out
}

// differ counts the values whose bits differ, and gives the largest distance in units in the last place.
func differ(got, want []float32) (count, ulps int) {
	for i := range want {
		if d := int(math.Float32bits(got[i])) - int(math.Float32bits(want[i])); d != 0 {
			count++
			ulps = max(ulps, d, -d)
		}
	}
	return count, ulps
}

func TestSizes(t *testing.T) {
	want := floats(t, "sizes.f32")
	for _, seed := range golden(t).Seeds {
		for n := 1; n <= 100; n++ {
			got := make([]float32, n)
			New(seed).Normal(got)
			if count, ulps := differ(got, want[:n]); count > 0 {
				t.Errorf("seed %d: %d of %d numbers differ, by up to %d units in the last place", seed, count, n, ulps)
			}
			want = want[n:]
		}
	}
	must.Equal(t, len(want), 0, "golden numbers not compared")
}

func TestTurns(t *testing.T) {
	want := floats(t, "turns.f32")
	x := golden(t)
	for _, seed := range x.Seeds {
		g := New(seed)
		for turn, n := range x.Turns {
			got := make([]float32, n)
			g.Normal(got)
			if count, ulps := differ(got, want[:n]); count > 0 {
				t.Errorf("seed %d, turn %d: %d of %d numbers differ, by up to %d units in the last place", seed, turn,
					count, n, ulps)
			}
			want = want[n:]
		}
	}
}

func TestLatents(t *testing.T) {
	want := floats(t, "latents.f32")
	x := golden(t)
	got := make([]float32, 4*64*64)
	for i, seed := range x.Seeds {
		New(seed).Normal(got)
		if i == 0 {
			if count, ulps := differ(got, want); count > 0 {
				t.Errorf("seed %d: %d of %d numbers differ, by up to %d units in the last place", seed, count,
					len(want), ulps)
			}
		}
		data := must.Get(binary.Append(nil, binary.LittleEndian, got))(t)
		must.Equal(t, fmt.Sprintf("%x", sha256.Sum256(data)), x.SHA256[i], "seed", seed)
	}
}

// TestUpperBits: PyTorch reads a seed's lower 32 bits alone.
func TestUpperBits(t *testing.T) {
	a, b := make([]float32, 20), make([]float32, 20)
	New(7).Normal(a)
	New(7 + 1<<40).Normal(b)
	if count, _ := differ(a, b); count != 0 {
		t.Errorf("%d numbers differ", count)
	}
}
