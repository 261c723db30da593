package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/kernel/client"
)

// repeat evaluates Table.Repeat.
func repeat(a datasets.RepeatArgs, in []*client.Frame) (*client.Frame, error) {
	f := in[0]
	ids, err := f.Need("id", client.Text)
	if err != nil {
		return nil, err
	}
	if a.N < 1 || a.N > datasets.MaxRepeat {
		return nil, fmt.Errorf("repeat: %d copies are not between 1 and %d", a.N, datasets.MaxRepeat)
	}
	if c := f.Column("seed"); c != nil && c.Kind != client.Number {
		return nil, fmt.Errorf("column %q holds %s, it must hold numbers", "seed", c.Kind)
	}
	own := f.Numbers("seed")
	var rows []int
	var id, of []string
	var seeds []float64
	for i, name := range ids.Texts {
		first := float64(a.Seed)
		if own != nil && !math.IsNaN(own[i]) {
			if first = own[i]; first < 0 || first != math.Trunc(first) || first > datasets.MaxSeed {
				return nil, fmt.Errorf("row %d, column seed: %v is no whole number from 0 to %d", i+1, own[i], int64(datasets.MaxSeed))
			}
		}
		for k := range a.N {
			rows, of, seeds = append(rows, i), append(of, name), append(seeds, first+float64(k))
			id = append(id, fmt.Sprintf("%s#%d", name, k+1))
		}
	}
	return f.Pick(rows).With(client.TextColumn("id", id), client.TextColumn(a.Of, of), client.NumberColumn("seed", seeds)), nil
}

func seedBy(a datasets.ColumnsArgs, in []*client.Frame) (*client.Frame, error) {
	f := in[0]
	columns := make([][]string, len(a.Columns))
	for i, name := range a.Columns {
		c, err := f.Need(name, client.Text)
		if err != nil {
			return nil, err
		}
		columns[i] = c.Texts
	}
	seeds := make([]float64, f.Len())
	for row := range seeds {
		h := sha256.New()
		for _, texts := range columns {
			fmt.Fprintf(h, "%d:%s", len(texts[row]), texts[row])
		}
		seeds[row] = float64(binary.LittleEndian.Uint32(h.Sum(nil)) >> 1)
	}
	return f.With(client.NumberColumn("seed", seeds)), nil
}
