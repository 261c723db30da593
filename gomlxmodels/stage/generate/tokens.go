package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/dallemini"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/mindalle"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/vqgan"
)

// tokenModel is an opened model that writes image tokens.
type tokenModel struct {
	network vqgan.Network
	vqgan   *vqgan.Model
	files   []string
	tokens  func(prompt string) (ids []int32, truncated bool, err error)
	text    string // how prompts are read, for the digest

	tokenizer *tokenizers.Tokenizer
	limit     int // tokens of a text

	// normalize converts prompts; lost are words that it leaves out. nil = as given
	normalize func(prompt string) (text string, lost []string, err error)
}

// tokenWorker generates with a model that writes image tokens.
type tokenWorker struct {
	prompts
	stage.Release
	env     stage.Env
	args    gomlxmodels.GenerateArgs
	name    string // for people
	model   tokenModel
	digest  string
	dtype   dtypes.DType
	batch   int
	sampler *vqgan.Sampler
}

// openTokens opens a model in dir that writes image tokens; nil where the model is another.
func openTokens(env stage.Env, args gomlxmodels.GenerateArgs, name, dir string) (*stage.Opened, error) {
	kind, open := opener(dir)
	if open == nil {
		return nil, nil
	}
	w := &tokenWorker{env: env, args: args, name: name}
	if err := w.args.Check(kind); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &w.args.Tokens
	var err error
	if w.model, err = open(dir, t); err != nil {
		return nil, err
	}
	t.TopP, t.Temperature = cmp.Or(t.TopP, 1), cmp.Or(t.Temperature, 1)
	contents, err := hub.Digest(env, args.Model, w.model.files)
	if err != nil {
		return nil, err
	}
	device, err := env.DeviceKind()
	if err != nil {
		return nil, err
	}
	w.dtype, w.batch = stage.Precision(args.Precision, device, env.Note), cmp.Or(together[device], vqgan.DefaultBatch)
	w.digest = fmt.Sprintf("%s top-k %d top-p %v temperature %v condition scale %v text %s %s %s %s", contents,
		t.TopK, t.TopP, t.Temperature, t.ConditionScale, w.model.text, strings.ToLower(w.dtype.String()), device, name)
	return stage.Of(w), nil
}

// opener returns what opens the model of a folder, and completes its options, with the kind of model that options are
// for; nil where the model is another.
func opener(dir string) (kind string, open func(dir string, t *gomlxmodels.TokenOptions) (tokenModel, error)) {
	if _, err := os.Stat(filepath.Join(dir, mindalle.GPTFile)); err == nil {
		return "mindalle", openMinDALLE
	}
	if stat, err := os.Stat(dir); err != nil || !stat.IsDir() {
		return "", nil
	}
	if kind, err := hub.Architecture(dir); err != nil || kind != dallemini.ModelType {
		return "", nil // such as a pipeline, which has no config.json
	}
	return "dallemini", openDALLEMini
}

func openDALLEMini(dir string, t *gomlxmodels.TokenOptions) (tokenModel, error) {
	m, err := dallemini.Open(dir)
	if err != nil {
		return tokenModel{}, err
	}
	t.TopK, t.ConditionScale = cmp.Or(t.TopK, 50), cmp.Or(t.ConditionScale, 10)
	n, err := m.Network(t.ConditionScale)
	model := tokenModel{network: n, vqgan: m.VQGAN, files: m.Files(), tokens: m.Tokens, text: "as given",
		limit: m.Config.TextLength}
	model.tokenizer, _ = m.Tokenizer()
	if m.Normalizer != nil && t.TextNormalize != "off" {
		model.text = fmt.Sprintf("normalized, version %d", dallemini.NormalizerVersion)
		model.normalize = m.Normalizer.Normalize
	}
	return model, err
}

func openMinDALLE(dir string, t *gomlxmodels.TokenOptions) (tokenModel, error) {
	m, err := mindalle.Open(dir)
	if err != nil {
		return tokenModel{}, err
	}
	t.TopK = cmp.Or(t.TopK, 256)
	tokenizer, err := m.Tokenizer()
	return tokenModel{network: m.Network(), vqgan: m.VQGAN(), files: m.Files(), tokens: m.Tokens, text: "as given",
		tokenizer: tokenizer, limit: m.Config.TextLength}, err
}

func (w *tokenWorker) Label() string  { return "generate " + w.name }
func (w *tokenWorker) Digest() string { return w.digest }
func (w *tokenWorker) Batch() int     { return w.batch }

func (w *tokenWorker) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.GenerateColumns("")
}

func (w *tokenWorker) Key(row stage.Row) string {
	n, err := row.Seed()
	return fmt.Sprintf("%q %q %d %v", row.Text("prompt"), row.Text("negative"), n, err)
}

func (w *tokenWorker) Load(ctx context.Context) (err error) {
	key := fmt.Sprintf("%s (%.12s, %v, %s)", w.name, w.digest, w.args.Tokens.ConditionScale,
		strings.ToLower(w.dtype.String()))
	w.sampler, w.Release, err = stage.Load(ctx, w.env, key, func(backend compute.Backend) (*vqgan.Sampler, error) {
		return vqgan.NewSampler(backend, w.model.network, w.model.vqgan,
			vqgan.SamplerOptions{DType: w.dtype, Batch: w.batch})
	})
	return err
}

// text is a prompt as tokens.
type text struct {
	vqgan.Request
	reason string // what the model does not see of it; "" = it sees all
}

func (w *tokenWorker) Prepare(_ context.Context, row stage.Row) (text, string, error) {
	n, err := row.Seed()
	if err != nil {
		return text{}, "seed", err
	}
	if row.Text("negative") != "" {
		return text{}, "negative", errors.New("the model takes no negative prompt")
	}
	prompt, reasons := row.Text("prompt"), []string(nil)
	if w.model.normalize != nil {
		var lost []string
		if prompt, lost, err = w.model.normalize(prompt); err != nil {
			return text{}, "prompt", err
		}
		if len(lost) > 0 {
			reasons = append(reasons, fmt.Sprintf("the prompt is transliterated to ASCII, which leaves out %s",
				strings.Join(lost, " ")))
		}
	}
	ids, cut, err := w.model.tokens(prompt)
	if err != nil {
		return text{}, "prompt", err
	}
	if cut {
		reasons = append(reasons, truncated)
	}
	return text{vqgan.Request{Text: ids, Seed: n}, strings.Join(reasons, "; ")}, "", nil
}

func (w *tokenWorker) Compute(ctx context.Context, prepared []text) ([][]table.Value, error) {
	var requests []vqgan.Request
	for _, p := range prepared {
		requests = append(requests, p.Request)
	}
	t := w.args.Tokens
	o := textgen.Options{Sample: true, TopK: t.TopK, TopP: t.TopP, Temperature: t.Temperature}
	var results []vqgan.Result
	if err := w.env.OnDevice(ctx, func() (err error) {
		results, err = w.sampler.Generate(ctx, requests, o, func(done, total int) { stage.Step(ctx, done, total) })
		return err
	}); err != nil {
		return nil, err
	}
	var out [][]table.Value
	for i, r := range results {
		blob, err := putPNG(w.env, r.Image)
		if err != nil {
			return nil, err
		}
		out = append(out, []table.Value{{Image: blob}, {Text: w.name}, {Text: "generated"}, {Text: "ok"},
			{Text: prepared[i].reason}, {Text: string(diffusion.SafetyAbsent)}})
	}
	return out, nil
}
