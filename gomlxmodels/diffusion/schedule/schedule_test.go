package schedule

import (
	"fmt"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// TestOpenErrors: each error names the parameter and what is wrong with it.
func TestOpenErrors(t *testing.T) {
	for _, c := range []struct{ config, as, want string }{
		{`{`, "", "scheduler_config.json"},
		{`null`, "", "_class_name"},
		{`{}`, "", "_class_name"},
		{`{"_class_name": 3}`, "", "_class_name"},
		{`{"_class_name": "FlowMatchEulerDiscreteScheduler"}`, "",
			`"FlowMatchEulerDiscreteScheduler"; choose one of ddim, pndm, euler`},
		{`{"_class_name": "DDIMScheduler"}`, "heun", `"heun"`},
		{`{"_class_name": "DDIMScheduler", "beta_stop": 1, "alpha": 2}`, "", "unknown parameters: alpha, beta_stop"},
		{`{"_class_name": "DDIMScheduler", "beta_end": "x"}`, "", `beta_end is "x"`},
		{`{"_class_name": "DDIMScheduler", "thresholding": true}`, "", "thresholding"},
		{`{"_class_name": "DPMSolverMultistepScheduler", "thresholding": true}`, "", "thresholding"},
		{`{"_class_name": "DPMSolverMultistepScheduler", "algorithm_type": "dpmsolver"}`, "",
			`algorithm_type "dpmsolver"`},
		{`{"_class_name": "DPMSolverMultistepScheduler", "algorithm_type": ""}`, "", `algorithm_type ""`},
		{`{"_class_name": "DPMSolverMultistepScheduler", "variance_type": "learned"}`, "", "variance_type"},
		{`{"_class_name": "DPMSolverMultistepScheduler", "use_flow_sigmas": true}`, "", "use_flow_sigmas"},
		{`{"_class_name": "DPMSolverMultistepScheduler", "use_dynamic_shifting": true}`, "", "use_dynamic_shifting"},
		{`{"_class_name": "DPMSolverMultistepScheduler", "prediction_type": "flow_prediction"}`, "",
			`prediction_type "flow_prediction"`},
		{`{"_class_name": "DPMSolverMultistepScheduler", "solver_order": 4}`, "", "solver_order is 4"},
		{`{"_class_name": "DPMSolverMultistepScheduler", "solver_type": "rk"}`, "", `solver_type "rk"`},
		{`{"_class_name": "EulerDiscreteScheduler", "use_karras_sigmas": true, "use_beta_sigmas": true}`, "",
			"use_karras_sigmas and use_beta_sigmas"},
		{`{"_class_name": "EulerDiscreteScheduler", "interpolation_type": "cubic"}`, "",
			`interpolation_type "cubic"`},
		{`{"_class_name": "EulerDiscreteScheduler", "timestep_type": "odd"}`, "", `timestep_type "odd"`},
		{`{"_class_name": "EulerDiscreteScheduler", "final_sigmas_type": "one"}`, "", `final_sigmas_type "one"`},
		{`{"_class_name": "EulerDiscreteScheduler", "sigma_min": -1}`, "", "sigma_min is -1"},
		{`{"_class_name": "EulerAncestralDiscreteScheduler", "prediction_type": "sample"}`, "",
			`prediction_type "sample"`},
		{`{"_class_name": "PNDMScheduler", "prediction_type": "sample"}`, "", `prediction_type "sample"`},
		{`{"_class_name": "PNDMScheduler", "timestep_spacing": "even"}`, "", `timestep_spacing "even"`},
		{`{"_class_name": "PNDMScheduler", "beta_schedule": "sigmoid"}`, "", `beta_schedule "sigmoid"`},
		{`{"_class_name": "PNDMScheduler", "num_train_timesteps": 0}`, "", "num_train_timesteps is 0"},
		{`{"_class_name": "PNDMScheduler", "trained_betas": [0.1]}`, "", "trained_betas holds 1"},
		{`{"_class_name": "PNDMScheduler", "beta_end": 2}`, "", "betas"},
		{`{"_class_name": "PNDMScheduler", "steps_offset": -1}`, "", "steps_offset is -1"},
		{`{"_class_name": "DDIMScheduler", "clip_sample_range": 0}`, "", "clip_sample_range is 0"},
	} {
		must.Fail(OpenAs([]byte(c.config), c.as))(t, c.want)
	}
}

// TestForeignSettings: files name parameters of other schedulers, such as the clip_sample of the first PNDM files.
func TestForeignSettings(t *testing.T) {
	s, err := Open([]byte(`{"_class_name": "PNDMScheduler", "_diffusers_version": "0.6.0", "clip_sample": true, "thresholding": true,
		"solver_p": null, "lambda_min_clipped": -Infinity, "skip_prk_steps": true, "trained_betas": null}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != "pndm" || s.Config.ClipSample || s.Config.Thresholding {
		t.Errorf("%s with %+v", s.Name(), s.Config)
	}
	for _, solver := range []string{"logrho", "bh2"} {
		if s, err = Open(fmt.Appendf(nil,
			`{"_class_name": "DPMSolverMultistepScheduler", "algorithm_type": "deis", "solver_type": %q}`,
			solver)); err != nil || s.Config.SolverType != "midpoint" {
			t.Errorf("%s: %v", solver, err)
		}
	}
}

func TestPlanErrors(t *testing.T) {
	for _, c := range []struct {
		config string
		steps  int
		eta    float64
		want   string
	}{
		{`{"_class_name": "DDIMScheduler"}`, 0, 0, "0 steps"},
		{`{"_class_name": "DDIMScheduler"}`, 1001, 0, "1001 steps"},
		{`{"_class_name": "DDIMScheduler"}`, 10, 1.5, "eta 1.5"},
		{`{"_class_name": "EulerDiscreteScheduler"}`, 10, 0.5, "eta 0.5"},
		{`{"_class_name": "DDIMScheduler", "steps_offset": 1}`, 1000, 0, "timestep 1000"},
		{`{"_class_name": "DDIMScheduler", "rescale_betas_zero_snr": true, "timestep_spacing": "trailing"}`, 10, 0,
			"no finite weights"},
		{`{"_class_name": "PNDMScheduler"}`, 3, 0, "skip_prk_steps"},
	} {
		s := must.Get(Open([]byte(c.config)))(t)
		s.Eta = c.eta
		must.Fail(s.Plan(c.steps))(t, c.want)
	}
}

// TestEveryCount: every sampler plans any number of steps with finite weights, never more noise at a later step, and
// ends with the image it predicts where nothing of the noise is to remain.
func TestEveryCount(t *testing.T) {
	r := near.Rand(t, 1)
	for _, name := range Names() {
		for _, spacing := range []string{"leading", "trailing", "linspace"} {
			s, err := OpenAs(fmt.Appendf(nil,
				`{"_class_name": "DDIMScheduler", "timestep_spacing": %q, "skip_prk_steps": true, "set_alpha_to_one": true, "clip_sample": false}`, spacing), name)
			if err != nil {
				t.Fatal(err)
			}
			for _, steps := range []int{1, 2, 3, 4, 7, 49, 333, 999, 1000} {
				plan, err := s.Plan(steps)
				if name == "dpm++" && steps == 1000 && spacing != "trailing" {
					// two steps at one noise level
					must.Fail(err)(t, "no finite weights")
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				state := plan.Begin([]float32{1, -1, 0.5})
				for i, step := range plan.Steps {
					if i > 0 && step.Timestep > plan.Steps[i-1].Timestep {
						t.Errorf("%s, %s, %d steps: timestep %g after %g", name, spacing, steps, step.Timestep,
							plan.Steps[i-1].Timestep)
					}
					output := []float32{float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64())}
					must.Do(t, state.Apply(step, output, make([]float32, 3)))
				}
				if name == "pndm" || name == "ddim" && spacing != "leading" {
					continue // PNDM follows several outputs; DDIM's other timesteps need not end on a clean image
				}
				near.Check(t, fmt.Sprintf("%s, %s, %d steps: the last sample", name, spacing, steps), state.Sample,
					state.Predicted, 1e-4, 1e-4*near.Scale(state.Sample))
			}
		}
	}
}

// TestWeights: the matrix gives what Apply gives.
func TestWeights(t *testing.T) {
	r := near.Rand(t, 2)
	numbers := func() []float32 {
		out := make([]float32, 5)
		for i := range out {
			out[i] = float32(r.NormFloat64())
		}
		return out
	}
	for _, config := range []string{
		`{"_class_name": "PNDMScheduler"}`,
		`{"_class_name": "DDIMScheduler"}`,
		`{"_class_name": "EulerAncestralDiscreteScheduler"}`,
		`{"_class_name": "DPMSolverMultistepScheduler", "solver_order": 3, "algorithm_type": "sde-dpmsolver++"}`,
	} {
		s := must.Get(Open([]byte(config)))(t)
		plan := must.Get(s.Plan(20))(t)
		state := plan.Begin(numbers())
		for _, step := range plan.Steps {
			output, fresh := numbers(), numbers()
			before := append([][]float32{state.Sample, output, nil, fresh}, state.Kept...)
			must.Do(t, state.Apply(step, output, fresh))
			before[2] = state.Predicted
			weights := step.Weights()
			must.Equal(t, len(weights), (1+plan.Kept)*(4+plan.Kept), "weights of", config)
			for row, want := range append([][]float32{state.Sample}, state.Kept...) {
				got := make([]float32, len(want))
				for column, tensor := range before {
					for i, v := range tensor {
						got[i] += weights[row*(4+plan.Kept)+column] * v
					}
				}
				near.Check(t, fmt.Sprintf("%s, row %d", config, row), got, want, 1e-4, 1e-4)
			}
		}
	}
}

// TestApplyShapes: tensors of other lengths are refused.
func TestApplyShapes(t *testing.T) {
	s := must.Get(Open([]byte(`{"_class_name": "EulerAncestralDiscreteScheduler"}`)))(t)
	plan := must.Get(s.Plan(2))(t)
	state := plan.Begin(make([]float32, 4))
	for _, c := range [][2]int{{3, 4}, {4, 0}, {4, 5}} {
		must.Fail(state.Apply(plan.Steps[0], make([]float32, c[0]), make([]float32, c[1])))(t)
	}
}

func TestStableDiffusion(t *testing.T) {
	s := must.Get(Open([]byte(`{"_class_name": "DDIMScheduler"}`)))(t)
	s.StableDiffusion()
	plan := must.Get(s.Plan(50))(t)
	if first := plan.Steps[0]; first.Timestep != 981 || first.Clip != 0 {
		t.Errorf("timestep %g, clip %g; want 981 and none", first.Timestep, first.Clip)
	}
}
