package disparity

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

type objectRegion struct{ object, region string }

// rowLabels are the ids, objects and regions of rows.
type rowLabels struct {
	IDs, Objects, Regions []string
}

func (l rowLabels) check() error {
	if len(l.IDs) != len(l.Objects) || len(l.IDs) != len(l.Regions) {
		return fmt.Errorf("disparity: %d ids, %d objects, %d regions: each row needs one of each", len(l.IDs),
			len(l.Objects), len(l.Regions))
	}
	return nil
}

// cellCount is the number of rows of one cell.
type cellCount struct {
	Object, Region string
	Rows           int
}

// countCells counts the rows of every combination of an object and a region that occur, including empty ones, ordered
// by object, then region.
func countCells(l rowLabels) ([]cellCount, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	rows := map[objectRegion]int{}
	for i := range l.IDs {
		rows[objectRegion{l.Objects[i], l.Regions[i]}]++
	}
	var counts []cellCount
	regions := distinct(l.Regions)
	for _, object := range distinct(l.Objects) {
		for _, region := range regions {
			counts = append(counts, cellCount{object, region, rows[objectRegion{object, region}]})
		}
	}
	return counts, nil
}

func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// FailureLimit is the largest share of images without a mask, Failures of Of, that a class may have.
type FailureLimit struct{ Failures, Of int }

// paperLimit is the paper's limit: 100 of 1020 (6 regions of 170).
var paperLimit = FailureLimit{100, 1020}

// classFailures counts the images of a class without a mask.
type classFailures struct {
	Object        string
	Failed, Total int
	Regions       []regionFailures // by name
	Excluded      bool
}

// regionFailures counts the images of a class without a mask in one region.
type regionFailures struct {
	Region        string
	Failed, Total int
}

// failures counts the images without a mask by class and region, and reports which classes exceed the limit. unmasked
// has a value for each row.
func failures(l rowLabels, unmasked []bool, limit FailureLimit) ([]classFailures, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if len(unmasked) != len(l.IDs) || limit.Of <= 0 || limit.Failures < 0 {
		return nil, fmt.Errorf("disparity: %d mask flags for %d rows, limit %d of %d", len(unmasked), len(l.IDs),
			limit.Failures, limit.Of)
	}
	counts := map[objectRegion]regionFailures{}
	for row := range l.IDs {
		c := objectRegion{l.Objects[row], l.Regions[row]}
		n := counts[c]
		n.Region, n.Total = c.region, n.Total+1
		if unmasked[row] {
			n.Failed++
		}
		counts[c] = n
	}
	order := slices.SortedFunc(maps.Keys(counts), func(a, b objectRegion) int {
		return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.region, b.region))
	})
	var table []classFailures
	for _, c := range order {
		if len(table) == 0 || table[len(table)-1].Object != c.object {
			table = append(table, classFailures{Object: c.object})
		}
		class, region := &table[len(table)-1], counts[c]
		class.Failed, class.Total = class.Failed+region.Failed, class.Total+region.Total
		class.Regions = append(class.Regions, region)
		class.Excluded = class.Failed*limit.Of > limit.Failures*class.Total
	}
	return table, nil
}

// vectorCopies returns for each row the number of rows with exactly the same vector, including itself; −0 equals 0.
// A nil row has no copies.
func vectorCopies(vectors [][]float32) []int {
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
