package diffusion

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/gomlxmodels/diffusion/noise"
	"antipode/gomlxmodels/diffusion/schedule"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
)

// Generate makes an image for each request, in order; any number of them. An image depends on its own request alone,
// not on the others. One that the safety checker blocks has no Image; its Result reports it. Requests that agree in
// size, steps and scheduler are sampled together, up to Batch of them. progress may be nil; it is called on the
// caller's goroutine. ctx is checked between the steps: when it ends, what was finished is returned with its error.
// An error of a request names it by its place, from 1; then nothing was begun.
func (s *Sampler) Generate(ctx context.Context, requests []Request, progress func(Progress)) (out []Result,
	err error) {
	job, err := s.Begin(requests, progress)
	if err != nil {
		return nil, err
	}
	defer job.Close()
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = job.Next()
		}
	}
	return job.Results, err
}

// Job is the work of a [Sampler.Generate] in pieces. A sampler may have several in hand: between two pieces the
// device, and the sampler, are free for another.
type Job struct {
	Results  []Result // in the order of the requests, as far as they are made
	s        *Sampler
	progress func(Progress)
	batches  []*batch // what is left; the first is in hand
}

// batch is requests that are sampled together.
type batch struct {
	plan *schedule.Plan
	runs []*run

	dims    []int             // [B,h,w,C] of the latents; nil = not begun. B may be more than runs: the last fills up
	inputs  []*tensors.Tensor // of the UNet, that stay the same
	state   []*tensors.Tensor // the latents, then what the sampler stores
	none    *tensors.Tensor   // zeros, where no noise is needed
	steps   int               // done
	latents []float32         // of runs, after the last step
	decoded int               // of runs
}

// Begin checks requests as Generate does, and computes nothing on the device; [Job.Next] does. Close the job when
// done with it.
func (s *Sampler) Begin(requests []Request, progress func(Progress)) (job *Job, err error) {
	defer runner.Recovered("diffusion", &err)
	if progress == nil {
		progress = func(Progress) {}
	}
	job = &Job{s: s, progress: progress, Results: make([]Result, len(requests))}
	plans := map[group]*schedule.Plan{}
	byGroup := map[group][]*run{}
	var order []group
	for i, r := range requests {
		one, err := s.m.request(r)
		if err == nil && plans[one.group] == nil {
			order = append(order, one.group)
			plans[one.group], err = s.m.plan(one.group)
		}
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
		one.at, job.Results[i].Truncated = i, one.truncated
		byGroup[one.group] = append(byGroup[one.group], one)
	}
	for _, g := range order {
		for runs := range slices.Chunk(byGroup[g], s.opts.Batch) {
			job.batches = append(job.batches, &batch{plan: plans[g], runs: runs})
		}
	}
	return job, nil
}

// Next does one piece of the work: it reads a batch's texts and samples its noise, does one of its steps, or decodes
// one of its images. more is false after the last piece.
func (j *Job) Next() (more bool, err error) {
	defer runner.Recovered("diffusion", &err)
	if err := j.s.Closed(); err != nil || len(j.batches) == 0 {
		return false, err
	}
	b := j.batches[0]
	n := len(b.plan.Steps)
	switch {
	case b.dims == nil:
		err = j.s.start(b)
	case b.steps < n:
		if err = j.s.step(b); err != nil {
			break
		}
		for _, r := range b.runs {
			j.progress(Progress{Request: r.at, Step: b.steps, Steps: n})
		}
	default:
		r, size := b.runs[b.decoded], len(b.latents)/len(b.runs)
		if err = j.s.finish(&j.Results[r.at], b.latents[b.decoded*size:(b.decoded+1)*size], r.group); err != nil {
			err = fmt.Errorf("request %d: %w", r.at+1, err)
			break
		}
		j.progress(Progress{r.at, n, n, &j.Results[r.at]})
		if b.decoded++; b.decoded == len(b.runs) {
			b.release()
			j.batches = j.batches[1:]
		}
	}
	return len(j.batches) > 0, err
}

// Close releases what the job holds on the device.
func (j *Job) Close() {
	for _, b := range j.batches {
		b.release()
	}
	j.batches = nil
}

func (b *batch) release() {
	runner.Release(append(append(b.inputs, b.state...), b.none)...)
	b.inputs, b.state, b.none = nil, nil, nil
}

// start reads a batch's texts and samples the initial noise of its images.
func (s *Sampler) start(b *batch) (err error) {
	g, factor := b.runs[0].group, s.m.vae.Factor()
	rows := s.size(g, len(b.runs))
	if b.inputs, err = s.conditions(b.runs, rows, g.guided); err != nil {
		return err
	}
	b.dims = []int{rows, g.height / factor, g.width / factor, s.m.unet.InChannels}
	zeros := func() *tensors.Tensor {
		return tensors.FromFlatDataAndDimensions(make([]float32, rows*b.size()), b.dims...)
	}
	b.none, b.state = zeros(), []*tensors.Tensor{b.drawn(b.plan.Start)}
	for range b.plan.Kept {
		b.state = append(b.state, zeros())
	}
	return nil
}

// size is how many latents an image has.
func (b *batch) size() int { return b.dims[1] * b.dims[2] * b.dims[3] }

// drawn is fresh noise, each row's of its own generator.
//
// Shapes: → [B,h,w,C].
func (b *batch) drawn(scale float32) *tensors.Tensor {
	flat := make([]float32, 0, b.dims[0]*b.size())
	for _, r := range b.runs {
		flat = append(flat, draw(r.noise, scale, b.dims[1:])...)
	}
	for len(flat) < cap(flat) {
		flat = append(flat, flat[len(flat)-b.size():]...)
	}
	return tensors.FromFlatDataAndDimensions(flat, b.dims...)
}

// step does a batch's next step on the device; after the last one it brings the latents to the host.
func (s *Sampler) step(b *batch) error {
	step, fresh := &b.plan.Steps[b.steps], b.none
	if step.Noise {
		fresh = b.drawn(1)
		defer runner.Release(fresh)
	}
	next, err := s.mixed(step, b.state, fresh, b.inputs)
	if err != nil {
		return err
	}
	runner.Release(b.state...)
	b.state = next
	if b.steps++; b.steps < len(b.plan.Steps) {
		return nil
	}
	if b.latents, err = runner.Numbers(b.state[0]); err != nil {
		return err
	}
	b.latents = b.latents[:len(b.runs)*b.size()]
	for i, v := range b.latents {
		if v-v != 0 {
			return fmt.Errorf("request %d: the latents became %v: weights or guidance are out of range",
				b.runs[i/b.size()].at+1, v)
		}
	}
	return nil
}

// size is how many rows a batch of n has on the device: the fewest for which the networks are compiled already, or n.
// So the rest of a long list costs no compiling, and short lists no rows next to their own.
func (s *Sampler) size(g group, n int) int {
	g.steps, g.scheduler = 0, "" // of which the graphs know nothing
	if at := slices.IndexFunc(s.sizes[g], func(b int) bool { return b >= n }); at >= 0 {
		return s.sizes[g][at]
	}
	s.sizes[g] = append(s.sizes[g], n) // more than any before: in order
	return n
}

// mixed evaluates the UNet and returns the state after the step.
func (s *Sampler) mixed(step *schedule.Step, state []*tensors.Tensor, fresh *tensors.Tensor,
	conditions []*tensors.Tensor) ([]*tensors.Tensor, error) {
	t := tensors.FromFlatDataAndDimensions([]float32{float32(step.Timestep), step.Scale}, 2)
	defer runner.Release(t)
	answers, err := s.graphs[unetPart].Results(append([]*tensors.Tensor{state[0], t}, conditions...)...)
	if err != nil {
		return nil, err
	}
	defer runner.Release(answers...)
	bound := cmp.Or(step.Clip, math.MaxFloat32)
	numbers := tensors.FromFlatDataAndDimensions([]float32{step.Predict.Sample, step.Predict.Output, bound}, 3)
	k := len(state) - 1
	table := tensors.FromFlatDataAndDimensions(step.Weights(), 1+k, 4+k)
	defer runner.Release(numbers, table)
	return s.mixer.Results(append([]*tensors.Tensor{state[0], answers[0], fresh, numbers, table}, state[1:]...)...)
}

// draw returns normal numbers in the order [h,w,C] that the generator gives as [C,h,w].
func draw(g *noise.Generator, scale float32, dims []int) []float32 {
	area, channels := dims[0]*dims[1], dims[2]
	from, to := make([]float32, area*channels), make([]float32, area*channels)
	g.Normal(from)
	for c := range channels {
		for p := range area {
			to[p*channels+c] = scale * from[c*area+p]
		}
	}
	return to
}

// finish makes an image of its latents, unless the safety checker blocks it.
func (s *Sampler) finish(p *Result, latents []float32, g group) (err error) {
	if p.Image, err = s.decode(latents, g); err != nil || s.m.checker == nil {
		return err
	}
	if _, p.Blocked, err = s.check(preprocess.FromImage(p.Image)); err != nil || len(p.Blocked) > 0 {
		p.Image = nil
	}
	return err
}

// decode turns the latents of one image into its pixels.
func (s *Sampler) decode(latents []float32, g group) (*image.NRGBA, error) {
	factor := s.m.vae.Factor()
	out, err := s.graphs[decoderPart].Call(tensors.FromFlatDataAndDimensions(slices.Clone(latents), 1, g.height/factor,
		g.width/factor, s.m.vae.LatentChannels))
	if err != nil {
		return nil, err
	}
	pixels := out[0]
	img := image.NewNRGBA(image.Rect(0, 0, g.width, g.height))
	for i := range g.width * g.height {
		for c := range 3 {
			v := pixels[3*i+c]
			if v-v != 0 {
				return nil, fmt.Errorf("the decoder gave %v: weights are out of range", v)
			}
			img.Pix[4*i+c] = uint8(math.RoundToEven(float64(min(max(v/2+0.5, 0), 1) * 255)))
		}
		img.Pix[4*i+3] = 255
	}
	return img, nil
}
