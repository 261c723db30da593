package engine

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"antipode/datasets/table"
)

// Operations of the plans of array jobs; package kernel/cluster/jobs adds them.
const (
	// ShardOp keeps the rows of a table that belong to one shard.
	ShardOp = "shard"
	// EachOp evaluates its inputs, one after the other, and returns no rows.
	EachOp = "each"
)

// ShardArgs are the arguments of [ShardOp]: shard Index, from 0, of Shards.
type ShardArgs struct {
	Index  int `json:"index"`
	Shards int `json:"shards"`
}

// shard evaluates [ShardOp]. The files of images and masks that nothing has needed yet are read after the choice, and
// only those of the chosen rows; ids are checked over all rows.
func (r *run) shard(p *table.Plan, a ShardArgs, in []*table.Frame) (*table.Frame, error) {
	if len(in) != 1 || a.Shards < 1 || a.Index < 0 || a.Index >= a.Shards {
		return nil, fmt.Errorf("%s: shard %d of %d does not exist", p.Op, a.Index, a.Shards)
	}
	return keep(in[0], chosen(in[0], a)), nil
}

// chosen returns the rows of a shard: rows are ordered by the SHA-256 of their ids (of their numbers, from 0, in a
// table without ids), and the row at rank k belongs to shard k modulo the number of shards. Shards therefore differ by
// at most one row, and in a table with unique ids a row's shard depends neither on the order nor on the machine.
func chosen(f *table.Frame, a ShardArgs) []int {
	ids := f.Texts("id")
	type ranked struct {
		row int
		sum [sha256.Size]byte
	}
	order := make([]ranked, f.Len())
	for row := range order {
		name := fmt.Sprint(row)
		if ids != nil {
			name = ids[row]
		}
		order[row] = ranked{row, sha256.Sum256([]byte(name))}
	}
	slices.SortStableFunc(order, func(x, y ranked) int { return slices.Compare(x.sum[:], y.sum[:]) })
	var rows []int
	for rank := a.Index; rank < len(order); rank += a.Shards {
		rows = append(rows, order[rank].row)
	}
	slices.Sort(rows)
	return rows
}
