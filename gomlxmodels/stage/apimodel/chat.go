package apimodel

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
)

// Question is a question to a chat model, about an image.
type Question struct {
	System, Text string
	PNG          []byte // the image's file
	Seed         int64
	MaxTokens    int  // of the answer
	Sampled      bool // at the server's own temperature; false = the most probable answer
}

// Reply is what a chat model answers.
type Reply struct {
	Text   string  `json:"text"`
	Tokens []Token `json:"tokens,omitempty"` // of the text; nil = the server reports no log-probabilities
}

// Token is a token with its probability given the text before it, and the most probable ones in its place.
type Token struct {
	Text string  `json:"t"`
	P    float64 `json:"p"`
	Top  []Token `json:"top,omitempty"`
}

// choice is an answer of a chat as the API writes it.
type choice struct {
	Message struct {
		Content *string `json:"content"`
		Refusal string  `json:"refusal"`
	} `json:"message"`
	Finish   string `json:"finish_reason"`
	Logprobs *struct {
		Content []logprob `json:"content"`
	} `json:"logprobs"`
}

type logprob struct {
	Token   string    `json:"token"`
	Logprob float64   `json:"logprob"`
	Top     []logprob `json:"top_logprobs"`
}

// topTokens is the number of tokens whose probability is requested: the largest that OpenAI and vLLM allow.
const topTokens = 20

// optionalFields are those without which an answer is still one: servers and models refuse some of them.
var optionalFields = []string{"top_logprobs", "logprobs", "max_tokens", "temperature", "seed"}

// Ask asks a question once. A model that refuses to answer is a result with the outcome "refused". Fields that the
// server does not accept, such as the request for log-probabilities, are left out then and in later questions.
func (g *Client) Ask(ctx context.Context, q Question) (Result, error) {
	r := Result{Outcome: Failed}
	var without []string // of the request that was sent last: others may have left out fields since
	p, answered, err := g.send(ctx, &r, exchange{path: []string{"chat", "completions"}, read: g.reply,
		body:   func() (body []byte, err error) { body, without, err = g.chatBody(q); return body, err },
		adjust: func(reason string) bool { return g.leaveOut(reason, without) }})
	switch {
	case err != nil || !answered:
		return r, err
	case p.refusal != "":
		r.Outcome, r.Reason = Refused, p.refusal
	default:
		r.Outcome, r.Reason, r.Reply = OK, "", p.reply
	}
	return r, nil
}

// chatBody is the request for one answer, and the fields that it leaves out.
func (g *Client) chatBody(q Question) (body []byte, without []string, err error) {
	type object = map[string]any
	var messages []object
	if q.System != "" {
		messages = append(messages, object{"role": "system", "content": q.System})
	}
	messages = append(messages, object{"role": "user", "content": []object{
		{"type": "image_url", "image_url": object{"url": "data:image/png;base64," +
			base64.StdEncoding.EncodeToString(q.PNG)}},
		{"type": "text", "text": q.Text}}})
	request := object{"model": g.o.Model, "messages": messages, "max_tokens": q.MaxTokens, "seed": q.Seed,
		"logprobs": true, "top_logprobs": topTokens}
	if !q.Sampled {
		request["temperature"] = 0
	}
	g.mu.Lock()
	without = slices.Clone(g.without)
	g.mu.Unlock()
	for _, name := range without {
		if delete(request, name); name == "max_tokens" {
			request["max_completion_tokens"] = q.MaxTokens
		}
	}
	body, err = json.Marshal(request)
	return body, without, err
}

// leaveOut leaves out the first optional field that the reason of a refused request names and that the request had. It
// reports whether there is one.
func (g *Client) leaveOut(reason string, without []string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range optionalFields {
		switch {
		case !strings.Contains(reason, name) || slices.Contains(without, name):
			continue
		case slices.Contains(g.without, name): // another request was refused before
			return true
		}
		left := []string{name}
		if strings.HasSuffix(name, "logprobs") {
			left = []string{"top_logprobs", "logprobs"}
		}
		g.without = append(g.without, left...)
		if g.o.Warn != nil {
			g.o.Warn("the server does not take " + strings.Join(left, " and ") + ", which is left out: " + reason)
		}
		return true
	}
	return false
}

// reply returns the answer of a reply.
func (g *Client) reply(r *reply) (p payload, err error) {
	if len(r.Choices) == 0 {
		return p, errors.New("the response contains no answer")
	}
	c := r.Choices[0]
	switch {
	case c.Message.Refusal != "":
		p.refusal = g.say(c.Message.Refusal)
	case c.Finish == "content_filter":
		p.refusal = "the server's content filter stopped the answer"
	case c.Message.Content == nil || strings.TrimSpace(*c.Message.Content) == "":
		if c.Finish == "length" {
			return p, errors.New("the answer is cut off before it begins; a model that reasons first needs more " +
				"tokens (MaxTokens, --max-tokens)")
		}
		return p, errors.New("the answer is empty")
	default:
		p.reply.Text = g.masked(*c.Message.Content)
	}
	if c.Logprobs != nil && c.Message.Content != nil && p.reply.Text == *c.Message.Content {
		p.reply.Tokens = tokens(c.Logprobs.Content)
	}
	return p, nil
}

// tokens returns tokens with probabilities in place of their logarithms.
func tokens(list []logprob) (out []Token) {
	for _, l := range list {
		out = append(out, Token{Text: l.Token, P: min(1, math.Exp(l.Logprob)), Top: tokens(l.Top)})
	}
	return out
}
