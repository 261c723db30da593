package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"

	"antipode/datasets/table"
	"antipode/internal/fault"
)

// digestVersion starts the digests of frames.
const digestVersion = "2:"

// FrameDigest returns the digest of a frame's rows in their order. It depends on the content of images, not their
// paths.
func FrameDigest(f *table.Frame) (string, error) {
	h := NewFrameHash(f.Specs())
	if err := h.Add(f); err != nil {
		return "", err
	}
	return h.Sum(), nil
}

// FrameHash computes the [FrameDigest] of a frame that is added part by part. It is the SHA-256 of the columns' names
// and kinds, the number of rows, and the SHA-256 of each column's values.
type FrameHash struct {
	columns []table.ColumnSpec
	values  []hash.Hash
	rows    int
}

// NewFrameHash returns the hash of a frame with these columns.
func NewFrameHash(columns []table.ColumnSpec) *FrameHash {
	h := &FrameHash{columns: columns, values: make([]hash.Hash, len(columns))}
	for i := range h.values {
		h.values[i] = sha256.New()
	}
	return h
}

// Add adds the next rows.
func (h *FrameHash) Add(rows *table.Frame) error {
	if err := rows.Check(); err != nil {
		return err
	}
	if !slices.Equal(h.columns, rows.Specs()) {
		return fmt.Errorf("rows with the columns %s in a table with %s", table.NameList(rows.Specs()),
			table.NameList(h.columns))
	}
	var columns fault.Group
	for i := range rows.Columns {
		columns.Go(func() { rows.Columns[i].Hash(h.values[i]) })
	}
	columns.Wait()
	h.rows += rows.Len()
	return nil
}

// Sum returns the digest of the rows so far.
func (h *FrameHash) Sum() string {
	head, _ := json.Marshal(h.columns)
	sum := sha256.New()
	fmt.Fprintf(sum, "%d\x00%s", h.rows, head)
	for _, values := range h.values {
		sum.Write(values.Sum(nil))
	}
	return digestVersion + hex.EncodeToString(sum.Sum(nil))
}
