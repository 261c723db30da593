package pack

import (
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// TestRows checks what rows must be: every text once, whole, at a multiple of Align, none over another; and few.
func TestRows(t *testing.T) {
	rng := near.Rand(t, 9)
	for round := range 30 {
		l := lengths[rng.IntN(len(lengths))]
		sizes := make([]int, rng.IntN(400))
		texts, blocks := make([]int, len(sizes)), 0
		for i := range sizes {
			sizes[i], texts[i] = 1+rng.IntN(l), i
			blocks += (sizes[i] + Align - 1) / Align
		}
		rows := Rows(texts, func(i int) int { return sizes[i] }, l)
		seen := map[int]bool{}
		for _, row := range rows {
			taken := make([]bool, l)
			for _, p := range row {
				if seen[p.Text] || p.Start%Align != 0 || p.Start+sizes[p.Text] > l {
					t.Fatalf("round %d: text %d of %d tokens starts at %d of %d (seen: %t)", round, p.Text,
						sizes[p.Text], p.Start, l, seen[p.Text])
				}
				seen[p.Text] = true
				for k := range sizes[p.Text] {
					if taken[p.Start+k] {
						t.Fatalf("round %d: two texts on token %d", round, p.Start+k)
					}
					taken[p.Start+k] = true
				}
			}
		}
		must.Equal(t, len(seen), len(texts), "round", round, "of")
		if least := (blocks*Align + l - 1) / l; len(rows) > least+least/4+1 {
			t.Errorf("round %d: %d rows of %d, %d would do", round, len(rows), l, least)
		}
	}
	for n, want := range map[int]int{1: 64, 64: 64, 65: 96, 500: 512, 513: 768, 1024: 1024} {
		if got := rowLength(n, 1<<20); got != want || got%Align != 0 {
			t.Errorf("a text of %d tokens goes into rows of %d, want %d", n, got, want)
		}
	}
	for most, want := range map[int]int{12: 12, 64: 64, 77: 80, 90: 92, 512: 96} {
		must.Equal(t, rowLength(min(most, 70), most), want, "texts of up to", most, "tokens go into rows")
	}
}
