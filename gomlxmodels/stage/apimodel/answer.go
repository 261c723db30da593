package apimodel

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"antipode/gomlxmodels/preprocess"
)

// reply is the body of an answer.
type reply struct {
	Data []struct {
		Base64  string `json:"b64_json"`
		URL     string `json:"url"`
		Revised string `json:"revised_prompt"`
	} `json:"data"`
	Choices []choice `json:"choices"` // of a chat
	Usage   *usage   `json:"usage"`
	Error   *problem `json:"error"`
	Message string   `json:"message"` // of an error, as earlier versions of vLLM write it
}

// problem is an error as the API describes it. Servers differ in what they leave out and in how they write a code.
type problem struct {
	Message, Type, Code string
}

func (p *problem) UnmarshalJSON(text []byte) error {
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil {
		var message string
		err := json.Unmarshal(text, &message)
		p.Message = message
		return err
	}
	for key, to := range map[string]*string{"message": &p.Message, "type": &p.Type, "code": &p.Code} {
		if v := fields[key]; v != nil {
			*to = fmt.Sprint(v)
		}
	}
	return nil
}

func (p *problem) text() string {
	text := cmp.Or(p.Message, "the server gives no reason")
	if p.Code != "" {
		text += " (" + p.Code + ")"
	}
	return text
}

// refusal says whether moderation refused the prompt or the image.
func (p *problem) refusal() bool {
	if slices.Contains([]string{"content_policy_violation", "moderation_blocked", "content_filter", "contentFilter",
		"ResponsibleAIPolicyViolation"}, p.Code) {
		return true
	}
	message := strings.ToLower(p.Message)
	return p.Code == "" && (strings.Contains(message, "safety system") || strings.Contains(message, "content policy"))
}

// payload is what an answer holds: an image's file, or the URL of one, or a reply to a question.
type payload struct {
	data    []byte
	address *url.URL
	revised string
	reply   Reply
	refusal string // why the model does not answer
}

func (g *Client) image(r *reply) (payload, error) {
	if len(r.Data) == 0 {
		return payload{}, errors.New("the response contains no image; some servers respond so when moderation refuses")
	}
	d := r.Data[0]
	p := payload{revised: d.Revised}
	if d.Base64 != "" {
		text := d.Base64
		if _, after, found := strings.Cut(text, ";base64,"); found && strings.HasPrefix(text, "data:") {
			text = after
		}
		if base64.StdEncoding.DecodedLen(len(text)) > maxImage {
			return p, fmt.Errorf("the image takes more than %d MiB", maxImage>>20)
		}
		var err error
		if p.data, err = base64.StdEncoding.DecodeString(text); err != nil {
			return p, errors.New("the image is not base64: " + err.Error())
		}
		return p, nil
	}
	u, err := url.Parse(d.URL)
	switch {
	case d.URL == "":
		return p, errors.New("the response contains neither an image nor its URL")
	case err != nil || u.Host == "" || u.User != nil:
		return p, errors.New("the image's URL is not allowed")
	case u.Scheme != "https" && (u.Scheme != "http" || u.Host != g.base.Host):
		return p, fmt.Errorf("the image is at %s://%s; only https and the API's own host are allowed",
			u.Scheme, u.Host)
	}
	p.address = u
	return p, nil
}

// fetch downloads a generated and paid image. It sends no key and follows no redirects. reason says why there is no
// image.
func (g *Client) fetch(ctx context.Context, address *url.URL) (data []byte, reason string, err error) {
	for attempt := 0; ; attempt++ {
		a := g.download(ctx, address)
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		if a.end == answered {
			return a.payload.data, "", nil
		}
		reason = g.say("the image was generated, but not downloaded from " + address.Host + ": " + a.reason)
		wait := pause(attempt, a.after)
		if a.end != again || attempt >= g.o.Retries || wait > g.o.LongestWait {
			return nil, reason, nil
		}
		if err := g.sleep(ctx, wait); err != nil {
			return nil, reason, err
		}
	}
}

// download fetches an image once.
func (g *Client) download(ctx context.Context, address *url.URL) answer {
	ctx, cancel := context.WithTimeout(ctx, g.o.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return answer{end: failed, reason: "not an address"}
	}
	request.Header.Set("User-Agent", "antipode")
	response, err := g.client.Do(request)
	if err != nil {
		return answer{end: again, reason: g.plain(ctx, err)}
	}
	defer response.Body.Close()
	if status := response.StatusCode; status != http.StatusOK {
		a := answer{end: failed, reason: fmt.Sprintf("status %d", status), after: retryAfter(response.Header, g.now())}
		if status == 408 || status == 429 || status >= 500 {
			a.end = again
		}
		return a
	}
	data, err := read(response.Body, maxImage)
	switch {
	case errors.Is(err, errTooLong):
		return answer{end: failed, reason: err.Error()}
	case err != nil:
		return answer{end: again, reason: "cut off: " + g.plain(ctx, err)}
	}
	return answer{end: answered, payload: payload{data: data}}
}

// inspect decodes an image, whose size it bounds first.
func inspect(data []byte) (width, height int, err error) {
	p, err := preprocess.Decode(data)
	if err != nil {
		return 0, 0, err
	}
	return p.Width, p.Height, nil
}
