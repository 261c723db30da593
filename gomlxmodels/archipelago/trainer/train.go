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

// Job is what a run does.
type Job struct {
	Settings Settings
	Losses   []string // names of the parts of the loss

	// Batch draws the inputs of a step, counted from 0, from (Settings.Seed, step) alone. It is called from another goroutine than the
	// steps, one call at a time.
	Batch func(step int) ([]*tensors.Tensor, error)

	// Loss is what is made small, [], and its parts, [len(Losses)], of a batch's inputs.
	Loss func(scope *model.Scope, in []*Node) (total, parts *Node)

	// Start, if given, puts the weights into the store of a run that begins: what it sets not trainable stays as it is. Weights that it
	// leaves out are drawn from the seed.
	Start func(store *model.Store) error
}

const (
	pointEvery = 50  // steps between points of the loss curve
	saveEvery  = 100 // steps between checkpoints, a multiple of pointEvery
)

// Point is one entry of the loss curve: the mean over the steps since the last.
type Point struct {
	Step    int       `json:"step"`
	Loss    []float64 `json:"loss"` // in the order of Job.Losses
	Seconds float64   `json:"seconds_a_step"`
}

// Run does the steps that a run has still to do before step until (at most Settings.Steps) and returns the store with the
// weights, and the loss curve of the run so far. When the context ends it saves a checkpoint and returns an error.
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
		fmt.Fprintf(os.Stderr, "%d of %d steps are done in %s\n", done, s.Steps, d)
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
	feed, stop := j.feed(ctx, done, until)
	defer stop()
	sum, since, from := make([]float64, len(j.Losses)), time.Now(), done
	for k := done; k < until; k++ {
		b, open := <-feed
		if !open {
			return nil, nil, errors.Join(fmt.Errorf("stopped after %d of %d steps; the same command goes on from there", k, s.Steps), saved.Save())
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
				return nil, nil, fmt.Errorf("step %d: the loss %s is %v; try a lower -rate in a new -dir", k+1, j.Losses[h], l)
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

// start calls Start. A run that goes on has its weights from the checkpoint already and needs of Start only what is trainable.
func (j *Job) start(store *model.Store, goesOn bool) error {
	if !goesOn {
		return j.Start(store)
	}
	begun := model.NewStore()
	defer begun.Finalize()
	if err := j.Start(begun); err != nil {
		return err
	}
	for v := range begun.IterVariables() {
		if mine := store.GetVariable(v.Path()); mine != nil {
			mine.SetTrainable(v.Trainable)
		}
	}
	return nil
}

// drawn is a batch, or why there is none.
type drawn struct {
	inputs []*tensors.Tensor
	err    error
}

// feed draws the batches from number first to before number until, ahead of the steps. The channel closes after the last, after a
// failure, or when the context ends; stop ends the drawing.
func (j *Job) feed(ctx context.Context, first, until int) (feed <-chan drawn, stop func()) {
	ctx, stop = context.WithCancel(ctx)
	out := make(chan drawn, 2)
	go func() {
		defer close(out)
		for k := first; k < until; k++ {
			var d drawn
			d.inputs, d.err = j.Batch(k)
			select {
			case out <- d:
			case <-ctx.Done():
				return
			}
			if d.err != nil {
				return
			}
		}
	}()
	return out, stop
}

func (j *Job) progress(p Point) string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d of %d · loss", p.Step, j.Settings.Steps)
	for h, name := range j.Losses {
		fmt.Fprintf(&b, " %s %.4g", name, p.Loss[h])
	}
	left := time.Duration(p.Seconds * float64(j.Settings.Steps-p.Step) * float64(time.Second))
	fmt.Fprintf(&b, " · %.2f s a step, %s left", p.Seconds, left.Round(time.Second))
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
