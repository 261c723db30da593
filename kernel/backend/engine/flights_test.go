package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
)

// payments registers a stage that calls during in each batch, and returns a table of n rows that it computes, and the
// largest number of times that it computed a row.
func payments(t *testing.T, name string, n int, keep bool, during func(ctx context.Context, ids []string) error) (
	tab datasets.Table, most func() int) {
	t.Helper()
	var mu sync.Mutex
	counts := map[string]int{}
	answer := func(ctx context.Context, ids []string) (out []string, err error) {
		mu.Lock()
		for _, id := range ids {
			counts[id]++
			out = append(out, "answer to "+id)
		}
		mu.Unlock()
		if err := during(ctx, ids); err != nil {
			return nil, err
		}
		return out, nil
	}
	register(name, func(base counted) stage.Worker[string] {
		return answering{counted: base, answer: answer, forget: !keep}
	})
	_, file := images(t, n)
	return derive(datasets.CSV(file), name, nil, "answer:text"), func() int {
		mu.Lock()
		defer mu.Unlock()
		return slices.Max(slices.Collect(maps.Values(counts)))
	}
}

func answers(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("answer to i%d", i))
	}
	return out
}

// TestConcurrentJobs: four jobs that need the same rows compute each of them once. A result that is not stored is for
// the jobs that wait for it, too.
func TestConcurrentJobs(t *testing.T) {
	for _, keep := range []bool{true, false} {
		e := newEngine(t)
		var together sync.WaitGroup // all jobs have begun
		together.Add(4)
		var once sync.Map
		name := fmt.Sprintf("paying %v", keep)
		tab, most := payments(t, name, 24, keep, func(ctx context.Context, _ []string) error {
			name, _ := ctx.Value(owner{}).(string)
			if _, known := once.LoadOrStore(name, true); !known {
				together.Done()
			}
			together.Wait()
			time.Sleep(time.Millisecond)
			return nil
		})
		plan := must.Get(tab.Plan())(t)
		var wg sync.WaitGroup
		results := make([]*client.Result, 4)
		fails := make([]error, 4)
		for i := range results {
			wg.Go(func() {
				ctx := WithOwner(t.Context(), fmt.Sprint("job ", i))
				results[i], fails[i] = e.Run(ctx, client.Request{Plan: plan, Batch: 2}, nil)
			})
		}
		wg.Wait()
		must.Do(t, errors.Join(fails...))
		computed := 0
		for i, res := range results {
			computed += res.Computed
			if res.Computed+res.Found != 24 || !slices.Equal(res.Frame.Texts("answer"), answers(24)) {
				t.Errorf("keep %v, job %d: %d computed, %d found, %q", keep, i, res.Computed, res.Found,
					res.Frame.Texts("answer"))
			}
		}
		if limit := map[bool]int{true: 24, false: 4*24 - 1}[keep]; computed > limit || keep && most() != 1 {
			t.Errorf("keep %v: a row was computed %d times; %d rows in all", keep, most(), computed)
		}
	}
}

// waitFor returns when jobs wait for n items of others.
func waitFor(e *Engine, n int) {
	for needed := 0; needed < n; time.Sleep(time.Millisecond) {
		needed = 0
		e.flights.mu.Lock()
		for _, f := range e.flights.of {
			needed += f.needed
		}
		e.flights.mu.Unlock()
	}
}

// TestCanceledJob: what a canceled job has begun is finished for a job that needs it, and nothing is computed twice.
func TestCanceledJob(t *testing.T) {
	e := newEngine(t)
	begun, proceed := make(chan bool), make(chan bool)
	first := true
	tab, most := payments(t, "canceled", 4, true, func(ctx context.Context, _ []string) error {
		if !first {
			return nil
		}
		first = false
		close(begun)
		select {
		case <-proceed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	plan := must.Get(tab.Plan())(t)
	ctx, cancel := context.WithCancel(t.Context())
	canceled := make(chan error, 1)
	go func() {
		_, err := e.Run(ctx, client.Request{Plan: plan}, nil)
		canceled <- err
	}()
	<-begun
	waits := make(chan error, 1)
	var res *client.Result
	go func() {
		var err error
		res, err = e.Run(t.Context(), client.Request{Plan: plan}, nil)
		waits <- err
	}()
	waitFor(e, 4)
	cancel()
	time.Sleep(2 * lookAgain)
	close(proceed)
	must.Is(<-canceled)(t, context.Canceled) // the canceled job
	if err := <-waits; err != nil || !slices.Equal(res.Frame.Texts("answer"), answers(4)) {
		t.Fatalf("%+v, %v", res, err)
	}
	must.Equal(t, most(), 1, "a row was computed", "times")
}

// TestFailedJob: a job whose rows failed in another one computes them itself.
func TestFailedJob(t *testing.T) {
	e := newEngine(t)
	begun := make(chan bool)
	first := true
	tab, most := payments(t, "fails once", 4, true, func(context.Context, []string) error {
		if !first {
			return nil
		}
		first = false
		close(begun)
		waitFor(e, 1)
		return errors.New("no connection")
	})
	plan := must.Get(tab.Plan())(t)
	failed := make(chan error, 1)
	go func() {
		_, err := e.Run(t.Context(), client.Request{Plan: plan}, nil)
		failed <- err
	}()
	<-begun
	res := must.Get(e.Run(t.Context(), client.Request{Plan: plan, Counts: false}, nil))(t)
	must.Equal(t, res.Computed, 4)
	must.EqualSlices(t, res.Frame.Texts("answer"), answers(4))
	if err := <-failed; err == nil || most() != 2 {
		t.Errorf("%v; a row was computed %d times", err, most())
	}
}

// TestDroppedValues: a job that needs no values of items that the store has keeps none that another job computed.
func TestDroppedValues(t *testing.T) {
	e := newEngine(t)
	begun, proceed := make(chan bool), make(chan bool)
	tab, _ := payments(t, "dropped", 2, true, func(context.Context, []string) error {
		close(begun)
		<-proceed
		return nil
	})
	plan := must.Get(tab.Plan())(t)
	ended := make(chan error)
	go func() {
		_, err := e.Run(t.Context(), client.Request{Plan: plan}, nil)
		ended <- err
	}()
	<-begun
	r := e.newRun(t.Context(), client.Request{Plan: plan}, func(table.Progress) {}, e.Store)
	in := must.Get(r.rows(plan.Inputs[0]))(t)
	st, _ := stage.Find(plan.Op)
	s := &stageRows{r: r, stage: st, plan: plan}
	must.Do(t, errors.Join(s.open(), s.begin(in.Specs())))
	defer s.close()
	b := s.itemsOf(in)
	b.drop = true
	missing, failed := must.Get2(s.find(b))(t)
	go func() {
		waitFor(e, 2)
		close(proceed)
	}()
	must.Do(t, errors.Join(s.start(b, 2, missing), s.compute(b, missing, failed), <-ended))
	for u, v := range b.values {
		must.True(t, v != nil && len(v) == 0, "item %d keeps %v", u, v)
	}
}

// TestEndedJob: a job that ends does not end the computation of an item that another job has begun after its own.
func TestEndedJob(t *testing.T) {
	e := newEngine(t)
	begun, proceed, second := make(chan bool), make(chan bool), make(chan bool)
	calls := 0
	tab, _ := payments(t, "ends", 2, false, func(context.Context, []string) error {
		switch calls++; calls {
		case 2: // the other row of the first job
			begun <- true
			<-proceed
		case 3: // the first row again, by the second job
			begun <- true
			<-second
		}
		return nil
	})
	ended := make(chan error)
	start := func(tab datasets.Table) {
		plan := must.Get(tab.Plan())(t)
		go func() {
			_, err := e.Run(t.Context(), client.Request{Plan: plan, Batch: 1}, nil)
			ended <- err
		}()
		<-begun
	}
	start(tab)
	start(tab.Where("id", "==", "i0"))
	close(proceed)
	must.Do(t, <-ended)
	must.Equal(t, len(e.flights.of), 1, "computations in progress, after one of two jobs has ended")
	close(second)
	must.Do(t, <-ended)
}
