package ask

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/stagetest"
	"antipode/test/testbackend"
)

// TestBLIP asks the small model of tools/pyref/blip_questions.py about a image in a file, with the choices of the
// options and with those of the rows: probabilities are transformers'. A row without an image has no answer.
func TestBLIP(t *testing.T) {
	dir, err := filepath.Abs("../../blip/testdata/questions")
	must.Do(t, err)
	var cases []struct {
		Image       int
		Text        string
		Words       []string
		Likelihoods []float64
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, "questions.json")))(t), &cases))
	c := cases[len(cases)-1]
	want, image := softmax(c.Likelihoods), stagetest.Image(t, modeltest.Open(t, dir).Image("image"))
	best := c.Words[slices.Index(want, slices.Max(want))]
	f := &table.Frame{Columns: []table.Column{table.ImageColumn("image", []table.Image{image, {}})}}
	for name, value := range map[string]string{"id": "a", "question": c.Text, "choices": strings.Join(c.Words, "|"),
		"wanted": best} {
		f = f.With(table.TextColumn(name, []string{value, ""}))
	}
	f = f.With(table.TextColumn("outcome", []string{"", "refused"}))
	env := func(backend compute.Backend) stagetest.Env { return stagetest.NewEnv(t, backend) }
	args := func(o gomlxmodels.AskOptions) gomlxmodels.AskArgs {
		o.Column = "answer"
		return gomlxmodels.AskArgs{Model: dir, AskOptions: o}
	}
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		for _, o := range []gomlxmodels.AskOptions{{}, {Question: c.Text, Choices: c.Words}} {
			w := stagetest.Start(t, env(backend), gomlxmodels.AskOp, args(o))
			must.Do(t, w.Check(datasets.Columns("id:text", "image:image", "question:text", "choices:text")))
			rows := stagetest.Run(t, w, f, stagetest.All(f), 2)
			got := map[string]table.Value{}
			for i, column := range w.Outputs(nil) {
				got[column.Name] = rows[0][i]
				none, number := rows[1][i], column.Kind == table.KindNumber
				must.Equal(t, none.Text, "", column.Name, "without an image")
				must.Equal(t, number, (none.Number != none.Number), column.Name, "without an image")
			}
			must.Equal(t, got["answer"].Text, best)
			must.Equal(t, got["answer_source"].Text+got["answer_outcome"].Text, "logitsok")
			if o.Choices == nil {
				near.Check(t, "p", []float64{got["answer_p"].Number, got["answer_correct"].Number},
					[]float64{slices.Max(want), 1}, 0, 1e-5)
				continue
			}
			for i, word := range c.Words {
				near.Check(t, word, []float64{got["answer_p_"+word].Number}, want[i:i+1], 0, 1e-5)
			}
		}
	})
	for want, o := range map[string]gomlxmodels.AskOptions{
		`choice "zebra": the model's vocabulary lacks part of it`: {Question: c.Text, Choices: []string{"dog", "zebra"}},
		`question "a zebra": the model's vocabulary`:              {Question: "a zebra", Choices: c.Words},
		"1 choices: give 2 to 64":                                 {Question: c.Text, Choices: []string{"dog"}},
		"leave out System, Permute and Shuffle":                   {Question: c.Text, Choices: c.Words, Permute: true},
	} {
		must.Fail(stagetest.Open(t, env(nil), gomlxmodels.AskOp, args(o)))(t, want)
	}
	args = func(o gomlxmodels.AskOptions) gomlxmodels.AskArgs {
		o.Column = "answer"
		return gomlxmodels.AskArgs{Model: filepath.Join(filepath.Dir(dir), "match"), AskOptions: o}
	}
	must.Fail(stagetest.Open(t, env(nil), gomlxmodels.AskOp, args(gomlxmodels.AskOptions{Question: c.Text,
		Choices: []string{"yes", "cannot tell"}})))(t, "its choices are yes and no, not yes, cannot tell")
}

// TestBLIPWithoutQuestions: a captioner ranks how a question goes on, and a model that compares texts with images tells
// whether the question describes the image, in either order of yes and no.
func TestBLIPWithoutQuestions(t *testing.T) {
	backend := testbackend.Go(t)
	dir := must.Get(filepath.Abs("../../blip/testdata"))(t)
	image := stagetest.Image(t, modeltest.Open(t, filepath.Join(dir, "questions")).Image("image"))
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"}),
		table.ImageColumn("image", []table.Image{image})}}
	for folder, choices := range map[string][]string{"base": {"dog", "cat", "red house"}, "match": {"yes", "no"}} {
		m := must.Get(blip.OpenQuestions(filepath.Join(dir, folder)))(t)
		answerer := must.Get(blip.NewAnswerer(backend, m))(t)
		defer answerer.Close()
		q := blip.Question{Tokens: must.Get(m.Question("man and"))(t),
			Pixels: must.Get(m.Prepare(must.Get(stage.ReadImage(image))(t)))(t)}
		for _, c := range choices {
			if !m.Matches() {
				q.Choices = append(q.Choices, must.Get(m.Choice("man and", c))(t))
			}
		}
		want := softmax(must.Get(answerer.Answer(t.Context(), []blip.Question{q}))(t)[0].LogProbs)
		if m.Matches() { // the model's order is no, yes
			slices.Reverse(want)
		}
		for range 2 {
			w := stagetest.Start(t, stagetest.NewEnv(t, backend), gomlxmodels.AskOp, gomlxmodels.AskArgs{
				Model: filepath.Join(dir, folder), AskOptions: gomlxmodels.AskOptions{Column: "answer",
					Question: "man and", Choices: choices}})
			row := stagetest.Run(t, w, f, stagetest.All(f), 1)[0]
			for i := range choices {
				near.Check(t, folder+" "+choices[i], []float64{row[1+i].Number}, want[i:i+1], 0, 1e-6)
			}
			slices.Reverse(choices)
			slices.Reverse(want)
		}
	}
}
