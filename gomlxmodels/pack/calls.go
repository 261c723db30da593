package pack

import (
	"context"
	"errors"
	"fmt"
)

// Check reports what is wrong with a text's token ids for a model of so many tokens at most and so many words:
// none, too many, or an id that is none of the model's.
func Check(ids []int32, most, words int) error {
	if len(ids) == 0 {
		return errors.New("it has no tokens, not even start and end")
	}
	if len(ids) > most {
		return fmt.Errorf("%d tokens, the model takes at most %d: truncate it, keeping the end token", len(ids), most)
	}
	for i, id := range ids {
		if id < 0 || int(id) >= words {
			return fmt.Errorf("token %d has id %d, the model's ids are 0 to %d", i+1, id, words-1)
		}
	}
	return nil
}

// Calls puts texts into rows, no text being longer than most tokens, and hands do rows of one length l, in calls of
// about so many tokens: of size rows, or of one where rows are few. A call may hold fewer rows than its size. ctx is
// checked between calls.
func Calls(ctx context.Context, texts [][]int32, most, tokens int, do func(rows [][]Place, size, l int) error) error {
	byLength, longest := map[int][]int{}, 0
	for i, ids := range texts {
		l := rowLength(len(ids), most)
		byLength[l] = append(byLength[l], i)
		longest = max(longest, l)
	}
	for l := 1; l <= longest; l++ {
		rows := Rows(byLength[l], func(text int) int { return len(texts[text]) }, l)
		full := max(1, tokens/l)
		for len(rows) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			size := full
			if 2*len(rows) <= full {
				size = 1
			}
			n := min(size, len(rows))
			if err := do(rows[:n], size, l); err != nil {
				return err
			}
			rows = rows[n:]
		}
	}
	return nil
}
