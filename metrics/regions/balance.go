package regions

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// cell is an object in a region.
type cell struct{ object, region string }

// Labels are the rows of a set: one id, object and region for each.
type Labels struct {
	IDs, Objects, Regions []string
}

func (l Labels) check() error {
	if len(l.IDs) != len(l.Objects) || len(l.IDs) != len(l.Regions) {
		return fmt.Errorf("regions: %d ids, %d objects, %d regions: one of each is needed for every row", len(l.IDs), len(l.Objects), len(l.Regions))
	}
	return nil
}

// CellCount is the number of rows of one cell.
type CellCount struct {
	Object, Region string
	Rows           int
}

// CountCells counts every combination of an object and a region that occur, those without a row among them; by object, then region.
func CountCells(l Labels) ([]CellCount, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	rows := map[cell]int{}
	for i := range l.IDs {
		rows[cell{l.Objects[i], l.Regions[i]}]++
	}
	var counts []CellCount
	regions := distinct(l.Regions)
	for _, object := range distinct(l.Objects) {
		for _, region := range regions {
			counts = append(counts, CellCount{object, region, rows[cell{object, region}]})
		}
	}
	return counts, nil
}

func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// Uneven warns, in one line, of cells that differ in size; "" where all are equal.
func Uneven(counts []CellCount) string {
	if len(counts) == 0 {
		return ""
	}
	size := func(a, b CellCount) int { return cmp.Compare(a.Rows, b.Rows) }
	least, most := slices.MinFunc(counts, size), slices.MaxFunc(counts, size)
	if least.Rows == most.Rows {
		return ""
	}
	return fmt.Sprintf("cells are uneven: %d rows for (%s, %s), %d for (%s, %s); balance them before comparing regions",
		least.Rows, least.Object, least.Region, most.Rows, most.Object, most.Region)
}

// ErrSmallCell says that a cell holds too few rows to be balanced.
type ErrSmallCell struct {
	Side           string // "real" or "generated"
	Object, Region string
	Have, Need     int
}

func (e *ErrSmallCell) Error() string {
	return fmt.Sprintf("regions: the %s set has %d rows for object %q in region %q, %d are needed: add pictures, lower n or leave the object out", e.Side, e.Have, e.Object, e.Region, e.Need)
}

// Balance are the settings of [Balance.Rows].
type Balance struct {
	Side string // "real" or "generated", for messages; the two sides are drawn independently
	N    int    // rows of every cell; 0 = as many as the smallest cell has
	Seed uint64
}

// Rows draws exactly N rows of every cell (object and region) without replacement and gives their positions in ascending
// order. The same rows are drawn whatever their order: what counts are seed, side, cell and ids. A cell with fewer rows is an *[ErrSmallCell].
func (b Balance) Rows(l Labels) ([]int, error) {
	counts, err := CountCells(l)
	if err != nil {
		return nil, err
	}
	n := b.N
	if n < 0 {
		return nil, fmt.Errorf("regions: n = %d rows per cell", n)
	}
	if n == 0 && len(counts) > 0 {
		n = slices.MinFunc(counts, func(a, b CellCount) int { return cmp.Compare(a.Rows, b.Rows) }).Rows
		n = max(n, 1)
	}
	for _, c := range counts {
		if c.Rows < n {
			return nil, &ErrSmallCell{b.Side, c.Object, c.Region, c.Rows, n}
		}
	}
	members := map[cell][]int{}
	for i := range l.IDs {
		c := cell{l.Objects[i], l.Regions[i]}
		members[c] = append(members[c], i)
	}
	var kept []int
	for c, rows := range members {
		slices.SortFunc(rows, func(x, y int) int { return cmp.Compare(l.IDs[x], l.IDs[y]) })
		for i := 1; i < len(rows); i++ {
			if l.IDs[rows[i]] == l.IDs[rows[i-1]] {
				return nil, fmt.Errorf("regions: id %q occurs twice in the %s set", l.IDs[rows[i]], b.Side)
			}
		}
		kept = append(kept, sample(rows, n, b.Seed, b.Side, c.object, c.region)...)
	}
	slices.Sort(kept)
	return kept, nil
}

// sample draws n of the values without replacement. It reorders them. The draw depends on their order, the seed and the names.
func sample[T any](values []T, n int, seed uint64, names ...string) []T {
	h := fnv.New64a()
	for _, name := range names {
		fmt.Fprintf(h, "%s\x00", name)
	}
	source := rand.NewPCG(seed, h.Sum64())
	n = min(n, len(values))
	for i := range n {
		step, _ := bits.Mul64(source.Uint64(), uint64(len(values)-i))
		j := i + int(step)
		values[i], values[j] = values[j], values[i]
	}
	return values[:n]
}

// EnoughImages lists the objects with at least n rows in every region, and those without, each by name. The paper
// keeps classes with n = 170.
func EnoughImages(l Labels, n int) (kept, dropped []string, err error) {
	counts, err := CountCells(l)
	if err != nil {
		return nil, nil, err
	}
	short := map[string]bool{}
	for _, c := range counts {
		short[c.Object] = short[c.Object] || c.Rows < n
	}
	for _, object := range distinct(l.Objects) {
		if short[object] {
			dropped = append(dropped, object)
		} else {
			kept = append(kept, object)
		}
	}
	return kept, dropped, nil
}

// FailureLimit says how many pictures of a class may come without a mask: more than Failures of every Of, and the class goes.
type FailureLimit struct{ Failures, Of int }

// PaperLimit is the paper's limit: 100 of 1020 (6 regions of 170).
var PaperLimit = FailureLimit{100, 1020}

// ClassFailures is a class's line in the failure table.
type ClassFailures struct {
	Object        string
	Failed, Total int
	Regions       []RegionFailures // by name
	Excluded      bool
}

// RegionFailures is a class's number of failures in one region.
type RegionFailures struct {
	Region        string
	Failed, Total int
}

// Failures counts by class and region the pictures without a mask, and says which classes exceed the limit. unmasked has a value for every row.
func Failures(l Labels, unmasked []bool, limit FailureLimit) ([]ClassFailures, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if len(unmasked) != len(l.IDs) || limit.Of <= 0 || limit.Failures < 0 {
		return nil, fmt.Errorf("regions: %d mask flags for %d rows, limit %d of %d", len(unmasked), len(l.IDs), limit.Failures, limit.Of)
	}
	groups, err := Groups(l.Objects, l.Regions, PerRegion)
	if err != nil {
		return nil, err
	}
	var table []ClassFailures
	for _, g := range groups {
		if len(table) == 0 || table[len(table)-1].Object != g.Object {
			table = append(table, ClassFailures{Object: g.Object})
		}
		class, region := &table[len(table)-1], RegionFailures{Region: g.Region, Total: len(g.Rows)}
		for _, row := range g.Rows {
			if unmasked[row] {
				region.Failed++
			}
		}
		class.Failed, class.Total = class.Failed+region.Failed, class.Total+region.Total
		class.Regions = append(class.Regions, region)
		class.Excluded = class.Failed*limit.Of > limit.Failures*class.Total
	}
	return table, nil
}

// Duplicates lists the rows whose vector equals another row's exactly, all of them: where pictures occur twice, none of
// them is kept (as in the public code). Nil rows are never duplicates.
func Duplicates(vectors [][]float32) (rows []int) {
	for i, n := range Copies(vectors) {
		if n > 1 {
			rows = append(rows, i)
		}
	}
	return rows
}

// Copies counts for each row the rows whose vector equals its own exactly, itself among them; −0 equals 0, and a nil row only itself.
func Copies(vectors [][]float32) []int {
	keys, count := make([][sha256.Size]byte, len(vectors)), map[[sha256.Size]byte]int{}
	var buf []byte
	for i, v := range vectors {
		if v == nil {
			continue
		}
		buf = buf[:0]
		for _, x := range v {
			if x == 0 {
				x = 0 // −0 equals 0
			}
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		keys[i] = sha256.Sum256(buf)
		count[keys[i]]++
	}
	copies := make([]int, len(vectors))
	for i, v := range vectors {
		if copies[i] = 1; v != nil {
			copies[i] = count[keys[i]]
		}
	}
	return copies
}
