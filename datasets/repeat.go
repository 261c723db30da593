package datasets

import (
	"fmt"

	"antipode/datasets/table"
)

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
		return t.Fail(fmt.Errorf("Repeat(%d, …): use 1 to %d copies", n, MaxRepeat))
	}
	if of == "" || of == "id" || of == "seed" {
		return t.Fail(fmt.Errorf("Repeat(…, %q, …): use another column for the ids, for example image_id", of))
	}
	if seed < 0 || seed > MaxSeed {
		return t.Fail(fmt.Errorf("Repeat: seed %d is not between 0 and %d", seed, int64(MaxSeed)))
	}
	return t.Need("id", table.KindText).Derive("repeat", RepeatArgs{n, of, seed}, Columns(of+":text", "seed:number")...)
}

// SeedBy sets the number column seed to a hash, from 0 to 2^31−1, of each row's values in text columns. Rows with equal
// values have equal seeds, and their generated images start from the same noise: SeedBy("concept") for a comparison of
// languages, SeedBy("id") for different images of every prompt.
func (t Table) SeedBy(columns ...string) Table {
	if len(columns) == 0 {
		return t.Fail(fmt.Errorf("SeedBy: name at least one column"))
	}
	for _, c := range columns {
		t = t.Need(c, table.KindText)
	}
	return t.Derive("seed-by", columnsArgs{columns}, Columns("seed:number")...)
}
