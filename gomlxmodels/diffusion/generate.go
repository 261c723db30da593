package diffusion

import (
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

// Generate makes a picture for each request, in order; any number of them. A picture depends on its own request alone, not on the
// others. One that the safety checker blocks has no Image and says so. Requests that agree in size, steps and scheduler are sampled
// together, up to Batch of them. progress may be nil; it is called on the caller's goroutine. ctx is looked at between the steps: when
// it ends, what was finished is returned with its error. An error of a request names it by its place, from 1; then nothing was begun.
func (s *Sampler) Generate(ctx context.Context, requests []Request, progress func(Progress)) (out []Picture, err error) {
	defer runner.Recovered("diffusion", &err)
	if err := s.run.Closed(); err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	out = make([]Picture, len(requests))
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
		one.at, out[i].Truncated = i, one.truncated
		byGroup[one.group] = append(byGroup[one.group], one)
	}
	for _, g := range order {
		for batch := range slices.Chunk(byGroup[g], s.opts.Batch) {
			latents, err := s.sample(ctx, plans[g], batch, progress)
			if err != nil {
				return out, err
			}
			for i, r := range batch {
				if err := ctx.Err(); err != nil {
					return out, err
				}
				if err := s.finish(&out[r.at], latents[i*len(latents)/len(batch):(i+1)*len(latents)/len(batch)], g); err != nil {
					return out, fmt.Errorf("request %d: %w", r.at+1, err)
				}
				n := len(plans[g].Steps)
				progress(Progress{r.at, n, n, &out[r.at]})
			}
		}
	}
	return out, nil
}

// sample takes up to Batch requests from noise to latents [B,h,w,C], which it brings to the host.
func (s *Sampler) sample(ctx context.Context, plan *schedule.Plan, batch []*run, progress func(Progress)) (latents []float32, err error) {
	g := batch[0].group
	b, factor, channels := s.size(g, len(batch)), s.m.vae.Factor(), s.m.unet.InChannels
	dims := []int{b, g.height / factor, g.width / factor, channels}
	rows := make([]*run, b) // filled up with the last
	for i := range rows {
		rows[i] = batch[min(i, len(batch)-1)]
	}
	inputs, err := s.conditions(rows, g.guided)
	if err != nil {
		return nil, err
	}
	defer release(inputs...)
	drawn := func(scale float32) *tensors.Tensor {
		flat := make([]float32, 0, dims[0]*dims[1]*dims[2]*dims[3])
		for i := range rows {
			if i < len(batch) {
				flat = append(flat, draw(rows[i].noise, scale, dims[1:])...)
			} else {
				flat = append(flat, flat[len(flat)-dims[1]*dims[2]*dims[3]:]...)
			}
		}
		return tensors.FromFlatDataAndDimensions(flat, dims...)
	}
	none := tensors.FromFlatDataAndDimensions(make([]float32, dims[0]*dims[1]*dims[2]*dims[3]), dims...)
	state := []*tensors.Tensor{drawn(plan.Start)} // the latents, then what the sampler keeps
	defer func() { release(append(state, none)...) }()
	for range plan.Kept {
		state = append(state, tensors.FromFlatDataAndDimensions(make([]float32, dims[0]*dims[1]*dims[2]*dims[3]), dims...))
	}
	for i := range plan.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step := &plan.Steps[i]
		fresh := none
		if step.Noise {
			fresh = drawn(1)
		}
		next, err := s.step(step, state, fresh, inputs)
		if step.Noise {
			release(fresh)
		}
		if err != nil {
			return nil, err
		}
		release(state...)
		state = next
		for _, r := range batch {
			progress(Progress{Request: r.at, Step: i + 1, Steps: len(plan.Steps)})
		}
	}
	if latents, err = tensors.CopyFlatData[float32](state[0]); err != nil {
		return nil, err
	}
	latents = latents[:len(latents)/b*len(batch)]
	for i, v := range latents {
		if v-v != 0 {
			return nil, fmt.Errorf("request %d: the latents became %v: weights or guidance are out of range", batch[i*len(batch)/len(latents)].at+1, v)
		}
	}
	return latents, nil
}

// size is how many rows a batch of n has on the device: the fewest for which the networks are compiled already, or n. So the rest of a
// long list costs no compiling, and short lists no rows beside their own.
func (s *Sampler) size(g group, n int) int {
	g.steps, g.scheduler = 0, "" // of which the graphs know nothing
	if at := slices.IndexFunc(s.sizes[g], func(b int) bool { return b >= n }); at >= 0 {
		return s.sizes[g][at]
	}
	s.sizes[g] = append(s.sizes[g], n) // more than any before: in order
	return n
}

// step does one step on the device.
func (s *Sampler) step(step *schedule.Step, state []*tensors.Tensor, fresh *tensors.Tensor, conditions []*tensors.Tensor) ([]*tensors.Tensor, error) {
	t := tensors.FromFlatDataAndDimensions([]float32{float32(step.Timestep), step.Scale}, 2)
	defer release(t)
	answers, err := call(s.graphs[unetPart], append([]*tensors.Tensor{state[0], t}, conditions...)...)
	if err != nil {
		return nil, err
	}
	defer release(answers...)
	bound := step.Clip
	if bound == 0 {
		bound = math.MaxFloat32
	}
	numbers := tensors.FromFlatDataAndDimensions([]float32{step.Predict.Sample, step.Predict.Output, bound}, 3)
	k := len(state) - 1
	table := tensors.FromFlatDataAndDimensions(step.Weights(), 1+k, 4+k)
	defer release(numbers, table)
	return call(s.mixer, append([]*tensors.Tensor{state[0], answers[0], fresh, numbers, table}, state[1:]...)...)
}

// draw gives normal numbers in the order [h,w,C] that the generator gives as [C,h,w].
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

// finish makes a picture of its latents, unless the safety checker blocks it.
func (s *Sampler) finish(p *Picture, latents []float32, g group) (err error) {
	if p.Image, err = s.decode(latents, g); err != nil || s.m.checker == nil {
		return err
	}
	if _, p.Blocked, err = s.check(preprocess.FromImage(p.Image)); err != nil || len(p.Blocked) > 0 {
		p.Image = nil
	}
	return err
}

// decode turns the latents of one picture into its pixels.
func (s *Sampler) decode(latents []float32, g group) (*image.NRGBA, error) {
	factor := s.m.vae.Factor()
	out, err := s.graphs[decoderPart].Call(tensors.FromFlatDataAndDimensions(slices.Clone(latents), 1, g.height/factor, g.width/factor, s.m.vae.LatentChannels))
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
