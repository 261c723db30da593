package lesson

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/cell"
)

// Check prints whether the answer to an exercise of a lesson is right: "1a: right", or a hint that does not contain the
// answer. An empty answer is not an error: the cell prints that it is not answered yet.
//
// want is what the cell computed: a number, of any type; a text, which may list names separated by commas, in any
// order; or nil where the exercise has its answer. A number is compared within the tolerance of the exercise; it may be
// written as 0.375, 0,375, 37.5 % or 3/8. slips are values that a known mistake leads to, each with its own hint.
// An unknown exercise fails the cell.
func Check(exercise, answer string, want any, slips ...any) {
	text, err := verdict(exercise, answer, want, slips...)
	if err != nil {
		cell.Fail(err)
		return
	}
	cell.Say(text)
}

// Predicted shows the student's prediction next to what was observed. It is not graded.
func Predicted(prediction string, observed any) {
	if strings.TrimSpace(prediction) == "" {
		cell.Say("No prediction yet. Write one before you run the cells that follow: what surprises is remembered.")
		return
	}
	if v, ok := observed.(float64); ok {
		observed = strconv.FormatFloat(v, 'g', 3, 64)
	}
	cell.Say(fmt.Sprintf("Predicted: %s. Observed: %v.", strings.TrimSpace(prediction), observed))
}

// Change returns "larger", "smaller" or "same": what became of a number. Rounding errors are no change.
func Change(from, to float64) string {
	switch {
	case math.Abs(to-from) <= 1e-9*max(1, math.Abs(from)):
		return "same"
	case to > from:
		return "larger"
	}
	return "smaller"
}

// verdict returns the text of [Check].
func verdict(name, answer string, want any, slips ...any) (string, error) {
	e, ok := exercises[name]
	if !ok {
		return "", fmt.Errorf("lesson: no exercise %q", name)
	}
	if want == nil {
		want = e.right
	}
	if strings.TrimSpace(answer) == "" {
		return name + ": not answered yet. Write your answer between the quotes and run the cell again.", nil
	}
	if len(e.choices) > 0 && !slices.ContainsFunc(e.choices, func(c string) bool { return names(c) == names(answer) }) {
		return name + ": write one of: " + strings.Join(e.choices, ", ") + ".", nil
	}
	if _, text := want.(string); !text {
		if _, err := number(answer); err != nil {
			return name + ": write a number, such as 0.25, 25 % or 1/4.", nil
		}
	}
	if e.equal(answer, want) {
		return name + ": right", nil
	}
	for i, s := range slips {
		if i < len(e.slips) && e.equal(answer, s) {
			return name + ": not yet. " + e.slips[i], nil
		}
	}
	if i := slices.IndexFunc(e.choices, func(c string) bool { return names(c) == names(answer) }); i >= 0 &&
		i < len(e.slips) && e.slips[i] != "" {
		return name + ": not yet. " + e.slips[i], nil
	}
	return name + ": not yet. " + e.hint, nil
}

// equal reports whether an answer is a value, within the tolerance of the exercise.
func (e exercise) equal(answer string, want any) bool {
	if text, ok := want.(string); ok {
		return names(answer) == names(text)
	}
	a, err := number(answer)
	w, bad := number(fmt.Sprint(want))
	return err == nil && bad == nil && math.Abs(a-w) <= e.tolerance+1e-9
}

// names returns a list of names in lower case, sorted.
func names(text string) string {
	list := strings.Split(strings.ToLower(text), ",")
	for i := range list {
		list[i] = strings.Join(strings.Fields(list[i]), " ")
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// number reads a decimal number, a percentage or a fraction.
func number(text string) (float64, error) {
	text = strings.ReplaceAll(strings.TrimSpace(text), ",", ".")
	if share, ok := strings.CutSuffix(text, "%"); ok {
		v, err := number(share)
		return v / 100, err
	}
	if above, below, ok := strings.Cut(text, "/"); ok {
		a, err := number(above)
		b, bad := number(below)
		if err != nil || bad != nil || b == 0 {
			return 0, fmt.Errorf("%q is not a fraction", text)
		}
		return a / b, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return v, nil
}
