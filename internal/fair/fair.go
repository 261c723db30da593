// Package fair holds the waiting tasks of several jobs, which take turns.
package fair

// Queue holds tasks by job. Pop takes one task of each job in turn, so that a job with many tasks delays another by
// one. The zero Queue is empty. Its methods must not be called by several goroutines at once.
type Queue[T any] struct {
	jobs  map[string][]T
	order []string // jobs with tasks, the next first
}

// Push adds a task behind those of its job.
func (q *Queue[T]) Push(job string, task T) {
	q.add(job)
	q.jobs[job] = append(q.jobs[job], task)
}

// PushFront adds a task before those of its job: one that was taken and could not be done.
func (q *Queue[T]) PushFront(job string, task T) {
	q.add(job)
	q.jobs[job] = append([]T{task}, q.jobs[job]...)
}

func (q *Queue[T]) add(job string) {
	if q.jobs == nil {
		q.jobs = map[string][]T{}
	}
	if len(q.jobs[job]) == 0 {
		q.order = append(q.order, job)
	}
}

// Next returns the next task, and false if there is none.
func (q *Queue[T]) Next() (task T, ok bool) {
	if len(q.order) == 0 {
		return task, false
	}
	return q.jobs[q.order[0]][0], true
}

// Pop removes and returns the next task, and false if there is none.
func (q *Queue[T]) Pop() (task T, ok bool) {
	if task, ok = q.Next(); !ok {
		return task, false
	}
	job := q.order[0]
	q.order = q.order[1:]
	if q.jobs[job] = q.jobs[job][1:]; len(q.jobs[job]) > 0 {
		q.order = append(q.order, job)
	} else {
		delete(q.jobs, job)
	}
	return task, true
}

// Len returns the number of tasks.
func (q *Queue[T]) Len() int {
	n := 0
	for _, tasks := range q.jobs {
		n += len(tasks)
	}
	return n
}

// All returns the tasks, job by job.
func (q *Queue[T]) All() (all []T) {
	for _, job := range q.order {
		all = append(all, q.jobs[job]...)
	}
	return all
}
