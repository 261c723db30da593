package ask

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage/apimodel"
	"antipode/gomlxmodels/stage/execmodel"
)

var nan = math.NaN()

// labels returns what stands for n choices: letters, or numbers where the alphabet has too few.
func labels(n int) (out []string) {
	for i := range n {
		if out = append(out, string(rune('A'+i))); n > 26 {
			out[i] = fmt.Sprint(i + 1)
		}
	}
	return out
}

// prompt returns the text of a question in a format.
func prompt(item *execmodel.Item, format string) string {
	var b strings.Builder
	b.WriteString(item.Question)
	switch format {
	case gomlxmodels.FormatLetters:
		for i, label := range labels(len(item.Choices)) {
			fmt.Fprintf(&b, "\n%s. %s", label, item.Choices[i])
		}
		b.WriteString("\nAnswer with the letter of one choice and nothing else.")
	case gomlxmodels.FormatWords:
		fmt.Fprintf(&b, "\nChoices: %s\nAnswer with one of the choices and nothing else.",
			strings.Join(item.Choices, "; "))
	}
	return b.String()
}

type names struct {
	labels  []string // nil = there are none
	choices []string
}

func spellings(choices []string, format string) names {
	n := names{choices: choices}
	if format == gomlxmodels.FormatLetters {
		n.labels = labels(len(choices))
	}
	return n
}

// refusal is the beginning of a text with which a model refuses to answer.
var refusal = regexp.MustCompile(`(?i)^\W*(i['’]?m sorry|i am sorry|sorry\b|i can(not|['’]t)\b|` +
	`i( am|['’]?m) (unable|not able)|i won['’]?t|as an ai\b)`)

// places are where an answer names a choice, the surest first: at its beginning; after "the answer is"; in bold; or, if
// the choice has several words, anywhere.
var places = []string{`^[\s*"'“(\[]*(%s)`, `(?i:answer|choice|option)(?i:\s+is)?[\s:*"'“(\[]+(%s)`, `\*\*(%s)`,
	anywhere}

const anywhere = `\b(%s)`

// find returns the choice that an answer names and where in the text, −1 if it names none, or several.
func (n names) find(text string) (choice, start int) {
	for _, place := range places {
		choice, start = -1, -1
		if place != anywhere { // a label is a word, too, which text may follow: "A house"
			choice, start = match(n.labels, place+`(?:$|[.,:;)\]*"'”\n])`, strings.ToUpper(text))
		}
		words := slices.Clone(n.choices)
		for i := range words {
			words[i] = strings.ToLower(words[i])
			if place == anywhere && !strings.Contains(words[i], " ") {
				words[i] = ""
			}
		}
		if choice == -1 {
			choice, start = match(words, place+`(?:$|[^\pL\pN'’-])`, strings.ToLower(text))
		}
		if choice != -1 {
			return choice, start
		}
	}
	return -1, -1
}

// match returns the element of a list that a text names, and where; −1 if it names none, −2 if it names several.
func match(list []string, pattern, text string) (found, start int) {
	var sorted []string
	for _, c := range list {
		if c != "" {
			sorted = append(sorted, regexp.QuoteMeta(c))
		}
	}
	if len(sorted) == 0 {
		return -1, -1
	}
	slices.SortFunc(sorted, func(a, b string) int { return len(b) - len(a) }) // "dark red" before "red"
	found, start = -1, -1
	expression := regexp.MustCompile(strings.Replace(pattern, "%s", strings.Join(sorted, "|"), 1))
	for _, m := range expression.FindAllStringSubmatchIndex(text, -1) {
		at := slices.Index(list, text[m[2]:m[3]])
		if found >= 0 && at != found {
			return -2, -1
		}
		if found < 0 {
			found, start = at, m[2]
		}
	}
	return found, start
}

// least is the smallest share of the probability that the choices have together for it to be used.
const least = 0.5

// probabilities returns the probabilities of the choices from those of the tokens of an answer, whose choice begins at
// start: at the first token that tells the choices apart, the sum over the spellings of each, normalized over the
// choices. It returns nil where there are no tokens, or the choices have less than half of the probability.
func (n names) probabilities(r apimodel.Reply, start int) []float64 {
	text := ""
	for _, t := range r.Tokens {
		text += t.Text
	}
	shift := strings.Index(text, r.Text)
	if len(r.Tokens) == 0 || shift < 0 {
		return nil
	}
	first, at := 0, 0
	for first < len(r.Tokens)-1 && at+len(r.Tokens[first].Text) <= start+shift {
		at += len(r.Tokens[first].Text)
		first++
	}
	mass, weight, prefix, total := make([]float64, len(n.choices)), 1.0, "", 0.0
	for _, t := range r.Tokens[first:] {
		top := t.Top
		if !slices.ContainsFunc(top, func(o apimodel.Token) bool { return o.Text == t.Text }) {
			top = append([]apimodel.Token{{Text: t.Text, P: t.P}}, top...)
		}
		decided := false
		for _, o := range top {
			if which := n.begun(prefix + o.Text); len(which) == 1 {
				mass[which[0]] += weight * o.P
				decided = decided || o.Text == t.Text
			}
		}
		if prefix += t.Text; decided {
			weight = 0
			break
		}
		weight *= t.P
	}
	if i := slices.IndexFunc(n.choices, func(c string) bool { return fold(c) == fold(prefix) }); i >= 0 {
		mass[i] += weight // the text ends with a choice that is the beginning of another one
	} else if i := slices.IndexFunc(n.labels, func(c string) bool { return fold(c) == fold(prefix) }); i >= 0 {
		mass[i] += weight
	}
	for _, m := range mass {
		total += m
	}
	if !(total >= least) {
		return nil
	}
	for i := range mass {
		mass[i] /= total
	}
	return mass
}

// fold returns a text for comparison, without what precedes and follows a choice.
func fold(s string) string {
	return strings.ToLower(strings.Trim(s, " \t\r\n*\"'“”()[].,:;!▁"))
}

// begun returns the choices that an answer with this beginning may name.
func (n names) begun(text string) (which []int) {
	s := strings.ToLower(strings.TrimLeft(text, " \t\r\n*\"'“([▁"))
	fits := func(name string) bool {
		name = strings.ToLower(name)
		next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(s, name))
		return strings.HasPrefix(name, s) || strings.HasPrefix(s, name) && !unicode.IsLetter(next) &&
			!unicode.IsDigit(next)
	}
	for i, choice := range n.choices {
		if n.labels != nil && fits(n.labels[i]) || (n.labels == nil || utf8.RuneCountInString(s) > 1) && fits(choice) {
			which = append(which, i)
		}
	}
	return which
}
