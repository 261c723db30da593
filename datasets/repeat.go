package datasets

import (
	"fmt"

	"antipode/kernel/client"
)

// RepeatArgs are the arguments of [Table.Repeat].
type RepeatArgs struct {
	N    int    `json:"n"`
	Of   string `json:"of"`
	Seed int64  `json:"seed"`
}

// MaxRepeat is the most rows that [Table.Repeat] makes of one.
const MaxRepeat = 10_000

// MaxSeed is the largest seed of a row: it and the seeds of its copies are whole numbers that a number column holds exactly.
const MaxSeed = 1<<53 - MaxRepeat

// Repeat gives each row n times, one below the other, for a stage that makes something new for each: pictures of a prompt, captions
// of an image. Copy k, from 1, has the id ID#k; the column of ("image_id") holds the id it came from, and the number column seed is
// seed + k − 1. Where the table has a column seed, copy k has its row's own seed + k − 1, and seed is for rows without one.
func (t Table) Repeat(n int, of string, seed int64) Table {
	if n < 1 || n > MaxRepeat {
		return t.Fail(fmt.Errorf("Repeat(%d, …): between 1 and %d", n, MaxRepeat))
	}
	if of == "" || of == "id" || of == "seed" {
		return t.Fail(fmt.Errorf("Repeat(…, %q, …): name the column that takes the ids, for example image_id", of))
	}
	if seed < 0 || seed > MaxSeed {
		return t.Fail(fmt.Errorf("Repeat: the seed %d is not between 0 and %d", seed, int64(MaxSeed)))
	}
	return t.Need("id", client.Text).Derive("repeat", RepeatArgs{n, of, seed}, Columns(of+":text", "seed:number")...)
}

// SeedBy gives each row a seed that depends on its values in some text columns alone, in the number column seed: a digest from 0 to 2^31−1. Rows that agree in them share seeds, and so the noise that
// pictures begin with: SeedBy("concept") lets languages be compared like with like, SeedBy("id") gives every prompt pictures of its own.
func (t Table) SeedBy(columns ...string) Table {
	if len(columns) == 0 {
		return t.Fail(fmt.Errorf("SeedBy needs at least one column"))
	}
	for _, c := range columns {
		t = t.Need(c, client.Text)
	}
	return t.Derive("seed-by", ColumnsArgs{columns}, Columns("seed:number")...)
}
