package must

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"testing"
)

// recorder is a test whose errors are kept.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestWants(t *testing.T) {
	two := func(err error) (int, error) { return 2, err }
	for want, check := range map[string]func(t testing.TB){
		"[]": func(t testing.TB) {
			Fail(two(errors.New("no weights in a")))(t, "no weights", "a")
			Fail(errors.New("x"))(t)
			Is(two(fmt.Errorf("a: %w", fs.ErrExist)))(t, fs.ErrExist, "a: ")
			Has(t, "abc", "b", "abc")
			True(t, true, "one")
			Equal(t, 2, 2, "two")
			EqualSlices(t, []string{}, nil)
			Near(t, 1, 1.5, 0.5)
			Near(t, math.NaN(), math.NaN(), 0)
		},
		`[no error, want one with ["x"]]`:                 func(t testing.TB) { Fail(two(nil))(t, "x") },
		"[error a, want one that is file already exists]": func(t testing.TB) { Is(errors.New("a"))(t, fs.ErrExist) },
		"[2 rows]":                         func(t testing.TB) { True(t, false, "%d rows", 2) },
		`["ab" lacks "c" "ab" lacks "d"]`:  func(t testing.TB) { Has(t, "ab", "a", "c", "d") },
		`[no error, want one with []]`:     func(t testing.TB) { Fail(nil)(t) },
		`[error "a\nb", want one line]`:    func(t testing.TB) { Fail(errors.New("a\nb"))(t, "b") },
		`[error "a", want one with "b"]`:   func(t testing.TB) { Fail(errors.New("a"))(t, "a", "b") },
		"[row 3: got 1.5, want 2]":         func(t testing.TB) { Equal(t, 1.5, 2, "row", 3) },
		"[share: got NaN, want 2]":         func(t testing.TB) { Near(t, math.NaN(), 2, 9, "share") },
		"[: got 1, want 2]":                func(t testing.TB) { Near(t, 1, 2, 0.5) },
		`[: got "a", want "b"]`:            func(t testing.TB) { Equal(t, "a", "b") },
		"[: got a \"b\", want \"\"]":       func(t testing.TB) { Equal(t, "a \"b\"", "") },
		`[ids: got ["a"], want ["a" "b"]]`: func(t testing.TB) { EqualSlices(t, []string{"a"}, []string{"a", "b"}, "ids") },
	} {
		var r recorder
		if check(&r); fmt.Sprint(r.errors) != want {
			t.Errorf("%q, want %s", r.errors, want)
		}
	}
}
