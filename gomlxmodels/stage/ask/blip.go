package ask

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stage/execmodel"
)

// blipJudge is a judge that Antipode runs, a BLIP. One that answers questions ranks the choices by their likelihood,
// one that writes captions those of the question continued by each choice, and one that compares texts and images
// ("yes" or "no") tells whether the question describes the image.
type blipJudge struct {
	stage.Release
	env            stage.Env
	model          *blip.Model
	label          string
	contents, kind string // digest of the model's files; kind of the device
	answerer       *blip.Answerer
}

func openBLIP(env stage.Env, args gomlxmodels.AskArgs) (j *blipJudge, err error) {
	dir, err := hub.Resolve(env, args.Model)
	if err != nil {
		return nil, err
	}
	if architecture, err := hub.Architecture(dir); err == nil && architecture != "blip" {
		return nil, fmt.Errorf("%s: %w", dir, hub.WrongType(architecture, "a model that answers questions (blip)"))
	}
	j = &blipJudge{env: env, label: hub.Name(args.Model)}
	if j.model, err = blip.OpenQuestions(dir); err != nil {
		return nil, err
	}
	if _, err := j.model.Tokenizer(); err != nil {
		return nil, err
	}
	q := &question{items: []execmodel.Item{{Question: args.Question, Choices: args.Choices}}}
	if strings.Contains(args.Question, "{") {
		q.items[0].Question = ""
	}
	if _, err := j.encode(q); err != nil {
		return nil, err
	}
	if j.contents, err = hub.Digest(env, args.Model, j.model.Files(), j.model.Preprocess()); err != nil {
		return nil, err
	}
	j.kind, err = env.DeviceKind()
	return j, err
}

func (j *blipJudge) name() string   { return j.label }
func (j *blipJudge) Batch() int     { return 8 }
func (j *blipJudge) Digest() string { return fmt.Sprintf("blip %s %s", j.contents, j.kind) }

func (j *blipJudge) Load(ctx context.Context) (err error) {
	key := fmt.Sprintf("ask %s (%.12s, %s)", j.label, j.contents, j.kind)
	j.answerer, j.Release, err = stage.Load(ctx, j.env, key, func(backend compute.Backend) (*blip.Answerer, error) {
		return blip.NewAnswerer(backend, j.model)
	})
	return err
}

// encode sets the tokens of a question and its choices; column is the one of a text that the model does not read.
func (j *blipJudge) encode(q *question) (column string, err error) {
	item := q.items[0]
	if q.blip.Tokens, err = j.model.Question(item.Question); err != nil {
		return "question", err
	}
	if j.model.Matches() {
		sorted := slices.Sorted(slices.Values(item.Choices))
		if len(sorted) > 0 && !slices.Equal(sorted, []string{blip.No, blip.Yes}) {
			return "choices", fmt.Errorf("%s tells whether a text describes an image; its choices are %s and %s, not "+
				"%s", j.label, blip.Yes, blip.No, strings.Join(item.Choices, ", "))
		}
		return "", nil
	}
	for _, c := range item.Choices {
		ids, err := j.model.Choice(item.Question, c)
		if err != nil {
			return "choices", err
		}
		q.blip.Choices = append(q.blip.Choices, ids)
	}
	return "", nil
}

// read encodes the texts, and decodes and prepares the image.
func (j *blipJudge) read(q *question) (string, error) {
	if column, err := j.encode(q); err != nil {
		return column, err
	}
	rgb, err := stage.ReadImage(q.image)
	if err != nil {
		return "image", err
	}
	q.blip.Image = stage.ImageKey(q.image)
	if q.blip.Pixels, err = j.model.Prepare(rgb); err != nil {
		return "image", fmt.Errorf("%s: %w", filepath.Base(q.image.Path), err)
	}
	return "image", nil
}

func (j *blipJudge) answers(ctx context.Context, rows []*question) ([][]execmodel.Answer, error) {
	out := make([][]execmodel.Answer, len(rows))
	var questions []blip.Question
	for _, q := range rows {
		if len(q.items) > 0 {
			questions = append(questions, q.blip)
		}
	}
	var answers []blip.Answer
	err := j.env.OnDevice(ctx, func() (err error) {
		answers, err = j.answerer.Answer(ctx, questions)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, q := range rows {
		out[i] = []execmodel.Answer{}
		if len(q.items) == 0 {
			continue
		}
		text, err := j.model.Text(nil, answers[0].Written)
		if err != nil {
			return nil, err
		}
		p := softmax(answers[0].LogProbs)
		if j.model.Matches() && q.items[0].Choices[0] == blip.Yes {
			slices.Reverse(p)
		}
		best := slices.Index(p, slices.Max(p))
		out[i] = append(out[i], execmodel.Answer{Outcome: execmodel.OK, Choice: &best, Probabilities: p,
			Source: execmodel.FromLogits, Text: text})
		answers = answers[1:]
	}
	return out, nil
}

// softmax returns probabilities from log-likelihoods.
func softmax(x []float64) []float64 {
	p, total, most := make([]float64, len(x)), 0.0, slices.Max(x)
	for i := range x {
		p[i] = math.Exp(x[i] - most)
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}
