package blip

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

type questionCase struct {
	Image       int
	Text        string
	Words       []string
	Question    []int32
	Choices     [][]int32
	Likelihoods []float64
	Written     []int32
	Seconds     float64
}

// openQuestions opens a folder of tools/pyref/blip_questions.py.
func openQuestions(t testing.TB, dir string) (g golden, cases []questionCase) {
	t.Helper()
	m := must.Get(OpenQuestions(dir))(t)
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, "questions.json")))(t), &cases))
	if len(cases) < 4 {
		t.Fatalf("%d questions", len(cases))
	}
	return golden{m, modeltest.Open(t, dir)}, cases
}

var questionFolder = filepath.Join("testdata", "questions")

// TestQuestions compares the encoded questions and the logits of forced answers with transformers', then what
// [Answerer.Answer] gives: likelihoods, and greedy answers token for token.
func TestQuestions(t *testing.T) {
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		g, cases := openQuestions(t, questionFolder)
		for n, c := range cases {
			checkQuestion(t, backend, g, n, c)
		}
		checkAnswers(t, backend, g, cases)
		for _, folder := range []string{"base", "match"} { // of tools/pyref/blip_judges.py
			g, cases := openQuestions(t, filepath.Join("testdata", folder))
			checkAnswers(t, backend, g, cases)
		}
	})
}

// checkQuestion compares the stages of a question, with padding after it, with the reference's.
func checkQuestion(t *testing.T, backend compute.Backend, g golden, n int, c questionCase) {
	load := func(s *model.Store) error {
		return weights.Load(s.RootScope(), g.Model.Weights, table(g.cfg), dtypes.Float32)
	}
	padded := append(slices.Clone(c.Question), 7, 7, 7)
	side := g.cfg.Vision.ImageSize
	args := []any{tensors.FromFlatDataAndDimensions(g.images()[c.Image], 1, 3, side, side), [][]int32{padded},
		[][]int32{{int32(len(c.Question))}}}
	for _, ids := range c.Choices {
		args = append(args, [][]int32{ids[:len(ids)-1]})
	}
	got := modeltest.Run(t, backend, load, func(s *model.Scope, in []*Node) []*Node {
		o := GraphOptions{AllLogits: true}
		encoded := ForwardQuestion(s, g.cfg, in[1], in[2], ForwardImage(s, g.cfg, in[0], o).Context, o)
		out := []*Node{Slice(encoded.Hidden, AxisRange(), AxisRange(0, len(c.Question)))}
		for _, ids := range in[3:] {
			out = append(out, ForwardText(s, g.cfg, textgen.Inputs{IDs: ids, Context: encoded.Context,
				Positions: Iota(ids.Graph(), ids.Shape(), 1), Cache: textgen.NewCache(32)}, o).Logits)
		}
		return out
	}, args...)
	for k, values := range got {
		name := fmt.Sprintf("hidden.%d", n)
		if k > 0 {
			name = fmt.Sprintf("logits.%d_%d", n, k-1)
		}
		want := g.Values(name)
		near.Check(t, name, values, want, 1e-4, 1e-4*near.Scale(want))
	}
}

// checkAnswers asks all questions, the first one again, with the image encoded already.
func checkAnswers(t *testing.T, backend compute.Backend, g golden, cases []questionCase) {
	a := must.Get(NewAnswerer(backend, g.Model))(t)
	defer a.Close()
	var questions []Question
	cases = append([]questionCase{cases[0]}, cases...)
	for _, c := range cases {
		questions = append(questions, Question{Pixels: g.images()[c.Image], Image: fmt.Sprint(c.Image),
			Tokens: c.Question, Choices: c.Choices})
	}
	answers := must.Get(a.Answer(t.Context(), questions))(t)
	for i, c := range cases {
		near.Check(t, "likelihoods", answers[i].LogProbs, c.Likelihoods, 2e-5, 1e-4)
		end := int32(g.cfg.Text.EndToken)
		want := slices.DeleteFunc(slices.Clone(c.Written), func(id int32) bool { return id == end })
		must.EqualSlices(t, answers[i].Written, want, "question", i, "written")
	}
	if g.cfg.class != QuestionClass {
		return
	}
	bad := questions[0]
	bad.Choices = [][]int32{{96, 5}, {96, 98, 5}}
	bad.Choices[1][1] = int32(g.cfg.Text.VocabSize)
	must.Fail(a.Answer(t.Context(), []Question{bad}))(t, "question 1: choice 2: token 2 has id")
}

// TestQuestionTexts: texts become the tokens of transformers, and what no text is answers with an error.
func TestQuestionTexts(t *testing.T) {
	for _, folder := range []string{"base", "match", "questions"} {
		m, cases := openQuestions(t, filepath.Join("testdata", folder))
		for _, c := range cases {
			must.EqualSlices(t, must.Get(m.Question(c.Text))(t), c.Question, c.Text)
			for k, ids := range c.Choices {
				must.EqualSlices(t, must.Get(m.Choice(c.Text, c.Words[k]))(t), ids, c.Words[k])
			}
		}
	}
	m, _ := openQuestions(t, questionFolder)
	must.Fail(m.Choice("", "an elephant"))(t, `choice "an elephant": the model's vocabulary lacks part of it`)
	must.Fail(NewCaptioner(testbackend.Go(t), m.Model, textgen.CaptionerOptions{}))(t,
		"needs a model that writes captions")
	bare := modeltest.CopyOf(t, "questions")
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json", "vocab.txt"} {
		must.Do(t, os.Remove(filepath.Join(bare, name)))
	}
	must.Fail(must.Get(OpenQuestions(bare))(t).Question("man"))(t, "tokenizer")
}

// TestQuestionFolders: damaged folders are refused, and every tensor and variable stands once.
func TestQuestionFolders(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{Folder: "questions",
		Open: func(dir string) error { _, err := OpenQuestions(dir); return err },
		Refuses: `
architectures=["BlipModel"] => a BlipModel answers no questions: take a BlipForQuestionAnswering
text_config/num_hidden_layers=1 => does not use: text_decoder.bert.encoder.layer.1
text_config/num_hidden_layers=3 => missing: text_encoder.encoder.layer.2
text_config/vocab_size=97 && text_config/bos_token_id=95 => the configuration requires [97
drop text_encoder.embeddings.LayerNorm.bias => missing: text_encoder.embeddings.LayerNorm.bias
add text_encoder.pooler.dense.weight => does not use: text_encoder.pooler.dense.weight`,
		Torch: map[string]map[string]string{"questions": {headWeights: wordWeights, decoderBias: headBias}},
		SameTorch: func(t *testing.T, folder, torch string) {
			g, _ := openQuestions(t, filepath.Join("testdata", folder))
			m := must.Get(OpenQuestions(torch))(t)
			modeltest.SameTensors(t, g.Weights, m.Weights, len(g.Weights.Names()))
		}})
	checkTable(t, must.Get(OpenQuestions(questionFolder))(t))
	modeltest.Suite(t, modeltest.Model{Folder: "match",
		Open: func(dir string) error { _, err := OpenQuestions(dir); return err },
		Refuses: `
text_config/num_hidden_layers=3 => missing: text_encoder.encoder.layer.2
drop itm_head.bias => missing: itm_head.bias
add text_encoder.pooler.dense.weight => does not use: text_encoder.pooler.dense.weight`})
	checkTable(t, must.Get(OpenQuestions(filepath.Join("testdata", "match")))(t))
}
