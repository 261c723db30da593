package metrics

import (
	"context"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics/internal/tabular"
)

// QuestionOptions are the options of [QuestionScores].
type QuestionOptions struct {
	By      []string `json:"by,omitempty" default:"image_id" help:"text columns that define the images; more of them, such as region, are carried along"`
	Correct string   `json:"correct,omitempty" default:"answer_correct" help:"column with 1 or 0, whether the answer is the one wanted"`
	Wanted  string   `json:"wanted,omitempty" default:"answer_p_wanted" help:"column of the probability of the answer wanted"`
}

// questionRow is a row of [QuestionScores].
type questionRow struct {
	Group      Group
	ID         string  `column:"id" help:"image_id if it is a grouping column, else the values of all"`
	TIFA       float64 `column:"tifa" range:"[0, 1]" help:"share of questions with the answer wanted"`
	Soft       float64 `column:"soft_tifa" range:"[0, 1]" help:"mean probability of the answer wanted"`
	Geometric  float64 `column:"soft_tifa_gm" range:"[0, 1]" help:"geometric mean of these probabilities"`
	Questions  int     `column:"n_questions" unit:"questions"`
	Unanswered int     `column:"n_unanswered" unit:"questions" help:"without an answer"`
}

var questionScores = Define(Definition[QuestionOptions, questionRow]{
	Name: "question-scores", Title: "how well each image fits the questions of its prompt: TIFA, Soft-TIFA",
	Version: 2,
	Unit:    "share of questions", Range: "[0, 1]", Direction: "higher is better",
	Citation: "Hu et al., ICCV 2023 (TIFA); GenEval 2, 2025 (Soft-TIFA)",
	Inputs: []Input{{Role: "in", About: "answers to questions with an answer wanted, a row for each image and " +
		"question"}},
	Compute: computeQuestionScores,
})

// QuestionScores is the metric question-scores: scores of each image from its answers to several questions, which
// [antipode/gomlxmodels.Ask] asks of a table of questions. TIFA is the share of answers that are the one wanted;
// Soft-TIFA the arithmetic mean of the probabilities of the answers wanted, per atom of a prompt, and their geometric
// mean, per prompt. A question without an answer, or without its probability, is left out and counted; one whose text
// in the column wanted is blank has no answer wanted. [Means] of the result have intervals by group.
func QuestionScores(answers datasets.Table, options ...QuestionOptions) datasets.Table {
	return questionScores.Of(answers, options...)
}

func computeQuestionScores(_ context.Context, call *Call, o QuestionOptions) (out []questionRow, err error) {
	in := tabular.Read(call, "in")
	correct, wanted := in.Numbers(o.Correct), in.Numbers(o.Wanted)
	groups := in.SortedGroups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	for _, g := range groups {
		rows := g.Rows
		if texts := in.Frame.Texts("wanted"); texts != nil {
			rows = slices.DeleteFunc(rows, func(row int) bool { return texts[row] == "" })
		}
		r := questionRow{Group: g.By, ID: strings.Join(g.By, ", "), Questions: len(rows)}
		if at := slices.Index(o.By, "image_id"); at >= 0 {
			r.ID = g.By[at]
		}
		sums, n, probabilities := [3]float64{}, 0.0, 0.0
		for _, row := range rows {
			if c := correct[row]; c == c {
				sums[0], n = sums[0]+c, n+1
			}
			if p := wanted[row]; p == p {
				if p < 0 || p > 1 {
					return nil, tabular.BadRow(in.Frame, row, o.Wanted, "%g is no probability", p)
				}
				sums[1], sums[2], probabilities = sums[1]+p, sums[2]+math.Log(p), probabilities+1
			}
		}
		r.TIFA, r.Soft, r.Geometric = sums[0]/n, sums[1]/probabilities, math.Exp(sums[2]/probabilities)
		r.Unanswered = len(rows) - int(n)
		out = append(out, r)
	}
	return out, nil
}
