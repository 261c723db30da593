package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"
	"github.com/gomlx/gomlx/ml/train/optimizer"
)

// settings of a training run. Runs of equal settings see equal batches and start from equal weights, interrupted or not.
type settings struct {
	Steps int     `json:"steps"`
	Batch int     `json:"batch"`
	Seed  uint64  `json:"seed"`
	Rate  float64 `json:"rate"` // highest learning rate: reached after 5 % of the steps, then down to 0 as half a cosine
	World int     `json:"world_version"`
}

// rate of a step counted from 0.
func (s settings) rate(step int) float64 {
	warm := max(1, s.Steps/20)
	if step < warm {
		return s.Rate * float64(step+1) / float64(warm)
	}
	return s.Rate * 0.5 * (1 + math.Cos(math.Pi*float64(step-warm)/float64(max(1, s.Steps-warm))))
}

const (
	pointEvery = 50  // steps between points of the loss curve
	saveEvery  = 100 // steps between checkpoints, a multiple of pointEvery
)

// point is one entry of the loss curve: the mean over the steps since the last.
type point struct {
	Step    int            `json:"step"`
	Loss    [heads]float64 `json:"loss"` // in the order of headNames
	Seconds float64        `json:"seconds_a_step"`
}

// train does the steps that a run has still to do before step until (at most s.Steps) and returns the store with the
// weights, and the loss curve of the run so far. When the context ends it saves a checkpoint and returns an error.
func train(ctx context.Context, backend compute.Backend, s settings, d runFolder, until int) (*model.Store, []point, error) {
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
	step, err := model.NewExec(backend, store, stepGraph)
	if err != nil {
		return nil, nil, err
	}
	defer step.Finalize()
	feed, stop := feedBatches(ctx, s, done, until)
	defer stop()
	sum, since, from := [heads]float64{}, time.Now(), done
	for k := done; k < until; k++ {
		b, open := <-feed
		if !open {
			return nil, nil, errors.Join(fmt.Errorf("stopped after %d of %d steps; the same command goes on from there", k, s.Steps), saved.Save())
		}
		losses, err := runStep(step, float32(s.rate(k)), b)
		if err != nil {
			return nil, nil, fmt.Errorf("step %d: %w", k+1, err)
		}
		for h, l := range losses {
			if l-l != 0 {
				return nil, nil, fmt.Errorf("step %d: the loss of head %s is %v; try a lower -rate in a new -dir", k+1, headNames[h], l)
			}
			sum[h] += float64(l)
		}
		fmt.Fprintf(os.Stderr, "\rstep %d of %d", k+1, s.Steps)
		if (k+1)%pointEvery == 0 || k+1 == until {
			p := point{Step: k + 1, Seconds: time.Since(since).Seconds() / float64(k+1-from)}
			for h := range sum {
				p.Loss[h] = sum[h] / float64(k+1-from)
			}
			fmt.Fprintf(os.Stderr, "\r%s\n", progress(p, s.Steps))
			if err := d.append(p); err != nil {
				return nil, nil, err
			}
			curve = append(curve, p)
			sum, since, from = [heads]float64{}, time.Now(), k+1
		}
		if (k+1)%saveEvery == 0 || k+1 == until {
			if err := saved.Save(); err != nil {
				return nil, nil, fmt.Errorf("checkpoint in %s: %w", d, err)
			}
		}
	}
	return store, curve, nil
}

// feedBatches draws the batches from number first to before number until, ahead of the steps. The channel closes after the last, or when the
// context ends; stop ends the drawing.
func feedBatches(ctx context.Context, s settings, first, until int) (feed <-chan batch, stop func()) {
	ctx, stop = context.WithCancel(ctx)
	out := make(chan batch, 2)
	go func() {
		defer close(out)
		for k := first; k < until; k++ {
			select {
			case out <- trainingBatch(s.Seed, k, s.Batch):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, stop
}

func progress(p point, steps int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d of %d · loss", p.Step, steps)
	for h, name := range headNames {
		fmt.Fprintf(&b, " %s %.3f", name, p.Loss[h])
	}
	left := time.Duration(p.Seconds * float64(steps-p.Step) * float64(time.Second))
	fmt.Fprintf(&b, " · %.2f s a step, %s left", p.Seconds, left.Round(time.Second))
	return b.String()
}

func runStep(step *model.Exec, rate float32, b batch) ([]float32, error) {
	in := b.tensors()
	out, err := step.Exec(append([]any{rate}, in...)...)
	if err != nil {
		return nil, err
	}
	values, err := tensors.CopyFlatData[float32](out[0])
	out[0].FinalizeAll()
	for _, t := range in {
		t.(*tensors.Tensor).FinalizeAll()
	}
	return values, err
}

// tensors are the batch as the graphs take it.
func (b batch) tensors() []any {
	n := len(b.object) / (grid * grid)
	return []any{
		tensors.FromFlatDataAndDimensions(b.pixels, n, 3, imageSize, imageSize),
		tensors.FromFlatDataAndDimensions(b.object, n, grid*grid),
		tensors.FromFlatDataAndDimensions(b.labels, n, heads),
	}
}
