package ask

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage/apimodel"
	"antipode/gomlxmodels/stage/execmodel"
	"antipode/internal/must"
)

// TestFind: which choice an answer names, in each format.
func TestFind(t *testing.T) {
	yesNo := []string{"yes", "no", "cannot tell"}
	colors := []string{"red", "dark red", "Rot", "नीला"}
	for _, c := range []struct {
		format  string
		choices []string
		text    string
		want    string // the choice; "" = none
	}{
		{"letters", yesNo, "A", "yes"}, {"letters", yesNo, " b.", "no"},
		{"letters", yesNo, "C) cannot tell", "cannot tell"},
		{"letters", yesNo, "**B**", "no"}, {"letters", yesNo, "The answer is B.", "no"},
		{"letters", yesNo, "Answer: C", "cannot tell"}, {"letters", yesNo, "No", "no"},
		{"letters", yesNo, "yes, it is", "yes"},
		{"letters", yesNo, "A person is visible", ""}, {"letters", yesNo, "D", ""}, {"letters", yesNo, "", ""},
		{"letters", yesNo, "I cannot tell from this image", "cannot tell"},
		{"letters", yesNo, "The answer is A, or the answer is B", ""}, {"letters", yesNo, "Notable", ""},
		{"words", yesNo, "Yes.", "yes"}, {"words", yesNo, "\"no\"", "no"}, {"words", yesNo, "A", ""},
		{"words", yesNo, "The image shows yes", ""}, {"words", yesNo, "It is **no**, clearly", "no"},
		{"words", yesNo, "I'm sorry, I can't help with that", ""},
		{"plain", colors, "dark red", "dark red"}, {"plain", colors, "Red", "red"}, {"plain", colors, "rot", "Rot"},
		{"plain", colors, "It is dark red.", "dark red"}, {"plain", colors, "नीला", "नीला"},
		{"plain", colors, "redder", ""},
	} {
		choice, start := spellings(c.choices, c.format).find(c.text)
		if got := nameOf(c.choices, choice); got != c.want || choice >= 0 && (start < 0 || start >= len(c.text)) {
			t.Errorf("%s %q: %q at %d, want %q", c.format, c.text, got, start, c.want)
		}
	}
	for _, text := range []string{"I'm sorry, but I can’t", "I cannot help with this", "As an AI model", "Sorry!"} {
		if !refusal.MatchString(text) {
			t.Errorf("%q is no refusal", text)
		}
	}
}

func nameOf(list []string, i int) string {
	if i < 0 {
		return ""
	}
	return list[i]
}

func token(text string, p float64, top ...apimodel.Token) apimodel.Token {
	return apimodel.Token{Text: text, P: p, Top: top}
}

// TestProbabilities: probabilities are sums over the spellings of the first token that tells the choices apart.
func TestProbabilities(t *testing.T) {
	for _, c := range []struct {
		name, format string
		choices      []string
		tokens       []apimodel.Token
		want         []float64
	}{
		{"letters in several spellings", "letters", []string{"yes", "no"}, []apimodel.Token{
			token("A", 0.5, token("A", 0.5), token(" A", 0.1), token("a", 0.05), token("B", 0.15), token("Yes", 0.1),
				token("An", 0.05))}, []float64{0.75 / 0.9, 0.15 / 0.9}},
		{"extra text first", "letters", []string{"yes", "no"}, []apimodel.Token{
			token("The", 0.9, token("The", 0.9), token("A", 0.1)), token(" answer", 1), token(" is", 1),
			token(" B", 0.8, token(" B", 0.8), token(" A", 0.2)), token(".", 1)}, []float64{0.2, 0.8}},
		{"split tokens", "words", []string{"dark red", "dark blue", "green"}, []apimodel.Token{
			token("d", 0.8, token("d", 0.8), token("green", 0.2)), token("ark", 1, token("ark", 1)),
			token(" b", 0.75, token(" b", 0.75), token(" red", 0.25)), token("lue", 1)}, []float64{0.2, 0.6, 0.2}},
		{"a choice that begins another", "words", []string{"no", "not sure", "yes"}, []apimodel.Token{
			token("no", 0.6, token("no", 0.6), token("yes", 0.4))}, []float64{0.6, 0, 0.4}},
		{"the longer one", "words", []string{"no", "not sure", "yes"}, []apimodel.Token{
			token("no", 0.6, token("no", 0.6), token("yes", 0.4)), token("t sure", 0.5, token("t sure", 0.5),
				token(".", 0.5))}, []float64{0.3, 0.3, 0.4}},
		{"the token is not among the top", "letters", []string{"yes", "no"}, []apimodel.Token{
			token("A", 0.7, token("B", 0.3))}, []float64{0.7, 0.3}},
		{"blank token and end of text", "letters", []string{"yes", "no"}, []apimodel.Token{
			token("\n", 1), token("B", 1, token("B", 1)), token("<|im_end|>", 1)}, []float64{0, 1}},
		{"too little", "letters", []string{"yes", "no"}, []apimodel.Token{token("A", 0.3, token("The", 0.6))}, nil},
		{"none", "letters", []string{"yes", "no"}, nil, nil},
	} {
		text := ""
		for _, x := range c.tokens {
			text += x.Text
		}
		text = strings.TrimSpace(strings.TrimSuffix(text, "<|im_end|>"))
		if c.tokens == nil {
			text = "A"
		}
		n := spellings(c.choices, c.format)
		choice, start := n.find(text)
		got := n.probabilities(apimodel.Reply{Text: text, Tokens: c.tokens}, start)
		if choice < 0 || !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%s: %v of choice %d, want %v", c.name, got, choice, c.want)
		}
	}
}

// TestRecorded: the responses of llama.cpp and vLLM, in the form that they document, have probabilities of the choices.
func TestRecorded(t *testing.T) {
	var shapes map[string]struct {
		Response json.RawMessage
		Choices  []string
		Format   string
		Want     []float64
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/responses.json"))(t), &shapes))
	must.Equal(t, len(shapes), 4, "responses")
	for name, s := range shapes {
		replies, item := serve(t, s.Response), execmodel.Item{Choices: s.Choices}
		c := chatJudge{}
		c.args.Chat.Format = s.Format
		a := c.single(&item, replies)
		if !slices.EqualFunc(a.Probabilities, s.Want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) ||
			a.Outcome != execmodel.OK || (a.Source == execmodel.FromLogits) != (s.Want != nil) {
			t.Errorf("%s: %+v, want %v", name, a, s.Want)
		}
	}
}

// serve returns what a server with this response answers.
func serve(t *testing.T, response []byte) stored {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(response)
	}))
	defer server.Close()
	client := must.Get(apimodel.New(apimodel.Options{Chat: true, Model: "m", BaseURL: server.URL + "/v1"}))(t)
	r := must.Get(client.Ask(t.Context(), apimodel.Question{Text: "?", MaxTokens: 5}))(t)
	return stored{Outcome: r.Outcome, Reason: r.Reason, Reply: r.Reply}
}

// FuzzAnswer: any answer names a choice or none, and probabilities sum to 1.
func FuzzAnswer(f *testing.F) {
	f.Add("The answer is **B**.", "A", "not sure", 0.7, uint8(2))
	f.Add("İ yes, İİ no", "yes", "y", 1.0, uint8(0))
	f.Fuzz(func(t *testing.T, text, first, second string, p float64, format uint8) {
		choices := []string{first, second, "cannot tell"}
		if gomlxmodels.CheckChoices(choices) != nil || !(p >= 0 && p <= 1) {
			t.Skip()
		}
		n := spellings(choices, []string{"letters", "words", "plain"}[format%3])
		choice, start := n.find(text)
		if choice >= len(choices) || choice < -2 {
			t.Fatalf("choice %d", choice)
		}
		if choice < 0 {
			return
		}
		var tokens []apimodel.Token
		for _, r := range text {
			tokens = append(tokens, token(string(r), p, token(first, 1-p)))
		}
		got, sum := n.probabilities(apimodel.Reply{Text: text, Tokens: tokens}, start), 0.0
		for _, x := range got {
			sum += x
		}
		if got != nil && math.Abs(sum-1) > 1e-9 {
			t.Errorf("probabilities %v", got)
		}
	})
}
