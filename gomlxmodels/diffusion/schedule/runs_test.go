package schedule

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"antipode/gomlxmodels/diffusion/noise"
	"antipode/internal/must"
	"antipode/internal/near"
)

// size is how many numbers a golden sample has.
const size = 4

// goldens is testdata/configs.json; see tools/pyref/schedule.py.
type goldens struct {
	Matrix []float32    `json:"matrix"`
	Offset []float32    `json:"offset"`
	Cases  []goldenCase `json:"cases"`
	runs   []float32
}

type goldenCase struct {
	Config string  `json:"config"`
	Eta    float64 `json:"eta"`
	As     string  `json:"as"`
	Steps  []int   `json:"steps"`
	Calls  []int   `json:"calls"`
}

func readGoldens(t *testing.T) *goldens {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/configs.json"))(t)
	var g goldens
	must.Do(t, json.Unmarshal(text, &g))
	data := must.Get(os.ReadFile("testdata/runs.f32"))(t)
	g.runs = make([]float32, len(data)/4)
	_ = must.Get(binary.Decode(data, binary.LittleEndian, g.runs))(t)
	return &g
}

// take returns the next n golden numbers.
func (g *goldens) take(n int) []float32 {
	out := g.runs[:n]
	g.runs = g.runs[n:]
	return out
}

// model is the fake model: a linear map and a drift with time.
func (g *goldens) model(x []float32, timestep float64) []float32 {
	out := make([]float32, size)
	for i := range out {
		out[i] = g.Offset[i] * float32(timestep/1000)
		for j, v := range x {
			out[i] += g.Matrix[i*size+j] * v
		}
	}
	return out
}

func TestRuns(t *testing.T) {
	g := readGoldens(t)
	for _, c := range g.Cases {
		t.Run("", func(t *testing.T) {
			s := must.Get(OpenAs([]byte(c.Config), c.As))(t)
			s.Eta = c.Eta
			for i, steps := range c.Steps {
				what := fmt.Sprintf("%s as %q, eta %v, %d steps", c.Config, c.As, c.Eta, steps)
				start, times, samples := g.take(1), g.take(c.Calls[i]), g.take(size*c.Calls[i])
				plan, err := s.Plan(steps)
				if err != nil {
					t.Errorf("%s: %v", what, err)
					continue
				}
				g.compare(t, what, plan, uint64(steps), start, times, samples)
			}
		})
	}
	must.Equal(t, len(g.runs), 0, "golden numbers not compared")
}

// compare follows the plan step for step.
func (g *goldens) compare(t *testing.T, what string, plan *Plan, seed uint64, start, times, samples []float32) {
	t.Helper()
	near.Check(t, what+": start", []float32{plan.Start}, start, 1e-5, 0)
	var told []float32
	for _, s := range plan.Steps {
		told = append(told, float32(s.Timestep))
	}
	if err := near.Compare(told, times, 1e-5, 1e-5); err != nil {
		t.Errorf("%s: timesteps: %v", what, err)
		return
	}
	generator, drawn := noise.New(seed), make([]float32, size)
	generator.Normal(drawn)
	state := plan.Begin(drawn)
	// A step of few may take a sample of 20000 to one of 1, with what the large one's rounding leaves.
	rounding := 0.0
	for i, step := range plan.Steps {
		output := g.model(state.Input(step), step.Timestep)
		if step.Noise {
			generator.Normal(drawn)
		}
		rounding = max(rounding, near.Scale(state.Sample)*0x1p-23)
		must.Do(t, state.Apply(step, output, drawn))
		want := samples[i*size:][:size]
		if err := near.Compare(state.Sample, want, 1e-4, 1e-5*near.Scale(want)+rounding); err != nil {
			t.Errorf("%s: step %d of %d: %v", what, i+1, len(plan.Steps), err)
			return
		}
	}
}
