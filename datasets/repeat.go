package datasets

import (
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

func init() {
	operation.Verb("repeat", repeat)
	operation.Verb("seed-by", seedBy)
}

// RepeatArgs are the arguments of [Table.Repeat].
type RepeatArgs struct {
	N    int    `json:"n"`
	Of   string `json:"of"`
	Seed int64  `json:"seed"`
}

// MaxRepeat is the largest number of copies of [Table.Repeat].
const MaxRepeat = 10_000

// MaxSeed is the largest seed of a row. A number column represents it and the seeds of its copies exactly.
const MaxSeed = 1<<53 - MaxRepeat

// Repeat returns n consecutive copies of each row, for a stage that computes something different for each copy:
// images of a prompt, captions of an image. Copy k, from 1, has the id ID#k, the original id in the column of
// ("image_id"), and seed + k − 1 in the number column seed. If the table has a column seed, its values replace seed.
func (t Table) Repeat(n int, of string, seed int64) Table {
	if n < 1 || n > MaxRepeat {
		return t.failed(fmt.Errorf("Repeat(%d, …): use 1 to %d copies", n, MaxRepeat))
	}
	if of == "" || of == "id" || of == "seed" {
		return t.failed(fmt.Errorf("Repeat(…, %q, …): use another column for the ids, for example image_id", of))
	}
	if seed < 0 || seed > MaxSeed {
		return t.failed(fmt.Errorf("Repeat: seed %d is not between 0 and %d", seed, int64(MaxSeed)))
	}
	return t.need("id", table.KindText).derive("repeat", RepeatArgs{n, of, seed}, Columns(of+":text", "seed:number")...)
}

// repeat evaluates Table.Repeat.
func repeat(_ *Call, a RepeatArgs, in []*Frame) (*Frame, error) {
	f := in[0]
	ids, err := f.Need("id", table.KindText)
	if err != nil {
		return nil, err
	}
	if a.N < 1 || a.N > MaxRepeat {
		return nil, fmt.Errorf("repeat: %d copies are not between 1 and %d", a.N, MaxRepeat)
	}
	own := f.Column("seed")
	var rows []int
	var id, of, seeds []string
	for i, name := range ids.Texts {
		first := uint64(a.Seed)
		if own != nil && own.Text(i) != "" {
			if first, err = Seed(f, i); err == nil && first > math.MaxUint64-MaxRepeat {
				err = fmt.Errorf("the seed %d is larger than 2^64 − %d", first, MaxRepeat)
			}
			if err != nil {
				return nil, fmt.Errorf("row %d, column seed: %w", i+1, err)
			}
		}
		for k := range a.N {
			rows, of = append(rows, i), append(of, name)
			seeds = append(seeds, strconv.FormatUint(first+uint64(k), 10))
			id = append(id, fmt.Sprintf("%s#%d", name, k+1))
		}
	}
	return f.Pick(rows).With(table.TextColumn("id", id), table.TextColumn(a.Of, of),
		table.CellColumn("seed", seeds, table.NumberFormat{})), nil
}

// Seed returns the value of a row's column seed, a whole number from 0 to 2^64−1: a number, or text where numbers would
// round one of the table's seeds.
func Seed(f *Frame, row int) (uint64, error) {
	c := f.Column("seed")
	if c == nil {
		return 0, table.NoColumn("seed", f.Specs())
	}
	seed, err := strconv.ParseUint(strings.TrimSpace(c.Text(row)), 10, 64)
	if err != nil {
		seed, err = wholeSeed(c, row)
	}
	return seed, err
}

// wholeSeed returns a seed that is not written as an integer, such as 7.0.
func wholeSeed(c *Column, row int) (uint64, error) {
	if c.Kind == table.KindNumber {
		if v := c.Numbers[row]; v >= 0 && v <= 1<<53 && v == math.Trunc(v) {
			return uint64(v), nil
		}
	}
	return 0, fmt.Errorf("the seed %s is no whole number from 0 to 2^64−1", c.Text(row))
}

// SeedBy sets the number column seed to a hash, from 0 to 2^31−1, of each row's values in text columns. Rows with equal
// values have equal seeds, and their generated images start from the same noise: SeedBy("concept") for a comparison of
// languages, SeedBy("id") for different images of every prompt.
func (t Table) SeedBy(columns ...string) Table {
	if len(columns) == 0 {
		return t.failed(fmt.Errorf("SeedBy: name at least one column"))
	}
	for _, c := range columns {
		t = t.need(c, table.KindText)
	}
	return t.derive("seed-by", columnsArgs{columns}, Columns("seed:number")...)
}

func seedBy(_ *Call, a columnsArgs, in []*Frame) (*Frame, error) {
	f := in[0]
	columns := make([][]string, len(a.Columns))
	for i, name := range a.Columns {
		c, err := f.Need(name, table.KindText)
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
	return f.With(table.NumberColumn("seed", seeds)), nil
}
