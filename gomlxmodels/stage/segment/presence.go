package segment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/tokenizers"
)

// judge is the CLIP that computes the probability that an object appears in an image.
type judge struct {
	stage.Release
	name      string // the model as the plan names it
	batch     int
	model     *clip.Model
	tokenizer *tokenizers.Tokenizer
	contents  string // digest of the model's files
	encoder   *clip.Encoder
	texts     map[string]clip.Embedding
}

func openJudge(s settings) (*judge, error) {
	name := s.args.Presence
	dir, err := hub.Resolve(s.env, name)
	if err != nil {
		return nil, err
	}
	j := &judge{name: name, batch: s.batch(), texts: map[string]clip.Embedding{}}
	if j.model, err = clip.Open(dir); err != nil {
		return nil, err
	}
	if _, err = openTokenizer(dir, &j.model.Config().Text); err == nil {
		j.tokenizer, err = j.model.Texts()
	}
	if err != nil {
		return nil, err
	}
	values := []any{j.model.Preprocess()}
	if clip.IsOpenCLIP(dir) { // whose texts were not cleaned in version 1
		values = append(values, tokenizers.Version)
	}
	j.contents, err = hub.Digest(s.env, name, slices.Concat(j.model.Files(), j.tokenizer.Files()), values...)
	return j, err
}

// load returns the encoder; it runs on the device's goroutine.
func (j *judge) load(backend compute.Backend) (*clip.Encoder, error) {
	e, err := clip.NewEncoder(backend, j.model, clip.Options{Batch: j.batch})
	if err == nil {
		err = e.LoadImageTower()
	}
	if err == nil {
		err = e.LoadTextTower()
	}
	return e, err
}

// question is an image prepared for the judge, and the texts it is compared with: one for each object, then the
// neutral one.
type question struct {
	pixels []float32
	texts  []string
	ids    [][]int32
}

func (j *judge) prepare(rgb *preprocess.RGB, objects []string) (*question, error) {
	q := &question{}
	for _, o := range objects {
		q.texts = append(q.texts, strings.Replace(gomlxmodels.PresencePrompt, "%s", o, 1))
	}
	q.texts = append(q.texts, gomlxmodels.NeutralPrompt)
	for _, text := range q.texts {
		e, err := j.tokenizer.Encode(text, j.model.Config().Text.Context)
		if err != nil {
			return nil, err
		}
		q.ids = append(q.ids, e.IDs)
	}
	var err error
	q.pixels, err = j.model.Prepare(rgb)
	return q, err
}

// cachedTexts is the number of texts whose vectors a judge caches.
const cachedTexts = 4096

// text returns a text's vector. It is computed once and without other texts, on which it must not depend.
func (j *judge) text(ctx context.Context, text string, ids []int32) (clip.Embedding, error) {
	if e, ok := j.texts[text]; ok {
		return e, nil
	}
	list, err := j.encoder.EncodeTokens(ctx, [][]int32{ids})
	if err != nil {
		return clip.Embedding{}, err
	}
	if len(j.texts) >= cachedTexts {
		clear(j.texts)
	}
	j.texts[text] = list[0]
	return list[0], nil
}

// answer returns, for each question, the probability that the image shows one of the objects. It runs on the
// device's goroutine.
func (j *judge) answer(ctx context.Context, questions []*question) ([]float64, error) {
	var pixels [][]float32
	for _, q := range questions {
		pixels = append(pixels, q.pixels)
	}
	images, err := j.encoder.EncodeImages(ctx, pixels)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(questions))
	for i, q := range questions {
		var texts []clip.Embedding
		for k, text := range q.texts {
			e, err := j.text(ctx, text, q.ids[k])
			if err != nil {
				return nil, err
			}
			texts = append(texts, e)
		}
		logits, err := j.model.Logits(images[i:i+1], texts)
		if err != nil {
			return nil, err
		}
		neutral, sum := logits[0][len(texts)-1], 0.0
		for _, l := range logits[0][:len(texts)-1] {
			sum += math.Exp(l - neutral)
		}
		if out[i] = sum / (1 + sum); math.IsInf(sum, 1) {
			out[i] = 1
		}
	}
	return out, nil
}

// openTokenizer opens a folder's tokenizer and checks that it fits the text tower.
func openTokenizer(dir string, text *clip.TextConfig) (*tokenizers.Tokenizer, error) {
	t, err := tokenizers.Open(dir)
	if err != nil {
		return nil, err
	}
	empty, err := t.Encode("", text.Context)
	if err != nil || t.Size() > text.VocabSize || text.End(empty.IDs) < 0 {
		return nil, fmt.Errorf("%s: the tokenizer (%d tokens) does not fit config.json (vocab_size %d, eos_token_id "+
			"%d): they are of two models",
			dir, t.Size(), text.VocabSize, text.EndToken)
	}
	return t, nil
}
