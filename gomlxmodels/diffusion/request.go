package diffusion

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/gomlxmodels/diffusion/noise"
	"antipode/gomlxmodels/diffusion/schedule"
	"antipode/gomlxmodels/pack"
)

// Request describes one image to generate. A zero field has the default that its comment states.
type Request struct {
	Prompt      string
	Negative    string  // what the image shall not show
	PromptIDs   []int32 // the prompt as token ids, start and end included, instead of Prompt
	NegativeIDs []int32
	Seed        uint64 // of the noise: torch.Generator().manual_seed's. Its lower 32 bits count
	Steps       int    // 0 = DefaultSteps
	// weight of the prompt against the negative one; up to 1 = no guidance, Negative means nothing. 0 =
	// DefaultGuidance
	Guidance  float64
	Width     int // in pixels, a multiple of 8; 0 = the model's own, see [Model.Size]
	Height    int
	Scheduler string // one of [schedule.Names]; "" = the folder's own
}

// What a request that does not say gets.
const (
	DefaultSteps    = 50
	DefaultGuidance = 7.5
)

// maxSide bounds the sides of images, in pixels.
const maxSide = 4096

// Image is what became of a request.
type Result struct {
	Image *image.NRGBA // nil where it was not made, or was blocked
	// the prompt, or the negative one, has more tokens than the model takes: its end was left out
	Truncated bool
	// concepts of the safety checker, from 0, that the image is too near to; none = it was not blocked
	Blocked []int
}

// Progress tells of a request's work: after each step, and with the image when it is there.
type Progress struct {
	Request     int // its place in the list
	Step, Steps int // calls of the UNet done and to do
	Result      *Result
}

// run is a checked request.
type run struct {
	at               int // its place in the list
	group            group
	guidance         float32
	prompt, negative tokens
	truncated        bool
	noise            *noise.Generator
}

// group is what the requests of one batch share.
type group struct {
	steps, width, height int
	scheduler            string
	guided               bool
}

// request fills in a request's defaults and turns its texts into ids.
func (m *Model) request(r Request) (*run, error) {
	width, height := m.Size()
	r.Width = cmp.Or(r.Width, width)
	r.Height = cmp.Or(r.Height, height)
	r.Steps = cmp.Or(r.Steps, DefaultSteps)
	r.Guidance = cmp.Or(r.Guidance, DefaultGuidance)
	multiple := max(8, m.vae.Factor())
	switch {
	case r.Width < multiple || r.Height < multiple || r.Width > maxSide || r.Height > maxSide ||
		r.Width%multiple != 0 || r.Height%multiple != 0:
		return nil, fmt.Errorf("size %d×%d: width and height are multiples of %d up to %d", r.Width, r.Height, multiple,
			maxSide)
	case !(math.Abs(r.Guidance) <= 1000):
		return nil, fmt.Errorf("guidance %v is not a number up to 1000", r.Guidance)
	}
	out := &run{group: group{r.Steps, r.Width, r.Height, r.Scheduler, r.Guidance > 1}, guidance: float32(r.Guidance),
		noise: noise.New(r.Seed)}
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

// tokens are a text's ids, filled up to the length of all texts.
func (m *Model) tokens(text string, ids []int32) (t tokens, truncated bool, err error) {
	if ids == nil {
		e, err := m.tokenizer.Encode(text, m.length)
		if err != nil {
			return t, false, err
		}
		ids, truncated = e.IDs, e.Truncated
	}
	if err := pack.Check(ids, m.length, m.text.vocabulary()); err != nil {
		return t, false, err
	}
	t = tokens{ids: slices.Repeat([]int32{m.padding}, m.length), to: len(ids)}
	if m.tokenizer.PadLeft() {
		t.from, t.to = m.length-len(ids), m.length
	}
	copy(t.ids[t.from:], ids)
	return t, truncated, nil
}

// context is what the text tower gives for a text: [S·D] numbers, computed the first time.
func (s *Sampler) context(t tokens) ([]float32, error) {
	key := fmt.Sprint(t)
	if v := s.texts[key]; v != nil {
		return v, nil
	}
	out, err := s.graphs[textPart].Call(s.m.text.inputs(t)...)
	if err != nil {
		return nil, err
	}
	if len(s.texts) >= keptTexts {
		clear(s.texts)
	}
	s.texts[key] = out[0]
	return out[0], nil
}

// conditions are the UNet's inputs that stay the same through a run, of so many rows, filled up with the last:
// context, and with guidance its weights.
func (s *Sampler) conditions(runs []*run, n int, guided bool) (inputs []*tensors.Tensor, err error) {
	var flat, weights []float32
	rows := slices.Clone(runs)
	for len(rows) < n {
		rows = append(rows, runs[len(runs)-1])
	}
	add := func(t tokens) {
		var v []float32
		if err == nil {
			v, err = s.context(t)
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
	texts := len(rows)
	if guided {
		texts *= 2
	}
	inputs = append(inputs, tensors.FromFlatDataAndDimensions(flat, texts, s.m.length, s.m.text.width()))
	if guided {
		inputs = append(inputs, tensors.FromFlatDataAndDimensions(weights, len(rows)))
	}
	return inputs, nil
}
