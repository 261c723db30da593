package fair

import (
	"fmt"
	"testing"

	"antipode/internal/must"
)

// TestTurns: jobs take turns whatever they have waiting; a task that is put back comes first among those of its job.
func TestTurns(t *testing.T) {
	var q Queue[string]
	for i := range 3 {
		q.Push("long", fmt.Sprint("long ", i))
	}
	q.Push("short", "short 0")
	pop := func() string {
		task, _ := q.Pop()
		return task
	}
	got := []string{pop(), pop()}
	q.PushFront("long", got[0])
	for q.Len() > 0 {
		next, _ := q.Next()
		must.True(t, next != got[len(got)-1], "%q is next again", next)
		got = append(got, pop())
	}
	must.EqualSlices(t, got, []string{"long 0", "short 0", "long 0", "long 1", "long 2"}, "order")
	if task, ok := q.Pop(); ok {
		t.Errorf("an empty queue has %q", task)
	}
}
