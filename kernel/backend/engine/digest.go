package engine

import (
	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/kernel/backend/store"
)

func init() { operation.Verb("digest", digests) }

// digests returns the digests of tables, by which cell.Keep knows its inputs.
func digests(_ *operation.Call, _ struct{}, in []*table.Frame) (*table.Frame, error) {
	out := table.NewFrame(datasets.Columns("digest:text"))
	for _, f := range in {
		digest, err := store.FrameDigest(f)
		if err != nil {
			return nil, err
		}
		out.Add([]string{digest})
	}
	return out, nil
}
