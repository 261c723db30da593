package commands

import (
	"context"
	"os"
	"strings"
	"testing"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage/apimodel"
	"antipode/internal/must"
)

// recorder is an executor that records the arguments of the last stage of a plan.
type recorder struct{ args string }

func (r *recorder) Run(_ context.Context, req client.Request, _ func(table.Progress)) (*client.Result, error) {
	plan := req.Plan
	for plan.Op == "with" { // the name of the model, in a column of its own
		plan = plan.Inputs[0]
	}
	r.args = string(plan.Args)
	return &client.Result{Frame: &table.Frame{}}, nil
}

// TestOptions: flags become the arguments of the stage, and a flag that is not given leaves the model's default. The
// arguments are part of the digests of stored results: they must not change.
func TestOptions(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	run := inProcess(t)
	r := &recorder{}
	client.Register(r)
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("t.csv", []byte("id,prompt,object,image\na,a boat,boat,\n"), 0o644))
	for line, want := range map[string]string{
		"generate --model archipelago-diffusion": `{"model":"archipelago-diffusion"}`,
		"generate --model archipelago-diffusion --precision bfloat16 --steps 9 --size 64x32 --safety off": `{"model":` +
			`"archipelago-diffusion","steps":9,"width":64,"height":32,"precision":"bfloat16","safety":"off"}`,
		"generate --model archipelago-diffusion --top-k 9 --temperature 0.5 --condition-scale 3 --text-normalize off": `{` +
			`"model":"archipelago-diffusion","tokens":{"top_k":9,"temperature":0.5,"condition_scale":3,` +
			`"text_normalize":"off"}}`,
		"generate --model api:mine --size 64x32 --quality fine --price 0.1 --budget 2 --budget-images 5": `{"model":` +
			`"api:mine","width":64,"height":32,"quality":"fine","price":0.1,"budget":2,"budget_images":5}`,
		"generate --model api:mine --steps 9 --api-base http://localhost:1/v1 --model-digest r1 " +
			"--api-extra seed,num_inference_steps": `{"model":"api:mine","steps":9,` +
			`"base_url":"http://localhost:1/v1","api_extra":["num_inference_steps","seed"],"model_digest":"r1"}`,
		"ask --model chat:m --api-base http://localhost:1/v1 --question Day? --choices yes,no --samples 3 " +
			"--format words --price 0.1 --budget-requests 5 --shuffle": `{"model":"chat:m","question":"Day?","choices":["yes","no"],` +
			`"column":"answer","shuffle":true,"chat":{"base_url":"http://localhost:1/v1","price":0.1,` +
			`"budget_requests":5,"samples":3,"format":"words"}}`,
		"segment --model archipelago-clipseg --object object": `{"model":"archipelago-clipseg","object":"object",` +
			`"prompt":"%s","separator":"|","threshold":0.5,"components":"all"}`,
		"segment --model archipelago-clipseg --object object --separator=": `{"model":"archipelago-clipseg",` +
			`"object":"object","prompt":"%s","separator":"","threshold":0.5,"components":"all"}`,
		"embed --model archipelago-vit": `{"model":"archipelago-vit","masking":"drop","fill":"none",` +
			`"patch_rule":"any","precision":"auto","pooling":"auto"}`,
		"embed --model archipelago-clip --vector clip_text --text prompt": `{"model":"archipelago-clip",` +
			`"masking":"drop","fill":"none","patch_rule":"any","precision":"auto","vector":"clip_text",` +
			`"text":"prompt","pooling":"auto"}`,
		"caption --model archipelago-blip": `{"model":"archipelago-blip","n":1,"decode":"greedy","max_tokens":20}`,
		"caption --model archipelago-blip --decode beam --n 2 " +
			"--length-penalty 0": `{"model":"archipelago-blip","n":2,` +
			`"decode":"beam","max_tokens":20,"beams":3}`,
	} {
		if _, err := run(append(strings.Fields(line), "--in", "t.csv", "--out", "o.csv")...); err != nil ||
			r.args != want {
			t.Errorf("%s: %v\n%s, want\n%s", line, err, r.args, want)
		}
	}
	_, err := run(strings.Fields("segment --model archipelago-clipseg --object thing --in t.csv --out o.csv")...)
	if err == nil || !strings.HasPrefix(err.Error(),
		`t.csv: no such column: "thing" (there are: id, prompt, object, image)`) {
		t.Errorf("a missing column: %v", err)
	}
	for line, want := range map[string]string{
		"table --color sRGB":                          "flag --color: it must be one of as-stored, srgb",
		"table --alpha red":                           "flag --alpha: it must be one of drop, white, black, checker",
		"score --metric agreement --mask-threshold 2": "must be at least 0 and at most 1",
		// an option of the metric
		"score --metric power --audit a --sizes 2 --subject s --value v --alpha 3": "alpha is 3; it must be above 0",
	} {
		_, err := run(append(strings.Fields(line), "--in", "t.csv", "--out", "o.csv")...)
		must.Err(t, err, want)
	}
	must.Fail(run("generate", "--prompt", " \n"))(t, "the text is blank")
	for line, want := range map[string]string{
		"generate --precision float16":   `"float16" for flag --precision: it must be one of auto`,
		"generate --condition-scale 0.5": `"0.5" for flag --condition-scale: it must be at least 1 and`,
		"generate --steps 0":             `"0" for flag --steps: it must be at least 1 and at most 1000`,
		"generate --size 64":             `"64" for flag --size: "64" is not 2 numbers with an x between them`,
		"generate --size 64x0":           `"64x0" for flag --size: it must be at least 8 and at most 4096`,
		"generate --quality high": "--quality is for an image API (api:NAME), not for a pipeline of diffusers. Fix: " +
			"leave it out",
		"generate --exec-arg x": "--exec-arg is for a program (exec:PATH), not for a pipeline of diffusers",
		"generate --model api:m --top-k 5": "--top-k is for a DALL·E mini or a minDALL-E, " +
			"not for an image API (api:NAME)",
		"generate --model exec:./t.csv --precision float32": "not for a program (exec:PATH). Fix: leave it out; a " +
			"program takes arguments of its own (Exec.Args, --exec-arg)",
		"caption --top-p 0.5":                                 `--top-p is for decode "nucleus", not for decode "greedy"`,
		"caption --exec-idle 5":                               `"5" for flag --exec-idle: "5" is not a duration, such as 30m`,
		"caption --length-penalty x":                          `"x" for flag --length-penalty: "x" is not a finite number`,
		"segment --threshold 2":                               `"2" for flag --threshold: it must be above 0 and below 1`,
		"segment --workers 65":                                `"65" for flag --workers: it must be at least -1 and at most 64`,
		"ask --question Day? --choices yes,no":                "questions are for chat models",
		"ask --question Day?":                                 "with --choices A,B,…",
		"embed --masking hide":                                `"hide" for flag --masking: it must be one of drop, neginf`,
		"embed --vector clip_text --text prompt --fill white": "--fill",
	} {
		if command, _, _ := strings.Cut(line, " "); !strings.Contains(line, "--model") {
			line += " --model archipelago-" + map[string]string{"generate": "diffusion", "segment": "clipseg",
				"caption": "blip", "embed": "clip", "ask": "clip"}[command]
		}
		misused(run(append(strings.Fields(line), "--in", "t.csv", "--out", "o.csv")...))(t, want)
	}
}

// TestOwnOptions finds the flags of a command's own options in its help, below their heading, with what stands for
// their values, ranges and defaults; a stage's option of the same name is another one.
func TestOwnOptions(t *testing.T) {
	run := inProcess(t)
	for command, wants := range map[string][]string{
		"view": {"Other options:\n  -compare TABLE\n", "  -on A,B\n",
			"pixels; at least 32 and at most 1024 (default 256)\n"},
		"embed": {"  -vector NAME\n    \tthe NAME of the vector", "  -text COLUMN\n"},
		"new":   {"  -p name=value\n", "  -images PATH\n"},
	} {
		help, _ := run(command, "--help")
		must.Has(t, help, wants...)
	}
}

func TestInWords(t *testing.T) {
	for want, e := range map[string]apimodel.Estimate{
		"3 images, price unknown before the answers; ": {Images: 3},
		"3 images, 1.50 US dollars (0.500 per image by --price); ": {Images: 3, Known: true, Image: 0.5,
			Total: 1.5},
		"3 images, about 0.63 US dollars (0.211 per image, price of 2026-11-04: check it); ": {Images: 3, Known: true,
			Image: 0.21072, Total: 0.63216, Date: "2026-11-04"},
	} {
		got := inWords(e)
		must.True(t, strings.HasPrefix(got, want), "%q, want %q", got, want)
	}
}
