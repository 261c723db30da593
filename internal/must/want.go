package must

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Fail returns a function that checks the last of the results as [Err] does.
//
//	must.Fail(clip.Open(dir))(t, "no weights")
func Fail(results ...any) func(t testing.TB, texts ...string) {
	return func(t testing.TB, texts ...string) {
		t.Helper()
		err, _ := results[len(results)-1].(error)
		Err(t, err, texts...)
	}
}

// Is returns a function that checks the last of the results as [Err] does, and that it is an error of a kind.
func Is(results ...any) func(t testing.TB, kind error, texts ...string) {
	return func(t testing.TB, kind error, texts ...string) {
		t.Helper()
		err, _ := results[len(results)-1].(error)
		if Err(t, err, texts...); !errors.Is(err, kind) {
			t.Errorf("error %v, want one that is %v", err, kind)
		}
	}
}

// True reports a failure, in the words of a format, where a condition does not hold.
func True(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// Has reports a failure for each part that a text lacks.
func Has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%.2000q lacks %q", text, part)
		}
	}
}

// Get2 is [Get] of a function with two values.
func Get2[A, B any](a A, b B, err error) func(t testing.TB) (A, B) {
	return func(t testing.TB) (A, B) {
		t.Helper()
		Do(t, err)
		return a, b
	}
}

// Equal fails the test where two values differ; what says what they are.
func Equal[T comparable](t testing.TB, got, want T, what ...any) {
	t.Helper()
	if got != want {
		different(t, got, want, what)
	}
}

// EqualSlices is [Equal] of the values of two slices.
func EqualSlices[S ~[]T, T comparable](t testing.TB, got, want S, what ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		different(t, got, want, what)
	}
}

// Near is [Equal] of numbers that may differ by at most so much; NaN is near NaN alone.
func Near(t testing.TB, got, want, most float64, what ...any) {
	t.Helper()
	if !(math.Abs(got-want) <= most || math.IsNaN(got) && math.IsNaN(want)) {
		different(t, got, want, what)
	}
}

func different(t testing.TB, got, want any, what []any) {
	t.Helper()
	format := "%v: got %+v, want %+v"
	switch got.(type) {
	case string, []string:
		format = "%v: got %q, want %q"
		if want == "" { // a difference is easiest to read as it is
			format = "%v: got %s, want %q"
		}
	}
	t.Errorf(format, strings.TrimSpace(fmt.Sprintln(what...)), got, want)
}
