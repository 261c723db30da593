package apimodel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// maxReason is the longest reason shown, in characters.
const maxReason = 300

// keyPattern is what keys look like, whole or with stars in their middle as error messages show them.
var keyPattern = regexp.MustCompile(`\bsk-[A-Za-z0-9_*.-]{4,}`)

// ending is how a request ended.
type ending int

const (
	answered ending = iota // with an image, its address, or a text
	refused                // by moderation
	failed                 // for a reason that will not pass
	stopped                // for a reason that befalls every prompt
	again                  // nothing was done, nothing paid: ask again
	lost                   // it may have been paid, and the answer is lost
)

// answer is what came of one request.
type answer struct {
	end     ending
	reason  string
	after   time.Duration // when the server wants to be asked again; 0 = it does not say
	paid    bool          // it was paid, or may have been
	usage   *usage
	payload payload
}

func (g *Client) imageBody(prompt string, fields map[string]any) ([]byte, error) {
	request := map[string]any{}
	maps.Copy(request, fields)
	maps.Copy(request, map[string]any{"model": g.o.Model, "prompt": prompt, "n": 1})
	for key, value := range map[string]string{"size": g.o.Size, "quality": g.o.Quality} {
		if value != "" {
			request[key] = value
		}
	}
	if !strings.HasPrefix(g.o.Model, "gpt-image") && !strings.HasPrefix(g.o.Model, "chatgpt-image") {
		request["response_format"] = "b64_json" // GPT images come so, and refuse the setting
	}
	return json.Marshal(request)
}

// ask sends one request and reads its answer.
func (g *Client) ask(ctx context.Context, e exchange) answer {
	ctx, cancel := context.WithTimeout(ctx, g.o.Timeout)
	defer cancel()
	body, err := e.body()
	if err != nil {
		return answer{end: failed, reason: g.say(err.Error())}
	}
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	request, err := g.request(traced, http.MethodPost, bytes.NewReader(body), e.path...)
	if err != nil {
		return answer{end: failed, reason: g.say(err.Error())}
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := g.client.Do(request)
	if err != nil {
		if !sent.Load() {
			return answer{end: again, reason: g.say("no connection: " + g.plain(ctx, err))}
		}
		return answer{end: lost, paid: true, reason: g.say("no answer: " + g.plain(ctx, err))}
	}
	defer response.Body.Close()
	data, err := read(response.Body, maxAnswer)
	if response.StatusCode == http.StatusOK {
		return g.success(ctx, response, data, err, e.read)
	}
	return g.failure(response, data)
}

// request returns a request to a path of the API.
func (g *Client) request(ctx context.Context, method string, body io.Reader, path ...string) (*http.Request,
	error) {
	request, err := http.NewRequestWithContext(ctx, method, g.base.JoinPath(path...).String(), body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "antipode")
	if key := g.key(); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	return request, nil
}

// plain is an error of the HTTP client without the address, which the user knows.
func (g *Client) plain(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("it took more than %s", g.o.Timeout)
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}

var errTooLong = errors.New("it is too long")

// read reads at most so many bytes.
func read(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("%w: more than %d MiB", errTooLong, most>>20)
	}
	return data, err
}

// success reads an answer of status 200: it is paid, whatever it holds.
func (g *Client) success(ctx context.Context, response *http.Response, data []byte, err error,
	read func(*reply) (payload, error)) answer {
	a := answer{end: failed, paid: true}
	switch {
	case errors.Is(err, errTooLong):
		a.reason = g.say("the answer cannot be used: " + err.Error())
		return a
	case err != nil:
		a.end, a.reason = lost, g.say("the answer was cut off: "+g.plain(ctx, err))
		return a
	}
	if kind := response.Header.Get("Content-Type"); !strings.Contains(kind, "json") {
		a.reason = g.say(fmt.Sprintf("the answer is %q, not JSON; is the base URL that of an API for %ss?", kind,
			g.unit()))
		return a
	}
	var r reply
	if err := json.Unmarshal(data, &r); err != nil {
		if err.Error() == "unexpected end of JSON input" {
			a.end, a.reason = lost, "the answer was cut off: its JSON does not end"
			return a
		}
		a.reason = g.say("the answer is not the JSON of an API for " + g.unit() + "s: " + err.Error())
		return a
	}
	if e := r.Error; e != nil {
		a.reason = g.say(e.text())
		if e.refusal() {
			a.end, a.paid = refused, false
		}
		return a
	}
	a.usage = r.Usage
	p, err := read(&r)
	if err != nil {
		a.reason = g.say(err.Error())
		return a
	}
	a.end, a.payload = answered, p
	return a
}

// accountCodes are the errors that every prompt would meet.
var accountCodes = []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
	"account_deactivated", "invalid_api_key", "model_not_found"}

// failure reads an answer of another status.
func (g *Client) failure(response *http.Response, data []byte) answer {
	status := response.StatusCode
	if status >= 300 && status < 400 {
		return answer{end: stopped,
			reason: g.say("it answers with a redirect, which is not followed; set the base URL to the API's own " +
				"address")}
	}
	var r reply
	if json.Unmarshal(data, &r) != nil || r.Error == nil {
		r.Error = &problem{Message: r.Message}
	}
	e := r.Error
	a := answer{reason: g.say(fmt.Sprintf("status %d: %s", status, e.text())),
		after: retryAfter(response.Header, g.now())}
	switch {
	case status < 500 && e.refusal():
		a.end, a.reason = refused, g.say(e.text())
	case slices.Contains(accountCodes, e.Code), status == 401, status == 402, status == 403, status == 404,
		status == 405, status == 407:
		a.end = stopped
	case status == 408, status == 504, status == 524: // a server on the way gave up waiting for the image
		a.end, a.paid = lost, true
	case status == 409, status == 425, status == 429, status >= 500:
		a.end = again
	default:
		a.end = failed
	}
	return a
}
