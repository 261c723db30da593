package schedule

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// Config is a scheduler_config.json; its keys are the parameters of diffusers' schedulers. A sampler reads those that
// its class has.
type Config struct {
	NumTrainTimesteps    int       `json:"num_train_timesteps"`
	BetaStart            float64   `json:"beta_start"`
	BetaEnd              float64   `json:"beta_end"`
	BetaSchedule         string    `json:"beta_schedule"`
	TrainedBetas         []float32 `json:"trained_betas"`
	PredictionType       string    `json:"prediction_type"`
	TimestepSpacing      string    `json:"timestep_spacing"`
	StepsOffset          int       `json:"steps_offset"`
	RescaleBetasZeroSNR  bool      `json:"rescale_betas_zero_snr"`
	SetAlphaToOne        bool      `json:"set_alpha_to_one"`
	ClipSample           bool      `json:"clip_sample"`
	ClipSampleRange      float64   `json:"clip_sample_range"`
	Thresholding         bool      `json:"thresholding"`
	SkipPRKSteps         bool      `json:"skip_prk_steps"`
	InterpolationType    string    `json:"interpolation_type"`
	TimestepType         string    `json:"timestep_type"`
	UseKarrasSigmas      bool      `json:"use_karras_sigmas"`
	UseExponentialSigmas bool      `json:"use_exponential_sigmas"`
	UseBetaSigmas        bool      `json:"use_beta_sigmas"`
	SigmaMin             *float64  `json:"sigma_min"`
	SigmaMax             *float64  `json:"sigma_max"`
	FinalSigmasType      string    `json:"final_sigmas_type"`
	SolverOrder          int       `json:"solver_order"`
	SolverType           string    `json:"solver_type"`
	AlgorithmType        string    `json:"algorithm_type"`
	LowerOrderFinal      bool      `json:"lower_order_final"`
	EulerAtFinal         bool      `json:"euler_at_final"`
	LambdaMinClipped     float64   `json:"lambda_min_clipped"`
	UseLuLambdas         bool      `json:"use_lu_lambdas"`
	UseFlowSigmas        bool      `json:"use_flow_sigmas"`
	UseDynamicShifting   bool      `json:"use_dynamic_shifting"`
	VarianceType         string    `json:"variance_type"`
}

// class is one of diffusers' schedulers.
type class struct {
	name, short string
	keys        []string // besides those of all classes
	predictions []string
	defaults    Config // besides those of all classes
	plan        func(s *Scheduler, steps int) (*Plan, error)
}

// everyKey are the parameters that all classes have.
var everyKey = strings.Fields("num_train_timesteps beta_start beta_end beta_schedule trained_betas prediction_type " +
	"timestep_spacing steps_offset")

// foreignKeys are parameters of other schedulers of diffusers, and of its first releases: files hold them, and they say
// nothing about the samplers here. So do the parameters of dynamic thresholding and flow matching while those are off.
var foreignKeys = strings.Fields(`disable_corrector dynamic_thresholding_ratio flow_shift original_inference_steps predict_x0
	sample_max_value shift_terminal solver_p tensor_format time_shift_type timestep_scaling timestep_values`)

var classes = []class{
	{
		name: "DDIMScheduler", short: "ddim",
		keys: strings.Fields("clip_sample clip_sample_range set_alpha_to_one thresholding " +
			"rescale_betas_zero_snr"),
		predictions: []string{"epsilon", "sample", "v_prediction"},
		defaults:    Config{TimestepSpacing: "leading", ClipSample: true, ClipSampleRange: 1, SetAlphaToOne: true},
		plan:        (*Scheduler).ddim,
	},
	{
		name: "PNDMScheduler", short: "pndm",
		keys:        strings.Fields("skip_prk_steps set_alpha_to_one"),
		predictions: []string{"epsilon", "v_prediction"},
		defaults:    Config{TimestepSpacing: "leading"},
		plan:        (*Scheduler).pndm,
	},
	{
		name: "EulerDiscreteScheduler", short: "euler",
		keys: strings.Fields(`interpolation_type use_karras_sigmas use_exponential_sigmas use_beta_sigmas sigma_min sigma_max
			timestep_type rescale_betas_zero_snr final_sigmas_type`),
		predictions: []string{"epsilon", "sample", "v_prediction"},
		defaults: Config{TimestepSpacing: "linspace", InterpolationType: "linear", TimestepType: "discrete",
			FinalSigmasType: "zero"},
		plan: (*Scheduler).euler,
	},
	{
		name: "EulerAncestralDiscreteScheduler", short: "euler-ancestral",
		keys:        strings.Fields("rescale_betas_zero_snr"),
		predictions: []string{"epsilon", "v_prediction"},
		defaults:    Config{TimestepSpacing: "linspace", InterpolationType: "linear", FinalSigmasType: "zero"},
		plan:        (*Scheduler).ancestral,
	},
	{
		name: "DPMSolverMultistepScheduler", short: "dpm++",
		keys: strings.Fields(`solver_order thresholding algorithm_type solver_type lower_order_final euler_at_final use_karras_sigmas
			use_exponential_sigmas use_beta_sigmas use_lu_lambdas use_flow_sigmas final_sigmas_type lambda_min_clipped variance_type
			rescale_betas_zero_snr use_dynamic_shifting`),
		predictions: []string{"epsilon", "sample", "v_prediction"},
		defaults: Config{TimestepSpacing: "linspace", SolverOrder: 2, AlgorithmType: "dpmsolver++",
			SolverType:      "midpoint",
			LowerOrderFinal: true, FinalSigmasType: "zero", LambdaMinClipped: noClip},
		plan: (*Scheduler).dpm,
	},
}

// noClip stands for minus infinity, which JSON has no number for.
const noClip = -1e308

// infinity is how Python writes that number; other parameters are never infinite.
var infinity = regexp.MustCompile(`:\s*-Infinity\b`)

// Names are the samplers' short names, as [OpenAs] takes them.
func Names() []string {
	var names []string
	for _, c := range classes {
		names = append(names, c.short)
	}
	return names
}

// Open reads a scheduler_config.json. Parameters of other schedulers are passed over, as diffusers does; a parameter
// that no scheduler of diffusers has, or a value that is not supported, is an error that names it.
func Open(text []byte) (*Scheduler, error) { return OpenAs(text, "") }

// OpenAs reads a scheduler_config.json for another sampler than the one it names, as diffusers' from_config does:
// parameters that the file lacks have the other sampler's defaults. sampler is one of [Names] or a class of diffusers;
// "" is the file's own.
func OpenAs(text []byte, sampler string) (*Scheduler, error) {
	settings := map[string]json.RawMessage{}
	if err := json.Unmarshal(infinity.ReplaceAll(text, fmt.Appendf(nil, ": %g", noClip)), &settings); err != nil {
		return nil, fmt.Errorf("scheduler_config.json: %w", err)
	}
	if sampler == "" {
		if err := json.Unmarshal(settings["_class_name"], &sampler); err != nil {
			return nil, fmt.Errorf("scheduler_config.json: _class_name does not name a scheduler")
		}
	}
	at := slices.IndexFunc(classes, func(c class) bool { return c.name == sampler || c.short == sampler })
	if at < 0 {
		return nil, fmt.Errorf("no sampler is called %q; choose one of %s", sampler, strings.Join(Names(), ", "))
	}
	c := classes[at]
	own, err := c.own(settings)
	if err != nil {
		return nil, err
	}
	config := c.defaults
	config.NumTrainTimesteps, config.BetaStart, config.BetaEnd = 1000, 0.0001, 0.02
	config.BetaSchedule, config.PredictionType = "linear", "epsilon"
	for _, key := range own {
		one, err := json.Marshal(map[string]json.RawMessage{key: settings[key]})
		if err == nil {
			err = json.Unmarshal(one, &config)
		}
		if err != nil {
			return nil, fmt.Errorf("scheduler_config.json: %s is %s: not a valid value", key, settings[key])
		}
	}
	return newScheduler(c, config)
}

// own are the parameters' keys that the class reads, in order.
func (c *class) own(settings map[string]json.RawMessage) ([]string, error) {
	var own, unknown []string
	for key := range settings {
		switch {
		case c.reads(key):
			own = append(own, key)
		case strings.HasPrefix(key, "_") || slices.Contains(foreignKeys, key):
		case !slices.ContainsFunc(classes, func(other class) bool { return slices.Contains(other.keys, key) }):
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return nil, fmt.Errorf("scheduler_config.json: unknown parameters: %s", strings.Join(unknown, ", "))
	}
	sort.Strings(own)
	return own, nil
}

func (c *class) reads(key string) bool {
	return slices.Contains(everyKey, key) || slices.Contains(c.keys, key)
}

// validate names a parameter of the class whose value is not supported.
func (c *Config) validate(of *class) error {
	for _, s := range []struct {
		key, value string
		choices    []string
	}{
		{"beta_schedule", c.BetaSchedule, []string{"linear", "scaled_linear", "squaredcos_cap_v2"}},
		{"prediction_type", c.PredictionType, of.predictions},
		{"timestep_spacing", c.TimestepSpacing, []string{"leading", "trailing", "linspace"}},
		{"interpolation_type", c.InterpolationType, []string{"linear", "log_linear"}},
		{"timestep_type", c.TimestepType, []string{"discrete", "continuous"}},
		{"final_sigmas_type", c.FinalSigmasType, []string{"zero", "sigma_min"}},
		{"algorithm_type", c.AlgorithmType, []string{"dpmsolver++", "sde-dpmsolver++"}},
		{"solver_type", c.SolverType, []string{"midpoint", "heun"}},
	} {
		if of.reads(s.key) && !slices.Contains(s.choices, s.value) {
			return fmt.Errorf("scheduler_config.json: %s %q is not supported by %s; it may be %s", s.key, s.value,
				of.short, strings.Join(s.choices, ", "))
		}
	}
	var spacings []string
	for _, s := range []struct {
		key         string
		on, spacing bool
	}{
		{"thresholding", c.Thresholding, false},
		{"use_flow_sigmas", c.UseFlowSigmas, false},
		{"use_dynamic_shifting", c.UseDynamicShifting, false},
		{"variance_type", c.VarianceType != "", false},
		{"use_karras_sigmas", c.UseKarrasSigmas, true},
		{"use_exponential_sigmas", c.UseExponentialSigmas, true},
		{"use_beta_sigmas", c.UseBetaSigmas, true},
	} {
		switch {
		case s.on && !s.spacing:
			return fmt.Errorf("scheduler_config.json: %s is set, which is not supported", s.key)
		case s.on:
			spacings = append(spacings, s.key)
		}
	}
	if len(spacings) > 1 {
		return fmt.Errorf("scheduler_config.json: %s: only one of them may be true", strings.Join(spacings, " and "))
	}
	for _, s := range []struct {
		key   string
		value float64
		good  bool
		want  string
	}{
		{"num_train_timesteps", float64(c.NumTrainTimesteps), c.NumTrainTimesteps >= 1 &&
			c.NumTrainTimesteps <= 1_000_000, "from 1 to a million"},
		{"steps_offset", float64(c.StepsOffset), c.StepsOffset >= 0, "0 or more"},
		{"clip_sample_range", c.ClipSampleRange, c.ClipSampleRange > 0, "positive"},
		{"solver_order", float64(c.SolverOrder), c.SolverOrder >= 1 && c.SolverOrder <= 3, "1, 2 or 3"},
		{"sigma_min", value(c.SigmaMin), value(c.SigmaMin) > 0, "positive"},
		{"sigma_max", value(c.SigmaMax), value(c.SigmaMax) > 0, "positive"},
	} {
		if of.reads(s.key) && !s.good {
			return fmt.Errorf("scheduler_config.json: %s is %g; it must be %s", s.key, s.value, s.want)
		}
	}
	if c.TrainedBetas != nil && len(c.TrainedBetas) != c.NumTrainTimesteps {
		return fmt.Errorf("scheduler_config.json: trained_betas holds %d numbers for num_train_timesteps %d",
			len(c.TrainedBetas), c.NumTrainTimesteps)
	}
	return nil
}

// value is a parameter that may be absent, else 1.
func value(setting *float64) float64 {
	if setting == nil {
		return 1
	}
	return *setting
}
