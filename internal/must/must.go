// Package must ends a test whose preparation fails, and says in a line what a test wants.
//
//	m := must.Get(clip.Open(dir))(t)
//	must.Do(t, os.Remove(path))
package must

import "testing"

// Get returns a function that returns the value, or ends the test if there is an error.
func Get[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Do ends the test if there is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
