package backend

import (
	"fmt"
	"slices"
	"testing"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// A job begins before its first client listens: what it noted until then reaches the client too, and each that joins.
func TestNotesBeforeListening(t *testing.T) {
	j := &job{}
	for i := range 100 {
		j.progress(table.Progress{Note: fmt.Sprint("note ", i)})
		j.progress(table.Progress{Stage: "embed", Done: i})
	}
	for range 2 {
		l := j.listen()
		j.progress(table.Progress{Note: "last"})
		got := j.take(l)
		notes := got[:len(j.notes)-1]
		for i, n := range notes[:100] {
			if n.Note != fmt.Sprint("note ", i) {
				t.Fatalf("note %d is %+v", i, n)
			}
		}
		rest := got[len(notes):]
		must.True(t, len(rest) == 2 && rest[0].Done == 99 && rest[1].Note == "last", "then %+v", rest)
		j.unlisten(l)
	}
}

// TestJobKey: requests that differ in anything but thumbnails have jobs of their own.
func TestJobKey(t *testing.T) {
	plan := &table.Plan{Op: "literal"}
	keys := map[string]bool{}
	for _, req := range []client.Request{{}, {Trace: true}, {Columns: []string{"a b"}}, {Columns: []string{"a", "b"}},
		{Secrets: map[string]string{"KEY": "a"}}, {Secrets: map[string]string{"KEY": "b"}}, {Samples: true}} {
		req.Plan = plan
		keys[jobKey(req)] = true
	}
	must.Equal(t, len(keys), 6)
}

// TestNotesOfSlowClients: a client that does not read misses reports, but no notes.
func TestNotesOfSlowClients(t *testing.T) {
	j := &job{}
	l := j.listen()
	for i := range 3 * waiting {
		j.progress(table.Progress{Stage: "embed", Done: i})
		j.progress(table.Progress{Note: fmt.Sprint("note ", i)})
	}
	notes := slices.DeleteFunc(j.take(l), func(p table.Progress) bool { return p.Note == "" })
	must.Equal(t, len(notes), 3*waiting)
	must.Equal(t, notes[3*waiting-1].Note, fmt.Sprint("note ", 3*waiting-1))
	must.True(t, len(l.wake) == 1, "the client is not told")
}
