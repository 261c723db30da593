package execmodel

import (
	"antipode/internal/must"
	"slices"
	"strings"
	"testing"
)

// TestCheck: every fault fails the tests that are about it, and no others.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		mode    string // with the task, where it is not generate
		failed  []int
		skipped []int
	}{
		{"ok", nil, nil},
		{"no negative", nil, []int{11}},
		{"fatal", []int{1}, nil},
		{"prints while loading", []int{2}, nil},
		{"random", []int{5, 7, 8, 15}, nil},
		{"other after restart", []int{8, 15}, nil},
		{"ignores seed", []int{6}, nil},
		{"ignores negative", []int{11}, nil},
		{"depends on batch", []int{7}, nil}, // and 15, depending on when the process is killed
		{"crashes on emoji", []int{9}, nil},
		{"any size", []int{10}, nil},
		{"no cancel", nil, []int{13}},
		{"status", []int{14}, nil},
		{"other", []int{8, 9, 10, 11, 12, 13, 14, 15, 16}, nil},
		{"segment: ok", nil, []int{6, 10, 11}},
		{"segment: depends on batch", []int{7}, []int{6, 10, 11}},
		{"segment: large", []int{3, 4, 5, 7, 8, 12, 15}, []int{6, 10, 11}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			task, mode, is := strings.Cut(c.mode, ": ")
			if !is {
				task, mode = Generate, c.mode
			}
			g, _ := group(t, mode, func(o *Options) { o.Task = task })
			var failed, skipped []int
			result, err := Check(t.Context(), g.o, CheckOptions{}, func(f Finding) {
				if t.Logf("%d %s %v %s", f.Number, f.Title, f.Err, f.Skipped); f.Err != nil {
					failed = append(failed, f.Number)
				}
				if f.Skipped != "" {
					skipped = append(skipped, f.Number)
				}
			})
			if err != nil || result.Passed != (c.failed == nil) {
				t.Fatal(result, err)
			}
			if mode == "depends on batch" {
				failed = slices.DeleteFunc(failed, func(n int) bool { return n == 15 })
			}
			must.EqualSlices(t, failed, c.failed)
			must.EqualSlices(t, skipped, c.skipped)
		})
	}
}
