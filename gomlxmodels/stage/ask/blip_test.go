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
				if none.Text != "" || number != (none.Number != none.Number) {
					t.Errorf("%s without an image: %+v", column.Name, none)
				}
			}
			if got["answer"].Text != best || got["answer_source"].Text+got["answer_outcome"].Text != "logitsok" {
				t.Errorf("%+v, want %s", got, best)
			}
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
		_, err := stagetest.Open(t, env(nil), gomlxmodels.AskOp, args(o))
		modeltest.CheckLine(t, err, want)
	}
	captioner := args(gomlxmodels.AskOptions{Question: c.Text, Choices: c.Words})
	captioner.Model = filepath.Join(filepath.Dir(dir), "base")
	_, err = stagetest.Open(t, env(nil), gomlxmodels.AskOp, captioner)
	modeltest.CheckLine(t, err, "a BlipForConditionalGeneration answers no questions")
}
