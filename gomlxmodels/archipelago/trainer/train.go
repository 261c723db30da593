package trainer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"
	"github.com/gomlx/gomlx/ml/train/optimizer"
)

// Job is a training run.
type Job struct {
	Settings Settings
	Losses   []string // names of the loss terms

	// Batch returns the inputs of a step, counted from 0. They depend on (Settings.Seed, step) only. Batch is called
	// from a goroutine of its own, one call at a time.
	Batch func(step int) ([]*tensors.Tensor, error)

	// Loss returns the loss to minimize, [], and its terms, [len(Losses)], for the inputs of a batch.
	Loss func(scope *model.Scope, in []*Node) (total, terms *Node)

	// Start sets initial weights when a run begins; variables that it marks as not trainable stay frozen. Other weights
	// are initialized from the seed. May be nil.
	Start func(store *model.Store) error

	// Export writes the weights in store to a model folder, as float16, and returns the number of parameters.
	Export func(dir string, store *model.Store) (parameters int, err error)
}

const (
	pointEvery = 50  // steps between points of the loss curve
	saveEvery  = 100 // steps between checkpoints, a multiple of pointEvery
)

// Point is one entry of the loss curve: means over the steps since the previous entry.
type Point struct {
	Step    int       `json:"step"`
	Loss    []float64 `json:"loss"` // in the order of Job.Losses
	Seconds float64   `json:"seconds_a_step"`
}

// Run trains from the run's last checkpoint to step until (at most Settings.Steps) and returns the store with the
// weights and the loss curve since the run's first step. When ctx ends it saves a checkpoint and returns an error.
func (j *Job) Run(ctx context.Context, backend compute.Backend, d Folder, until int) (*model.Store, []Point, error) {
	s := j.Settings
	store := model.NewStore()
	if err := store.SetRNGStateFromSeed(int64(s.Seed)); err != nil {
		return nil, nil, err
	}
	saved, err := checkpoint.Build(store).Dir(d.checkpoints()).Keep(2).Immediate().Done()
	if err != nil {
		return nil, nil, fmt.Errorf("checkpoints in %s: %w", d, err)
	}
	done := int(optimizer.GetGlobalStep(store))
	curve, err := d.curve(done)
	if err != nil {
		return nil, nil, err
	}
	if done > 0 {
		fmt.Fprintf(os.Stderr, "resuming after step %d of %d from %s\n", done, s.Steps, d)
	}
	if j.Start != nil {
		if err := j.start(store, done > 0); err != nil {
			return nil, nil, err
		}
	}
	step, err := model.NewExec(backend, store, j.stepGraph)
	if err != nil {
		return nil, nil, err
	}
	defer step.Finalize()
	batches, stop := j.batches(ctx, done, until)
	defer stop()
	sum, since, from := make([]float64, len(j.Losses)), time.Now(), done
	for k := done; k < until; k++ {
		b, open := <-batches
		if !open {
			return nil, nil, errors.Join(fmt.Errorf("stopped after %d of %d steps; the same command resumes the run", k,
				s.Steps), saved.Save())
		}
		if b.err != nil {
			return nil, nil, errors.Join(fmt.Errorf("batch %d: %w", k+1, b.err), saved.Save())
		}
		losses, err := runStep(step, float32(s.rate(k)), b.inputs)
		if err != nil {
			return nil, nil, fmt.Errorf("step %d: %w", k+1, err)
		}
		for h, l := range losses {
			if l-l != 0 {
				return nil, nil, fmt.Errorf("step %d: the loss %s is %v; use a lower -rate and a new -dir", k+1,
					j.Losses[h], l)
			}
			sum[h] += float64(l)
		}
		fmt.Fprintf(os.Stderr, "\rstep %d of %d", k+1, s.Steps)
		if (k+1)%pointEvery == 0 || k+1 == until {
			p := Point{Step: k + 1, Seconds: time.Since(since).Seconds() / float64(k+1-from)}
			for _, l := range sum {
				p.Loss = append(p.Loss, l/float64(k+1-from))
			}
			fmt.Fprintf(os.Stderr, "\r%s\n", j.progress(p))
			if err := d.append(p); err != nil {
				return nil, nil, err
			}
			curve = append(curve, p)
			sum, since, from = make([]float64, len(j.Losses)), time.Now(), k+1
		}
		if (k+1)%saveEvery == 0 || k+1 == until {
			if err := saved.Save(); err != nil {
				return nil, nil, fmt.Errorf("checkpoint in %s: %w", d, err)
			}
		}
	}
	return store, curve, nil
}

// RunAndExport trains like [Job.Run] and exports the averaged weights to the folder out.
func (j *Job) RunAndExport(ctx context.Context, backend compute.Backend, d Folder, until int, out string) (
	parameters int, curve []Point, err error) {
	store, curve, err := j.Run(ctx, backend, d, until)
	if err != nil {
		return 0, nil, err
	}
	defer store.Finalize()
	if err := useAverage(store); err != nil {
		return 0, nil, err
	}
	parameters, err = j.Export(out, store)
	return parameters, curve, err
}

// start calls Start. A resumed run has its weights from the checkpoint and takes from Start only which variables are
// trainable.
func (j *Job) start(store *model.Store, resumed bool) error {
	if !resumed {
		return j.Start(store)
	}
	initial := model.NewStore()
	defer initial.Finalize()
	if err := j.Start(initial); err != nil {
		return err
	}
	for v := range initial.IterVariables() {
		if restored := store.GetVariable(v.Path()); restored != nil {
			restored.SetTrainable(v.Trainable)
		}
	}
	return nil
}

// batch is the result of [Job.Batch].
type batch struct {
	inputs []*tensors.Tensor
	err    error
}

// batches makes the batches of the steps from first to before until ahead of their use. The channel closes after the
// last batch, after an error, or when ctx ends; stop ends the goroutine.
func (j *Job) batches(ctx context.Context, first, until int) (_ <-chan batch, stop func()) {
	ctx, stop = context.WithCancel(ctx)
	out := make(chan batch, 2)
	go func() {
		defer close(out)
		for k := first; k < until; k++ {
			var b batch
			b.inputs, b.err = j.Batch(k)
			select {
			case out <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil {
				return
			}
		}
	}()
	return out, stop
}

func (j *Job) progress(p Point) string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d of %d: loss", p.Step, j.Settings.Steps)
	for h, name := range j.Losses {
		fmt.Fprintf(&b, " %s %.4g", name, p.Loss[h])
	}
	left := time.Duration(p.Seconds * float64(j.Settings.Steps-p.Step) * float64(time.Second))
	fmt.Fprintf(&b, ", %.2f s/step, %s left", p.Seconds, left.Round(time.Second))
	return b.String()
}

func runStep(step *model.Exec, rate float32, inputs []*tensors.Tensor) ([]float32, error) {
	in := []any{rate}
	for _, t := range inputs {
		in = append(in, t)
	}
	out, err := step.Exec(in...)
	if err != nil {
		return nil, err
	}
	values, err := tensors.CopyFlatData[float32](out[0])
	out[0].FinalizeAll()
	for _, t := range inputs {
		t.FinalizeAll()
	}
	return values, err
}
