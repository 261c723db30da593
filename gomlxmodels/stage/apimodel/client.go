package apimodel

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Outcomes of a prompt, as tables have them.
const (
	OK      = "ok"
	Refused = "refused"
	Failed  = "failed"
)

// Result is the result of a prompt or a question.
type Result struct {
	Outcome   string // OK, Refused or Failed
	Reason    string // why there is no image or answer, in one line
	Transient bool   // failed for a temporary reason: another run should try again

	Image         []byte // the image's file, as it was sent; it has been decoded once and can be read
	Type          string // its media type, for example "image/png"
	Width, Height int
	RevisedPrompt string // the prompt as the server rewrote it; "" = not reported

	Reply Reply // to a question

	// Cost is in US dollars: by the tokens that the server counted, else by the price of an image. Requests that may
	// have been paid count.
	Cost        float64
	CostUnknown bool // the cost of a request is not known; Cost is that of the others
	Requests    int  // number of requests
}

// Final reports whether the result is kept next to the models, apart from its row: what failed is requested again when
// its row is, unless it was paid for.
func (r *Result) Final() bool { return !r.Transient && (r.Outcome != Failed || r.Cost > 0) }

// Client requests images or answers. It may be used by several goroutines at once; they share its limits.
type Client struct {
	o      Options       // without the key
	key    func() string // a function, so that printing a Client does not print it
	base   *url.URL
	client *http.Client
	model  Model   // without fields if it is not one of Models
	price  float64 // of an image, in US dollars
	priced bool    // price is known
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error

	beginning sync.Mutex
	begun     bool
	refusal   error // of begin

	mu     sync.Mutex
	next   time.Time // time of the next allowed request
	spent  float64   // US dollars
	count  int       // number of images or answers that were or may have been paid
	flying int       // number of requests in flight

	without []string // optional fields that the server refuses
}

// unit is what a request is for.
func (g *Client) unit() string {
	if g.o.Chat {
		return "answer"
	}
	return "image"
}

// exchange is a kind of request: its path, its body, and how its answer is read. An error of read is an answer that
// cannot be used.
type exchange struct {
	path   []string
	body   func() ([]byte, error)
	read   func(*reply) (payload, error)
	adjust func(reason string) bool // changes a body that was refused for this reason; nil, false = it cannot be helped
}

// Label returns the model with its options, for example "gpt-image-2 1024x1024 high".
func (g *Client) Label() string {
	return strings.Join(strings.Fields(g.o.Model+" "+g.o.Size+" "+g.o.Quality), " ")
}

// Generate requests one image of the prompt. The fields are sent next to those of the API, for servers that accept
// more, for example "seed"; nil = none. The package comment says what is a result and what an error.
func (g *Client) Generate(ctx context.Context, prompt string, fields map[string]any) (Result, error) {
	r := Result{Outcome: Failed}
	switch {
	case strings.TrimSpace(prompt) == "":
		r.Reason = "the prompt is empty"
		return r, nil
	case !utf8.ValidString(prompt):
		r.Reason = "the prompt is not UTF-8"
		return r, nil
	case utf8.RuneCountInString(prompt) > maxPrompt:
		r.Reason = fmt.Sprintf("the prompt has more than %d characters", maxPrompt)
		return r, nil
	}
	p, answered, err := g.send(ctx, &r, exchange{path: []string{"images", "generations"}, read: g.image,
		body: func() ([]byte, error) { return g.imageBody(prompt, fields) }})
	if err != nil || !answered {
		return r, err
	}
	return r, g.receive(ctx, &r, p)
}

// send sends a request until it is answered, refused or failed, and sets the result's reason, cost and number of
// requests. Without an answer the outcome is set too.
func (g *Client) send(ctx context.Context, r *Result, e exchange) (p payload, ok bool, err error) {
	if err := g.begin(ctx); err != nil {
		return p, false, err
	}
	unpaid, paid := 0, 0
	for {
		if err := g.admit(ctx); err != nil {
			return p, false, err
		}
		a := g.ask(ctx, e)
		cost, known := g.cost(&a)
		g.settle(a.paid, cost)
		r.Requests++
		r.Cost += cost
		r.CostUnknown = r.CostUnknown || !known
		r.Reason, r.Transient = a.reason, false
		if err := ctx.Err(); err != nil && a.end != answered {
			return p, false, err
		}
		switch a.end {
		case answered:
			return a.payload, true, nil
		case refused:
			r.Outcome = Refused
			return p, false, nil
		case failed:
			if !a.paid && e.adjust != nil && e.adjust(a.reason) {
				continue
			}
			return p, false, nil
		case stopped:
			return p, false, fmt.Errorf("%s: %s", g.base.Host, a.reason)
		case again:
			if unpaid++; unpaid > g.o.Retries {
				r.Transient = true
				return p, false, nil
			}
		case lost:
			if paid++; paid > g.o.PaidRetries {
				r.Transient = true
				return p, false, nil
			}
		}
		wait := pause(unpaid+paid-1, a.after)
		if a.after > g.o.LongestWait {
			return p, false, fmt.Errorf("%s asks to wait %s: %s", g.base.Host, a.after.Round(time.Second), a.reason)
		}
		if a.after > 0 {
			g.postpone(wait)
		} else if err := g.sleep(ctx, wait); err != nil {
			return p, false, err
		}
	}
}

// receive checks the image of an answer; if the answer has an address, it downloads the image first.
func (g *Client) receive(ctx context.Context, r *Result, p payload) (err error) {
	r.RevisedPrompt = p.revised
	data := p.data
	if p.address != nil {
		var reason string
		data, reason, err = g.fetch(ctx, p.address)
		if err != nil || reason != "" {
			r.Reason, r.Transient = reason, true
			return err
		}
	}
	width, height, err := inspect(data)
	if err != nil {
		r.Reason = g.say("the image cannot be used: " + err.Error())
		return nil
	}
	r.Outcome, r.Reason = OK, ""
	r.Image, r.Type, r.Width, r.Height = data, http.DetectContentType(data), width, height
	return nil
}

// masked returns a text without the key.
func (g *Client) masked(text string) string {
	if key := g.key(); key != "" {
		text = strings.ReplaceAll(text, key, "[key]")
		text = strings.ReplaceAll(text, url.QueryEscape(key), "[key]")
	}
	return keyPattern.ReplaceAllString(text, "[key]")
}

// say prepares a text for display: one line without the key, truncated if it is long.
func (g *Client) say(text string) string {
	text = g.masked(text)
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason]) + " …"
	}
	return text
}
