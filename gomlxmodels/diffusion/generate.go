package diffusion

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/gomlxmodels/diffusion/noise"
	"antipode/gomlxmodels/diffusion/schedule"
)

// Request asks for one picture. The zero value of a field stands for what it says.
type Request struct {
	Prompt      string
	Negative    string  // what the picture shall not show
	PromptIDs   []int32 // the prompt as token ids, start and end included, instead of Prompt
	NegativeIDs []int32
	Seed        uint64  // of the noise: torch.Generator().manual_seed's. Its lower 32 bits count
	Steps       int     // 0 = DefaultSteps
	Guidance    float64 // weight of the prompt against the negative one; up to 1 = no guidance, Negative means nothing. 0 = DefaultGuidance
	Width       int     // in pixels, a multiple of 8; 0 = the model's own, see [Model.Size]
	Height      int
	Scheduler   string // one of [schedule.Names]; "" = the folder's own
}

// What a request that does not say gets.
const (
	DefaultSteps    = 50
	DefaultGuidance = 7.5
)

// maxSide bounds the sides of pictures, in pixels.
const maxSide = 4096

// Picture is what became of a request.
type Picture struct {
	Image     *image.NRGBA // nil where it was not made
	Truncated bool         // the prompt, or the negative one, has more tokens than the model takes: its end was left out
}

// Progress tells of a request's work: after each step, and with the picture when it is there.
type Progress struct {
	Request     int // its place in the list
	Step, Steps int // calls of the UNet done and to do
	Picture     *Picture
}

// run is a checked request.
type run struct {
	at               int // its place in the list
	group            group
	guidance         float32
	prompt, negative []int32
	truncated        bool
	noise            *noise.Generator
}

// group is what the requests of one batch share.
type group struct {
	steps, width, height int
	scheduler            string
	guided               bool
}

// Generate makes a picture for each request, in order; any number of them. A picture depends on its own request alone, not on the
// others. Requests that agree in size, steps and scheduler are sampled together, up to Batch of them. progress may be nil; it is called on
// the caller's goroutine. ctx is looked at between the steps: when it ends, what was finished is returned with its error. An error of a
// request names it by its place, from 1; then nothing was begun.
func (s *Sampler) Generate(ctx context.Context, requests []Request, progress func(Progress)) (out []Picture, err error) {
	defer recovered(&err)
	if s.closed {
		return nil, errClosed
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	out = make([]Picture, len(requests))
	plans := map[group]*schedule.Plan{}
	byGroup := map[group][]*run{}
	var order []group
	for i, r := range requests {
		one, err := s.m.check(r)
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
				if out[r.at].Image, err = s.decode(latents[i*len(latents)/len(batch):(i+1)*len(latents)/len(batch)], g); err != nil {
					return out, fmt.Errorf("request %d: %w", r.at+1, err)
				}
				n := len(plans[g].Steps)
				progress(Progress{r.at, n, n, &out[r.at]})
			}
		}
	}
	return out, nil
}

// check fills in a request's defaults and turns its texts into ids.
func (m *Model) check(r Request) (*run, error) {
	width, height := m.Size()
	if r.Width == 0 {
		r.Width = width
	}
	if r.Height == 0 {
		r.Height = height
	}
	if r.Steps == 0 {
		r.Steps = DefaultSteps
	}
	if r.Guidance == 0 {
		r.Guidance = DefaultGuidance
	}
	multiple := max(8, m.vae.Factor())
	switch {
	case r.Width < multiple || r.Height < multiple || r.Width > maxSide || r.Height > maxSide || r.Width%multiple != 0 || r.Height%multiple != 0:
		return nil, fmt.Errorf("size %d×%d: width and height are multiples of %d up to %d", r.Width, r.Height, multiple, maxSide)
	case !(math.Abs(r.Guidance) <= 1000):
		return nil, fmt.Errorf("guidance %v is not a number up to 1000", r.Guidance)
	}
	out := &run{group: group{r.Steps, r.Width, r.Height, r.Scheduler, r.Guidance > 1}, guidance: float32(r.Guidance), noise: noise.New(r.Seed)}
	var cut bool
	var err error
	if out.prompt, out.truncated, err = m.tokens(r.Prompt, r.PromptIDs); err != nil {
		return nil, fmt.Errorf("prompt: %w", err)
	}
	if out.group.guided {
		if out.negative, cut, err = m.tokens(r.Negative, r.NegativeIDs); err != nil {
			return nil, fmt.Errorf("negative prompt: %w", err)
		}
		out.truncated = out.truncated || cut
	}
	return out, nil
}

// plan is the steps of a group's requests.
func (m *Model) plan(g group) (*schedule.Plan, error) {
	s, err := schedule.OpenAs(m.scheduler, g.scheduler)
	if err != nil {
		return nil, err
	}
	s.StableDiffusion()
	return s.Plan(g.steps)
}

// tokens are a text's ids, filled up to the model's context.
func (m *Model) tokens(text string, ids []int32) (out []int32, truncated bool, err error) {
	t := &m.text.Text
	if ids == nil {
		e, err := m.tokenizer.Encode(text, t.Context)
		if err != nil {
			return nil, false, err
		}
		ids, truncated = e.IDs, e.Truncated
	}
	if len(ids) == 0 || len(ids) > t.Context {
		return nil, false, fmt.Errorf("%d tokens, the model takes 1 to %d", len(ids), t.Context)
	}
	for i, id := range ids {
		if id < 0 || int(id) >= t.VocabSize {
			return nil, false, fmt.Errorf("token %d has id %d, the model's ids are 0 to %d", i+1, id, t.VocabSize-1)
		}
	}
	pad := m.tokenizer.PadID()
	if pad < 0 {
		return nil, false, errors.New("the tokenizer has no padding token")
	}
	out = slices.Clone(ids)
	for len(out) < t.Context {
		out = append(out, pad)
	}
	return out, truncated, nil
}

// context is what the text tower gives for padded ids: [S·D] numbers, computed the first time.
func (s *Sampler) context(ids []int32) ([]float32, error) {
	key := fmt.Sprint(ids)
	if v := s.texts[key]; v != nil {
		return v, nil
	}
	v, err := s.flat(textPart, tensors.FromFlatDataAndDimensions(slices.Clone(ids), 1, len(ids)))
	if err != nil {
		return nil, err
	}
	if len(s.texts) >= keptTexts {
		clear(s.texts)
	}
	s.texts[key] = v
	return v, nil
}

// sample takes up to Batch requests from noise to latents [B,h,w,C], which it brings to the host.
func (s *Sampler) sample(ctx context.Context, plan *schedule.Plan, batch []*run, progress func(Progress)) (latents []float32, err error) {
	b, factor, channels := s.opts.Batch, s.m.vae.Factor(), s.m.unet.InChannels
	g := batch[0].group
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

// conditions are the UNet's inputs that stay the same through a run: context, and with guidance its weights.
func (s *Sampler) conditions(rows []*run, guided bool) (inputs []*tensors.Tensor, err error) {
	var flat, weights []float32
	add := func(ids []int32) {
		var v []float32
		if err == nil {
			v, err = s.context(ids)
		}
		flat = append(flat, v...)
	}
	if guided {
		for _, r := range rows {
			add(r.negative)
			weights = append(weights, r.guidance)
		}
	}
	for _, r := range rows {
		add(r.prompt)
	}
	if err != nil {
		return nil, err
	}
	t := &s.m.text.Text
	inputs = append(inputs, tensors.FromFlatDataAndDimensions(flat, len(flat)/t.Context/t.HiddenSize, t.Context, t.HiddenSize))
	if guided {
		inputs = append(inputs, tensors.FromFlatDataAndDimensions(weights, len(rows)))
	}
	return inputs, nil
}

// step does one step on the device.
func (s *Sampler) step(step *schedule.Step, state []*tensors.Tensor, fresh *tensors.Tensor, conditions []*tensors.Tensor) ([]*tensors.Tensor, error) {
	t := tensors.FromFlatDataAndDimensions([]float32{float32(step.Timestep), step.Scale}, 2)
	defer release(t)
	answer, err := s.call(unetPart, append([]*tensors.Tensor{state[0], t}, conditions...)...)
	if err != nil {
		return nil, err
	}
	defer release(answer)
	bound := step.Clip
	if bound == 0 {
		bound = math.MaxFloat32
	}
	numbers := tensors.FromFlatDataAndDimensions([]float32{step.Predict.Sample, step.Predict.Output, bound}, 3)
	k := len(state) - 1
	table := tensors.FromFlatDataAndDimensions(step.Weights(), 1+k, 4+k)
	defer release(numbers, table)
	args := []any{state[0], answer, fresh, numbers, table}
	for _, kept := range state[1:] {
		args = append(args, kept)
	}
	next, err := s.mixer.Call(args...)
	if err != nil {
		return nil, fmt.Errorf("diffusion/step: %w", err)
	}
	return next, nil
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

// decode turns the latents of one picture into its pixels.
func (s *Sampler) decode(latents []float32, g group) (*image.NRGBA, error) {
	factor := s.m.vae.Factor()
	pixels, err := s.flat(decoderPart, tensors.FromFlatDataAndDimensions(slices.Clone(latents), 1, g.height/factor, g.width/factor, s.m.vae.LatentChannels))
	if err != nil {
		return nil, err
	}
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
